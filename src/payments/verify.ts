// Verifies a payment: every check in the order of CHECKS, and no question to a chain or an upstream before the cheap ones
// have passed. The checks that need no world are firewall.ts's.
import type { PaymentRequirements } from '../../schemas/x402.ts'
import type { Logger } from '../lib/log.ts'
import type { DocumentStore, PayerStanding, PaymentClaim, Store } from '../store/ports.ts'
import { createEip3009Hasher, type Eip3009Hasher } from './eip3009.ts'
import { checkPayment, notProven, type Refusal } from './firewall.ts'
import type { PayerLosses } from './payer-losses.ts'
import { createPaymentPolicyReader, type PaymentPolicy } from './policy.ts'
import { type Chain, ChainError, type ChainProbe } from './chain-ports.ts'
import type { Check, Payment, Router, Verdict, Verifier } from './ports.ts'
import type { Networks } from '../core/networks.ts'
import { createRate } from './rates.ts'
import { loadSecp256k1, type Secp256k1 } from './secp256k1.ts'

export interface VerifierParts {
  readonly networks: Networks
  /** The key is a CAIP-2 id. */
  readonly chains: ReadonlyMap<string, Chain>
  readonly store: Pick<Store, 'findClaim' | 'findStanding'>
  /** Kinds that are not verified here are put to its upstreams. */
  readonly router: Pick<Router, 'routes' | 'report'>
  readonly documents: Pick<DocumentStore, 'read'>
  /** Verifications a minute; 0 switches both limits off. */
  readonly rateLimit?: { readonly perPayer: number; readonly perPayee: number } | undefined
  /** Payments of one payer, asset and network that may be open at once. */
  readonly maxOpen?: number | undefined
  /** What became of the payments that were taken before. */
  readonly losses?: Pick<PayerLosses, 'most'> | undefined
  /** For tests: waits before it looks at a payer again. */
  readonly wait?: ((ms: number) => Promise<void>) | undefined
  readonly now: () => number
  readonly log: Logger
}

const RATE_LIMIT = { perPayer: 300, perPayee: 6000 }
export const MAX_OPEN = 128
/**
 * The same of a contract wallet: its code may agree in the simulation and not in the transaction, which then reverts at the
 * operator's cost and stays open until its authorization expires.
 */
export const MAX_OPEN_OF_CONTRACT = 8
/** Pauses before a payer is looked at again whose payments are being settled: between its block and its row each counts twice. */
const SETTLING_PAUSES_MS = [100, 300] as const
const UPSTREAM_VERIFY_MS = 5000
const MAX_UPSTREAMS = 2
const EOA_SIGNATURE_CHARACTERS = 2 + 2 * 65

/** The reason of a payer whose balance is enough, but bound by payments of its own. */
const BOUND = 'insufficient_funds'

interface Remembered {
  readonly ok: true
  /** As in {@link Verdict}. */
  readonly maxWorking: number | undefined
  readonly standing: PayerStanding | undefined
  readonly withBalance: boolean
}
type Eip3009Payment = Payment & { readonly kind: Extract<Payment['kind'], { type: 'eip3009' }> }
type Options = NonNullable<Parameters<Verifier['verify']>[2]>

/**
 * The key of the claim on a payment: the same for every spelling of it, and without the signature, of which there can be
 * several.
 */
export function claimKeyOf(
  payment: Payment,
  requirements: PaymentRequirements,
): Pick<PaymentClaim, 'network' | 'asset' | 'payer' | 'nonce'> {
  const { network, payer, nonce } = payment
  const asset = network.startsWith('eip155:') ? requirements.asset.toLowerCase() : requirements.asset
  return { network, asset, payer, nonce }
}

