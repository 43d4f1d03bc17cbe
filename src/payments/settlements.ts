// Settles each claim once: it is written as submitted, sent to one upstream, and believed when its chain says so. Decides
// which ending is written; how endings are written is claim-store.ts's, and what a chain says is chain-evidence.ts's
// business.
import type { PaymentRequirements } from '../../schemas/x402.ts'
import { GatewayError } from '../core/errors.ts'
import { keepNewest } from '../lib/keep-newest.ts'
import type { Fault } from '../lib/fault-points.ts'
import { LogField, type Logger } from '../lib/log.ts'
import type { Signer } from '../receipts/ports.ts'
import type { PaymentClaim, Store } from '../store/ports.ts'
import { createClaimStore } from './claim-store.ts'
import type { Chain, Payment, Route, Router, Settlement, Settlements, UpstreamSettlement } from './ports.ts'
import type { Networks } from '../core/networks.ts'
import { createEvidenceReader, type Evidence } from './chain-evidence.ts'
import { createReconciler, NOT_BROADCAST } from './reconcile.ts'

export interface SettlementParts {
  readonly store: Store
  readonly router: Router
  readonly networks: Networks
  readonly chains: ReadonlyMap<string, Chain>
  readonly signer: Signer
  readonly baseUrl: string
  readonly bootId: string
  readonly now: () => number
  readonly log: Logger
  readonly fault: Fault
  /** For tests: waits between two questions to a chain, and how long an upstream has for its answer. */
  readonly wait?: ((ms: number) => Promise<void>) | undefined
  readonly upstreamMs?: number | undefined
}

/** The upstream's answer may take this long; what is left of SETTLE_MS is for the chain. */
const UPSTREAM_MS = 20_000
const SETTLE_MS = 25_000
/** Pauses between questions to a chain that should know by now: its nodes are not all equally fast. */
const RETRY_PAUSES_MS = [100, 200, 400, 800, 1_500] as const
/** The pause between questions while a transaction waits for its block. */
const POLL_MS = 500
const RESULT_KEPT_MS = 24 * 3600_000

type Input = Parameters<Settlements['settle']>[0]
/** Best first. */
type Routes = readonly [Route, ...Route[]]

interface Answered {
  readonly upstream: string
  readonly answer: UpstreamSettlement
  readonly ms: number
}

