// One settle per claim, and what becomes of it: submitted on disk, sent once, believed when the chain says so.
import type { PaymentRequirements } from '../../schemas/x402.ts'
import { GatewayError } from '../core/errors.ts'
import type { Fault } from '../lib/fault-points.ts'
import { LogField, type Logger } from '../lib/log.ts'
import type { Signer } from '../core/services.ts'
import type { PaymentClaim, Store } from '../store/ports.ts'
import { createClaimBook } from './claim-store.ts'
import type { Chain, Payment, Route, Router, Settlement, Settlements, UpstreamSettlement } from './ports.ts'
import type { Networks } from '../core/networks.ts'
import { createProver, type Proof } from './chain-evidence.ts'
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
  /** For tests: waits between two looks at a chain, and how long an upstream has for its answer. */
  readonly wait?: ((ms: number) => Promise<void>) | undefined
  readonly upstreamMs?: number | undefined
}

/** For the upstream's answer; what is left of the whole is for the chain. */
const UPSTREAM_MS = 20_000
const SETTLE_MS = 25_000
/** Between looks at a chain that should know by now: its nodes are not all equally fast. */
const LOOKS_MS = [100, 200, 400, 800, 1_500] as const
/** Between looks while a transaction waits for its block. */
const POLL_MS = 500
const RESULT_KEPT_MS = 24 * 3600_000

type Input = Parameters<Settlements['settle']>[0]

interface Answered {
  readonly upstream: string
  readonly answer: UpstreamSettlement
  readonly ms: number
}

