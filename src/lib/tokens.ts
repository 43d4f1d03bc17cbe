// Bearer tokens: `agw_<kind>_<43 chars base62 of 256 random bits><6 chars base62 CRC-32>`.
// Kinds: `sk` service key, `cap` capability, `ek` email key; of sign-in `at` access token, `rt` refresh token, `ss` session, `inv` invitation.
// The prefix and checksum let secret scanners find a leaked token without asking the gateway.
import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

export type TokenKind = 'sk' | 'cap' | 'ek' | 'at' | 'rt' | 'ss' | 'inv'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SHAPE = /^agw_(?:sk|cap|ek|at|rt|ss|inv)_[0-9A-Za-z]{49}$/
const CHECKSUM_CHARS = 6
/** Characters behind the kind. */
const TAIL_CHARS = '_'.length + 43 + CHECKSUM_CHARS

function base62(value: bigint, width: number): string {
  let text = ''
  for (let rest = value; text.length < width; rest /= 62n) text = ALPHABET.charAt(Number(rest % 62n)) + text
  return text
}

/** CRC-32 needs no big integers, and every request that shows a token computes one. */
function checksum(text: string): string {
  let digits = ''
  for (let rest = crc32(text); digits.length < CHECKSUM_CHARS; rest = Math.floor(rest / 62))
    digits = ALPHABET.charAt(rest % 62) + digits
  return digits
}

/** @param random 32 bytes; drawn from the system unless a test says otherwise */
export function newToken(kind: TokenKind, random: Buffer = randomBytes(32)): string {
  const head = `agw_${kind}_${base62(BigInt(`0x${random.toString('hex')}`), 43)}`
  return head + checksum(head)
}

/** Judges shape and checksum only; whether the token exists is the store's knowledge. */
export function parseToken(text: string): { kind: TokenKind } | undefined {
  if (!SHAPE.test(text) || !text.endsWith(checksum(text.slice(0, -CHECKSUM_CHARS)))) return undefined
  return { kind: text.slice('agw_'.length, -TAIL_CHARS) as TokenKind }
}

/**
 * The end of every permit's header. The header begins with an algorithm and a key id, both always equally long, so base64 falls
 * on the same bytes each time.
 */
export const PERMIT_HEADER_END = Buffer.from(':"gw-permit+jws"}').toString('base64url')

/**
 * Whether a text, or bytes of one, hold what looks like one of our tokens: mistyped ones too, which give away nearly as much.
 * A permit counts as one: whoever has it may have its request sent.
 */
export const findToken = (text: string | Buffer): boolean =>
  (text.includes('agw_') && /agw_(?:sk|cap|ek|at|rt|ss|inv)_[0-9A-Za-z]/.test(textOf(text))) ||
  (text.includes(PERMIT_HEADER_END) && PERMIT.test(textOf(text)))

const PERMIT = new RegExp(String.raw`${PERMIT_HEADER_END}\.[\w-]`)
const textOf = (text: string | Buffer) => (typeof text === 'string' ? text : text.toString('latin1'))

/**
 * The same where a library has encoded the token before it sends it: in `Basic`, in a document or a subprotocol in base64, or as an address
 * takes it.
 */
export function findEncodedToken(text: string): boolean {
  const plain = text.replaceAll(/%([\da-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  if (findToken(plain)) return true
  // A slash is a letter of base64, and stands between segments of a path.
  return (plain.match(BASE64) ?? []).some((word) => encodesToken(word) || word.split('/').some(encodesToken))
}

/** Long enough for the beginning of one. */
const BASE64 = /[\w+/-]{11,}/g
const encodesToken = (base64: string) => findToken(Buffer.from(base64, 'base64'))

/** @returns the SHA-256 that is stored. Tokens are 256 random bits, so a plain hash is enough: there is nothing to guess. */
export function hashToken(token: string): Buffer {
  // A buffer straight out of the hash costs three times as much as one made from its text.
  return Buffer.from(hash('sha256', token, 'binary'), 'binary')
}