/** @param parts.rateLimit verifications a minute for each address */
export function createVerifier(parts: VerifierParts): Verifier {
  const { networks, chains, store, router, losses, now, log, maxOpen = MAX_OPEN } = parts
  const wait = parts.wait ?? ((ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)))
  const { perPayer, perPayee } = parts.rateLimit ?? RATE_LIMIT
  const payerRate = createRate(perPayer, now)
  const payeeRate = createRate(perPayee, now)
  const readPolicy = createPaymentPolicyReader(
    parts.documents,
    (problem) => log.warn({ reason: problem }, 'payment-policy'),
    now,
  )
  let hasher: Eip3009Hasher | undefined

  function recoverSigner(secp256k1: Secp256k1, payment: Eip3009Payment): string | undefined {
    const network = networks.find(payment.network)
    if (!network) return undefined
    hasher ??= createEip3009Hasher(secp256k1.keccak256)
    const digest = hasher.hash(network, payment.kind.authorization)
    return payment.kind.signature.use((signature) =>
      signature.length === EOA_SIGNATURE_CHARACTERS
        ? secp256k1.recoverAddress(digest, Buffer.from(signature.slice(2), 'hex'))
        : undefined,
    )
  }

  /**
   * Asks our own memory and no chain: deny lists, rate, claim, and what the payer has bound.
   * @returns what the payer has bound, where it is known who that is
   */
  async function checkMemory(
    payment: Payment,
    requirements: PaymentRequirements,
    options: Options,
  ): Promise<Refusal | Remembered> {
    const denied = checkPolicy(await readPolicy(), payment.payer, requirements.payTo)
    if (denied) return denied
    const maxWorking = options.claimId === undefined ? losses?.most(payment, maxOpen) : undefined
    if (maxWorking === 0) return hasToWait(payment.payer)
    if (options.claimId === undefined) {
      if (payment.payer !== '' && !payerRate.allows(payment.payer))
        return tooMany(`Payer ${payment.payer} has had its ${perPayer} verifications of this minute.`)
      if (!options.isOurs && !payeeRate.allows(requirements.payTo.toLowerCase()))
        return tooMany(`Payee ${requirements.payTo} has had its ${perPayee} verifications of this minute.`)
    }
    const key = claimKeyOf(payment, requirements)
    const [claim, standing] = await Promise.all([
      store.findClaim(key),
      payment.payer === '' ? undefined : store.findStanding(key),
    ])
    if (claim && claim.id !== options.claimId)
      return refuse(
        'claim',
        'invalid_exact_evm_nonce_already_used',
        `This payment was used before, under claim ${claim.id}. Sign a payment with a fresh nonce.`,
      )
    const crowded = findCrowd(payment.payer, standing, maxOpen, maxWorking)
    if (crowded) return crowded
    // A payment without company is good when its transfer would succeed: the balance is one question more for the others.
    return {
      ok: true,
      standing,
      maxWorking,
      withBalance: options.withBalance === true || (standing?.open.count ?? 0) > 0,
    }
  }

  function countVerification(payment: Payment, requirements: PaymentRequirements, options: Options): void {
    if (options.claimId !== undefined) return
    if (payment.payer !== '') payerRate.count(payment.payer)
    if (!options.isOurs) payeeRate.count(requirements.payTo.toLowerCase())
  }

  async function checkOnChain(
    payment: Eip3009Payment,
    requirements: PaymentRequirements,
    isSigner: boolean,
    { standing, withBalance, maxWorking: allowed }: Remembered,
  ): Promise<Verdict> {
    const { authorization, signature } = payment.kind
    if (networks.hindrance(payment.network) !== undefined)
      return unavailable('route', notProven(payment.network))
    const chain = chains.get(payment.network)
    if (!chain) return unavailable('route', `No chain answers for ${payment.network}. Try again later.`)
    let probe: ChainProbe
    try {
      probe = await chain.probe(authorization, signature, { withBalance })
    } catch (thrown) {
      return notAnswered(payment.network, thrown)
    }
    const refusal = judgeProbe(probe, authorization.value, isSigner)
    if (refusal) return refusal
    const verdict = withFunds(payment.payer, standing, probe.balance, authorization.value)
    // The token took the signature of a contract wallet, in the simulation. Whoever will submit it has to agree.
    if (isSigner || !verdict.ok) return verdict
    const most = Math.min(maxOpen, MAX_OPEN_OF_CONTRACT)
    const maxWorking = allowed === undefined ? undefined : losses?.most(payment, most)
    const crowded = findCrowd(payment.payer, standing, most, maxWorking)
    if (crowded) return crowded
    const agreed = await askUpstreams(payment, requirements)
    return agreed.ok ? { ...agreed, funds: verdict.funds, maxOpen: most, maxWorking } : agreed
  }

  /** Contract wallets, other schemes and other families of chains are judged by whoever will settle them. */
  async function askUpstreams(payment: Payment, requirements: PaymentRequirements): Promise<Verdict> {
    const { x402Version, scheme, network } = payment
    const routes = await router.routes({ x402Version, scheme, network })
    for (const { upstream } of routes.slice(0, MAX_UPSTREAMS)) {
      const startedAt = now()
      const verdict = await upstream
        .verify({ payment, requirements, deadlineMs: UPSTREAM_VERIFY_MS })
        .catch(() => undefined)
      const isAnswered = verdict !== undefined && (verdict.ok || !verdict.isRetryable)
      // One wallet that no facilitator can check would otherwise close the network for everybody.
      const isOfThisPayment = verdict?.ok === false && verdict.isOfThisPayment === true
      if (!isOfThisPayment)
        router.report(upstream.id, { ok: isAnswered, ms: now() - startedAt, kind: { scheme, network } })
      if (isAnswered) return verdict
    }
    return unavailable(
      'route',
      routes.length === 0
        ? `No live facilitator takes ${scheme} on ${network}.`
        : `No facilitator could check this payment right now. It is not at fault; try again.`,
    )
  }

  async function judgeElsewhere(
    payment: Payment,
    requirements: PaymentRequirements,
    { standing, withBalance }: Remembered,
  ): Promise<Verdict> {
    const { network, payer } = payment
    const verdict = await askUpstreams(payment, requirements)
    if (!verdict.ok) return verdict
    if (payer !== verdict.payer.toLowerCase())
      // The payer of a foreign payment is known only now.
      return checkPolicy(await readPolicy(), verdict.payer, requirements.payTo) ?? verdict
    const chain = chains.get(network)
    if (!chain || payment.kind.type === 'foreign') return verdict
    let balance: bigint | null = null
    try {
      if (withBalance) balance = await chain.balanceOf(payer)
    } catch (thrown) {
      return notAnswered(network, thrown)
    }
    return withFunds(payer, standing, balance, BigInt(requirements.amount))
  }

  /** Asks memory, then the chain; a payer whose payments are being settled at this moment is looked at again. */
  async function checkWorld(
    payment: Payment,
    requirements: PaymentRequirements,
    options: Options,
    isSigner: () => boolean,
  ): Promise<Verdict> {
    for (const pause of [...SETTLING_PAUSES_MS, undefined]) {
      const remembered = await checkMemory(payment, requirements, options)
      if (!remembered.ok) return remembered
      const { standing } = remembered
      const verdict = isEip3009(payment)
        ? await checkOnChain(payment, requirements, isSigner(), remembered)
        : await judgeElsewhere(payment, requirements, remembered)
      const isSettling = standing !== undefined && standing.open.submitted > 0
      if (verdict.ok) return { ...verdict, maxWorking: verdict.maxWorking ?? remembered.maxWorking }
      if (verdict.reason !== BOUND || !isSettling || pause === undefined) return verdict
      await wait(pause)
    }
    throw new Error('the last look has no pause after it')
  }

  async function judge(
    payment: Payment,
    requirements: PaymentRequirements,
    options: Options,
  ): Promise<Verdict> {
    const secp256k1 = await loadSecp256k1()
    const isUsed = options.skipChain === true
    const shape = checkPayment(
      {
        payment,
        requirements,
        networks,
        resourceUrl: options.resourceUrl,
        isOurs: options.isOurs === true,
        workSeconds: Math.ceil((options.workMs ?? 0) / 1000),
        nowSeconds: BigInt(Math.floor(now() / 1000)),
        keccak256: secp256k1.keccak256,
      },
      isUsed,
    )
    if (!shape.ok) return shape
    let signed: boolean | undefined
    const isSigner = () =>
      (signed ??= isEip3009(payment) && recoverSigner(secp256k1, payment) === payment.payer)
    if (isUsed) return isSigner() ? { ok: true, payer: payment.payer } : wrongSignature()
    const verdict = await checkWorld(payment, requirements, options, isSigner)
    // Only a payment that its payer signed counts: otherwise anyone could use up the allowance of anyone.
    if (signed || verdict.ok) countVerification(payment, requirements, options)
    return verdict
  }

  return {
    async verify(payment, requirements, options = {}) {
      const verdict = await judge(payment, requirements, options)
      return verdict.ok || payment.payer === '' ? verdict : { payer: payment.payer, ...verdict }
    },
  }
}

