// DER (X.690) as far as certificates need it: each function returns one whole value, tag and length included.

const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const

/** A value with any tag; `explicit` and the tags of alternatives (`[2]` in a general name) are made of it. */
export function value(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents)
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content])
}

/** X.690, 8.1.3: seven bits in one byte, or the count of the bytes that follow. */
function lengthOf(bytes: number): Buffer {
  if (bytes < 0x80) return Buffer.from([bytes])
  const digits: number[] = []
  for (let rest = bytes; rest > 0; rest = Math.floor(rest / 256)) digits.unshift(rest % 256)
  return Buffer.from([0x80 | digits.length, ...digits])
}

export const sequence = (...members: readonly Buffer[]): Buffer => value(TAG.sequence, ...members)
export const set = (...members: readonly Buffer[]): Buffer => value(TAG.set, ...members)
export const octetString = (bytes: Buffer): Buffer => value(TAG.octetString, bytes)
export const utf8String = (text: string): Buffer => value(TAG.utf8String, Buffer.from(text))
export const boolean = (is: boolean): Buffer => value(TAG.boolean, Buffer.from([is ? 0xff : 0x00]))

/** @param unusedBits at the end of the last byte, which are zero */
export const bitString = (bytes: Buffer, unusedBits = 0): Buffer =>
  value(TAG.bitString, Buffer.from([unusedBits]), bytes)

/** A positive integer, big-endian: without leading zeros, but for the one that keeps it positive. */
export function integer(bytes: Buffer): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0)
  const digits = first < 0 ? Buffer.alloc(1) : bytes.subarray(first)
  return value(TAG.integer, Buffer.alloc((digits[0] ?? 0) >= 0x80 ? 1 : 0), digits)
}

/** @param dotted such as `1.2.840.10045.4.3.2` */
export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return value(TAG.objectIdentifier, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

/** X.690, 8.19.2: seven bits a byte, the highest bit set on all but the last. */
function base128(arc: number): number[] {
  const digits = [arc % 128]
  for (let rest = Math.floor(arc / 128); rest > 0; rest = Math.floor(rest / 128))
    digits.unshift((rest % 128) | 0x80)
  return digits
}

/**
 * RFC 5280, 4.1.2.5: two digits of the year until 2049, four from 2050 on.
 * @param ms since the epoch; cut to whole seconds
 */
export function time(ms: number): Buffer {
  const digits = new Date(ms)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replace(/[-:T]/g, '')
  return Number(digits.slice(0, 4)) < 2050
    ? value(TAG.utcTime, Buffer.from(digits.slice(2)))
    : value(TAG.generalizedTime, Buffer.from(digits))
}

/** `[n] EXPLICIT` */
export const explicit = (n: number, content: Buffer): Buffer => value(0xa0 | n, content)
