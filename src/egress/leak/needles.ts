// A value in the forms that turn every byte into something else. Forms that leave some bytes as they are (percent, JSON, HTML …)
// have too many mixtures to list: escapes.ts undoes those. Each character of a form knows which bits of the value it says, so that a
// part of the form is judged by the part of the value that it gives away.
import { FOLD, type Needle } from './gram-index.ts'
import { gatherValue } from './gather.ts'
import { isPiece, onlyPlaces, selectBytes, type SoughtValue } from './pieces.ts'

export interface FormOfValue extends Needle {
  readonly value: SoughtValue
  /** Where what a character says begins and ends in the value, in bits. */
  from(char: number): number
  to(char: number): number
  /** All of it is the value, however short that is. */
  readonly isEnough: boolean
  /** Parts of it that stand apart count together. */
  readonly isPlain: boolean
}

// Forms come one after the other, so that whoever has time for one only can go on later: of a long value each takes a millisecond or two.

/** Sought in the bytes as they are. */
export const plainNeedles = (values: readonly SoughtValue[]) => newOnes(values, listPlain)
/** Sought in what is left of the bytes without everything but letters and digits. */
export const squeezedNeedles = (values: readonly SoughtValue[]) => newOnes(values, listSqueezed)

/** Sought in what is left of the bytes without what stands between the entries of lists (gather.ts): whole, or in pieces. */
export const gatheredNeedles = (values: readonly SoughtValue[]) => newOnes(values, listGathered)

function* listGathered(value: SoughtValue): Generator<FormOfValue> {
  const gathered = gatherValue(value)
  if (gathered) yield plain('gathered', gathered, gathered.bytes)
}

function* newOnes(
  values: readonly SoughtValue[],
  list: (value: SoughtValue) => Iterable<FormOfValue>,
): Generator<FormOfValue> {
  const isNewForm = isNew()
  for (const value of values) for (const form of list(value)) if (isNewForm(form)) yield form
}

/** Whether the characters from `start` to before `end` of the form give the value away. */
export function givesAway(form: FormOfValue, start: number, end: number): boolean {
  if (form.isEnough && start === 0 && end === form.text.length) return true
  const { start: first, end: last } = bytesOf(form, start, end)
  return isPiece(form.value, first, last)
}

/** The bytes of the value that those characters say, if only in part: in base64 twelve bytes share a character with their neighbours. */
export function bytesOf(form: FormOfValue, start: number, end: number): { start: number; end: number } {
  return { start: Math.floor(form.from(start) / 8), end: Math.ceil(form.to(end - 1) / 8) }
}

/** Some forms are the same text: `reversed` of what reads alike either way, one alignment of a short value. */
function isNew() {
  const known = new Set<string>()
  return ({ text, value }: FormOfValue): boolean => {
    const key = `${Buffer.from(text).toString('latin1')} ${value.bytes.length}`
    if (text.length === 0 || known.has(key)) return false
    known.add(key)
    return true
  }
}

function* listPlain(value: SoughtValue): Generator<FormOfValue> {
  const { bytes } = value
  const reversed = reverse(value)
  yield { ...plain('raw', value, bytes), isPlain: true }
  yield plain('reversed', reversed, reversed.bytes)
  yield plain('rot13', value, bytes.map(rotate13))
  yield* inBase85(value)
  yield* uuencoded(value)
  if (bytes.includes(0x20))
    yield plain(
      'form',
      value,
      bytes.map((byte) => (byte === 0x20 ? 0x2b : byte)),
    )
}

/** Shorter stretches of letters and digits would be found by chance where everything between them is overlooked. */
const MIN_SQUEEZED_CHARS = 10

function* listSqueezed(value: SoughtValue): Generator<FormOfValue> {
  for (const form of reordered(value)) if (form.text.length >= MIN_SQUEEZED_CHARS) yield form
  for (const written of encoded(value)) {
    const form = dropSeparators(written)
    if (form.text.length >= MIN_SQUEEZED_CHARS) yield form
  }
}

