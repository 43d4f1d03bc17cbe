// Fields of a form, one name sought among them. Bodies are strangers', and hold as many fields as fit: a parser's list of them all takes
// seconds of a megabyte, and an error for each escape that is none takes longer still.

const AMPERSAND = 0x26
const SEMICOLON = 0x3b
const EQUALS = 0x3d
const PERCENT = 0x25
const PLUS = 0x2b
const SPACE = 0x20

/**
 * Values of the fields of one name, in their order, as a form's parser reads both (WHATWG URL, application/x-www-form-urlencoded).
 * @param name ASCII, with neither a space nor one of `&=%+` in it
 */
export function* valuesOf(form: Buffer, name: string): Generator<string> {
  for (let start = 0; start < form.length;) {
    const end = endOfField(form, start)
    const value = valueOf(form, start, end, name)
    if (value !== undefined) yield decodeForm(form, value, end)
    start = end + 1
  }
}

/**
 * Servers differ in what separates fields, in the case of names and in how they write lists: whichever they take for the name.
 * @param form or a query, which is written alike
 */
export function mayHoldField(form: Buffer, name: string): boolean {
  const wanted = name.toLowerCase()
  for (let start = 0; start < form.length;) {
    const end = endOfField(form, start, SEMICOLON)
    const nameEnd = endOfName(form, start, end)
    // Nothing is longer once it is decoded: most of what was made to be long is not looked at.
    if (nameEnd - start >= wanted.length) {
      const given = decodeForm(form, start, nameEnd).trim().toLowerCase()
      if (given === wanted || given.startsWith(`${wanted}[`)) return true
    }
    start = end + 1
  }
  return false
}

/** Whether there are more than so many fields, wherever a server takes one to end. */
export function holdsMoreFields(form: Buffer, limit: number): boolean {
  let fields = 1
  for (const byte of form) if ((byte === AMPERSAND || byte === SEMICOLON) && ++fields > limit) return true
  return false
}

/** @param other byte that ends a field, too */
function endOfField(form: Buffer, start: number, other = AMPERSAND): number {
  let at = start
  while (at < form.length && form[at] !== AMPERSAND && form[at] !== other) at++
  return at
}

function endOfName(form: Buffer, start: number, end: number): number {
  let at = start
  while (at < end && form[at] !== EQUALS) at++
  return at
}

/** @returns where the value of the field begins; undefined where it is of another name */
function valueOf(form: Buffer, start: number, end: number, name: string): number | undefined {
  let at = start
  for (let i = 0; i < name.length; i++) {
    if (at >= end) return undefined
    const escaped = escapeAt(form, at, end)
    if ((escaped ?? form[at]) !== name.charCodeAt(i)) return undefined
    at += escaped === undefined ? 1 : 3
  }
  if (at === end) return end
  return form[at] === EQUALS ? at + 1 : undefined
}

/** What is no escape stays, and bytes that are no UTF-8 become U+FFFD. */
function decodeForm(form: Buffer, start: number, end: number): string {
  const decoded = Buffer.allocUnsafe(end - start)
  let length = 0
  for (let at = start; at < end; at++) {
    const escaped = escapeAt(form, at, end)
    const byte = form[at] ?? 0
    decoded[length++] = escaped ?? (byte === PLUS ? SPACE : byte)
    if (escaped !== undefined) at += 2
  }
  return decoded.toString('utf8', 0, length)
}

/** @returns the byte that is escaped there */
function escapeAt(form: Buffer, at: number, end: number): number | undefined {
  if (form[at] !== PERCENT || at + 2 >= end) return undefined
  const byte = digitOf(form[at + 1]) * 16 + digitOf(form[at + 2])
  return Number.isNaN(byte) ? undefined : byte
}

/** @returns the value of a hexadecimal digit; NaN of any other byte */
function digitOf(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN
}
