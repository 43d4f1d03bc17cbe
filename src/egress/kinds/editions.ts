// The newest edition of each credential that this process has heard of, without asking the store: what it sent, minted or stored itself.
// Numbers alone, never a secret.
import { keepNewest } from '../../lib/keep-newest.ts'

/** Which secret: the version of the credential, and the generation of what was minted from it (0 where nothing is). */
export interface Edition {
  readonly version: number
  readonly generation: number
}

export interface Editions {
  /** Hears of an edition, before a request under it leaves. One that is older than what is known changes nothing. */
  note(credentialId: string, edition: Edition): void
  /** @returns undefined where nothing is remembered of it */
  newest(credentialId: string): Edition | undefined
  /** What the store says, in the place of `known`; unless something else was heard since that was read. */
  replace(credentialId: string, known: Edition | undefined, found: Edition): void
}

/** One that is forgotten is asked for. */
const MOST_CREDENTIALS = 10_000

/** Generations begin anew with each secret that is stored. */
export const isNewer = (one: Edition, other: Edition): boolean =>
  one.version === other.version ? one.generation > other.generation : one.version > other.version

export function createEditions(): Editions {
  const editions = new Map<string, Edition>()
  function set(credentialId: string, edition: Edition): void {
    editions.set(credentialId, edition)
    keepNewest(editions, MOST_CREDENTIALS)
  }
  return {
    note(credentialId, edition) {
      const known = editions.get(credentialId)
      if (!known || isNewer(edition, known)) set(credentialId, edition)
    },
    newest: (credentialId) => editions.get(credentialId),
    replace(credentialId, known, found) {
      if (editions.get(credentialId) === known) set(credentialId, found)
    },
  }
}
