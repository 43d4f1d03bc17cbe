// Settles each claim once: it is written as submitted, sent to one upstream, and believed when its chain says so. Decides
// which ending is written; how endings are written is claim-store.ts's, and what a chain says is chain-evidence.ts's
// business.
import { GatewayError } from '../core/errors.ts'
import type { OnFault } from '../core/faults.ts'
import type { Fault } from '../lib/fault-points.ts'
import { LogField, type Logger } from '../lib/log.ts'
import type { Signer } from '../receipts/ports.ts'
import type { PaymentClaim, Store } from '../store/ports.ts'
import { createClaimStore } from './claim-store.ts'
import { createClaimsInHand } from './claims-in-hand.ts'
import type { Chain } from './chain-ports.ts'
import type { Payment, Router, Settlement, Settlements, UpstreamSettlement } from './ports.ts'
import type { Networks } from '../core/networks.ts'
import { must } from '../lib/must.ts'
import { createEvidenceReader, type Evidence } from './chain-evidence.ts'
import { decide, decideFinally, type Ending, kindOf, REVERTED } from './decision-table.ts'
import { createKeptPayments } from './kept-payments.ts'
import { createReorganisationWatch } from './reorganisations.ts'
import { createReconciler, isUndecided, NOT_BROADCAST } from './reconcile.ts'
import {
  type Answered,
  createSubmitter,
  type Routes,
  type SubmissionParts,
  type Submitted,
} from './submission.ts'

export interface SettlementParts {
  readonly store: Store
  readonly router: Router
  readonly networks: Networks
  readonly chains: ReadonlyMap<string, Chain>
  /** Blocks that a transfer must be deep before it counts, by chain id; 1 elsewhere. */
  readonly confirmations?: Readonly<Record<number, number>> | undefined
  readonly signer: Signer
  readonly baseUrl: string
  readonly bootId: string
  readonly now: () => number
  readonly log: Logger
  readonly onFault?: OnFault
  readonly fault: Fault
  /** For tests: waits between two questions to a chain. */
  readonly wait?: ((ms: number) => Promise<void>) | undefined
  /** For tests: how long an upstream has for its answer, and the pauses in which the chain is asked meanwhile. */
  readonly upstreamMs?: SubmissionParts['upstreamMs']
  readonly pause?: SubmissionParts['pause']
}

/** Of all of it: an upstream has twenty seconds, what is left is for the chain. */
const SETTLE_MS = 25_000
/** Pauses between questions to a chain that should know by now: its nodes are not all equally fast. */
const RETRY_PAUSES_MS = [100, 200, 400, 800, 1_500] as const
/** The pause between questions while a transaction waits for its block. */
const POLL_MS = 500
const RESULT_KEPT_MS = 24 * 3600_000

