// How many requests of unmodified programs wait for people. Asking is free, and each question takes somebody's attention: whoever asks and hangs up in
// a circle fills nobody's inbox, and takes nobody else's place.
import { GatewayError } from '../core/errors.ts'

/** At once, and begun within a minute. A half of an account's waiting places (permit-waits.ts) is left to others. */
const MOST = { ofLineage: 8, ofAccount: 32, aMinute: 20 } as const
const MINUTE_MS = 60_000

export interface Questions {
  /**
   * @param rootId root of the lineage of the capability
   * @returns what ends the question, once
   * @throws {GatewayError} rate_limited; nothing was asked
   */
  enter(rootId: string, accountId: string): () => void
}

/** Counts in this process, which holds the connections. */
export function createQuestions(now: () => number): Questions {
  const open = new Map<string, number>()
  const begun = new Map<string, readonly number[]>()
  const count = (id: string, change: 1 | -1) => {
    const left = (open.get(id) ?? 0) + change
    if (left === 0) open.delete(id)
    else open.set(id, left)
  }

  /** Those of the last minute; whoever has none is forgotten. */
  function recent(rootId: string): readonly number[] {
    const since = now() - MINUTE_MS
    for (const [id, times] of begun) if ((times.at(-1) ?? 0) <= since) begun.delete(id)
    return (begun.get(rootId) ?? []).filter((at) => at > since)
  }

  return {
    enter(rootId, accountId) {
      const times = recent(rootId)
      if ((open.get(rootId) ?? 0) >= MOST.ofLineage)
        throw tooMany(`${MOST.ofLineage} requests of this capability wait for a person`)
      if ((open.get(accountId) ?? 0) >= MOST.ofAccount)
        throw tooMany(`${MOST.ofAccount} requests of this account wait for a person`)
      if (times.length >= MOST.aMinute)
        throw tooMany(`${MOST.aMinute} requests of this capability asked a person within a minute`)
      begun.set(rootId, [...times, now()])
      count(rootId, 1)
      count(accountId, 1)
      let isOpen = true
      return () => {
        if (!isOpen) return
        isOpen = false
        count(rootId, -1)
        count(accountId, -1)
      }
    },
  }
}

const tooMany = (what: string) =>
  new GatewayError(
    'rate_limited',
    `${what}. Nothing was sent or charged: let those be decided, then send this again.`,
    { reason: 'questions', extras: { retry_after_seconds: 30 } },
  )
