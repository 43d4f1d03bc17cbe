// The payment gate inside the call path: a challenge, or claim, work, settle, release. A payment is claimed before any work
// starts, so of all its copies one gets a result; what becomes of the money is the settlements' business.
import { setTimeout as sleep } from 'node:timers/promises'
import type { PaymentRequirements } from '../../schemas/x402.ts'
import { X402_RULES } from '../commerce/x402/bind-rules.ts'
import { GatewayError } from '../core/errors.ts'
import { budgetSpent } from '../egress/limits/budgets.ts'
import { digestCanonical } from '../lib/canonical-json.ts'
import type { Fault } from '../lib/fault-points.ts'
import { newId } from '../lib/ids.ts'
import type { Signer } from '../receipts/ports.ts'
import type { NewPaymentClaim, PaymentClaim, Store, StoredReceipt } from '../store/ports.ts'
import { createChallenges } from './challenge.ts'
import { findChangedEcho } from './extensions.ts'
import { isMadeByCopies, toPaid } from './firewall.ts'
import { createOffers } from './offers.ts'
import type { Payment, Router, Settlement, Settlements, StoredResult, Verdict, Verifier } from './ports.ts'
import type { Networks } from '../core/networks.ts'
import type { PaidCall, PaidResult, PaymentGate, ShownClaim } from '../core/charging.ts'
import { USUAL_DURATION_MS } from '../core/tool.ts'
import { type Identifier, identifierOf } from './identifier.ts'
import type { Presentations } from './presentation.ts'
import { isUndecided } from './reconcile.ts'
import { createRefusals } from './refusals.ts'
import { claimVerified } from './reserve.ts'
import { MAX_TIMEOUT_SECONDS } from './requirements.ts'
import type { Secrets } from './secrets.ts'
import type { SignIns } from './sign-in.ts'
import { receiptOf, withReceipt, storeResult } from './stored-result.ts'
import { decodePayment } from './wire.ts'
import { must } from '../lib/must.ts'

export interface GateParts {
  readonly store: Store
  readonly networks: Networks
  readonly verifier: Verifier
  readonly settlements: Settlements
  /** The router, where one is given: a network that no live facilitator takes is not asked for. */
  readonly router?: Pick<Router, 'states' | 'routes'> | undefined
  /** Test money is all there is. */
  readonly isSandbox: boolean
  readonly signer: Signer
  readonly presentations: Presentations
  readonly secrets: Secrets
  readonly signIns: SignIns
  /** Signs a stored receipt anew whose key was revoked. */
  readonly renewReceipt: (receipt: StoredReceipt) => StoredReceipt
  /** Address that is paid; undefined until the operator says (production): then paid tools are not available. */
  readonly payTo: string | undefined
  readonly baseUrl: string
  readonly bootId: string
  /** Payments of one payer, asset and network that may be open at once. */
  readonly maxOpen?: number | undefined
  readonly now: () => number
  readonly fault: Fault
}

/** How long a copy of a payment waits for the one that is being worked on. */
const WAIT_MS = 20_000
const POLL_MS = 200

/** A payment that fits the call, as far as that can be said without a signature. */
interface Offered {
  readonly call: PaidCall
  readonly payment: Payment
  readonly requirements: PaymentRequirements
  readonly identifier: Identifier | null
}

