// Row ids: `<prefix>_<9 characters of time><26 characters of at least 128 random bits>`, Crockford base32, lower case.
// The time in front keeps B-tree inserts at the right edge, so a store of a million rows costs what an empty one does;
// the 128 random bits behind it make an id unguessable where holding it is the right to read (receipts).
import { randomFillSync } from 'node:crypto'

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
/** Of each random byte the letter of its lowest five bits: 32 divides 256, so that all letters are equally likely. */
const LETTER_OF = Uint8Array.from({ length: 256 }, (_, byte) => ALPHABET.charCodeAt(byte & 31))

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
  | 'rfd'
  | 'mtx'
  | 'pay'
  | 'pbt'
  | 'qte'
  | 'evd'
  | 'evt'
  | 'mdt'
  | 'pmt'
  | 'ek'
  | 'rot'
  | 'per'
  | 'ses'
  | 'inv'
  | 'psk'
  | 'con'
  | 'job'
  | 'prv'
  | 'nty'
  | 'ntg'

/** 9 characters of 5 bits: milliseconds until the year 3084. */
function timeChars(now: number): string {
  let text = ''
  let rest = Math.floor(now)
  for (let i = 0; i < 9; i++) {
    text = ALPHABET.charAt(rest % 32) + text
    rest = Math.floor(rest / 32)
  }
  return text
}

/** Many ids share a millisecond, so its text is cached. */
let lastTime = { now: -1, text: '' }

function timeText(now: number): string {
  if (lastTime.now !== now) lastTime = { now, text: timeChars(now) }
  return lastTime.text
}

/**
 * Ids are cut out of letters that were drawn for many of them: one call of the system for random bytes costs 1 us, more than
 * all the rest of an id.
 */
const RANDOM_PER_ID = 26
const random = Buffer.alloc(RANDOM_PER_ID * 256)
let letters = ''
let used = 0

/** @returns 26 characters of 5 bits: 130 bits, of which 128 were asked for */
function randomText(): string {
  if (used === letters.length) {
    randomFillSync(random)
    // In place, and one string of all: a string that grows by a letter leaves an object behind for each of them.
    for (let i = 0; i < random.length; i++) random[i] = LETTER_OF[random[i] ?? 0] ?? 0
    letters = random.toString('latin1')
    used = 0
  }
  used += RANDOM_PER_ID
  return letters.slice(used - RANDOM_PER_ID, used)
}

/** @param now milliseconds since the epoch; ids of later times sort behind those of earlier ones */
export const newId = (prefix: IdPrefix, now: number = Date.now()): string =>
  `${prefix}_${timeText(now)}${randomText()}`

/** The last moment that an id can name. */
const LAST_TIME = 32 ** 9 - 1

/** @returns what sorts before every id of this moment and behind those of earlier ones, so that ids bound a list by time */
export const firstIdAt = (prefix: IdPrefix, at: number): string =>
  `${prefix}_${timeChars(Math.min(Math.max(at, 0), LAST_TIME))}`

/**
 * @param id an id, or its beginning as `firstIdAt` makes it
 * @returns the moment that it was made at, in milliseconds since the epoch; undefined where it holds none
 */
export function timeOfId(id: string): number | undefined {
  const time = /^[a-z]+_([0-9a-z]{9})/.exec(id)?.[1]
  if (time === undefined) return undefined
  let at = 0
  for (const letter of time) {
    const value = ALPHABET.indexOf(letter)
    if (value < 0) return undefined
    at = at * 32 + value
  }
  return at
}
