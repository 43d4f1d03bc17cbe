// A value in the forms that turn every byte into something else. Forms that leave some bytes as they are (percent, JSON, HTML …)
// have too many mixtures to list: escapes.ts undoes those. Each character of a form knows which bits of the value it says, so that a
// part of the form is judged by the part of the value that it gives away.
import { FOLD, type Needle } from './gram-index.ts'
import { isPiece, selectBytes, type SoughtValue } from './pieces.ts'

export interface FormOfValue extends Needle {
  readonly value: SoughtValue
  /** Where what a character says begins and ends in the value, in bits. A character says nothing where the two are equal. */
  readonly from: Int32Array
  readonly to: Int32Array
  /** All of it is the value, however short that is. */
  readonly isEnough: boolean
  /** Parts of it that stand apart count together. */
  readonly isPlain: boolean
}

export interface Needles {
  /** Sought in the bytes as they are. */
  readonly plain: readonly FormOfValue[]
  /** Sought in what is left of the bytes without everything but letters and digits. */
  readonly squeezed: readonly FormOfValue[]
}

export function listNeedles(values: readonly SoughtValue[]): Needles {
  return {
    plain: values.flatMap(listPlain).filter(isNew()),
    squeezed: values.flatMap(listSqueezed).filter(isNew()),
  }
}

/** Whether the characters from `start` to before `end` of the form give the value away. */
export function givesAway(form: FormOfValue, start: number, end: number): boolean {
  if (form.isEnough && start === 0 && end === form.text.length) return true
  const { start: first, end: last } = bytesOf(form, start, end)
  return isPiece(form.value, first, last)
}

/** The bytes of the value that those characters say, if only in part: in base64 twelve bytes share a character with their neighbours. */
export function bytesOf(form: FormOfValue, start: number, end: number): { start: number; end: number } {
  return { start: Math.floor((form.from[start] ?? 0) / 8), end: Math.ceil((form.to[end - 1] ?? 0) / 8) }
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

function listPlain(value: SoughtValue): FormOfValue[] {
  const { bytes } = value
  const backwards = reverse(value)
  const forms = [
    { ...plain('raw', value, bytes), isPlain: true },
    plain('reversed', backwards, backwards.bytes),
    plain('rot13', value, bytes.map(rotate13)),
    ...inBase85(value),
    ...uuencoded(value),
  ]
  if (bytes.includes(0x20))
    forms.push(
      plain(
        'form',
        value,
        bytes.map((byte) => (byte === 0x20 ? 0x2b : byte)),
      ),
    )
  return forms
}

/** Shorter stretches of letters and digits would be found by chance where everything between them is overlooked. */
const MIN_SQUEEZED_CHARS = 10

function listSqueezed(value: SoughtValue): FormOfValue[] {
  const { bytes } = value
  const letters = selectBytes(
    value,
    [...bytes.keys()].filter((at) => isAlphanumeric(bytes[at] ?? 0)),
  )
  const backwards = reverse(letters)
  const reordered = [
    plain('spread', letters, letters.bytes),
    plain('reversed', backwards, backwards.bytes),
    plain('rot13', letters, letters.bytes.map(rotate13)),
  ].map((form) => ({ ...form, isEnough: false }))
  const forms = [
    ...[1, 2, 4, 8].flatMap((word) => inWords('hex', value, word, (unit) => unit.toString('hex'))),
    grouped('hex_list', value, 1, 0, (unit) => `0x${unit.toString('hex')}`),
    ...[1, 2].flatMap((word) => inWords('octal', value, word, toOctal)),
    grouped('decimal_list', value, 1, 0, (unit) => `${unit[0]}`),
    ...inBase64('base64', value, 8),
    ...inBase64('utf16_base64', value, 16),
    ...inBase32(value),
    ...inBase58(value),
  ]
  if (bytes.some((byte) => byte >= 0x80))
    forms.push(grouped('signed_list', value, 1, 0, (unit) => `${Math.abs(unit.readInt8(0))}`))
  return [...reordered, ...forms.map(dropSeparators)].filter(({ text }) => text.length >= MIN_SQUEEZED_CHARS)
}

const isAlphanumeric = (byte: number) =>
  (byte >= 0x30 && byte <= 0x39) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a)

const reverse = (value: SoughtValue) => selectBytes(value, [...value.bytes.keys()].toReversed())

/** A form with a character for each byte. */
function plain(name: string, value: SoughtValue, bytes: Uint8Array): FormOfValue {
  const from = Int32Array.from({ length: bytes.length }, (_, at) => at * 8)
  return {
    name,
    value,
    text: bytes.map((byte) => FOLD[byte] ?? byte),
    from,
    to: from.map((bit) => bit + 8),
    isEnough: true,
    isPlain: false,
  }
}

/** What separates the characters of a form, or is not the same in its dialects, as `+` and `-` of base64. */
function dropSeparators(form: FormOfValue): FormOfValue {
  const kept = [...form.text.keys()].filter((at) => isAlphanumeric(form.text[at] ?? 0))
  if (kept.length === form.text.length) return form
  const pick = (bits: Int32Array) => Int32Array.from(kept, (at) => bits[at] ?? 0)
  return {
    ...form,
    text: Uint8Array.from(kept, (at) => form.text[at] ?? 0),
    from: pick(form.from),
    to: pick(form.to),
  }
}

