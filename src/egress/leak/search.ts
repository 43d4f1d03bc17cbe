// Whether a response holds the secret, in any of the forms that an echo, an error page, a log or a debugger gives it.
// Decides on one complete response before a byte of it goes back. A host that transforms the secret on purpose
// (enciphers it, sends it bit by bit) is beyond any gate: that is what the allow-list of hosts is for.
import { finish } from '../../lib/in-turns.ts'
import type { Secret } from '../../lib/secret.ts'
import type { Budget } from './budget.ts'
import { buildReader, type SeenParts, SHORTEST_PART } from './reading.ts'
import { listValues, MIN_SECRET_BYTES } from './values.ts'
import type { OutboundResponse } from '../ports.ts'

export { MIN_SECRET_BYTES }

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
  /**
   * @param seen parts of the secret in what came before of the same answer; those of this one are added
   * @throws {OverBudget} where the response would cost more than `budget` has left: then nothing is known about it
   */
  inspect(response: Searched, budget: Budget, seen?: SeenParts): SearchVerdict
}

/** A search is each secret in a hundred disguises, so it must not be kept: opened-credential-cache.ts says for how long it is. */
export const createLeakSearch = (sought: Sought): LeakSearch => finish(buildLeakSearch(sought))

/** Of a kilobyte that is sought 25 steps take some two milliseconds. */
const BYTES_OF_TURN = 25 * 1024

/** How many steps of what is made of the secrets everybody else may wait for. */
export const stepsOfTurn = ({ secrets }: Sought): number =>
  Math.max(1, Math.floor(BYTES_OF_TURN / countBytes(secrets)))

/** In UTF-8, of all together. */
export const countBytes = (secrets: Sought['secrets']): number =>
  secrets.reduce((sum, secret) => sum + secret.use((text) => Buffer.byteLength(text)), 0)

/** The same, step by step. */
export function* buildLeakSearch({ secrets, scheme }: Sought): Generator<undefined, LeakSearch> {
  const values = secrets.flatMap((secret) => secret.use((text) => listValues(text, scheme)))
  const reader = yield* buildReader(values)

  return {
    inspect({ statusText, headers, body }, budget, seen) {
      const read = reader.readAnswer(budget, seen)
      const probe = (where: Place, bytes: Uint8Array, encodings: readonly string[] = []) => {
        const encoding = bytes.length < SHORTEST_PART ? undefined : read(bytes, encodings)
        return encoding === undefined
          ? undefined
          : ({ ok: false, reason: 'reflected', where, encoding } as const)
      }
      /** Heads come as Latin-1. */
      const probeText = (where: Place, text: string) => probe(where, Buffer.from(text, 'latin1'))
      const probeHeaders = (where: Place, isTrailer: boolean) => {
        const here = headers.filter(({ trailer = false }) => trailer === isTrailer)
        if (here.length === 0) return undefined
        // The second time without the names, so that values which stand beside one another are one stretch.
        const lines = here.map(({ name, value }) => `${name}: ${value}`)
        return (
          probeText(where, lines.join('\n')) ?? probeText(where, here.map(({ value }) => value).join('\n'))
        )
      }
      return (
        probeText('status_line', statusText) ??
        probeHeaders('headers', false) ??
        probeHeaders('trailers', true) ??
        probe('body', body, contentEncodings(headers)) ??
        CLEAN
      )
    },
  }
}

type Place = Extract<SearchVerdict, { ok: false }>['where']

const CLEAN: SearchVerdict = { ok: true }

const contentEncodings = (headers: OutboundResponse['headers']): string[] =>
  headers
    .filter(({ name }) => name === 'content-encoding')
    .flatMap(({ value }) => value.toLowerCase().split(/[ ,]+/))
    .filter((encoding) => encoding !== '' && encoding !== 'identity')
