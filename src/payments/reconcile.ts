// Decides claims whose ending nobody answered, and those that failed while they could still be used, by the evidence of their
// chain. Nothing is sent from here but what a reorganisation took back, through the account that sent it before.
import { recoverDead } from '../core/recovery.ts'
import { everyTurn } from '../lib/every-turn.ts'
import { LogField, type Logger } from '../lib/log.ts'
import type { PaymentClaim, Store } from '../store/ports.ts'
import { type ClaimStore, isWatched } from './claim-store.ts'
import type { ClaimsInHand } from './claims-in-hand.ts'
import type { Settlement } from './ports.ts'
import type { ReorganisationWatch } from './reorganisations.ts'
import type { EvidenceReader } from './chain-evidence.ts'

export interface ReconcileParts {
  readonly store: Store
  readonly claims: ClaimStore
  readonly inHand: Pick<ClaimsInHand, 'settleLeft' | 'isUnsent'>
  readonly evidence: EvidenceReader
  readonly reorganisations: ReorganisationWatch
  /** Broadcasts a payment again that our own settler had brought into a block; does nothing for others. False when nothing was sent. */
  readonly resend: (claim: PaymentClaim) => Promise<boolean>
  readonly bootId: string
  readonly now: () => number
  readonly log: Logger
}

export interface Reconciler {
  /** One round over every claim whose ending nobody knows; a round that is under way is joined. Counts are claims. */
  reconcile(): Promise<{ looked: number; settled: number; failed: number; open: number }>
  /** @returns the claim as it stands after its chain was asked; one that nothing can change is returned as it is */
  reconcileOne(claim: PaymentClaim): Promise<PaymentClaim>
  /** Asks about a claim a few times soon, instead of in the next round. */
  watch(claimId: string): void
  close(): Promise<void>
}

/** Reason of a doubtful claim of which we know that nothing was broadcast through us: unused is then final. */
export const NOT_BROADCAST = 'not_broadcast'

const BATCH = 50
/** Claims that chains are asked about at the same time. */
const PARALLEL = 4
const SOON_MS = [1_000, 3_000, 10_000] as const