function reordered(value: SoughtValue): FormOfValue[] {
  const letters = onlyLetters(value)
  const reversed = reverse(letters)
  return [
    plain('spread', letters, letters.bytes),
    plain('reversed', reversed, reversed.bytes),
    plain('rot13', letters, letters.bytes.map(rotate13)),
  ].map((form) => ({ ...form, isEnough: false }))
}

function* encoded(value: SoughtValue): Generator<FormOfValue> {
  const { bytes } = value
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'))
  const octal = Array.from(bytes, (byte) => byte.toString(8).padStart(3, '0'))
  const inHex = ofTexts('hex', value, hex)
  yield inHex
  for (const size of [2, 4, 8]) yield* inWords('hex_words', value, size, (at) => wordOf(hex, at, size))
  yield ofTexts(
    'hex_list',
    value,
    hex.map((digits) => `0x${digits}`),
  )
  yield ofTexts('octal', value, octal)
  yield* inWords('octal_words', value, 2, (at) =>
    ((bytes[at] ?? 0) + (bytes[at + 1] ?? 0) * 256).toString(8).padStart(6, '0'),
  )
  yield ofTexts('decimal_list', value, Array.from(bytes, String))
  yield ofTexts(
    'decimal_padded',
    value,
    Array.from(bytes, (byte) => String(byte).padStart(3, '0')),
  )
  yield backwards(inHex)
  for (const form of inBase64('base64', value, 8)) {
    yield form
    yield { ...form, name: 'rot13_base64', text: form.text.map(rotate13) }
    yield backwards(form)
  }
  yield* inBase64('utf16_base64', value, 16)
  yield* inBase32(value)
  yield* inBase58(value)
  if (bytes.some((byte) => byte >= 0x80))
    yield ofTexts(
      'signed_list',
      value,
      Array.from(bytes, (byte) => String(byte < 0x80 ? byte : 0x1_00 - byte)),
    )
}

const isAlphanumeric = (byte: number) =>
  (byte >= 0x30 && byte <= 0x39) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a)

/** The value as it reads without its separators. */
export const onlyLetters = (value: SoughtValue) => onlyPlaces(value, isAlphanumeric)

const reverse = (value: SoughtValue) => selectBytes(value, [...value.bytes.keys()].toReversed())

const fold = (bytes: Uint8Array) => {
  const folded = new Uint8Array(bytes.length)
  for (let at = 0; at < bytes.length; at++) folded[at] = FOLD[bytes[at] ?? 0] ?? 0
  return folded
}

type Says = Pick<FormOfValue, 'from' | 'to'>

const create = (name: string, value: SoughtValue, text: Uint8Array, says: Says): FormOfValue => ({
  name,
  value,
  text: fold(text),
  ...says,
  isEnough: true,
  isPlain: false,
})

/** A form with a character for each byte. */
const plain = (name: string, value: SoughtValue, bytes: Uint8Array): FormOfValue =>
  create(name, value, bytes, { from: (char) => char * 8, to: (char) => char * 8 + 8 })

/** A form that was written from its end to its beginning: what its first characters say is the end of the value. */
function backwards(form: FormOfValue): FormOfValue {
  const bits = form.value.bytes.length * 8
  const last = form.text.length - 1
  return {
    ...form,
    name: `reversed_${form.name}`,
    value: reverse(form.value),
    text: form.text.toReversed(),
    from: (char) => bits - form.to(last - char),
    to: (char) => bits - form.from(last - char),
  }
}

/** What separates the characters of a form, or is not the same in its dialects, as `+` and `-` of base64. */
function dropSeparators(form: FormOfValue): FormOfValue {
  const kept = new Uint32Array(form.text.length)
  let count = 0
  for (let at = 0; at < form.text.length; at++) if (isAlphanumeric(form.text[at] ?? 0)) kept[count++] = at
  if (count === form.text.length) return form
  const text = new Uint8Array(count)
  for (let at = 0; at < count; at++) text[at] = form.text[kept[at] ?? 0] ?? 0
  return {
    ...form,
    text,
    from: (char) => form.from(kept[char] ?? 0),
    to: (char) => form.to(kept[char] ?? 0),
  }
}

