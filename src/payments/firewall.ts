// The part of the firewall that needs nothing but the payment, the requirement and the time. One function a check, in
// the order of CHECKS; the reasons are the words of the protocol's own implementation, so that stock clients know them.
import type { PaymentRequirements } from '../../schemas/x402.ts'
import { compareAmounts, compareResources, isSameAddress } from '../commerce/bindings/compare.ts'
import { hasGoodChecksum } from './eip3009.ts'
import type { Check, Networks, Payment, PaymentNetwork } from './ports.ts'

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
  /** Where the payment is spent, when that is known. */
  readonly resourceUrl: string | undefined
  /** We set payTo and amount ourselves. */
  readonly isOurs: boolean
  readonly nowSeconds: bigint
  readonly keccak256: (bytes: Uint8Array) => Uint8Array
}

/** A transfer is broadcast, mined and read back in this time, or it may come too late. */
export const SETTLE_BUDGET_SECONDS = 6n
/** How far a buyer's clock may be ahead of ours. */
export const CLOCK_SKEW_SECONDS = 30n

const PASSED: CheckVerdict = { ok: true }
const ZERO_ADDRESS = `0x${'0'.repeat(40)}`
/** The x402 proxy through which an exact payment by Permit2 goes; the same on every chain. */
const PERMIT2_PROXY = '0x402085c248eea27d92e8b30b2c58ed07f9e20001'
/** How a signature of a wallet that is not deployed yet ends (ERC-6492). */
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

export function checkScheme({ payment, requirements }: Case): CheckVerdict {
  if (payment.scheme === requirements.scheme) return PASSED
  return refuse(
    'scheme',
    requirements.scheme === 'exact' ? 'invalid_exact_evm_scheme' : 'unsupported_scheme',
    `The payment is of scheme ${payment.scheme}; ${requirements.scheme} is required.`,
  )
}

export function checkNetwork({ payment, requirements, networks }: Case): CheckVerdict {
  if (payment.network !== requirements.network)
    return refuse(
      'network',
      'invalid_exact_evm_network_mismatch',
      `The payment is for ${payment.network}; ${requirements.network} is required.`,
    )
  if (!isEvm(payment.network) || networks.find(payment.network)) return PASSED
  const offered = networks.all.map(({ network }) => network).join(', ')
  const instead =
    offered === '' ? 'No network is configured: GET /supported lists what is taken.' : `Pay on ${offered}.`
  return refuse('network', 'invalid_network', `${payment.network} is not served here. ${instead}`)
}

/** The asset and its signing domain are pinned: a token of another name at another address is not money. */
export function checkAsset({ payment, requirements, networks }: Case): CheckVerdict {
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
  if (kind.type === 'permit2' && !isSameAddress(kind.permit2.token, address))
    return refuse('asset', 'permit2_token_mismatch', `The permit is for another token than ${address}.`)
  return checkDomain(requirements.extra, network, kind.type === 'eip3009')
}

/** @param isRequired EIP-3009 signs for this domain; elsewhere it is only mentioned */
export function checkDomain(
  extra: Readonly<Record<string, unknown>> | undefined,
  { asset }: PaymentNetwork,
  isRequired: boolean,
): CheckVerdict {
  const { name, version } = extra ?? {}
  if (isRequired && (!name || !version))
    return refuse(
      'asset',
      'invalid_exact_evm_missing_eip712_domain',
      `extra must hold the signing domain of the asset: name "${asset.name}" and version "${asset.version}".`,
    )
  if (name !== undefined && name !== asset.name)
    return refuse(
      'asset',
      'invalid_exact_evm_token_name_mismatch',
      `extra.name must be "${asset.name}": that is how the asset at ${asset.address} calls itself.`,
    )
  if (version !== undefined && version !== asset.version)
    return refuse(
      'asset',
      'invalid_exact_evm_token_version_mismatch',
      `extra.version must be "${asset.version}".`,
    )
  return PASSED
}