/** @param parts.chains by CAIP-2 id; payments on other networks rest on the upstream's word */
export function createSettlements(parts: SettlementParts): Settlements & { close(): Promise<void> } {
  const { store, router, chains, bootId, now, log, fault } = parts
  const wait = parts.wait ?? ((ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)))
  const claims = createClaimStore(parts)
  const evidence = createEvidenceReader({ chains, now })
  const reconciler = createReconciler({ store, claims, evidence, bootId, now, log })

  /** @throws {GatewayError} no_route: nothing was submitted and the payment is free again */
  async function chooseRoutes(claim: PaymentClaim, payment: Payment): Promise<Routes> {
    const [best, ...others] = await router.routes(payment)
    if (best) return [best, ...others]
    await store.cancelClaim({ id: claim.id, bootId, reason: 'no_route', now: now() })
    throw noRoute(payment)
  }

  async function submit(claim: PaymentClaim, upstream: string, result: Input['result']) {
    const at = now()
    try {
      return await store.submitClaim({
        id: claim.id,
        bootId,
        upstream,
        result: result && { ...result, expiresAt: at + RESULT_KEPT_MS },
        now: at,
      })
    } catch (thrown) {
      // The row may be on disk all the same, and nobody recovers claims of a living process: the reconciler must know.
      claims.rememberUnsent(claim.id)
      throw thrown
    }
  }

  /** Tries one upstream after the other, until one has got the payment. */
  async function send(
    [first, ...others]: Routes,
    payment: Payment,
    requirements: PaymentRequirements,
  ): Promise<Answered> {
    const { scheme, network } = payment
    const sentAt = now()

    async function settleWith({ upstream }: Route): Promise<Answered> {
      const startedAt = now()
      const deadlineMs = (parts.upstreamMs ?? UPSTREAM_MS) - (startedAt - sentAt)
      const answer = await upstream
        .settle({ payment, requirements, deadlineMs })
        .catch((): UpstreamSettlement => ({ state: 'unknown', reason: 'upstream_failed' }))
      const ms = now() - startedAt
      if (answer.state !== 'settled')
        router.report(upstream.id, { ok: !isUpstreamsFault(answer), ms, kind: { scheme, network } })
      if (answer.state === 'refused')
        log.warn({ upstream: upstream.id, reason: answer.reason }, 'a facilitator did not take a settlement')
      return { upstream: upstream.id, answer, ms }
    }

    let last = await settleWith(first)
    for (const route of others) {
      // After a byte of the payment left, sending it to another upstream would be a second submission.
      if (last.answer.state !== 'refused' || now() - sentAt >= (parts.upstreamMs ?? UPSTREAM_MS)) break
      last = await settleWith(route)
    }
    return last
  }

  /** Asks the chain until it knows, or until there is no more time. */
  async function readRepeatedly(
    claim: PaymentClaim,
    pauses: Iterable<number>,
    end: number,
    named: string | undefined,
  ): Promise<Evidence> {
    let found = await evidence.read(claim, named)
    for (const ms of pauses) {
      if ((found.state !== 'unused' && found.state !== 'unanswered') || now() >= end) break
      await wait(ms)
      found = await evidence.read(claim, named)
    }
    return found
  }

  function* poll() {
    for (;;) yield POLL_MS
  }

  async function gatherEvidence(
    claim: PaymentClaim,
    answer: UpstreamSettlement,
    end: number,
  ): Promise<Evidence> {
    // An upstream of this process has read the receipt already: the evidence reader would ask the same again.
    if (answer.state === 'settled' && answer.isWitnessed && evidence.canRead(claim))
      return { state: 'paid', transaction: answer.transaction }
    const isAnswerFinal = answer.state === 'refused' || answer.state === 'failed'
    const pauses = answer.state === 'pending' ? poll() : isAnswerFinal ? [] : RETRY_PAUSES_MS
    return readRepeatedly(claim, pauses, end, 'transaction' in answer ? answer.transaction : undefined)
  }

  async function conclude(
    claim: PaymentClaim,
    answered: Answered,
    end: number,
    { scheme, network }: Payment,
  ): Promise<Settlement> {
    const { upstream, answer, ms } = answered
    const found = await gatherEvidence(claim, answer, end)
    if (answer.state === 'settled') {
      // An upstream that says settled is believed when the chain has been asked.
      router.report(upstream, { ok: found.state !== 'unused', ms, kind: { scheme, network } })
      if (found.state === 'paid' && !isSame(answer.transaction, found.transaction))
        log.warn(
          { [LogField.claim]: claim.id, upstream, claimed: answer.transaction, found: found.transaction },
          'a facilitator named another transaction than the chain',
        )
    }
    return writeEnding(claim, answered, found)
  }

  /** The chain's evidence counts before the upstream's answer; nothing but the two together makes a payment final. */
  function writeEnding(
    claim: PaymentClaim,
    { upstream, answer }: Answered,
    found: Evidence,
  ): Promise<Settlement> {
    switch (found.state) {
      case 'paid':
        return claims.settled(claim, { transaction: found.transaction, upstream })
      case 'void':
        return claims.failed(claim, found.reason, upstream)
      case 'unprovable':
        return trust(claim, upstream, answer)
      case 'unused':
        if (answer.state === 'refused') return claims.failed(claim, answer.reason, upstream)
        break
      case 'unanswered':
        if (answer.state === 'refused')
          return claims.doubtful(claim, 'unknown', { reason: NOT_BROADCAST, transaction: null, upstream })
    }
    switch (answer.state) {
      case 'pending':
        return claims.doubtful(claim, 'pending', {
          reason: 'settlement_pending',
          transaction: answer.transaction,
          upstream,
        })
      case 'settled':
        log.warn(
          { [LogField.claim]: claim.id, upstream, claimed: answer.transaction, chain: found.state },
          'a facilitator says settled and the chain does not',
        )
        return claims.doubtful(claim, 'unknown', {
          reason: 'settlement_unproven',
          transaction: null,
          upstream,
        })
      default:
        // A refusal after the payment was sent is no evidence: who has the payment can submit it until it expires.
        return claims.doubtful(claim, 'unknown', { reason: answer.reason, transaction: null, upstream })
    }
  }

  // The upstream's word is all there is where no chain of ours can tell; but one transaction pays for one claim only,
  // so the claim of each is kept, by network and transaction.
  const trusted = new Map<string, string>()
  function trust(claim: PaymentClaim, upstream: string, answer: UpstreamSettlement): Promise<Settlement> {
    switch (answer.state) {
      case 'settled': {
        const key = `${claim.network} ${answer.transaction}`
        if ((trusted.get(key) ?? claim.id) !== claim.id)
          return claims.doubtful(claim, 'unknown', {
            reason: 'settlement_unproven',
            transaction: null,
            upstream,
          })
        trusted.set(key, claim.id)
        keepNewest(trusted, MAX_TRUSTED)
        const payer = claim.payer === '' && answer.payer ? answer.payer : claim.payer
        return claims.settled({ ...claim, payer }, { transaction: answer.transaction, upstream })
      }
      case 'refused':
      case 'failed':
        return claims.failed(claim, answer.reason, upstream)
      case 'pending':
        return claims.doubtful(claim, 'pending', {
          reason: 'settlement_pending',
          transaction: answer.transaction,
          upstream,
        })
      case 'unknown':
        return claims.doubtful(claim, 'unknown', {
          reason: answer.reason,
          transaction: answer.transaction ?? null,
          upstream,
        })
    }
  }

  return {
    prepare(payment) {
      void router
        .routes(payment)
        .then(([route]) => route?.upstream.prepare?.(payment))
        .catch(() => undefined)
    },
    async settle({ claim, payment, requirements, result }) {
      const end = now() + SETTLE_MS
      const routes = await chooseRoutes(claim, payment)
      const first = routes[0].upstream.id
      if (!(await submit(claim, first, result))) return claims.standing(claim)
      const submitted: PaymentClaim = {
        ...claim,
        state: 'submitted',
        upstream: first,
        resultSha256: result?.sha256 ?? null,
        submittedAt: now(),
      }
      let settlement: Settlement
      try {
        await fault.at('after_submitted')
        settlement = await conclude(submitted, await send(routes, payment, requirements), end, payment)
        await fault.at('after_settled')
      } catch (thrown) {
        log.error({ [LogField.claim]: claim.id, err: thrown }, 'settling failed in the middle')
        settlement = await claims.doubtful(submitted, 'unknown', { reason: 'interrupted', transaction: null })
      }
      if (settlement.state === 'unknown' || settlement.state === 'pending') reconciler.watch(claim.id)
      return settlement
    },
    reconcile: reconciler.reconcile,
    reconcileOne: reconciler.reconcileOne,
    close: reconciler.close,
  }
}

const MAX_TRUSTED = 10_000

/** The refusal where nobody alive takes a payment of this kind. */
export const noRoute = ({ scheme, network }: { scheme: string; network: string }) =>
  new GatewayError(
    'no_route',
    `No live facilitator takes ${scheme} on ${network} right now. See GET /supported for what is taken, or try again in a few seconds.`,
    { extras: { retry_after_seconds: 5 } },
  )

/** Whether the upstream did not do its work: it was not reached, is broken, or fails at what it claims to take. */
const isUpstreamsFault = (answer: UpstreamSettlement) =>
  (answer.state === 'unknown' && answer.reason.startsWith('upstream_')) ||
  (answer.state === 'refused' && answer.reason.startsWith('upstream_')) ||
  (answer.state === 'failed' && answer.reason.startsWith('unexpected_'))

const isSame = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()
