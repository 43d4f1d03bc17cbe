// Where an answer is searched: a short search runs here, between two turns of the event loop; a long one runs in a thread,
// so that no answer, whatever its upstream made of it, keeps the gateway from its other clients.
import type { Secret } from '../../lib/secret.ts'
import { createBudget, OverBudget } from './budget.ts'
import type { SeenParts } from './reading.ts'
import {
  createLeakSearch,
  type LeakSearch,
  type Searched,
  type SearchVerdict,
  type Sought,
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
  /** Makes what it searches by, which takes a millisecond or two: while the answer is awaited nobody waits for that. Never throws. */
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

export function createLeakGates(threads: SearchThreads): CreateLeakGate {
  return (secrets, { accountId, scheme }) => {
    const sought = { secrets, scheme }
    let search: LeakSearch | undefined
    const made = () => (search ??= createLeakSearch(sought))
    return {
      prepare() {
        try {
          made()
        } catch {
          // `inspect` fails in the same way, and says so.
        }
      },
      async inspect(response, seen) {
        if (response.body.length > BYTES_HERE) return threads.search(accountId, sought, response)
        try {
          return made().inspect(response, createBudget(STEPS_HERE), seen)
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

/**
 * What a thread does with one response.
 * @param steps the most that it may cost
 */
export function searchWhole(sought: Sought, response: Searched, steps = stepsAtAll(response)): LeakVerdict {
  try {
    return createLeakSearch(sought).inspect(response, createBudget(steps))
  } catch (thrown) {
    return { ok: false, reason: thrown instanceof OverBudget ? 'over_budget' : 'failed' }
  }
}