export function checkPayTo({ payment, requirements, isOurs, keccak256 }: Case): CheckVerdict {
  if (!isEvm(payment.network)) return PASSED
  const { payTo, asset } = requirements
  const { kind } = payment
  const deny = (message: string) => refuse('pay_to', 'invalid_payment_requirements', message)
  if (!/^0x[0-9a-fA-F]{40}$/.test(payTo)) return deny('payTo must be an address: 0x and 40 hex digits.')
  if (!isOurs) {
    if (!hasGoodChecksum(payTo, keccak256))
      return deny('payTo has a wrong checksum: one of its characters may be mistyped.')
    if (payTo === ZERO_ADDRESS) return deny('payTo is the zero address: the money would be lost.')
    if (isSameAddress(payTo, asset)) return deny('payTo is the asset itself: the money would be lost.')
    if (isSameAddress(payTo, payment.payer)) return deny('payTo is the payer: nothing would be paid.')
  }
  if (kind.type === 'eip3009' && !isSameAddress(kind.authorization.to, payTo))
    return refuse(
      'pay_to',
      'invalid_exact_evm_recipient_mismatch',
      `The authorization pays ${kind.authorization.to}; sign one that pays ${payTo}.`,
    )
  if (kind.type === 'permit2' && !isSameAddress(kind.permit2.to, payTo))
    return refuse(
      'pay_to',
      'invalid_permit2_recipient_mismatch',
      `The permit pays ${kind.permit2.to}; sign one that pays ${payTo}.`,
    )
  if (kind.type === 'permit2' && kind.permit2.spender !== PERMIT2_PROXY)
    return refuse(
      'pay_to',
      'invalid_permit2_spender',
      `The spender of the permit must be the x402 proxy ${PERMIT2_PROXY}.`,
    )
  return PASSED
}

export function checkAmount({ payment, requirements, isOurs }: Case): CheckVerdict {
  const required = BigInt(requirements.amount)
  const { kind } = payment
  if (required === 0n && !isOurs)
    return refuse('amount', 'invalid_payment_requirements', 'The required amount is zero: nothing to settle.')
  if (kind.type === 'eip3009' && compareAmounts(kind.authorization.value, required, 'exact') !== 'match')
    return refuse(
      'amount',
      'invalid_exact_evm_payload_authorization_value_mismatch',
      `The authorization is over ${kind.authorization.value}; sign one over exactly ${required}.`,
    )
  if (kind.type === 'permit2' && compareAmounts(kind.permit2.amount, required, 'exact') !== 'match')
    return refuse(
      'amount',
      'permit2_amount_mismatch',
      `The permit is over ${kind.permit2.amount}; sign one over exactly ${required}.`,
    )
  return PASSED
}

export function checkTimeout({ requirements }: Case): CheckVerdict {
  if (BigInt(requirements.maxTimeoutSeconds) >= SETTLE_BUDGET_SECONDS) return PASSED
  return refuse(
    'timeout',
    'invalid_payment_requirements',
    `maxTimeoutSeconds must be at least ${SETTLE_BUDGET_SECONDS}: settling takes that long.`,
  )
}

/** What the buyer says it accepted (v2) is what is required. */
export function checkAccepted({ payment, requirements }: Case): CheckVerdict {
  if (payment.accepted === null) return PASSED
  const different = findDifference(payment.accepted, requirements)
  if (different === undefined) return PASSED
  return refuse(
    'accepted',
    'invalid_payment_requirements',
    `accepted.${different} differs from the requirement. Copy one entry of accepts unchanged and sign that.`,
  )
}

/**
 * The first member in which a buyer's `accepted` differs: core members are equal (an address in any case), and
 * everything in the requirement's `extra` is there too.
 */
