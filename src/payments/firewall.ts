// Decides the checks of the firewall that need nothing but the payment, the requirement and the time: one function a check,
// in the order of CHECKS. The reasons are the words of the protocol's own implementation, so that stock clients know them.
// The rules of what must agree are shared with inspection; here a mismatch becomes a refusal.
import type { PaymentRequirements } from '../../schemas/x402.ts'
import { isSameAddress } from '../commerce/compare.ts'
import {
  compareResourceTexts,
  findDifference,
  findDomainDifference,
  X402_RULES,
  type X402Paid,
  type X402Transfer,
} from '../commerce/x402/bind-rules.ts'
import { findWindowProblems } from '../commerce/window.ts'
import { isOfForm } from '../commerce/signed-members.ts'
import { ADDRESS } from '../commerce/x402/shape.ts'
import { hasGoodChecksum } from '../lib/eip55.ts'
import { settleSeconds } from './inclusion.ts'
import type { Check, Payment } from './ports.ts'
import type { Networks, PaymentNetwork } from '../core/networks.ts'

export interface Refusal {
  readonly ok: false
  readonly check: Check
  readonly reason: string
  readonly message: string
  readonly isRetryable: boolean
}
export type CheckVerdict = { readonly ok: true } | Refusal

/** A payment, what must be paid, and what is known around them. */
export interface Case {
  readonly payment: Payment
  readonly requirements: PaymentRequirements
  readonly networks: Networks
  /** The address that the payment is spent at, when that is known. */
  readonly resourceUrl: string | undefined
  /** We set payTo and amount ourselves. */
  readonly isOurs: boolean
  /** How long the work may take that is done before the payment is settled. */
  readonly workSeconds: number
  readonly nowSeconds: bigint
  readonly keccak256: (bytes: Uint8Array) => Uint8Array
}

/** How far a buyer's clock may be ahead of ours. */
export const CLOCK_SKEW_SECONDS = 30n

const MADE_BY_COPIES: readonly Check[] = ['claim', 'authorization_state', 'balance', 'simulation']
/** A good payment fails this check once a copy of it went ahead: whose claim that is, is the better answer. */
export const isMadeByCopies = (check: Check): boolean => MADE_BY_COPIES.includes(check)

const PASSED: CheckVerdict = { ok: true }
const ZERO_ADDRESS = `0x${'0'.repeat(40)}`
/** The end of a signature of a wallet that is not deployed yet (ERC-6492). */
const ERC6492_SUFFIX = '6492649264926492649264926492649264926492649264926492649264926492'
/** Half the order of secp256k1: of the two signatures (s and n - s) that say the same, only the lower one counts. */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

const refuse = (check: Check, reason: string, message: string): Refusal => ({
  ok: false,
  check,
  reason,
  message,
  isRetryable: false,
})
const isEvm = (network: string) => network.startsWith('eip155:')

/** A payment as the rules of bindings take it. */
export function toPaid({ scheme, network, accepted, kind }: Payment): X402Paid {
  return { scheme, network, accepted, transfer: toTransfer(kind) }
}

const toTransfer = (kind: Payment['kind']): X402Transfer | null =>
  kind.type === 'eip3009'
    ? { to: kind.authorization.to, amount: kind.authorization.value, asset: null }
    : null

type CheckOf = (facts: Case, paid: X402Paid) => CheckVerdict

/** The scheme of the payment is the required one. */
export const checkScheme: CheckOf = ({ payment, requirements }, paid) => {
  if (X402_RULES.scheme(paid, requirements) !== 'mismatch') return PASSED
  return refuse(
    'scheme',
    requirements.scheme === 'exact' ? 'invalid_exact_evm_scheme' : 'unsupported_scheme',
    `The payment is of scheme ${payment.scheme}; ${requirements.scheme} is required.`,
  )
}

/** The network of the payment is the required one, and of an EVM one that is served here. */
export const checkNetwork: CheckOf = ({ payment, requirements, networks }, paid) => {
  if (X402_RULES.network(paid, requirements) === 'mismatch')
    return refuse(
      'network',
      'invalid_exact_evm_network_mismatch',
      `The payment is for ${payment.network}; ${requirements.network} is required.`,
    )
  if (!isEvm(payment.network)) return PASSED
  const network = networks.find(payment.network)
  // What its token is called, and so what a payer has to sign, is known only from the chain.
  if (network?.asset.name === '')
    return {
      ...refuse('network', 'unexpected_verify_error', notProven(payment.network)),
      isRetryable: true,
    }
  if (network) return PASSED
  const offered = networks.all.map(({ network }) => network).join(', ')
  const instead =
    offered === '' ? 'No network is configured: GET /supported lists what is taken.' : `Pay on ${offered}.`
  return refuse('network', 'invalid_network', `${payment.network} is not served here. ${instead}`)
}