type Input = Parameters<Settlements['settle']>[0]
/** @param parts.chains by CAIP-2 id; payments on other networks rest on the upstream's word */
export function createSettlements(parts: SettlementParts): Settlements & { close(): Promise<void> } {
  const { store, router, bootId, now, log, fault } = parts
  const wait = parts.wait ?? ((ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)))
  const claims = createClaimStore(parts)
  const evidence = createEvidenceReader(parts)
  const submitter = createSubmitter({ ...parts, evidence })
  const kept = createKeptPayments(parts)
  const reorganisations = createReorganisationWatch({ ...parts, claims, evidence })
  const inHand = createClaimsInHand(parts)
  const reconciler = createReconciler({
    ...parts,
    claims,
    inHand,
    evidence,
    reorganisations,
    resend: kept.resend,
  })

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
      inHand.rememberUnsent(claim.id)
      throw thrown
    }
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
    { claim, payment }: Submitted,
    { answer, found }: Answered,
    wasSent: boolean,
    end: number,
  ): Promise<Evidence> {
    if (found) return found
    // An upstream of this process has read the receipt already: the evidence reader would ask the same again.
    if (answer.state === 'settled' && answer.isWitnessed && evidence.countsAtOnce(claim))
      return { state: 'paid', transaction: answer.transaction, block: answer.block }
    const kind = kindOf(answer, wasSent)
    const pauses = kind === 'pending' ? poll() : kind === 'refused' ? [] : RETRY_PAUSES_MS
    const named = 'transaction' in answer ? answer.transaction : undefined
    let known =
      kind === 'declined' || kind === 'reverted'
        ? await evidence.readDeclined(claim, payment)
        : await readRepeatedly(claim, pauses, end, named)
    while (known.state === 'shallow' && now() < end) {
      await wait(POLL_MS)
      known = await evidence.read(claim, known.transaction)
    }
    return known
  }

  /** Sends, looks at the chain, and where both leave it open sends once more; then writes what became of it. */
  async function conclude(submitted: Submitted, routes: Routes, end: number): Promise<Settlement> {
    let answered = await submitter.first(routes, submitted)
    let found = await gatherEvidence(submitted, answered, false, end)
    let ending = decide(answered.answer, found)
    if (ending === 'again') {
      const second = await submitter.again(answered.upstream, submitted)
      answered = second ?? answered
      if (second) found = await gatherEvidence(submitted, second, true, end)
      ending = decideFinally(answered.answer, found)
    }
    tellRouter(submitted, answered, found)
    const settlement = await writeEnding(submitted.claim, answered, found, ending)
    // What waits for its depth can be taken back as well as what has it.
    if (settlement.state === 'settled' || answered.answer.state === 'settled')
      kept.keep(answered.upstream, submitted)
    return settlement
  }

  function tellRouter({ claim, payment }: Submitted, { upstream, answer, ms }: Answered, found: Evidence) {
    if (answer.state !== 'settled') return
    const { scheme, network } = payment
    // An upstream that says settled is believed when the chain has been asked.
    router.report(upstream.id, { ok: found.state !== 'unused', ms, kind: { scheme, network } })
    if (found.state === 'paid' && !isSame(answer.transaction, found.transaction))
      log.warn(
        {
          [LogField.claim]: claim.id,
          upstream: upstream.id,
          claimed: answer.transaction,
          found: found.transaction,
        },
        'a facilitator named another transaction than the chain',
      )
  }

  function writeEnding(
    claim: PaymentClaim,
    { upstream: { id: upstream }, answer }: Answered,
    found: Evidence,
    ending: Exclude<Ending, 'again'>,
  ): Promise<Settlement> {
    const transaction = 'transaction' in answer ? (answer.transaction ?? null) : null
    const reason = 'reason' in answer ? answer.reason : null
    // What a reverted transaction cost is not given back, whatever its chain says of the payment.
    const failing = reason === REVERTED ? { ...claim, reason } : claim
    const doubt = (why: string | null) =>
      claims.doubtful(claim, 'unknown', { reason: why, transaction: null, upstream })
    switch (ending) {
      case 'settled':
        return claims.settled(claim, { transaction: transactionOf(found), upstream, block: blockOf(found) })
      case 'trusted':
        return trust(claim, upstream, answer)
      case 'failed':
        return claims.failed(failing, 'reason' in found ? found.reason : reasonOf(answer), upstream)
      case 'watched':
        log.info(
          { [LogField.claim]: claim.id, upstream, reason },
          'a payment was declined, as its chain confirms, and stays watched until it cannot be used',
        )
        return claims.failedForNow(failing, 'reason' in found ? found.reason : reasonOf(answer), upstream)
      case 'shallow':
        return claims.doubtful(claim, 'pending', {
          reason: 'awaiting_confirmations',
          transaction: transactionOf(found),
          upstream,
        })
      case 'pending':
        return claims.doubtful(claim, 'pending', { reason: 'settlement_pending', transaction, upstream })
      case 'unsent':
        return doubt(NOT_BROADCAST)
      case 'unproven':
        log.warn(
          { [LogField.claim]: claim.id, upstream, claimed: transaction, chain: found.state },
          'a facilitator says settled and the chain does not',
        )
        return doubt('settlement_unproven')
      case 'unknown':
        return claims.doubtful(claim, 'unknown', {
          reason,
          // What an upstream names is kept only where nobody can ask a chain for a better one.
          transaction: found.state === 'unprovable' ? transaction : null,
          upstream,
        })
    }
  }

  /** The upstream's word is all there is where no chain of ours can tell; but one transaction pays for one claim only. */
  async function trust(
    claim: PaymentClaim,
    upstream: string,
    answer: UpstreamSettlement,
  ): Promise<Settlement> {
    const transaction = transactionOf(answer)
    const payer = claim.payer === '' && 'payer' in answer && answer.payer ? answer.payer : claim.payer
    const settlement = await claims.settled({ ...claim, payer }, { transaction, upstream, isTrusted: true })
    if (settlement.state !== 'settled')
      log.warn(
        { [LogField.claim]: claim.id, upstream, claimed: transaction, reason: settlement.claim.reason },
        'a facilitator says settled, and by its word alone the claim is not: its transaction may have paid for another one',
      )
    return settlement
  }

  async function settle({ claim, payment, requirements, result, onSubmitted }: Input): Promise<Settlement> {
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
      onSubmitted?.()
      const sent = { claim: submitted, payment, requirements, startedAt: now() }
      settlement = await conclude(sent, routes, end)
      await fault.at('after_settled')
    } catch (thrown) {
      log.error({ [LogField.claim]: claim.id, err: thrown }, 'settling failed in the middle')
      settlement = await claims.doubtful(submitted, 'unknown', { reason: 'interrupted', transaction: null })
    }
    if (isUndecided(settlement.claim)) reconciler.watch(claim.id)
    return settlement
  }

  return {
    prepare(payment) {
      void router
        .routes(payment)
        .then(([route]) => route?.upstream.prepare?.(payment))
        .catch(() => undefined)
    },
    begin: inHand.begin,
    giveBack: inHand.giveBack,
    settle: (input) => inHand.hold(input.claim.id, () => settle(input)),
    reconcile: reconciler.reconcile,
    reconcileOne: reconciler.reconcileOne,
    close: reconciler.close,
  }
}

/** The refusal where nobody alive takes a payment of this kind. */
export const noRoute = ({ scheme, network }: { scheme: string; network: string }) =>
  new GatewayError(
    'no_route',
    `No live facilitator takes ${scheme} on ${network} right now. See GET /supported for what is taken, or try again in a few seconds.`,
    { extras: { retry_after_seconds: 5 } },
  )

/** @throws never, of what is `settled` in the table */
const transactionOf = (one: Evidence | UpstreamSettlement): string =>
  must('transaction' in one ? one.transaction : undefined, 'the transaction of a settlement')

const blockOf = (found: Evidence) => (found.state === 'paid' ? found.block : undefined)

/** The reason of an upstream for its no. */
const reasonOf = (answer: UpstreamSettlement): string =>
  'reason' in answer ? answer.reason : 'unexpected_settle_error'

const isSame = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()
