// Where an answer is searched: a short search runs here, between two turns of the event loop; a long one runs in a thread, and so does
// one for long secrets, so that neither an answer nor a credential, whatever was made of it, keeps the gateway from its other clients.
import { finishInTurns } from '../../lib/in-turns.ts'
import type { Secret } from '../../lib/secret.ts'
import { createBudget, OverBudget } from './budget.ts'
import type { SeenParts } from './reading.ts'
import {
  buildLeakSearch,
  countBytes,
  createLeakSearch,
  type LeakSearch,
  type Searched,
  type SearchVerdict,
  type Sought,
  stepsOfTurn,
} from './search.ts'

/** The third outcome: nobody knows what is in the response, so it is not passed on. */
export interface Unsearched {
  readonly ok: false
  /** More work than any search may do; too many searches waiting; the thread died, hung or is shutting down. */
  readonly reason: 'over_budget' | 'busy' | 'failed'
}

export type LeakVerdict = SearchVerdict | Unsearched

export interface LeakGate {
  /**
   * Never rejects. The response must not be changed before the verdict is there.
   * @param seen of an answer that is searched in pieces: what came before; a piece that a thread has to search adds nothing to it
   */
  inspect(response: Searched, seen?: SeenParts): Promise<LeakVerdict>
  /**
   * Makes what it searches by where that is done here, or begins to: it takes some milliseconds, and while the answer is awaited nobody waits
   * for that. Never throws.
   */
  prepare?(): void
}

/** @param credential whose account's searches wait for one another, before anybody else's wait for them */
export type CreateLeakGate = (
  secrets: readonly Secret<string>[],
  credential: { readonly accountId: string; readonly scheme: string },
) => LeakGate

/** Runs searches beside the event loop. */
export interface SearchThreads {
  /** Never rejects. What is sought is known to a thread for as long as it searches, and no longer. */
  search(accountId: string, sought: Sought, response: Searched): Promise<LeakVerdict>
}

/** About two milliseconds. What is longer costs a thread less than everybody else's wait here. */
const STEPS_HERE = 1_000_000
/** A pass over the bytes is a step for each, and an ordinary text takes eight passes: this is spent without doubt. */
const BYTES_HERE = STEPS_HERE / 8
/**
 * In UTF-8, of all secrets together. A search is made of about 125 characters for each byte that is sought, whatever is searched then: a
 * kilobyte takes some ten milliseconds.
 */
const SOUGHT_BYTES_AT_ONCE_HERE = 1024
/**
 * So much, which is as long as a secret may be, is made here in turns, so that a stream is searched by what is made once and its parts count
 * together: a thread makes it anew for each piece.
 */
export const SOUGHT_BYTES_HERE = 16 * 1024

export function createLeakGates(threads: SearchThreads): CreateLeakGate {
  /** One search is made in turns at a time, whosever it is: meanwhile threads, which are shared fairly, make those of others. */
  let isMaking = false

  return (secrets, { accountId, scheme }) => {
    const sought = { secrets, scheme }
    const soughtBytes = countBytes(secrets)
    let search: LeakSearch | undefined
    let making: Promise<LeakSearch | undefined> | undefined

    /** Makes the search, or begins to. @returns undefined where a thread makes it */
    function make(): LeakSearch | Promise<LeakSearch | undefined> | undefined {
      if (search) return search
      if (soughtBytes <= SOUGHT_BYTES_AT_ONCE_HERE) return (search = createLeakSearch(sought))
      if (making === undefined && !isMaking && soughtBytes <= SOUGHT_BYTES_HERE) making = makeInTurns()
      return making
    }

    async function makeInTurns(): Promise<LeakSearch | undefined> {
      isMaking = true
      try {
        return (search = await finishInTurns(buildLeakSearch(sought), stepsOfTurn(sought)))
      } catch {
        // A thread that makes it fails in the same way, and says so.
        return undefined
      } finally {
        isMaking = false
      }
    }

    return {
      prepare() {
        try {
          void make()
        } catch {
          // `inspect` fails in the same way, and says so.
        }
      },
      async inspect(response, seen) {
        if (response.body.length > BYTES_HERE) return threads.search(accountId, sought, response)
        try {
          const made = await make()
          if (!made) return await threads.search(accountId, sought, response)
          return made.inspect(response, createBudget(STEPS_HERE), seen)
        } catch (thrown) {
          return thrown instanceof OverBudget
            ? await threads.search(accountId, sought, response)
            : { ok: false, reason: 'failed' }
        }
      },
    }
  }
}

/**
 * The dearest bodies cost about 250 steps a byte, ordinary ones at most a hundred: what is refused was made to be slow, and is large.
 * @returns the most steps that a response may cost at all: half a second for 1 MiB, four for 25
 */
const stepsAtAll = ({ body }: Searched) => 400_000_000 + 150 * body.length

/** A search takes two kilobytes of memory for each byte that is sought: so much is sought at once. */
const SOUGHT_BYTES_OF_A_GROUP = 16 * 1024

function* inGroups({ secrets, scheme }: Sought): Generator<Sought> {
  let group: Secret<string>[] = []
  for (const secret of secrets) {
    if (group.length > 0 && countBytes([...group, secret]) > SOUGHT_BYTES_OF_A_GROUP) {
      yield { secrets: group, scheme }
      group = []
    }
    group.push(secret)
  }
  yield { secrets: group, scheme }
}

/**
 * What a thread does with one response.
 * @param steps the most that it may cost
 */
export function searchWhole(sought: Sought, response: Searched, steps = stepsAtAll(response)): LeakVerdict {
  const budget = createBudget(steps)
  try {
    for (const group of inGroups(sought)) {
      const verdict = createLeakSearch(group).inspect(response, budget)
      if (!verdict.ok) return verdict
    }
    return { ok: true }
  } catch (thrown) {
    return { ok: false, reason: thrown instanceof OverBudget ? 'over_budget' : 'failed' }
  }
}