export function findDifference(
  accepted: PaymentRequirements,
  requirements: PaymentRequirements,
): string | undefined {
  const isSameName = isEvm(requirements.network) ? isSameAddress : (a: string, b: string) => a === b
  if (accepted.scheme !== requirements.scheme) return 'scheme'
  if (accepted.network !== requirements.network) return 'network'
  if (accepted.amount !== requirements.amount) return 'amount'
  if (!isSameName(accepted.asset, requirements.asset)) return 'asset'
  if (!isSameName(accepted.payTo, requirements.payTo)) return 'payTo'
  if (accepted.maxTimeoutSeconds !== requirements.maxTimeoutSeconds) return 'maxTimeoutSeconds'
  return containsAll(accepted.extra ?? {}, requirements.extra ?? {}) ? undefined : 'extra'
}

/** Whether everything in `part` is in `whole`; members of objects may be added, items of lists may not. */
function containsAll(whole: unknown, part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return whole === part
  if (typeof whole !== 'object' || whole === null || Array.isArray(whole) !== Array.isArray(part))
    return false
  if (Array.isArray(part) && part.length !== (whole as unknown[]).length) return false
  return Object.entries(part).every(
    ([key, inner]) =>
      Object.hasOwn(whole, key) && containsAll((whole as Record<string, unknown>)[key], inner),
  )
}

/** A payment for one address buys nothing at another. */
export function checkResource({ payment, resourceUrl }: Case): CheckVerdict {
  if (resourceUrl === undefined || payment.resourceUrl === null) return PASSED
  if (isSameResource(payment.resourceUrl, resourceUrl)) return PASSED
  return refuse(
    'resource',
    'resource_mismatch',
    'The payment names another resource than the one it is sent to. Sign a payment for this one.',
  )
}

/** Whether two texts name one resource: the same URL once it is normalised, fragments aside. */
export function isSameResource(a: string, b: string): boolean {
  if (a === b) return true
  const [left, right] = [URL.parse(a), URL.parse(b)]
  return left !== null && right !== null && compareResources(left, right) === 'match'
}

/** Bounded both ways: long enough to settle, and not so long that a forgotten payment stays good for years. */
export function checkWindow({ payment, requirements, nowSeconds }: Case): CheckVerdict {
  const { kind } = payment
  if (kind.type === 'foreign') return PASSED
  const isPermit2 = kind.type === 'permit2'
  const validAfter = isPermit2 ? kind.permit2.validAfter : kind.authorization.validAfter
  const validBefore = isPermit2 ? kind.permit2.deadline : kind.authorization.validBefore
  const beforeReason = isPermit2
    ? 'permit2_deadline_expired'
    : 'invalid_exact_evm_payload_authorization_valid_before'
  if (validBefore < nowSeconds + SETTLE_BUDGET_SECONDS)
    return refuse(
      'window',
      beforeReason,
      `The payment ends at ${validBefore}, too soon to settle at ${nowSeconds}. Sign a fresh one.`,
    )
  const latest = nowSeconds + BigInt(requirements.maxTimeoutSeconds) + CLOCK_SKEW_SECONDS
  if (validBefore > latest)
    return refuse(
      'window',
      beforeReason,
      `The payment is valid until ${validBefore}; sign one that ends by ${latest} (maxTimeoutSeconds from now).`,
    )
  if (validAfter > nowSeconds)
    return refuse(
      'window',
      isPermit2 ? 'permit2_not_yet_valid' : 'invalid_exact_evm_payload_authorization_valid_after',
      `The payment is not valid before ${validAfter}; it is ${nowSeconds} now.`,
    )
  return PASSED
}

/** One form a signature: whoever sees a payment must not be able to write it in another way. */
export function checkSignatureForm({ payment }: Case): CheckVerdict {
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
    // Longer ones are for the payer's contract to judge (ERC-1271).
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
  for (const check of CHECKS_WITHOUT_WORLD) {
    if (isUsed && (check === checkWindow || check === checkResource)) continue
    const verdict = check(facts)
    if (!verdict.ok) return verdict
  }
  return PASSED
}