/** A form of several characters for several bytes: a group that is not there wholly says nothing. */
function grouped(
  name: string,
  value: SoughtValue,
  groupBytes: number,
  first: number,
  write: (unit: Buffer) => string,
): FormOfValue {
  const bytes = Buffer.from(value.bytes)
  const texts: string[] = []
  const from: number[] = []
  const to: number[] = []
  for (let at = first; at + groupBytes <= bytes.length; at += groupBytes) {
    const text = write(bytes.subarray(at, at + groupBytes))
    texts.push(text)
    const start = at * 8
    const end = (at + groupBytes) * 8
    for (let i = 0; i < text.length; i++) {
      from.push(i === 0 ? start : end)
      to.push(i === text.length - 1 ? end : start)
    }
  }
  return {
    name,
    value,
    text: Buffer.from(texts.join(''), 'latin1').map((byte) => FOLD[byte] ?? byte),
    from: Int32Array.from(from),
    to: Int32Array.from(to),
    isEnough: true,
    isPlain: false,
  }
}

/** Words of a little-endian machine, wherever in a word the value begins. */
function inWords(
  name: string,
  value: SoughtValue,
  wordBytes: number,
  write: (unit: Buffer) => string,
): FormOfValue[] {
  const swapped = (unit: Buffer) => write(Buffer.from(unit.toReversed()))
  return Array.from({ length: wordBytes }, (_, first) =>
    grouped(wordBytes === 1 ? name : `${name}_words`, value, wordBytes, first, swapped),
  )
}

function toOctal(unit: Buffer): string {
  const digits = unit.length === 1 ? 3 : 6
  return unit.readUIntBE(0, unit.length).toString(8).padStart(digits, '0')
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

const BASE32 = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567')

function inBase32(value: SoughtValue): FormOfValue[] {
  const { length } = value.bytes
  return [0, 1, 2, 3, 4].map((before) => {
    const encoded = Buffer.alloc(Math.floor(((before + length) * 8) / 5))
    for (let char = 0; char < encoded.length; char++) {
      const bit = char * 5 - before * 8
      const [high = 0, low = 0] = [value.bytes[Math.floor(bit / 8)], value.bytes[Math.floor(bit / 8) + 1]]
      encoded[char] = BASE32[(((high << 8) | low) >> (11 - (((bit % 8) + 8) % 8))) & 31] ?? 0
    }
    return ofBits('base32', value, { encoded, before, length, unitBits: 8 }, 5)
  })
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
  const text = encoded.subarray(first, end).map((byte) => FOLD[byte] ?? byte)
  const scale = 8 / unitBits
  const from = Int32Array.from(text, (_, i) => ((first + i) * bitsPerChar - before * 8) * scale)
  return {
    name,
    value,
    text,
    from,
    to: from.map((bit) => bit + bitsPerChar * scale),
    isEnough: true,
    isPlain: false,
  }
}

const BASE85 = {
  ascii85: Array.from({ length: 85 }, (_, i) => String.fromCharCode(0x21 + i)).join(''),
  z85: '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#',
  base85: '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~',
}

function inBase85(value: SoughtValue): FormOfValue[] {
  return (
    Object.entries(BASE85)
      .flatMap(([name, alphabet]) =>
        [0, 1, 2, 3].map((first) =>
          grouped(name, value, 4, first, (unit) => {
            let rest = unit.readUInt32BE(0)
            let text = ''
            for (let i = 0; i < 5; i++) {
              text = (alphabet[rest % 85] ?? '') + text
              rest = Math.floor(rest / 85)
            }
            return text
          }),
        ),
      )
      // Groups at the ends also depend on what stands beside the value, so that all of it may be less than the value.
      .map((form) => ({ ...form, isEnough: form.value.bytes.length - 4 < form.text.length * 0.8 }))
      .filter(({ text }) => text.length >= MIN_SQUEEZED_CHARS)
  )
}

function uuencoded(value: SoughtValue): FormOfValue[] {
  return [' ', '`']
    .flatMap((zero) =>
      [0, 1, 2].map((first) =>
        grouped('uuencode', value, 3, first, (unit) =>
          Array.from({ length: 4 }, (_, i) => {
            const six = (unit.readUIntBE(0, 3) >> (18 - i * 6)) & 63
            return six === 0 ? zero : String.fromCharCode(0x20 + six)
          }).join(''),
        ),
      ),
    )
    .filter(({ text }) => text.length >= MIN_SQUEEZED_CHARS)
}

const BASE58 = [
  '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz',
  '123456789abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ',
  'rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz',
]
/** The number grows with the square of the value. */
const MOST_BASE58_BYTES = 256

/** Every character depends on every byte, so the value is found where it was encoded alone, and wholly. */
function inBase58(value: SoughtValue): FormOfValue[] {
  if (value.bytes.length > MOST_BASE58_BYTES) return []
  return BASE58.map((alphabet) => {
    let rest = BigInt(`0x${Buffer.from(value.bytes).toString('hex')}`)
    let text = ''
    for (; rest > 0n; rest /= 58n) text = (alphabet[Number(rest % 58n)] ?? '') + text
    const folded = Buffer.from(text).map((byte) => FOLD[byte] ?? byte)
    const nothing = new Int32Array(folded.length)
    return { name: 'base58', value, text: folded, from: nothing, to: nothing, isEnough: true, isPlain: false }
  })
}

function rotate13(byte: number): number {
  const base = byte >= 0x61 && byte <= 0x7a ? 0x61 : byte >= 0x41 && byte <= 0x5a ? 0x41 : undefined
  return base === undefined ? byte : ((byte - base + 13) % 26) + base
}