/** @param parts.bootId of this process: claims of other living processes are left to them */
export function createReconciler(parts: ReconcileParts): Reconciler {
  const { store, claims, inHand, evidence, reorganisations, resend, bootId, now, log } = parts
  const timers = new Set<NodeJS.Timeout>()
  const probes = new Set<Promise<unknown>>()
  let running: ReturnType<typeof round> | undefined
  let isClosed = false

  /** @param silent networks whose chain did not answer in this round: one time-out for each is enough */
  async function decide(claim: PaymentClaim, silent: Set<string>): Promise<Settlement> {
    if (silent.has(claim.network)) return claims.standing(claim)
    const found = await evidence.read(claim)
    const upstream = claim.upstream ?? 'unknown'
    switch (found.state) {
      case 'paid':
        if (isWatched(claim))
          log.warn({ [LogField.claim]: claim.id, upstream }, 'a payment was settled after it was declined')
        return claims.settled(claim, { transaction: found.transaction, upstream, block: found.block })
      case 'void':
        return isWatched(claim) ? claims.endWatch(claim) : claims.failed(claim, found.reason)
      case 'shallow':
        // A watched claim waits for its depth as what it is.
        if (isWatched(claim) || claim.state === 'pending') break
        return claims.doubtful(claim, 'pending', {
          reason: 'awaiting_confirmations',
          transaction: found.transaction,
        })
      case 'unused':
        if (claim.reason === NOT_BROADCAST) return claims.failed(claim, 'settlement_refused')
        if (claim.state !== 'submitted' && !isWatched(claim)) return settleAgain(claim)
        break
      case 'unanswered':
        // A node that is behind answers, and may show the next one as paid.
        if (!found.isBehind) silent.add(claim.network)
        break
      case 'barred':
      case 'unprovable':
    }
    // A claim that is still `submitted` was sent by this process, which could not write its ending.
    return claim.state === 'submitted'
      ? claims.doubtful(claim, 'unknown', { reason: claim.reason ?? 'interrupted', transaction: null })
      : claims.standing(claim)
  }

  /** A settlement that its chain took back, before or after it counted: the same authorization moves the money, or nothing does. */
  async function settleAgain(claim: PaymentClaim): Promise<Settlement> {
    if (!(await resend(claim))) return claims.standing(claim)
    const found = await evidence.read(claim)
    if (found.state !== 'paid') return claims.standing(claim)
    const { transaction, block } = found
    return claims.settled(claim, { transaction, upstream: claim.upstream ?? 'unknown', block })
  }

  /** Endings that the store refused to this very process: nobody else's recovery takes them for dead. */
  async function takeOwn(found: PaymentClaim[]): Promise<void> {
    const take = async (claimId: string) => {
      const claim = await store.getClaim(claimId)
      // If its ending cannot be written this time either, it is remembered again.
      claims.forget(claimId)
      if (claim && ['submitted', 'pending', 'unknown'].includes(claim.state))
        found.push(inHand.isUnsent(claimId) ? { ...claim, reason: NOT_BROADCAST } : claim)
    }
    await everyTurn([() => everyTurn(claims.unwritten(), take), () => inHand.settleLeft(take)], (part) =>
      part(),
    )
  }

  const recoverAll = () =>
    recoverDead({
      store,
      bootId,
      log,
      list: store.listUnfinishedClaims,
      async recover(id) {
        const recovered = await store.recoverClaims({ bootId, now: now(), id })
        if (recovered.canceled + recovered.unknown > 0)
          log.warn(recovered, 'payments that a crash left behind: canceled what was not submitted')
      },
    })

  async function decideAll(claimed: readonly PaymentClaim[], silent: Set<string>): Promise<Settlement[]> {
    const endings: Settlement[] = []
    for (let i = 0; i < claimed.length; i += PARALLEL) {
      const group = claimed.slice(i, i + PARALLEL)
      endings.push(...(await Promise.all(group.map((claim) => decide(claim, silent)))))
    }
    return endings
  }

  async function round() {
    const silent = new Set<string>()
    const result = { looked: 0, settled: 0, failed: 0, open: 0 }
    const take = { limit: BATCH, now: now() }
    const looked = new Set<string>()
    /** Where the clocks of two processes are far apart they hand each other the same ones again. */
    const unlooked = (found: readonly PaymentClaim[]) => {
      const fresh = found.filter(({ id }) => !looked.has(id) && looked.add(id))
      result.looked += fresh.length
      return fresh
    }
    async function decideOpen(found: readonly PaymentClaim[]): Promise<void> {
      for (const { state } of await decideAll(found, silent))
        result[state === 'settled' || state === 'failed' ? state : 'open']++
    }
    async function decideOwn(): Promise<void> {
      const own: PaymentClaim[] = []
      await everyTurn([() => takeOwn(own), () => decideOpen(unlooked(own))], (part) => part())
    }
    async function decideDoubtful(): Promise<void> {
      for (;;) {
        const doubtful = isClosed ? [] : unlooked(await store.takeDoubtfulClaims(take))
        if (doubtful.length === 0) return
        await decideOpen(doubtful)
      }
    }
    /** Those were told to pay again already, so nobody waits for them. */
    async function decideWatched(): Promise<void> {
      for (;;) {
        const watched = isClosed ? [] : unlooked(await store.takeWatchedClaims(take))
        if (watched.length === 0) return
        const endings = await decideAll(watched, silent)
        result.settled += endings.filter(({ state }) => state === 'settled').length
      }
    }
    // What the reorganisations open again is looked at in this very round.
    const parts = [recoverAll, () => reorganisations.look(), decideOwn, decideDoubtful, decideWatched]
    try {
      await everyTurn(parts, (part) => part())
    } finally {
      if (result.settled + result.failed > 0) log.info(result, 'payments reconciled')
    }
    return result
  }

  async function reconcileOne(claim: PaymentClaim): Promise<PaymentClaim> {
    if (!isUndecided(claim)) return claim
    return (await decide(claim, new Set())).claim
  }

  async function reconcileById(claimId: string): Promise<void> {
    try {
      const claim = await store.getClaim(claimId)
      if (claim) await reconcileOne(claim)
    } catch (thrown) {
      log.error({ [LogField.claim]: claimId, err: thrown }, 'a payment could not be reconciled')
    }
  }

  return {
    reconcile: () => (running ??= round().finally(() => (running = undefined))),
    reconcileOne,

    watch(claimId) {
      if (isClosed) return
      for (const ms of SOON_MS) {
        const timer = setTimeout(() => {
          timers.delete(timer)
          const probe = reconcileById(claimId)
          probes.add(probe)
          void probe.finally(() => probes.delete(probe))
        }, ms)
        timer.unref()
        timers.add(timer)
      }
    },

    async close() {
      isClosed = true
      for (const timer of timers) clearTimeout(timer)
      await Promise.allSettled([...probes, running])
    },
  }
}

/** Whether the chain may still say something new about a claim that is not being worked on. */
export const isUndecided = (claim: PaymentClaim) =>
  claim.state === 'pending' || claim.state === 'unknown' || isWatched(claim)