/** An exact payment on an EVM is an EIP-3009 authorization: a permission of another kind is checked by nobody here. */
export const checkMethod: CheckOf = ({ payment }) => {
  const { scheme, network, kind } = payment
  if (kind.type === 'eip3009' || scheme !== 'exact' || !isEvm(network)) return PASSED
  return refuse(
    'scheme',
    'unsupported_payload_type',
    'Payments by Permit2 are not taken here. Sign an EIP-3009 authorization (TransferWithAuthorization) of the asset.',
  )
}

/** The words for a payment on a network whose chain has not proven its token, which says nothing of the payment. */
export const notProven = (network: string) =>
  `${network} is not served right now: its chain has not proven the token. The payment is not at fault; try again.`

/** The asset and its signing domain are pinned: a token of another name at another address is not money. */
export const checkAsset: CheckOf = ({ payment, requirements, networks }) => {
  const network = networks.find(payment.network)
  if (!network) return PASSED
  const { address, name } = network.asset
  const { kind } = payment
  if (!isSameAddress(requirements.asset, address))
    return refuse(
      'asset',
      'invalid_payment_requirements',
      `The asset on ${network.network} is ${address} (${name}); ${requirements.asset} is not accepted.`,
    )
  return checkDomain(requirements.extra, network, kind.type === 'eip3009')
}

/** @param isRequired EIP-3009 signs for this domain; elsewhere it is only mentioned */
export function checkDomain(
  extra: Readonly<Record<string, unknown>> | undefined,
  { asset }: PaymentNetwork,
  isRequired: boolean,
): CheckVerdict {
  switch (findDomainDifference(extra, asset, isRequired)) {
    case 'missing':
      return refuse(
        'asset',
        'invalid_exact_evm_missing_eip712_domain',
        `extra must hold the signing domain of the asset: name "${asset.name}" and version "${asset.version}".`,
      )
    case 'name':
      return refuse(
        'asset',
        'invalid_exact_evm_token_name_mismatch',
        `extra.name must be "${asset.name}": that is how the asset at ${asset.address} calls itself.`,
      )
    case 'version':
      return refuse(
        'asset',
        'invalid_exact_evm_token_version_mismatch',
        `extra.version must be "${asset.version}".`,
      )
    default:
      return PASSED
  }
}

/** The signed recipient is the required one; a seller's own payTo must be an address that money is not lost at. */
export const checkPayTo: CheckOf = ({ payment, requirements, isOurs, keccak256 }, paid) => {
  if (!isEvm(payment.network)) return PASSED
  const { payTo, asset } = requirements
  const deny = (message: string) => refuse('pay_to', 'invalid_payment_requirements', message)
  if (!ADDRESS.test(payTo)) return deny('payTo must be an address: 0x and 40 hex digits.')
  if (!isOurs) {
    if (!hasGoodChecksum(payTo, keccak256))
      return deny('payTo has a wrong checksum: one of its characters may be mistyped.')
    if (payTo === ZERO_ADDRESS) return deny('payTo is the zero address: the money would be lost.')
    if (isSameAddress(payTo, asset)) return deny('payTo is the asset itself: the money would be lost.')
    if (isSameAddress(payTo, payment.payer)) return deny('payTo is the payer: nothing would be paid.')
  }
  if (X402_RULES.pay_to(paid, requirements) === 'mismatch')
    return refuse(
      'pay_to',
      'invalid_exact_evm_recipient_mismatch',
      `The authorization pays ${paid.transfer?.to}; sign one that pays ${payTo}.`,
    )
  return PASSED
}

/** The signed amount is exactly the required one, and a seller's own requirement is not zero. */
export const checkAmount: CheckOf = ({ requirements, isOurs }, paid) => {
  const { amount } = requirements
  if (amount === '0' && !isOurs)
    return refuse('amount', 'invalid_payment_requirements', 'The required amount is zero: nothing to settle.')
  if (X402_RULES.amount(paid, requirements) !== 'mismatch') return PASSED
  return refuse(
    'amount',
    'invalid_exact_evm_payload_authorization_value_mismatch',
    `The authorization is over ${paid.transfer?.amount}; sign one over exactly ${amount}.`,
  )
}

/** The requirement leaves enough time to settle. */
export const checkTimeout: CheckOf = ({ payment, requirements }) => {
  const least = settleSeconds(payment.network)
  if (requirements.maxTimeoutSeconds >= least) return PASSED
  return refuse(
    'timeout',
    'invalid_payment_requirements',
    `maxTimeoutSeconds must be at least ${least}: settling takes that long.`,
  )
}

