// The calls that are handled at once, and how many of them may be one caller's. Work that waits for a slow upstream costs next to
// nothing but its place, so that whoever calls one that never answers would have all of them, and everybody else be refused.
import type { Caller } from './caller.ts'
import { GatewayError } from './errors.ts'
import { holderOf } from './rate-limit.ts'

export interface Places {
  /**
   * @returns what gives the place back, once
   * @throws {GatewayError} overloaded
   */
  enter(caller: Caller): () => void
  /** Whether there are no more left than one caller alone would have to leave for others. */
  readonly isCrowded: boolean
}

/**
 * Times what is left over that one caller may hold, and one account with all of its keys and agents (dynamic thresholds of shared
 * buffers: Choudhury and Hahne, 1998). Against one account a ninth of the places stays for others, however many agents it has.
 */
const CALLER_SHARE = 4
const ACCOUNT_SHARE = 8

/** Places in all, where one caller alone may have `ofOne`. */
export const placesFor = (ofOne: number) => ofOne + Math.ceil(ofOne / CALLER_SHARE)

/** @param ofOne places that one caller has where nobody else wants any */
export function createPlaces(ofOne: number): Places {
  const inAll = placesFor(ofOne)
  const held = new Map<string, number>()
  let taken = 0
  const of = (holder: string) => held.get(holder) ?? 0

  function add(holder: string, change: 1 | -1): void {
    const now = of(holder) + change
    if (now === 0) held.delete(holder)
    else held.set(holder, now)
  }

  return {
    get isCrowded() {
      return taken >= ofOne
    },
    enter(caller) {
      const { one, all } = holdersOf(caller)
      const left = inAll - taken
      if (of(one) >= Math.min(ofOne, left * CALLER_SHARE) || of(all) >= left * ACCOUNT_SHARE) throw busy()
      taken++
      add(one, 1)
      add(all, 1)
      let isIn = true
      return () => {
        if (!isIn) return
        isIn = false
        taken--
        add(one, -1)
        add(all, -1)
      }
    },
  }
}

/** Who is counted as one: narrowing a capability makes no further caller, and strangers are together as one account. */
function holdersOf(caller: Caller): { readonly one: string; readonly all: string } {
  switch (caller.kind) {
    case 'anonymous':
      return { one: `address ${holderOf(caller.address)}`, all: 'strangers' }
    case 'agent':
      return { one: caller.capability.rootId, all: `account ${caller.accountId}` }
    case 'operator':
      return { one: caller.id, all: `account ${caller.accountId}` }
    // Everybody may register as a seller, so that all of them are one account too.
    case 'seller':
      return { one: caller.id, all: 'sellers' }
    case 'email':
      return { one: caller.id, all: 'email keys' }
  }
}

const busy = () =>
  new GatewayError(
    'overloaded',
    'Your other calls have not been answered yet, and the places that are left are for others. Try again shortly.',
    { reason: 'caller_busy', extras: { retry_after_seconds: 1 } },
  )
