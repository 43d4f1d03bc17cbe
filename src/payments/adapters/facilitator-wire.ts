// Writes requests to a facilitator, in the version and shape that this one takes, and reads its answers.
import { z } from 'zod'
import {
  type PaymentPayloadV1,
  type PaymentPayloadV2,
  type PaymentRequirements,
  SupportedKind,
  type SupportedResponse,
} from '../../../schemas/x402.ts'
import { findV1Network } from '../../core/networks.ts'
import { PAYMENT_IDENTIFIER } from '../extensions.ts'
import { OFFER_RECEIPT } from '../offers.ts'
import type { Payment, UpstreamRequest, UpstreamSettlement, Verdict } from '../ports.ts'
import type { ExchangeResult } from './facilitator-exchange.ts'

/** How single facilitators differ from the protocol. */
interface Quirks {
  /** Refuses members of a v2 payment besides these, though the protocol has them. */
  readonly payloadMembers?: readonly (keyof PaymentPayloadV2)[]
}

/** Facilitators are told apart by their host. */
const QUIRKS: Readonly<Record<string, Quirks>> = {
  'api.cdp.coinbase.com': { payloadMembers: ['x402Version', 'accepted', 'payload'] },
}
/** The deviations of the facilitator at this host; none for most. */
export const quirksOf = (host: string): Quirks => QUIRKS[host] ?? {}

/**
 * Body of POST /verify and /settle. The signed part is the same in both versions, so a payment of one version can be
 * put to a facilitator that knows only the other.
 */
export function toRequestBody(
  wire: PaymentPayloadV2 | PaymentPayloadV1,
  requirements: PaymentRequirements,
  target: { version: 1 | 2; v1Name: string | undefined; resourceUrl: string | null; quirks: Quirks },
): string {
  const { version, quirks } = target
  if (version === 2) {
    const payload: PaymentPayloadV2 =
      wire.x402Version === 2
        ? withoutSecrets(wire)
        : { x402Version: 2, accepted: requirements, payload: wire.payload }
    const members = quirks.payloadMembers
    const paymentPayload = members
      ? Object.fromEntries(members.map((member) => [member, payload[member]]))
      : payload
    return JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements: requirements })
  }
  const network = target.v1Name ?? requirements.network
  const { scheme, amount, payTo, maxTimeoutSeconds, asset, extra } = requirements
  return JSON.stringify({
    x402Version: 1,
    paymentPayload: { x402Version: 1, scheme, network, payload: wire.payload },
    paymentRequirements: {
      scheme,
      network,
      maxAmountRequired: amount,
      // v1 requires these; they decide nothing.
      resource: target.resourceUrl ?? 'https://resource.invalid/',
      description: '',
      mimeType: '',
      payTo,
      maxTimeoutSeconds,
      asset,
      ...(extra && { extra }),
    },
  })
}

/**
 * What releases a result is between the buyer and us: a facilitator has no use for it, and some publish the extensions of
 * what they settle in their catalogues.
 */
function withoutSecrets({ extensions, ...payload }: PaymentPayloadV2): PaymentPayloadV2 {
  if (!extensions) return payload
  const { [OFFER_RECEIPT]: _offers, [PAYMENT_IDENTIFIER]: _identifier, ...others } = extensions
  return Object.keys(others).length === 0 ? payload : { ...payload, extensions: others }
}

const text = z.string().max(4096).nullish()

const Supported = z.object({
  kinds: z.array(z.unknown()).max(1000),
  // Members of v2: a facilitator of v1 does not send them.
  extensions: z.array(z.string().max(64)).max(64).nullish(),
  signers: z.record(z.string().max(64), z.array(z.string().max(128)).max(64)).nullish(),
})

/** @throws when it is not an answer to GET /supported */
export function readSupported(body: unknown): SupportedResponse {
  const { kinds, extensions, signers } = Supported.parse(body)
  return {
    // A kind that cannot be read is a kind that is not routed; it does not take the others with it.
    kinds: kinds.flatMap((kind) => SupportedKind.strip().safeParse(kind).data ?? []),
    extensions: extensions ?? [],
    signers: signers ?? {},
  }
}