export function createPaymentGate(parts: GateParts): PaymentGate {
  const { store, verifier, settlements, presentations, secrets, signIns, bootId, now, fault } = parts
  const offers = createOffers(parts)
  const challenges = createChallenges({ ...parts, offers })
  const refuse = createRefusals({ challenges, signIns, baseUrl: parts.baseUrl })
  const allNetworks = parts.networks.all.map(({ network }) => network)
  /** Claims of this process, from the claim to the release. */
  const running = new Map<string, Promise<PaidResult>>()

  async function run(call: PaidCall, isRetry = false): Promise<PaidResult> {
    if (!call.payment) throw refuse.unpaid(call)
    const payment = decodePayment(call.payment)
    const identifier = identifierOf(call, payment)
    // Anything paid before comes first: neither a price that changed since nor a facilitator that is down takes it back.
    const own = await findOwn(payment)
    if (own) return repeat(call, payment, own, isRetry)

    const requirements = match(call, payment)
    const { tool, resource } = call
    const options = {
      resourceUrl: resource.url,
      isOurs: true,
      workMs: tool.maxDurationMs ?? USUAL_DURATION_MS,
    }
    const earlier =
      identifier === null
        ? undefined
        : await store.findIdentifiedClaim({
            tool: tool.name,
            payer: payment.payer,
            identifier: identifier.text,
          })
    if (!earlier) await call.terms.check?.()
    const verdict = await verifier.verify(payment, requirements, {
      ...options,
      // For an answer that is paid already it is enough that the same payer asks.
      skipChain: earlier !== undefined,
    })
    if (verdict.ok && earlier) return repeat(call, payment, earlier, isRetry)

    const offered = { call, payment, requirements, identifier }
    const reserved = verdict.ok
      ? await claimVerified(verdict, {
          verify: () => verifier.verify(payment, requirements, { ...options, withBalance: true }),
          async claim(limits) {
            await fault.at('before_claim')
            const { caller } = call
            const capabilityId = caller.kind === 'agent' ? caller.capability.id : undefined
            const wanted = newClaim(offered)
            const claimed = await settlements.begin(wanted.id, () =>
              store.claimPayment({ claim: wanted, bootId, capabilityId, sale: call.terms.sale, ...limits }),
            )
            if (!claimed.ok && claimed.reason === 'budget') throw budgetSpent(claimed.budget, now())
            return claimed
          },
          maxOpen: parts.maxOpen,
        })
      : { state: 'refused' as const, verdict }
    if (reserved.state === 'taken') return repeat(call, payment, reserved.claim, isRetry)
    if (reserved.state === 'refused') {
      const { verdict: refusal } = reserved
      // A copy may have been claimed, or even settled, since we looked.
      const taken = isMadeByCopies(refusal.check) ? await findOwn(payment) : undefined
      if (taken) return repeat(call, payment, taken, isRetry)
      // The claim in the way was given back in between.
      if (refusal.check === 'claim' && !isRetry) return run(call, true)
      throw refuse.verdict(call, refusal)
    }
    const { claim } = reserved
    const result = perform(offered, claim).finally(() => running.delete(claim.id))
    running.set(claim.id, result)
    return result
  }

  async function findOwn({ network, payer, nonce }: Payment): Promise<PaymentClaim | undefined> {
    const asset = parts.networks.find(network)?.asset.address.toLowerCase()
    return asset === undefined ? undefined : store.findClaim({ network, asset, payer, nonce })
  }

  /**
   * The requirement of ours that a payment is for, as far as that can be said without its signature.
   * @throws {GatewayError} payment_rejected, quote_invalid, payments_unavailable
   */
  function match(call: PaidCall, payment: Payment): PaymentRequirements {
    const accepts = challenges.accepts(call)
    // An expired quote is not this price any more: a fresh one, and the buyer decides again.
    if (call.quote !== undefined && call.terms.quote && call.terms.quote(call.quote).jws !== call.quote)
      throw refuse.unpaid(call)
    const { kind, resourceUrl } = payment
    const paid = toPaid(payment)
    const ofScheme = accepts.filter((entry) => X402_RULES.scheme(paid, entry) === 'match')
    const requirements = ofScheme.find((entry) => X402_RULES.network(paid, entry) === 'match')
    if (!requirements)
      throw ofScheme.length > 0
        ? refuse.rejected(call, 'invalid_network', 'network', `Pay on ${names(accepts)}.`)
        : refuse.rejected(call, 'unsupported_scheme', 'scheme', 'Pay with the scheme `exact`.')
    if (kind.type !== 'eip3009') {
      const message = 'Sign a transferWithAuthorization (EIP-3009).'
      throw refuse.rejected(call, 'unsupported_payload_type', 'scheme', message)
    }
    if (resourceUrl !== null && resourceUrl !== call.resource.url) {
      const message = `This payment is for another resource; this one is ${call.resource.url}.`
      throw refuse.rejected(call, 'invalid_resource', 'resource', message)
    }
    const changed = findChangedEcho(challenges.extensions(call), payment.extensions)
    if (changed !== undefined) {
      const message = `Send the extension ${changed} back as it was advertised: members may be added, not changed.`
      throw refuse.rejected(call, 'extension_echo_mismatch', 'accepted', message)
    }
    return requirements
  }

  async function perform({ call, payment, requirements }: Offered, claim: PaymentClaim): Promise<PaidResult> {
    let result: StoredResult
    let settlement: Settlement
    try {
      await fault.at('after_claim')
      settlements.prepare?.(payment)
      result = storeResult(await call.work(claim.id))
      await fault.at('after_work')
      call.settling?.('The work is done; the payment is being settled')
      settlement = await settlements.settle({
        claim,
        payment,
        requirements,
        result,
        onSubmitted: () => call.settling?.('The payment is with its facilitator; its chain decides'),
      })
    } catch (thrown) {
      const reason = thrown instanceof GatewayError ? thrown.code : 'internal'
      const isFree = await settlements.giveBack(claim, reason)
      throw isFree === false ? refuse.pendingSettlement(claim) : thrown
    }
    if (settlement.state === 'failed')
      throw refuse.settlementFailed(call, settlement.claim, settlement.reason, settlement.message)
    if (settlement.state !== 'settled') throw refuse.pendingSettlement(settlement.claim)
    call.terms.onSettled?.(settlement.claim)
    await fault.at('before_release')
    return release(settlement.claim, result.json, settlement.receipt, false)
  }

  /** A payment that was used, or an identifier that was: the stored answer, or a refusal that names the claim. */
  async function repeat(
    call: PaidCall,
    payment: Payment,
    claim: PaymentClaim,
    isRetry: boolean,
  ): Promise<PaidResult> {
    const isSame = presentations.isSame(payment, claim)
    // The very payment was judged when it was claimed, by its payer's contract where it has one.
    if (claim.nonce === payment.nonce && !isSame) {
      const verdict = await prove(payment, claim)
      if (!verdict.ok) throw refuse.verdict(call, verdict)
    }
    const identifier = identifierOf(call, payment)
    // The rest of it can be read on the chain, so a copy that differs anywhere may be anyone's.
    const isCopy = claim.nonce === payment.nonce && !isSame
    const isSecret = identifier?.isSecret === true
    const isBuyers = isCopy ? false : isSecret || (isSame && claim.secret !== null)
    // Not even whether the request is the same one is told before that: a stranger could guess it, word by word.
    if (identifier === null || claim.identifier !== identifier.text || !isBuyers)
      throw claim.state === 'failed'
        ? refuse.settlementFailed(call, claim)
        : refuse.claimed(claim, isSame && claim.secret !== null)
    if (claim.tool !== call.tool.name || claim.requestDigest !== call.terms.requestDigest)
      throw identifier.isKey ? refuse.keyReused(claim) : refuse.identifierConflict(claim)

    const ended = await waitFor(claim)
    if ('output' in ended) return { ...ended, replayed: true }
    if (ended.state === 'settled') return replay(ended)
    if (ended.state === 'failed') throw refuse.settlementFailed(call, ended)
    // A canceled payment may be paid with again; once is enough for one request.
    if (ended.state === 'canceled' && !isRetry) return run(call, true)
    throw ended.state === 'canceled' ? refuse.claimed(ended, true) : refuse.pendingSettlement(ended)
  }

  /** @returns the result itself where this process makes it, else the claim as it stands in the end */
  async function waitFor(claim: PaymentClaim): Promise<PaidResult | PaymentClaim> {
    const own = running.get(claim.id)
    if (own) {
      const result = await within(own, WAIT_MS)
      if (result) return result
    }
    const current = own ? claim : await pollUntilEnded(claim)
    return isUndecided(current) ? settlements.reconcileOne(current) : current
  }

  /** Waits for a claim of another process: nobody tells us, so the store is asked. */
  async function pollUntilEnded(claim: PaymentClaim): Promise<PaymentClaim> {
    let current = claim
    for (let polls = WAIT_MS / POLL_MS; isInFlight(current) && polls > 0; polls--) {
      await sleep(POLL_MS)
      current = (await store.getClaim(claim.id)) ?? current
    }
    return current
  }

  async function replay(claim: PaymentClaim): Promise<PaidResult> {
    const paid = await findPaid(claim)
    if (!paid) throw refuse.claimed(claim, true)
    return paid
  }

  /** Result that was paid for with a settled claim, while it is kept. */
  async function findPaid(claim: PaymentClaim): Promise<PaidResult | null> {
    const [result, receipt] = await Promise.all([store.getClaimResult(claim.id), receiptFor(claim)])
    return result && receipt ? release(claim, result.json, receipt, true) : null
  }

  async function receiptFor({ receiptId }: PaymentClaim): Promise<StoredReceipt | undefined> {
    const receipt = receiptId === null ? undefined : await store.getReceipt(receiptId)
    return receipt && parts.renewReceipt(receipt)
  }

  function release(
    claim: PaymentClaim,
    stored: string,
    receipt: StoredReceipt,
    replayed: boolean,
  ): PaidResult {
    const json = withReceipt(stored, receiptOf(receipt))
    return {
      output: JSON.parse(json),
      json,
      settlement: offers.settled(claim),
      claimId: claim.id,
      replayed,
    }
  }

  return {
    run: (call) => run(call),

    async claim(claimId, { payment, signIn }) {
      const found = await store.getClaim(claimId)
      if (signIn) {
        const verdict = await signIns.verify(signIn, found)
        if (!verdict.ok && verdict.reason === 'malformed') throw refuse.signIn(claimId, allNetworks, verdict)
        if (!found || (!verdict.ok && verdict.reason === 'other_payer'))
          throw refuse.notFound(claimId, allNetworks)
        if (!verdict.ok) throw refuse.signIn(claimId, [found.network], verdict)
        if (!(await store.acceptSignIn({ id: found.id, issuedAt: verdict.issuedAt })))
          throw refuse.signIn(claimId, [found.network], USED)
        return show(found, true)
      }
      const shown = payment && decodePayment(payment)
      // Not the payer, nonce and signature alone: of a settled payment the chain tells those to everybody.
      if (!shown || !found || !presentations.isSame(shown, found)) throw refuse.notFound(claimId, allNetworks)
      return show(found, found.secret !== null)
    },

    async outcome(claimId) {
      const found = await store.getClaim(claimId)
      if (!found) throw new GatewayError('payment_not_found', 'There is no such claim.')
      const claim = isUndecided(found) ? await settlements.reconcileOne(found) : found
      return { claim, paid: claim.state === 'settled' ? await findPaid(claim) : null }
    },
  }

  async function show(found: PaymentClaim, isBuyer: boolean): Promise<ShownClaim> {
    const claim = isUndecided(found) ? await settlements.reconcileOne(found) : found
    const signIn = isBuyer ? null : signIns.challenge(claim.id, [claim.network])
    if (!isBuyer || claim.state !== 'settled') return { claim, signIn, result: null, receipt: null }
    const [stored, receipt] = await Promise.all([store.getClaimResult(claim.id), receiptFor(claim)])
    const shown = receipt ? receiptOf(receipt) : null
    return { claim, signIn, result: stored && shown ? withReceipt(stored.json, shown) : null, receipt: shown }
  }

  function newClaim({ call, payment, requirements, identifier }: Offered): NewPaymentClaim {
    const createdAt = now()
    const { tool, terms, resource } = call
    return {
      id: newId('clm', createdAt),
      origin: 'tool',
      network: payment.network,
      asset: requirements.asset.toLowerCase(),
      payer: payment.payer,
      nonce: payment.nonce,
      payTo: requirements.payTo,
      amount: requirements.amount,
      validBefore: payment.validBefore,
      tool: tool.name,
      method: resource.method,
      resource: resource.url,
      requestDigest: terms.requestDigest,
      requirementDigest: digestCanonical(requirements),
      presentationDigest: presentations.digest(payment),
      secret: secrets.of(payment),
      identifier: identifier?.text ?? null,
      purchase: terms.purchase ?? null,
      accountId: null,
      createdAt,
    }
  }

  /** Signature and shape against what was claimed, whatever is asked for today. */
  function prove(payment: Payment, claim: PaymentClaim): Promise<Verdict> {
    const asset = must(parts.networks.find(claim.network), 'the network of a claim among those served').asset
    const requirements: PaymentRequirements = {
      scheme: payment.scheme,
      network: claim.network,
      amount: claim.amount,
      asset: asset.address,
      payTo: claim.payTo,
      maxTimeoutSeconds: payment.accepted?.maxTimeoutSeconds ?? MAX_TIMEOUT_SECONDS,
      extra: payment.accepted?.extra ?? { name: asset.name, version: asset.version },
    }
    return verifier.verify(payment, requirements, {
      claimId: claim.id,
      isOurs: claim.origin === 'tool',
      skipChain: true,
    })
  }
}

const USED = { reason: 'used', message: 'This signature was used before.' } as const
const isInFlight = ({ state }: PaymentClaim) => state === 'claimed' || state === 'submitted'
const names = (accepts: readonly PaymentRequirements[]) => accepts.map(({ network }) => network).join(' or ')

async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  const timer = new AbortController()
  try {
    return await Promise.race([
      promise,
      sleep(ms, undefined, { signal: timer.signal }).catch(() => undefined),
    ])
  } finally {
    timer.abort()
  }
}
