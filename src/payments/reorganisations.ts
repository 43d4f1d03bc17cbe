// Looks again at what was settled lately, because a chain may replace its newest blocks: a settlement that is gone is opened
// again, and never stays `settled` in silence. How it ends then is the reconciler's business.
import { LogField, type Logger } from '../lib/log.ts'
import type { ClaimBlock, PaymentClaim, Store } from '../store/ports.ts'
import type { EvidenceReader } from './chain-evidence.ts'
import type { ClaimStore } from './claim-store.ts'
import type { Chain } from './chain-ports.ts'

export interface ReorganisationParts {
  readonly store: Store
  readonly claims: ClaimStore
  readonly evidence: EvidenceReader
  /** By CAIP-2 id. */
  readonly chains: ReadonlyMap<string, Chain>
  readonly now: () => number
  readonly log: Logger
}

export interface ReorganisationWatch {
  /** Looks once at every chain; never throws. @returns how many claims were opened again */
  look(): Promise<number>
}

/** Ethereum calls a block final after thirteen minutes; the others that are pinned are faster. */
export const WINDOW_MS = 15 * 60_000
/** Replicas write by their own clocks, and a settlement is on disk a moment after the time in it. */
const SKEW_MS = 60_000
/** Blocks in one look at a chain: a payment in each block of 15 minutes on a chain of 2 seconds. */
const MAX_BLOCKS = 450
const ASKED_AT_ONCE = 50

/** The newest block that stood when everything settled until `at` had been looked at. */
interface Mark {
  readonly at: number
  readonly block: ClaimBlock
}

type Sorted = Readonly<Record<'standing' | 'replaced' | 'unknown', ClaimBlock[]>>

/** @param parts.evidence says what became of a claim whose block is gone */
export function createReorganisationWatch(parts: ReorganisationParts): ReorganisationWatch {
  const { store, claims, evidence, chains, now, log } = parts
  const startedAt = now()
  const marks = new Map<string, Mark>()
  /** Networks that were looked at as a whole since the start. */
  const caughtUp = new Set<string>()

  /**
   * Tells the blocks apart by whether they stand. A node that has nothing at a height yet is behind: that says nothing.
   * @throws {ChainError}
   */
  async function sort(chain: Chain, blocks: readonly ClaimBlock[]): Promise<Sorted> {
    const sorted: Sorted = { standing: [], replaced: [], unknown: [] }
    for (let i = 0; i < blocks.length; i += ASKED_AT_ONCE) {
      const group = blocks.slice(i, i + ASKED_AT_ONCE)
      const hashes = await chain.blockHashes(group.map(({ number }) => BigInt(number)))
      for (const [at, block] of group.entries()) {
        const hash = hashes[at] ?? null
        const is = hash === null ? 'unknown' : hash === block.hash ? 'standing' : 'replaced'
        sorted[is].push(block)
      }
    }
    return sorted
  }

  /**
   * A block stands on all before it: while the mark stands, so does what was looked at before, and only what was settled since
   * needs a question. The first look goes back to where nobody may have looked for long enough: before a stop, or before the
   * backup that this store was restored from.
   */
  async function sinceWhen(chain: Chain, network: string): Promise<number> {
    const mark = marks.get(network)
    const oldest = now() - WINDOW_MS
    if (!caughtUp.has(network)) {
      const newest = await store.newestSettlement(startedAt)
      return Math.min(oldest, (newest ?? startedAt) - WINDOW_MS)
    }
    if (!mark || (await sort(chain, [mark.block])).standing.length === 0) return oldest
    return Math.max(mark.at - SKEW_MS, oldest)
  }

  /** @returns whether the chain has said what became of it, and whether it was opened again */
  async function lookAt(claim: PaymentClaim): Promise<{ isKnown: boolean; isReopened: boolean }> {
    const found = await evidence.read(claim, claim.transaction ?? undefined)
    if (found.state === 'unanswered') return { isKnown: false, isReopened: false }
    if (found.state === 'unprovable') return { isKnown: true, isReopened: false }
    if (found.state === 'paid' && found.transaction === claim.transaction && found.block) {
      // Nearly every reorganisation ends like this: the transaction is in the block that came instead.
      const { number, hash } = found.block
      await store.moveToBlock(claim.id, { number: Number(number), hash })
      return { isKnown: true, isReopened: false }
    }
    const receiptId = claim.receiptId ?? ''
    const reopened = await store.reopenClaim({ id: claim.id, receiptId, now: now() })
    if (!reopened) return { isKnown: true, isReopened: false }
    log.warn(
      { [LogField.claim]: claim.id, transaction: claim.transaction, receipt: receiptId, chain: found.state },
      'a settlement is gone from its chain: the claim is open again and its receipt withdrawn',
    )
    if (found.state === 'paid') {
      const { transaction, block } = found
      await claims.settled(reopened, { transaction, upstream: claim.upstream ?? 'unknown', block })
    }
    return { isKnown: true, isReopened: true }
  }

  async function lookAtChain(network: string, chain: Chain): Promise<number> {
    const at = now()
    const since = await sinceWhen(chain, network)
    const blocks = await store.listSettledBlocks({ network, since, limit: MAX_BLOCKS })
    const { standing, replaced, unknown: missing } = await sort(chain, blocks)
    let [reopened, unknown] = [0, missing.length]
    for (const { hash } of replaced)
      for (const claim of await store.listClaimsOfBlock({ network, since, hash })) {
        const { isKnown, isReopened } = await lookAt(claim)
        if (isReopened) reopened++
        if (!isKnown) unknown++
      }
    const [newest] = standing
    // Where the chain has not said everything, the next look begins where this one did.
    if (unknown > 0) marks.delete(network)
    else {
      caughtUp.add(network)
      if (newest) marks.set(network, { at, block: newest })
    }
    return reopened
  }

  return {
    async look() {
      let reopened = 0
      for (const [network, chain] of chains)
        try {
          reopened += await lookAtChain(network, chain)
        } catch (thrown) {
          log.warn({ network, err: thrown }, 'what was settled lately could not be looked at again')
        }
      return reopened
    },
  }
}