const isEip3009 = (payment: Payment): payment is Eip3009Payment => payment.kind.type === 'eip3009'

/**
 * Judges what a chain says of an authorization. The token itself judges the signature of a contract wallet, in the simulation.
 * @returns undefined when nothing stands against it
 */
export function judgeProbe(probe: ChainProbe, value: bigint, isSigner: boolean): Refusal | undefined {
  if (!isSigner && !probe.payerHasCode) return wrongSignature()
  if (probe.nonceUsed)
    return refuse(
      'authorization_state',
      'invalid_exact_evm_nonce_already_used',
      'This authorization was used or canceled on chain. Sign one with a fresh nonce.',
    )
  if (probe.balance !== null && probe.balance < value)
    return refuse(
      'balance',
      'invalid_exact_evm_insufficient_balance',
      `The payer holds ${probe.balance} of the ${value} atomic units that it signed for. Fund it, or pay from another.`,
    )
  if (probe.revert === null) return undefined
  if (probe.exceedsGas)
    return refuse('simulation', 'invalid_exact_evm_transaction_simulation_failed', probe.revert)
  if (!isSigner) return wrongSignature()
  return refuse(
    'simulation',
    'invalid_exact_evm_transaction_simulation_failed',
    `The transfer would fail on chain: ${printable(probe.revert)}`,
  )
}

