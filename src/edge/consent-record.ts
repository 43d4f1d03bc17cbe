// Reads a consent record. Decides on the text of one TXT record; which of several counts is consent.ts.
//
//   v=agw1; gw=gateway.example; acct=<26 characters>; paths=/v1/,/catalog; methods=POST; until=1798761600
//
// `key=value` pairs in any order, joined by `;` or `; `, in printable ASCII. `v`, `gw` and `acct` have to be there. Keys,
// `v`, `until` and methods are written as they stand here, paths are compared letter by letter, `gw` and `acct` in any case.
// A key that is not known refuses the record: whatever it restricts would otherwise be allowed.
import { createHmac, type KeyObject } from 'node:crypto'
import { HttpMethod } from '../../schemas/http.ts'
import { checkPath } from '../egress/target.ts'

export interface ConsentRecord {
  /** Lower case. */
  readonly gateway: string
  /** Lower case. */
  readonly accountToken: string
  readonly paths: readonly string[]
  readonly methods: readonly string[]
  /** Milliseconds; null: until it is removed. */
  readonly until: number | null
}

export type RecordReading =
  | { readonly kind: 'record'; readonly record: ConsentRecord }
  /** Some other use of TXT records, e.g. a wildcard that answers for every name. */
  | { readonly kind: 'foreign' }
  | { readonly kind: 'unsupported_version' }
  /** `why` says what to correct and quotes nothing. */
  | { readonly kind: 'malformed'; readonly why: string }

export const MAX_RECORD_CHARS = 4096
export const MAX_PATHS = 32
const MAX_PATH_CHARS = 1024
const KEYS = new Set(['v', 'gw', 'acct', 'paths', 'methods', 'until'])

/** Matches where somebody meant to write one of ours, however badly. */
const OURS = /(?:^|[;"' ])v *= *agw/i

/** Never throws, in time that is linear in the text. */
export function parseRecord(text: string): RecordReading {
  if (!OURS.test(text)) return { kind: 'foreign' }
  if (text.length > MAX_RECORD_CHARS) return malformed(`it is longer than ${MAX_RECORD_CHARS} characters`)
  if (!/^[ -~]*$/.test(text)) return malformed('it holds characters other than printable ASCII')

  const values = new Map<string, string>()
  for (const pair of text.split(/; ?/)) {
    const mark = pair.indexOf('=')
    if (mark <= 0 || mark === pair.length - 1)
      return malformed('it is not key=value pairs with "; " between them and nothing behind the last')
    const key = pair.slice(0, mark)
    if (values.has(key)) return malformed('a key is there twice')
    values.set(key, pair.slice(mark + 1))
  }
  const version = values.get('v')
  if (version !== undefined && version !== 'agw1' && /^agw[0-9]+$/.test(version))
    return { kind: 'unsupported_version' }
  for (const key of values.keys())
    if (!KEYS.has(key)) return malformed('it has a key other than v, gw, acct, paths, methods and until')
  const [gw, acct] = [values.get('gw'), values.get('acct')]
  if (version === undefined) return malformed('v is missing')
  if (gw === undefined) return malformed('gw is missing')
  if (acct === undefined) return malformed('acct is missing')
  if (version !== 'agw1') return malformed('v is not agw1')
  return readValues(gw.toLowerCase(), acct.toLowerCase(), values)
}

function readValues(
  gateway: string,
  accountToken: string,
  values: ReadonlyMap<string, string>,
): RecordReading {
  if (!/^[a-z0-9.:[\]-]{1,253}$/.test(gateway)) return malformed('gw is not the name of a gateway')
  if (!/^[a-z2-7]{26}$/.test(accountToken)) return malformed('acct is not 26 characters of a-z and 2-7')

  const paths = (values.get('paths') ?? '/').split(',')
  if (paths.length > MAX_PATHS) return malformed(`paths lists more than ${MAX_PATHS}`)
  if (!paths.every((path) => path.length <= MAX_PATH_CHARS && checkPath(path).ok))
    return malformed('paths holds something that is not a canonical path, so no request would match it')

  const methods = (values.get('methods') ?? 'POST').split(',')
  if (!methods.every((method) => HttpMethod.safeParse(method).success))
    return malformed(`methods holds something other than ${HttpMethod.options.join(', ')}`)

  const until = values.get('until') ?? 'never'
  // Ten digits end in 2286; thirteen are somebody's milliseconds, and would never expire.
  if (!/^(?:never|0|[1-9][0-9]{0,9})$/.test(until)) return malformed('until is not "never" or Unix seconds')
  return {
    kind: 'record',
    record: {
      gateway,
      accountToken,
      paths: [...new Set(paths)],
      methods: [...new Set(methods)],
      until: until === 'never' ? null : Number(until) * 1000,
    },
  }
}

const malformed = (why: string): RecordReading => ({ kind: 'malformed', why })

/** The least that consents: every path, POST, until it is removed. */
export const formatRecord = (gateway: string, accountToken: string): string =>
  `v=agw1; gw=${gateway}; acct=${accountToken}`

/**
 * The token that ties a record to one account and one host: nobody can spend an account's credits by publishing its token elsewhere.
 * @param host without port
 * @returns 26 characters, 128 bits
 */
export function accountToken(key: KeyObject, accountId: string, host: string): string {
  return base32(createHmac('sha256', key).update(`${accountId}\n${host}`).digest().subarray(0, 16))
}

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567'

/** RFC 4648 in lower case, without padding. */
export function base32(bytes: Uint8Array): string {
  let text = ''
  let bits = 0
  let held = 0
  for (const byte of bytes) {
    held = (held << 8) | byte
    for (bits += 8; bits >= 5; bits -= 5) text += BASE32.charAt((held >> (bits - 5)) & 31)
    held &= (1 << bits) - 1
  }
  return bits > 0 ? text + BASE32.charAt((held << (5 - bits)) & 31) : text
}

/** A record as `dig` prints it: nothing in it moves a cursor or hides. */
export const showRecord = (text: string): string =>
  text.replace(/[^ -~]|\\/g, (char) =>
    char === '\\' ? '\\\\' : `\\${String(char.charCodeAt(0)).padStart(3, '0')}`,
  )
