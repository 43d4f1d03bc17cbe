// Row ids: `<prefix>_<9 chars time><26 chars of 128 random bits>`, Crockford base32, lower case.
// The time in front keeps B-tree inserts at the right edge, so a store of a million rows costs what an empty one does;
// the 128 random bits behind it make an id unguessable where holding it is the right to read (receipts).
import { randomBytes } from 'node:crypto'

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

export type IdPrefix =
  | 'acct'
  | 'key'
  | 'cred'
  | 'cap'
  | 'att'
  | 'rcp'
  | 'req'
  | 'txn'
  | 'task'
  | 'boot'
  | 'clm'
  | 'qte'
  | 'evd'
  | 'mdt'
  | 'pmt'
  | 'ek'

function timeChars(now: number): string {
  let text = ''
  // 9 characters of 5 bits: milliseconds until the year 3084.
  let rest = Math.floor(now)
  for (let i = 0; i < 9; i++) {
    text = ALPHABET[rest % 32]! + text
    rest = Math.floor(rest / 32)
  }
  return text
}

/** One call of the system for many ids: it costs more than all the rest of an id. */
const RANDOM_PER_ID = 26
let pool = Buffer.alloc(0)
let used = 0

function takeRandom(): Buffer {
  if (used === pool.length) {
    pool = randomBytes(RANDOM_PER_ID * 64)
    used = 0
  }
  used += RANDOM_PER_ID
  return pool.subarray(used - RANDOM_PER_ID, used)
}

/** 26 characters of 5 bits: 130 bits, of which 128 were asked for. */
export function randomText(): string {
  let text = ''
  for (const byte of takeRandom()) text += ALPHABET[byte & 31]
  return text
}

export const newId = (prefix: IdPrefix, now: number = Date.now()): string =>
  `${prefix}_${timeChars(now)}${randomText()}`