const Verified = z.object({
  isValid: z.boolean(),
  invalidReason: text,
  payer: text,
})

/** The verdict in an answer to /verify; retryable where the facilitator did not give one. */
export function readVerdict(
  result: ExchangeResult,
  { payment }: Pick<UpstreamRequest, 'payment'>,
  id: string,
): Verdict {
  const unavailable = (why: string): Verdict & { ok: false } => ({
    ok: false,
    check: 'route',
    reason: 'unexpected_verify_error',
    message: `The facilitator ${id} ${why}. Try again in a few seconds.`,
    isRetryable: true,
  })
  if (result.kind !== 'answer') return unavailable('did not answer')
  const { data } = Verified.safeParse(result.body)
  if (!data || result.status >= 500) return unavailable('gave no answer that can be read')
  if (data.isValid) {
    if (result.status >= 300) return unavailable('gave no answer that can be read')
    const payer = data.payer ?? payment.payer
    if (payment.payer !== '' && !isSame(payer, payment.payer)) return unavailable('spoke of another payment')
    return { ok: true, payer }
  }
  const reason = toReason(data.invalidReason, 'unexpected_verify_error')
  if (reason.startsWith('unexpected_'))
    return { ...unavailable('could not check the payment'), isOfThisPayment: true }
  return {
    ok: false,
    check: 'route',
    reason,
    message: `The facilitator ${id} does not take this payment: ${reason}. Sign a new one that fits the requirement.`,
    ...(payment.payer !== '' && { payer: payment.payer }),
    isRetryable: false,
  }
}

const Settled = z.object({
  success: z.boolean(),
  errorReason: text,
  transaction: text,
  network: text,
  payer: text,
})

/** Strict about success, because somebody releases a result for it; anything unclear is unknown. */
export function readSettlement(
  result: ExchangeResult,
  { payment }: Pick<UpstreamRequest, 'payment'>,
): UpstreamSettlement {
  if (result.kind === 'unsent') return { state: 'refused', reason: `upstream_${result.reason}` }
  if (result.kind === 'lost') return { state: 'unknown', reason: `upstream_${result.reason}` }
  const { data } = Settled.safeParse(result.body)
  const transaction = toTransaction(payment, data?.transaction)
  const unknown = (reason: string): UpstreamSettlement => ({
    state: 'unknown',
    reason,
    ...(transaction !== undefined && { transaction }),
  })
  if (result.status >= 500) return unknown('upstream_failed')
  if (!data) return unknown('upstream_malformed')
  const { network, payer } = data
  if (network && (findV1Network(network) ?? network) !== payment.network)
    return unknown('upstream_other_payment')
  if (payer && payment.payer !== '' && !isSame(payer, payment.payer)) return unknown('upstream_other_payment')
  if (data.success) {
    if (result.status >= 300 || transaction === undefined) return unknown('upstream_malformed')
    return { state: 'settled', transaction, ...(payer && { payer }) }
  }
  const reason = toReason(data.errorReason, 'unexpected_settle_error')
  if (reason === 'settlement_pending')
    return transaction === undefined ? unknown(reason) : { state: 'pending', transaction }
  return { state: 'failed', reason }
}

const isSame = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

/** Their words go no further unless they are one of the protocol's identifiers. */
const toReason = (given: string | null | undefined, otherwise: string) =>
  given && /^[a-z][a-z0-9_]{0,79}$/.test(given) ? given : otherwise

function toTransaction({ network }: Payment, given: string | null | undefined): string | undefined {
  if (!given) return undefined
  if (network.startsWith('eip155:'))
    return /^0x[0-9a-fA-F]{64}$/.test(given) ? given.toLowerCase() : undefined
  return /^[1-9A-HJ-NP-Za-km-z]{64,96}$/.test(given) ? given : undefined
}
