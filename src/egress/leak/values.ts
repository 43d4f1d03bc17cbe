// What a secret is to a search: its byte forms, what an upstream decodes it to, and how much of its beginning everybody knows.
import { isUtf8 } from 'node:buffer'
import { createPrivateKey } from 'node:crypto'
import { createBudget } from './budget.ts'
import { decodeEscapes } from './escapes.ts'
import { createValue, type SoughtValue } from './pieces.ts'

/** Shorter secrets occur by chance, so storing them is refused. */
export const MIN_SECRET_BYTES = 8

interface SoughtText {
  readonly text: string
  /** How many of its first characters are no secret. */
  readonly publicChars: number
}

/** @param scheme for Basic, the pair that an upstream decodes the secret to is looked for as well */
export function listTexts(secret: string, scheme: string): SoughtText[] {
  return spellingsOf(secret).flatMap((text) => [
    { text, publicChars: countPublic(text) },
    ...decodeBasic(text, scheme),
  ])
}

/** @param scheme as for the texts */
export function listValues(secret: string, scheme: string): SoughtValue[] {
  const values = listTexts(secret, scheme).flatMap(({ text, publicChars }) =>
    byteForms(text).map((bytes) => createValue(bytes, Math.min(publicChars, bytes.length))),
  )
  const unescaped = values
    .filter(({ bytes }) => bytes.length <= LONGEST_OF_CHANCE || isUtf8(bytes))
    .flatMap(({ bytes }) => undoEscapes(bytes).map((form) => createValue(form)))
  return [...values, ...unescaped, ...decodePrivateKey(secret)]
    .filter(({ bytes }) => bytes.length >= MIN_SECRET_BYTES)
    .filter(({ bytes }, i, all) => all.findIndex((other) => Buffer.compare(other.bytes, bytes) === 0) === i)
}

/**
 * A letter with a mark (`ü`) is one character, or two: software writes the same text in either way, a file system of macOS in the second (NFD), a
 * server that compares passwords in its compatibility form (NFKC). Sought are all of them, so that an answer is searched for them in every
 * encoding, and costs no more where the secret has no such letter.
 */
const FORMS = ['NFC', 'NFD', 'NFKC', 'NFKD'] as const
const spellingsOf = (text: string): readonly string[] => [
  ...new Set([text, ...(isSpelled(text) ? FORMS.map((form) => text.normalize(form)) : [])]),
]
/**
 * What is full of control characters is no text but bytes, such as a key for signing, of which they are a quarter: nobody spells that, and it would
 * be sought five times over. One form feed that was pasted with a text makes it no bytes.
 */
const isSpelled = (text: string) =>
  NOT_ASCII.test(text) &&
  (text.match(CONTROLS)?.length ?? 0) <= Math.max(1, text.length / LEAST_CHARS_PER_CONTROL)
const NOT_ASCII = /[^\0-\x7f]/
/** Without tabs and ends of lines. */
const CONTROLS = /[^\P{Cc}\t\n\r]/gu
const LEAST_CHARS_PER_CONTROL = 16

/**
 * In longer UTF-16 something looks like an escape by chance, and the text would be sought several times over. What stands between two of them
 * is found as it is.
 */
const LONGEST_OF_CHANCE = 1024

/** UTF-8 and Latin-1; and where neither is what escapes are decoded to, that. */
function byteForms(text: string): Uint8Array[] {
  const utf8 = Buffer.from(text, 'utf8')
  if (utf8.length === text.length) return [utf8]
  const isLatin = !/[^\0-\u00ff]/.test(text)
  if (isLatin) return [utf8, Buffer.from(text, 'latin1')]
  const mixed = [...text].map((char) =>
    char.charCodeAt(0) < 0x100 ? Buffer.from(char, 'latin1') : Buffer.from(char, 'utf8'),
  )
  const utf16 = Buffer.from(text, 'utf16le')
  return [utf8, Buffer.concat(mixed), utf16, Buffer.from(utf16).swap16()]
}

/**
 * A secret that holds what looks like an escape reads differently once the escapes around it are undone, and once more when
 * they are undone again.
 */
function undoEscapes(bytes: Uint8Array): Uint8Array[] {
  const once = (['literal', 'css'] as const).flatMap((dialect) => undo(bytes, dialect))
  return [...once, ...once.flatMap((form) => undo(form, 'literal'))]
}

function undo(bytes: Uint8Array, dialect: 'literal' | 'css'): Uint8Array[] {
  const all = [{ start: 0, end: bytes.length }]
  const form = decodeEscapes(bytes, all, dialect, createBudget(Number.POSITIVE_INFINITY))
  return form ? [form] : []
}