/** A requirement that the buyer says it accepted (v2) must be the one that is required. */
export const checkAccepted: CheckOf = ({ requirements }, { accepted }) => {
  if (accepted === null) return PASSED
  const different = findDifference(accepted, requirements)
  if (different === undefined) return PASSED
  return refuse(
    'accepted',
    'invalid_payment_requirements',
    `accepted.${different} differs from the requirement. Copy one entry of accepts unchanged and sign that.`,
  )
}

/** A payment for one address buys nothing at another. */
export const checkResource: CheckOf = ({ payment, resourceUrl }) => {
  if (resourceUrl === undefined || payment.resourceUrl === null) return PASSED
  // An address that cannot be compared is not this resource either.
  if (compareResourceTexts(payment.resourceUrl, resourceUrl) === 'match') return PASSED
  return refuse(
    'resource',
    'resource_mismatch',
    'The payment names another resource than the one it is sent to. Sign a payment for this one.',
  )
}

/**
 * The window is bounded both ways: long enough for the work and for settling after it, and not so long that a forgotten payment
 * stays good for years.
 */
export const checkWindow: CheckOf = ({ payment, requirements, workSeconds, nowSeconds }) => {
  const { kind } = payment
  if (kind.type !== 'eip3009') return PASSED
  const { validAfter: notBefore, validBefore: expiresAt } = kind.authorization
  const latestEnd = nowSeconds + BigInt(requirements.maxTimeoutSeconds) + CLOCK_SKEW_SECONDS
  const earliestEnd = nowSeconds + BigInt(workSeconds + settleSeconds(payment.network))
  const [problem] = findWindowProblems(
    { notBefore, expiresAt },
    { latestStart: nowSeconds, earliestEnd, latestEnd },
  )
  if (problem === undefined) return PASSED
  if (problem === 'starts_too_late')
    return refuse(
      'window',
      'invalid_exact_evm_payload_authorization_valid_after',
      `The payment is not valid before ${notBefore}; it is ${nowSeconds} now.`,
    )
  return refuse(
    'window',
    'invalid_exact_evm_payload_authorization_valid_before',
    problem === 'ends_too_soon'
      ? `The payment ends at ${expiresAt}, too soon to settle at ${nowSeconds}. Sign a fresh one that ends at ${earliestEnd} or later.`
      : `The payment is valid until ${expiresAt}; sign one that ends by ${latestEnd} (maxTimeoutSeconds from now).`,
  )
}

/** A signature has one form: whoever sees a payment must not be able to write it in another way. */
export const checkSignatureForm: CheckOf = ({ payment }) => {
  if (payment.kind.type !== 'eip3009') return PASSED
  return payment.kind.signature.use((signature) => {
    if (signature.endsWith(ERC6492_SUFFIX))
      return refuse(
        'signature_form',
        'eip6492_factory_not_allowed',
        'Wallets that are not deployed yet (ERC-6492) are not accepted. Deploy the wallet, then sign again.',
      )
    const malformed = (message: string) =>
      refuse('signature_form', 'invalid_exact_evm_failed_to_parse_signature', message)
    const length = (signature.length - 2) / 2
    if (length < 65) return malformed(`The signature has ${length} bytes; 65 (r, s, v) are needed.`)
    if (!isOfForm(signature, 'signature')) return malformed('Neither half of a signature (r, s) can be zero.')
    // A longer signature is for the payer's contract to judge (ERC-1271).
    if (length > 65) return PASSED
    if (BigInt(`0x${signature.slice(66, 130)}`) > HALF_ORDER)
      return malformed('The signature has a high s. Sign with the lower of the two values.')
    const v = Number.parseInt(signature.slice(130), 16)
    return v === 27 || v === 28 ? PASSED : malformed('The last byte of the signature (v) must be 27 or 28.')
  })
}

const CHECKS_WITHOUT_WORLD = [
  checkScheme,
  checkNetwork,
  checkMethod,
  checkAsset,
  checkPayTo,
  checkAmount,
  checkTimeout,
  checkAccepted,
  checkResource,
  checkWindow,
  checkSignatureForm,
] as const

/** @param isUsed a payment that did its work: neither its window nor its address matters any more */
export function checkPayment(facts: Case, isUsed = false): CheckVerdict {
  const paid = toPaid(facts.payment)
  for (const check of CHECKS_WITHOUT_WORLD) {
    if (isUsed && (check === checkWindow || check === checkResource)) continue
    const verdict = check(facts, paid)
    if (!verdict.ok) return verdict
  }
  return PASSED
}