export function createSettlements(parts: SettlementParts): Settlements & { close(): Promise<void> } {
  const { store, router, chains, bootId, now, log, fault } = parts
  const wait = parts.wait ?? ((ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)))
  const book = createClaimBook(parts)
  const prover = createProver({ chains, now })
  const reconciler = createReconciler({ store, book, prover, bootId, now, log })

  /** @throws {GatewayError} no_route: nothing was submitted and the payment is free again */
  async function chooseRoutes(claim: PaymentClaim, payment: Payment): Promise<readonly Route[]> {
    const routes = await router.routes(payment)
    if (routes.length > 0) return routes
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
      // It may be on disk all the same, and this process lives: the reconciler must know of it.
      book.rememberUnsent(claim.id)
      throw thrown
    }
  }

  /** One upstream after the other, until one has got the payment. */
  async function send(
    routes: readonly Route[],
    payment: Payment,
    requirements: PaymentRequirements,
  ): Promise<Answered> {
    const { scheme, network } = payment
    let last: Answered | undefined
    const sentAt = now()
    for (const { upstream } of routes) {
      const startedAt = now()
      const deadlineMs = (parts.upstreamMs ?? UPSTREAM_MS) - (startedAt - sentAt)
      if (last && deadlineMs <= 0) break
      const answer = await upstream
        .settle({ payment, requirements, deadlineMs })
        .catch((): UpstreamSettlement => ({ state: 'unknown', reason: 'upstream_failed' }))
      last = { upstream: upstream.id, answer, ms: now() - startedAt }
      if (answer.state !== 'settled')
        router.report(upstream.id, { ok: !isUpstreamsFault(answer), ms: last.ms, kind: { scheme, network } })
      // After a byte of it left, another one would be a second submission.
      if (answer.state !== 'refused') return last
      log.warn({ upstream: upstream.id, reason: answer.reason }, 'a facilitator did not take a settlement')
    }
    return last!
  }

  /** Until the chain knows, or there is no more time. */
  async function lookRepeatedly(
    claim: PaymentClaim,
    delays: Iterable<number>,
    end: number,
    named: string | undefined,
  ): Promise<Proof> {
    let proof = await prover.prove(claim, named)
    for (const ms of delays) {
      if ((proof.state !== 'unused' && proof.state !== 'unanswered') || now() >= end) break
      await wait(ms)
      proof = await prover.prove(claim, named)
    }
    return proof
  }

  function* poll() {
    for (;;) yield POLL_MS
  }

  async function conclude(
    claim: PaymentClaim,
    { upstream, answer, ms }: Answered,
    end: number,
    { scheme, network }: Payment,
  ): Promise<Settlement> {
    const isAnswerFinal = answer.state === 'refused' || answer.state === 'failed'
    const delays = answer.state === 'pending' ? poll() : isAnswerFinal ? [] : LOOKS_MS
    const transaction = 'transaction' in answer ? (answer.transaction ?? null) : null
    const proof =
      answer.state === 'settled' && answer.isWitnessed && prover.isProvable(claim)
        ? ({ state: 'paid', transaction: answer.transaction } as const)
        : await lookRepeatedly(claim, delays, end, transaction ?? undefined)
    const reason = 'reason' in answer ? answer.reason : null
    // One that says settled is believed when the chain has been asked.
    if (answer.state === 'settled')
      router.report(upstream, { ok: proof.state !== 'unused', ms, kind: { scheme, network } })

    if (
      answer.state === 'settled' &&
      proof.state === 'paid' &&
      !isSame(answer.transaction, proof.transaction)
    )
      log.warn(
        { [LogField.claim]: claim.id, upstream, claimed: answer.transaction, found: proof.transaction },
        'a facilitator named another transaction than the chain',
      )
    switch (proof.state) {
      case 'paid':
        return book.settled(claim, { transaction: proof.transaction, upstream })
      case 'void':
        return book.failed(claim, proof.reason, upstream)
      case 'unprovable':
        return trust(claim, upstream, answer)
      case 'unused':
        if (answer.state === 'refused') return book.failed(claim, answer.reason, upstream)
        break
      case 'unanswered':
        if (answer.state === 'refused')
          return book.doubtful(claim, 'unknown', { reason: NOT_BROADCAST, transaction: null, upstream })
    }
    if (answer.state === 'pending')
      return book.doubtful(claim, 'pending', { reason: 'settlement_pending', transaction, upstream })
    if (answer.state === 'settled') {
      log.warn(
        { [LogField.claim]: claim.id, upstream, claimed: transaction, chain: proof.state },
        'a facilitator says settled and the chain does not',
      )
      return book.doubtful(claim, 'unknown', { reason: 'settlement_unproven', transaction: null, upstream })
    }
    // Refused after it was sent is not proof: who has the payment can submit it until it expires.
    return book.doubtful(claim, 'unknown', { reason, transaction: null, upstream })
  }

  // Where no chain of ours can tell, the upstream's word is all there is; but one transaction pays for one claim only.
  const trusted = new Map<string, string>()
  function trust(claim: PaymentClaim, upstream: string, answer: UpstreamSettlement): Promise<Settlement> {
    switch (answer.state) {
      case 'settled': {
        const key = `${claim.network} ${answer.transaction}`
        if ((trusted.get(key) ?? claim.id) !== claim.id)
          return book.doubtful(claim, 'unknown', {
            reason: 'settlement_unproven',
            transaction: null,
            upstream,
          })
        trusted.set(key, claim.id)
        if (trusted.size > MAX_TRUSTED) trusted.delete(trusted.keys().next().value!)
        const payer = claim.payer === '' && answer.payer ? answer.payer : claim.payer
        return book.settled({ ...claim, payer }, { transaction: answer.transaction, upstream })
      }
      case 'refused':
      case 'failed':
        return book.failed(claim, answer.reason, upstream)
      case 'pending':
        return book.doubtful(claim, 'pending', {
          reason: 'settlement_pending',
          transaction: answer.transaction,
          upstream,
        })
      case 'unknown':
        return book.doubtful(claim, 'unknown', {
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
      const first = routes[0]!.upstream.id
      if (!(await submit(claim, first, result))) return book.standing(claim)
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
        settlement = await book.doubtful(submitted, 'unknown', { reason: 'interrupted', transaction: null })
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

export const noRoute = ({ scheme, network }: { scheme: string; network: string }) =>
  new GatewayError(
    'no_route',
    `No live facilitator takes ${scheme} on ${network} right now. See GET /supported for what is taken, or try again in a few seconds.`,
    { extras: { retry_after_seconds: 5 } },
  )

/** It did not do its work, whatever it says: not reached, broken, or failing at what it claims to take. */
const isUpstreamsFault = (answer: UpstreamSettlement) =>
  (answer.state === 'unknown' && answer.reason.startsWith('upstream_')) ||
  (answer.state === 'refused' && answer.reason.startsWith('upstream_')) ||
  (answer.state === 'failed' && answer.reason.startsWith('unexpected_'))

const isSame = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()