function decodeBasic(secret: string, scheme: string): SoughtText[] {
  if (!/^basic$/i.test(scheme)) return []
  return pairsOf(secret).flatMap(splitPair)
}

/** One text in base64 is letters only once it is decoded: its spellings are those of what it says, in UTF-8 or as Latin-1. */
function pairsOf(secret: string): readonly string[] {
  if (secret.includes(':')) return [secret]
  const bytes = Buffer.from(secret, 'base64')
  const latin1 = bytes.toString('latin1')
  return [...new Set([...spellingsOf(isUtf8(bytes) ? bytes.toString('utf8') : latin1), latin1])]
}

/** A user name is public, unless it is the key itself and the password is left empty. */
function splitPair(pair: string): SoughtText[] {
  const colon = pair.indexOf(':')
  if (colon < 0) return []
  const user = pair.slice(0, colon)
  const password = pair.slice(colon + 1)
  if (password.length < MIN_SECRET_BYTES)
    return [pair, password, user].map((text) => ({ text, publicChars: countPublic(text) }))
  return [
    { text: pair, publicChars: colon + 1 },
    { text: password, publicChars: countPublic(password) },
  ]
}

/**
 * Beginnings that issuers print in their documents, or give out beside the key: ids of accounts, workspaces and users, the readable
 * parts of a token, the frame of a key file. An answer may hold them and no secret.
 */
const PUBLIC_BEGINNINGS: readonly RegExp[] = [
  // JSON Web Token: everything but the signature.
  /^eyJ[\w-]+\.[\w-]+\./,
  // Stripe: the account's id is in the keys of today, which are much longer than those before.
  /^[a-z]k_(?:live|test)_51\w{15}(?=\w{60})/,
  /^xox[a-z]-(?:\d+-)+/,
  /^SG\.[\w-]{22}\./,
  /^[MNO][\w-]{23,27}\./,
  /^pat\w{14}\./,
  /^\d{6,12}:/,
  /^pypi-AgEIcHlwaS5vcmc/,
  /^(?:AKIA|ASIA|AIza|ya29\.)/,
]
/** Of anybody else: short words, each with its separator. */
const WORDS_AT_FIRST = /^(?:[A-Za-z]{1,10}\d{0,2}[_.-]){1,4}/
/** What follows a prefix is longer than it. A key that is groups of letters all through (`xkqv-bzwr-jhmp-fgyt`) has none … */
const LEAST_AFTER_WORDS = 16
/** … unless they are words: these have 2.4 to 3 bits a letter, random groups 3.8. */
const MOST_BITS_OF_WORDS = 3

function countPublic(text: string): number {
  if (text.startsWith('-----BEGIN ')) return text.length
  const basic = /^[A-Za-z\d+/]{8,}={0,2}$/.test(text) ? Buffer.from(text, 'base64').toString('latin1') : ''
  const colon = /^[\x20-\x7e]+$/.test(basic) ? basic.indexOf(':') : -1
  if (colon > 0) return Math.floor(((colon + 1) * 4) / 3)
  for (const beginning of PUBLIC_BEGINNINGS) {
    const [found] = beginning.exec(text) ?? []
    if (found !== undefined) return found.length
  }
  return countWordsAtFirst(text)
}

function countWordsAtFirst(text: string): number {
  const [words = ''] = WORDS_AT_FIRST.exec(text) ?? []
  const after = text.length - words.length
  if (after >= Math.max(LEAST_AFTER_WORDS, words.length)) return words.length
  const said = createValue(Buffer.from(words)).bits.at(-1) ?? 0
  return said <= words.length * MOST_BITS_OF_WORDS ? words.length : 0
}

/** The numbers of a private key that are not in its public key. Its file, as a whole, is looked for beside them. */
function decodePrivateKey(file: string): SoughtValue[] {
  if (!file.startsWith('-----BEGIN ')) return []
  try {
    const { d, p, q } = createPrivateKey(file).export({ format: 'jwk' })
    return [d, p, q]
      .filter((number) => number !== undefined)
      .map((number) => createValue(Buffer.from(number, 'base64url')))
  } catch {
    // What is no key of a known kind (of OpenSSH or PGP, or under a passphrase) is looked for as the text between its frame.
    const text = file.replace(/^-----BEGIN [^-\n]*-----\s*/, '').replace(/\s*-----END [^-\n]*-----\s*$/, '')
    return [createValue(Buffer.from(text))]
  }
}
