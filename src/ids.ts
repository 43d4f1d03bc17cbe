// Row ids: `<prefix>_<9 chars time><26 chars of 128 random bits>`, Crockford base32, lower case.
// The time in front keeps B-tree inserts at the right edge, so a store of a million rows costs what an empty one does;
// the 128 random bits behind it make an id unguessable where holding it is the right to read (receipts).
import { randomBytes } from 'node:crypto'

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

export type IdPrefix = 'acct' | 'key' | 'cred' | 'cap' | 'att' | 'rcp' | 'req' | 'txn' | 'task' | 'boot'

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

export function newId(prefix: IdPrefix, now: number = Date.now()): string {
  const random = randomBytes(26)
  let text = ''
  // 26 characters of 5 bits: 130 bits, of which 128 were asked for.
  for (const byte of random) text += ALPHABET[byte & 31]
  return `${prefix}_${timeChars(now)}${text}`
}