/** @returns undefined when neither side is denied */
export function checkPolicy(policy: PaymentPolicy, payer: string, payee: string): Refusal | undefined {
  if (policy.isPaused)
    return unavailable('deny_list', 'Payments are paused by the operator. Try again later.')
  if (policy.isDeniedPayer(payer))
    return refuse('deny_list', 'payer_denied', 'Payments of this payer are not accepted here.')
  if (policy.isDeniedPayee(payee))
    return refuse('deny_list', 'payee_denied', 'Payments to this payee are not accepted here.')
  return undefined
}

const refuse = (check: Check, reason: string, message: string): Refusal => ({
  ok: false,
  check,
  reason,
  message,
  isRetryable: false,
})
/** The payment is not at fault, so nobody may call it invalid. */
const unavailable = (check: Check, message: string): Refusal => ({
  ...refuse(check, 'unexpected_verify_error', message),
  isRetryable: true,
})
const tooMany = (message: string): Refusal => ({
  ...refuse('rate', 'rate_limited', `${message} Wait a minute.`),
  isRetryable: true,
})
/** @throws whatever is not the chain's own failure */
function notAnswered(network: string, thrown: unknown): Refusal {
  if (!(thrown instanceof ChainError)) throw thrown
  return unavailable(
    'authorization_state',
    `${network} could not be asked (${thrown.reason}). The payment is not at fault; try again.`,
  )
}

/**
 * Judges what the payer's open payments leave of its balance.
 * @param balance null where nobody asked: the transfer would succeed, so it is at least `amount`
 */
function withFunds(
  payer: string,
  standing: PayerStanding | undefined,
  balance: bigint | null,
  amount: bigint,
): Verdict {
  if (!standing) return { ok: true, payer }
  const { open, settled } = standing
  const holds = balance ?? amount
  const bound = BigInt(open.amount)
  if (holds < bound + amount)
    return refuse(
      'balance',
      BOUND,
      `The payer holds ${holds} atomic units, of which ${bound} are bound by ${open.count} of its payments that are not ` +
        `settled yet; this one needs ${amount}. Send it again when they are settled, or fund the payer.`,
    )
  return { ok: true, payer, funds: { balance: holds.toString(), settled } }
}

/** The reason of a payer whose last payments could not be settled, by its own doing. */
const UNSETTLED_BEFORE = 'payments_unsettled_before'
/** The reason of a payer with more open payments than one may have. */
export const TOO_MANY_OPEN = 'too_many_open_payments'
const tooManyOpen = (payer: string, count: number): Refusal => ({
  ...refuse(
    'rate',
    TOO_MANY_OPEN,
    `Payer ${payer} has ${count} payments that are not settled yet, the most that may be open at once. Nothing is wrong ` +
      'with this one: send it again when some of them are settled.',
  ),
  isRetryable: true,
})
/** @returns why the open payments of the payer leave no room for one more */
function findCrowd(
  payer: string,
  standing: PayerStanding | undefined,
  maxOpen: number,
  maxWorking: number | undefined,
): Refusal | undefined {
  if (!standing) return undefined
  const { count, working } = standing.open
  if (count >= maxOpen) return tooManyOpen(payer, count)
  if (maxWorking === undefined || working < maxWorking) return undefined
  return maxWorking === 0 ? hasToWait(payer) : tooManyWorking(payer, working)
}
const tooManyWorking = (payer: string, count: number): Refusal => ({
  ...refuse(
    'rate',
    TOO_MANY_OPEN,
    `Payer ${payer} has ${count} payments under way, the most at once since others of it could not be settled. Nothing is wrong ` +
      'with this one: send it again when some of them are settled.',
  ),
  isRetryable: true,
})
const hasToWait = (payer: string): Refusal => ({
  ...refuse(
    'rate',
    UNSETTLED_BEFORE,
    `The last payments of payer ${payer} could not be settled: it canceled them, or spent what they needed. ` +
      'Wait a minute, then send this one again; each further one that cannot be settled makes the wait longer.',
  ),
  isRetryable: true,
})
const wrongSignature = () =>
  refuse(
    'signature',
    'invalid_exact_evm_signature',
    'The signature is not of the payer over this authorization, asset and network. Sign it again, unchanged.',
  )

/** The contract's own words, from a chain: bounded, and nothing that could steer a terminal or a log. */
const printable = (text: string) => text.replaceAll(/[^\x20-\x7e]/g, '').slice(0, 160)
