// Whether a response holds the secret, in any of the forms that an echo, an error page, a log or a debugger gives it.
// Decides on one complete response before a byte of it goes back. A host that transforms the secret on purpose
// (enciphers it, sends it bit by bit) is beyond any gate: that is what the allow-list of hosts is for.
import type { Secret } from '../../lib/secret.ts'
import type { Budget } from './budget.ts'
import { encodeEveryWay } from './encodings.ts'
import { findInEveryDecoding } from './decodings.ts'
import { createSearcher, type Pattern } from './multi-search.ts'
import type { OutboundResponse } from '../ports.ts'

/** Shorter secrets occur by chance, so storing them is refused. */
export const MIN_SECRET_BYTES = 8

export type SearchVerdict =
  | { readonly ok: true }
  | {
      readonly ok: false
      readonly reason: 'reflected'
      readonly where: 'status_line' | 'headers' | 'trailers' | 'body'
      /** The encoding, e.g. `base64`, or `json+hex` for hexadecimal within a JSON string. */
      readonly encoding: string
    }

/** What is searched of a response: all that the upstream chose the bytes of. */
export type Searched = Pick<OutboundResponse, 'statusText' | 'headers' | 'body'>

/** What must not come back: every secret of a credential, and its scheme, which says what an upstream decodes one to (Basic). */
export interface Sought {
  readonly secrets: readonly Secret<string>[]
  readonly scheme: string
}

export interface LeakSearch {
  /** @throws {OverBudget} where the response would cost more than `budget` has left: then nothing is known about it */
  inspect(response: Searched, budget: Budget): SearchVerdict
}

/** A search is each secret in forty disguises, so it must not be kept: opened-credential-cache.ts says for how long it is. */
export function createLeakSearch({ secrets, scheme }: Sought): LeakSearch {
  const values = secrets.flatMap((secret) => secret.use((text) => valuesToFind(text, scheme)))
  const searcher = createSearcher(unique(values.flatMap(encodeEveryWay)))

  function probe(where: Place, bytes: Uint8Array, budget: Budget): SearchVerdict | undefined {
    if (bytes.length < MIN_SECRET_BYTES) return undefined
    const encoding = findInEveryDecoding(bytes, searcher.find, budget)
    return encoding === undefined ? undefined : { ok: false, reason: 'reflected', where, encoding }
  }

  return {
    inspect({ statusText, headers, body }, budget) {
      /** Heads come as Latin-1. */
      const probeText = (where: Place, text: string) => probe(where, Buffer.from(text, 'latin1'), budget)
      return (
        probeText('status_line', statusText) ??
        probeText('headers', joinHeaders(headers, false)) ??
        probeText('trailers', joinHeaders(headers, true)) ??
        probe('body', body, budget) ??
        CLEAN
      )
    },
  }
}

type Place = Extract<SearchVerdict, { ok: false }>['where']

const CLEAN: SearchVerdict = { ok: true }

/** One line for each header, without an end behind the last. */
const joinHeaders = (headers: OutboundResponse['headers'], ofTrailer: boolean): string =>
  headers
    .filter(({ trailer = false }) => trailer === ofTrailer)
    .map(({ name, value }) => `${name}: ${value}`)
    .join('\n')

/** @returns the secret in both its byte forms, and for Basic also what the upstream decodes it to */
function valuesToFind(text: string, scheme: string): Buffer[] {
  const texts = [text]
  if (/^basic$/i.test(scheme)) {
    const decoded = Buffer.from(text, 'base64').toString('latin1')
    const pair = text.includes(':') ? text : decoded
    const colon = pair.indexOf(':')
    if (colon >= 0) {
      const password = pair.slice(colon + 1)
      texts.push(pair, password)
      // A user name is public, unless it is the key itself and the password is left empty.
      if (password.length < MIN_SECRET_BYTES) texts.push(pair.slice(0, colon))
    }
  }
  return texts
    .flatMap((value) => [Buffer.from(value, 'utf8'), Buffer.from(value, 'latin1')])
    .filter((value) => value.length >= MIN_SECRET_BYTES)
    .filter((value, i, all) => all.findIndex((other) => other.equals(value)) === i)
}

function unique(patterns: readonly Pattern[]): Pattern[] {
  return [
    ...new Map(patterns.map((pattern) => [Buffer.from(pattern.bytes).toString('latin1'), pattern])).values(),
  ]
}
