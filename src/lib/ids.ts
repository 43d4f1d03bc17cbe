// Row ids: `<prefix>_<9 chars time><26 chars of 128 random bits>`, Crockford base32, lower case.
// The time in front keeps B-tree inserts at the right edge, so a store of a million rows costs what an empty one does;
// the 128 random bits behind it make an id unguessable where holding it is the right to read (receipts).
import { randomFillSync } from 'node:crypto'

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

/** 9 characters of 5 bits: milliseconds until the year 3084. */
function timeChars(now: number): string {
  let text = ''
  let rest = Math.floor(now)
  for (let i = 0; i < 9; i++) {
    text = ALPHABET[rest % 32]! + text
    rest = Math.floor(rest / 32)
  }
  return text
}

/** Of one millisecond many ids are made. */
let lastTime = { now: -1, text: '' }

function timeText(now: number): string {
  if (lastTime.now !== now) lastTime = { now, text: timeChars(now) }
  return lastTime.text
}

const LETTERS = Buffer.from(ALPHABET)

/** One call of the system for many ids: it costs more than all the rest of an id. Made letters at once, to be cut out. */
const RANDOM_PER_ID = 26
const pool = Buffer.alloc(RANDOM_PER_ID * 256)
let used = pool.length

/** 26 characters of 5 bits: 130 bits, of which 128 were asked for. */
export function randomText(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    for (let i = 0; i < pool.length; i++) pool[i] = LETTERS[pool[i]! & 31]!
    used = 0
  }
  const from = used
  used += RANDOM_PER_ID
  return pool.toString('latin1', from, used)
}

export const newId = (prefix: IdPrefix, now: number = Date.now()): string =>
  `${prefix}_${timeText(now)}${randomText()}`
