// Calls that may bring or take more than the usual: all of it is in memory while they last, for up to 15 minutes. Without a bound,
// one team's five hundred answers of 25 MiB each would be the end of the gateway, and so of everybody's calls.
import { GatewayError } from '../../core/errors.ts'
import type { Forward } from '../forward.ts'
import type { EgressRequest } from '../ports.ts'
import { MAX_REQUEST_BYTES, MAX_RESPONSE_BYTES } from '../request.ts'

export interface LargeCalls {
  /**
   * @returns what ends the call, once
   * @throws {GatewayError} overloaded, before anything is charged
   */
  enter(accountId: string, asked: Pick<EgressRequest, 'body' | 'body_base64' | 'max_bytes'>): () => void
  /** For a body that is read whole while it comes: it takes nothing before it is large. */
  hold(accountId: string): HeldBody
}

export interface HeldBody {
  /**
   * @param bytes of the body as it was declared, or so far; fewer than before change nothing
   * @throws {GatewayError} overloaded
   */
  reach(bytes: number): void
  /** Gives the room back, once. */
  leave(): void
}

const MIB = 1024 * 1024
/** What most calls may bring, in base64 as well, and what is read at once of every program's body. */
const USUAL_BODY = MAX_REQUEST_BYTES * 2

/** Bytes of large calls at once. */
interface Bounds {
  readonly ofAccount: number
  readonly inAll: number
}
const BOUNDS: Bounds = { ofAccount: 512 * MIB, inAll: 1024 * MIB }

/** Counts in this process, whose memory it is. */
export function createLargeCalls({ ofAccount, inAll } = BOUNDS): LargeCalls {
  const held = new Map<string, number>()
  let total = 0

  function holding(accountId: string): HeldBody {
    let bytes = 0
    const change = (by: number) => {
      const own = (held.get(accountId) ?? 0) + by
      if (own === 0) held.delete(accountId)
      else held.set(accountId, own)
      total += by
      bytes += by
    }
    return {
      reach(size) {
        const more = size - bytes
        if (more <= 0) return
        if ((held.get(accountId) ?? 0) + more > ofAccount || total + more > inAll) throw busy()
        change(more)
      },
      leave: () => change(-bytes),
    }
  }

  return {
    enter(accountId, asked) {
      const bytes = bytesOf(asked)
      if (bytes === 0) return () => {}
      const call = holding(accountId)
      call.reach(bytes)
      return call.leave
    },
    hold(accountId) {
      const { reach, leave } = holding(accountId)
      return { reach: (bytes) => void (bytes > USUAL_BODY && reach(bytes)), leave }
    },
  }
}

/** The engine of every attempt, with no more large calls at once than memory is there for. */
export function boundLargeCalls(forward: Forward, large: LargeCalls): Forward {
  return {
    ...forward,
    async send(asked, grant, charge) {
      const leave = large.enter(grant.accountId, asked)
      try {
        return await forward.send(asked, grant, charge)
      } finally {
        leave()
      }
    },
  }
}

/** What is usual counts as nothing: how many such calls there may be is bounded elsewhere. */
function bytesOf({ body, body_base64, max_bytes = 0 }: Parameters<LargeCalls['enter']>[1]): number {
  const sent = (body ?? body_base64 ?? '').length
  return (sent > USUAL_BODY ? sent : 0) + (max_bytes > MAX_RESPONSE_BYTES ? max_bytes : 0)
}

const busy = () =>
  new GatewayError(
    'overloaded',
    'Too many calls with a large body or a large `max_bytes` are under way. Nothing was sent or charged: ask for less, or try again ' +
      'shortly.',
    { reason: 'large_calls', extras: { retry_after_seconds: 1 } },
  )