/**
 * A form of several characters for several bytes. A group that is not there wholly says nothing.
 * @param texts one for each group, the first of them for the bytes from `first` on
 */
function ofTexts(
  name: string,
  value: SoughtValue,
  texts: readonly string[],
  groupBytes = 1,
  first = 0,
): FormOfValue {
  const text = Buffer.from(texts.join(''), 'latin1')
  const groupBits = groupBytes * 8
  // Decimal numbers are of one to three digits; every other form has as many characters in each group.
  const ends = new Uint32Array(texts.length)
  let end = 0
  for (const [group, { length }] of texts.entries()) ends[group] = end += length
  const groupOf = (char: number) => {
    let low = 0
    for (let high = ends.length; low < high;) {
      const middle = (low + high) >> 1
      if ((ends[middle] ?? 0) <= char) low = middle + 1
      else high = middle
    }
    return low
  }
  return create(name, value, text, {
    from(char) {
      const group = groupOf(char)
      const isFirst = char === (group === 0 ? 0 : ends[group - 1])
      return first * 8 + (group + (isFirst ? 0 : 1)) * groupBits
    },
    to(char) {
      const group = groupOf(char)
      return first * 8 + (group + (char + 1 === ends[group] ? 1 : 0)) * groupBits
    },
  })
}

/** Words of a little-endian machine, wherever in a word the value begins. */
function* inWords(
  name: string,
  value: SoughtValue,
  size: number,
  write: (at: number) => string,
): Generator<FormOfValue> {
  for (let first = 0; first < size; first++)
    yield ofTexts(name, value, listGroups(value, size, first, write), size, first)
}

function listGroups(
  { bytes }: SoughtValue,
  size: number,
  first: number,
  write: (at: number) => string,
): string[] {
  const texts: string[] = []
  for (let at = first; at + size <= bytes.length; at += size) texts.push(write(at))
  return texts
}

function wordOf(digits: readonly string[], at: number, size: number): string {
  let word = ''
  for (let i = at + size - 1; i >= at; i--) word += digits[i] ?? ''
  return word
}

// The value may start anywhere within a group of bytes, so it has one form per alignment. The characters at either end
// that also depend on its neighbours are left off, which covers `scheme secret` and `user:secret` encoded as a whole.

/** @param unitBits 16 where every byte is a character of UTF-16 */
function inBase64(name: string, value: SoughtValue, unitBits: 8 | 16): FormOfValue[] {
  const bytes =
    unitBits === 8 ? value.bytes : Buffer.from(Buffer.from(value.bytes).toString('latin1'), 'utf16le')
  return [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    return ofBits(
      name,
      value,
      { encoded: Buffer.from(encoded, 'latin1'), before, length: bytes.length, unitBits },
      6,
    )
  })
}

/** RFC 4648 has two; Crockford's has no I, L, O and U, and is that of ULIDs. */
const BASE32 = Object.entries({
  base32: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567',
  base32hex: '0123456789ABCDEFGHIJKLMNOPQRSTUV',
  crockford: '0123456789ABCDEFGHJKMNPQRSTVWXYZ',
}).map(([name, alphabet]) => ({ name, alphabet: Buffer.from(alphabet) }))

function* inBase32(value: SoughtValue): Generator<FormOfValue> {
  const { bytes } = value
  for (const before of [0, 1, 2, 3, 4]) {
    const digits = new Uint8Array(Math.floor(((before + bytes.length) * 8) / 5))
    for (let char = Math.ceil((before * 8) / 5); char < digits.length; char++) {
      const bit = char * 5 - before * 8
      const pair = ((bytes[bit >> 3] ?? 0) << 8) | (bytes[(bit >> 3) + 1] ?? 0)
      digits[char] = (pair >> (11 - (bit & 7))) & 31
    }
    for (const { name, alphabet } of BASE32) {
      const encoded = Buffer.from(digits.map((digit) => alphabet[digit] ?? 0))
      yield ofBits(name, value, { encoded, before, length: bytes.length, unitBits: 8 }, 5)
    }
  }
}

/** Leaves off the characters that are not wholly the value's. */
function ofBits(
  name: string,
  value: SoughtValue,
  form: {
    readonly encoded: Buffer
    readonly before: number
    readonly length: number
    readonly unitBits: 8 | 16
  },
  bitsPerChar: number,
): FormOfValue {
  const { encoded, before, length, unitBits } = form
  const first = Math.ceil((before * 8) / bitsPerChar)
  const end = Math.floor(((before + length) * 8) / bitsPerChar)
  const scale = 8 / unitBits
  const from = (char: number) => ((first + char) * bitsPerChar - before * 8) * scale
  return create(name, value, encoded.subarray(first, end), {
    from,
    to: (char) => from(char) + bitsPerChar * scale,
  })
}

const BASE85 = Object.entries({
  ascii85: Array.from({ length: 85 }, (_, i) => String.fromCharCode(0x21 + i)).join(''),
  z85: '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#',
  base85: '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~',
})

function* inBase85(value: SoughtValue): Generator<FormOfValue> {
  const { bytes } = value
  for (const [name, alphabet] of BASE85)
    for (const first of [0, 1, 2, 3]) {
      const texts = listGroups(value, 4, first, (at) => {
        const [a = 0, b = 0, c = 0, d = 0] = bytes.subarray(at, at + 4)
        let rest = ((a * 256 + b) * 256 + c) * 256 + d
        let text = ''
        for (let i = 0; i < 5; i++) {
          text = (alphabet[rest % 85] ?? '') + text
          rest = Math.floor(rest / 85)
        }
        return text
      })
      yield* wholeGroups(name, value, texts, 4, first)
      if (name !== 'ascii85') continue
      // JSON writes two of the characters with a backslash.
      const json = texts.map((text) => text.replaceAll(/["\\]/g, '\\$&'))
      yield* wholeGroups('ascii85_json', value, json, 4, first)
    }
}

function* uuencoded(value: SoughtValue): Generator<FormOfValue> {
  const { bytes } = value
  for (const zero of [' ', '`'])
    for (const first of [0, 1, 2]) {
      const texts = listGroups(value, 3, first, (at) => {
        const group = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0)
        return [18, 12, 6, 0]
          .map((shift) => (group >> shift) & 63)
          .map((six) => (six === 0 ? zero : String.fromCharCode(0x20 + six)))
          .join('')
      })
      yield* wholeGroups('uuencode', value, texts, 3, first)
    }
}

/** Bytes at the ends are in groups that also depend on what stands beside the value: where these are too many, it is not there. */
function wholeGroups(
  name: string,
  value: SoughtValue,
  texts: readonly string[],
  groupBytes: number,
  first: number,
): FormOfValue[] {
  if (texts.length < 2) return []
  const isEnough = (texts.length + 1) * groupBytes > value.bytes.length
  return [{ ...ofTexts(name, value, texts, groupBytes, first), isEnough }]
}

const BASE58 = [
  '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz',
  '123456789abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ',
  'rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz',
]
/** What it takes grows with the square of the length: 128 bytes take 30 us. */
const MOST_BASE58_BYTES = 128

/** Every character depends on every byte, so the value is found where it was encoded alone, and wholly. */
function inBase58(value: SoughtValue): FormOfValue[] {
  if (value.bytes.length > MOST_BASE58_BYTES) return []
  const digits: number[] = []
  for (let rest = BigInt(`0x${Buffer.from(value.bytes).toString('hex')}`); rest > 0n; rest /= 58n)
    digits.unshift(Number(rest % 58n))
  return BASE58.map((alphabet) => {
    const text = digits.map((digit) => alphabet[digit]).join('')
    return create('base58', value, Buffer.from(text), { from: () => 0, to: () => 0 })
  })
}

function rotate13(byte: number): number {
  const base = byte >= 0x61 && byte <= 0x7a ? 0x61 : byte >= 0x41 && byte <= 0x5a ? 0x41 : undefined
  return base === undefined ? byte : ((byte - base + 13) % 26) + base
}
