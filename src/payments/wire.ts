// Decodes a payment as it was presented. Decides what can be read; whether the payment is any good is the firewall's
// business. Its version and how the money moves are recognised by the same rules as in inspection.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import {
  PaymentPayloadV1,
  PaymentPayloadV2,
  PaymentRequirements,
  PaymentRequirementsV1,
} from '../../schemas/x402.ts'
import { readX402Shape, type X402Shape } from '../commerce/x402/shape.ts'
import { isObject } from '../lib/json.ts'
import { must } from '../lib/must.ts'
import { Secret } from '../lib/secret.ts'
import { assertPlain, decodeHeader, paymentInvalid } from './codec.ts'
import { findV1Network } from '../core/networks.ts'
import type { Eip3009Authorization } from './chain-ports.ts'
import { readSigned } from './signed-payload.ts'
import type { Payment } from './ports.ts'
import type { Networks } from '../core/networks.ts'
import type { PresentedPayment } from '../core/charging.ts'

/** A Date holds no later second; anything later means "never", which the firewall refuses anyway. */
const LAST_SECOND = 8_640_000_000_000n
/** An object that is passed on as it is: its members were looked at before, and a copy of each is not free. */
const Members = z.custom<Record<string, unknown>>(isObject, 'must be an object')
const Requirements = PaymentRequirements.extend({ extra: Members.optional() })
const PayloadV2 = PaymentPayloadV2.extend({
  accepted: Requirements,
  payload: Members,
  extensions: Members.optional(),
})
const PayloadV1 = PaymentPayloadV1.extend({ payload: Members })

const FacilitatorBody = z.object({
  x402Version: z.literal([1, 2], 'must be 1 or 2').optional(),
  paymentPayload: Members,
  paymentRequirements: Members,
})

/** A plan may look at the payment that the gate decodes: 0.1 ms of a paid market call, whose price depends on it. */
const decoded = new WeakMap<PresentedPayment, Payment>()

/** @throws {GatewayError} payment_invalid, saying what is wrong */
export function decodePayment(presented: PresentedPayment): Payment {
  const known = decoded.get(presented)
  if (known) return known
  const payment = decode(presented)
  decoded.set(presented, payment)
  return payment
}

function decode(presented: PresentedPayment): Payment {
  if (presented.form === 'object') return presented.value.use((value) => readPayment(value))
  const payment = presented.value.use((header) => readPayment(decodeHeader(header)))
  const expected = presented.name === 'x-payment' ? 1 : 2
  if (payment.x402Version !== expected)
    throw paymentInvalid(
      'x402Version',
      `must be ${expected} in this header: version 1 is sent in X-PAYMENT, version 2 in Payment-Signature.`,
    )
  return payment
}

/** The question of POST /verify and /settle. */
export interface FacilitatorRequest {
  readonly payment: Payment
  readonly requirements: PaymentRequirements
  /** The address in the seller's requirement, where v1 says it. Null for v2, where the payment itself may name it. */
  readonly resourceUrl: string | null
}

/**
 * Body of POST /verify and /settle, v1 or v2.
 * @throws {GatewayError} payment_invalid
 */
export function decodeFacilitatorRequest(body: unknown, networks: Networks): FacilitatorRequest {
  const { paymentPayload, paymentRequirements, x402Version } = parseShape(FacilitatorBody, body, '')
  assertPlain(paymentRequirements)
  const payment = readPayment(paymentPayload, 'paymentPayload')
  if (x402Version !== undefined && payment.x402Version !== x402Version)
    throw paymentInvalid('x402Version', 'is another than that of the payment.')
  if (payment.x402Version === 2) {
    const requirements = parseShape(Requirements, paymentRequirements, 'paymentRequirements')
    return { payment, requirements: withPinnedSpelling(requirements, networks), resourceUrl: null }
  }
  const v1 = parseShape(PaymentRequirementsV1, paymentRequirements, 'paymentRequirements')
  const { scheme, network, maxAmountRequired, asset, payTo, maxTimeoutSeconds, extra, resource } = v1
  const requirements = {
    scheme,
    network: readV1Network(network, 'paymentRequirements.network'),
    amount: maxAmountRequired,
    asset,
    payTo,
    maxTimeoutSeconds,
    ...(extra ? { extra } : {}),
  }
  return { payment, requirements: withPinnedSpelling(requirements, networks), resourceUrl: resource }
}

/** The pinned asset as it is written in the pin: upstreams refuse an address with a wrong checksum. */
function withPinnedSpelling(requirements: PaymentRequirements, networks: Networks): PaymentRequirements {
  const pinned = networks.find(requirements.network)?.asset.address
  const isPinned = pinned !== undefined && pinned.toLowerCase() === requirements.asset.toLowerCase()
  return isPinned ? { ...requirements, asset: pinned } : requirements
}

/** The error string of x402 (core, section 9) for a version that is not served. */
export const INVALID_VERSION = 'invalid_x402_version'

function readPayment(value: unknown, at = ''): Payment {
  assertPlain(value)
  if (!isObject(value)) throw paymentInvalid(at, 'must be a JSON object.')
  const shape = readX402Shape(value)
  if (shape.version === 2) return readV2(parseShape(PayloadV2, value, at), value, shape, at)
  if (shape.version === 1) return readV1(parseShape(PayloadV1, value, at), value, shape, at)
  throw paymentInvalid(join(at, 'x402Version'), 'must be the number 1 or 2.', INVALID_VERSION)
}

function readV2(wire: PaymentPayloadV2, presented: unknown, { method }: X402Shape, at: string): Payment {
  const { scheme, network } = wire.accepted
  const content = readContent({ scheme, network, method }, wire.payload, join(at, 'payload'))
  return {
    x402Version: 2,
    scheme,
    network,
    accepted: wire.accepted,
    resourceUrl: wire.resource?.url ?? null,
    extensions: wire.extensions ?? {},
    ...content.facts,
    presented: new Secret(presented),
    wire: new Secret({ ...wire, payload: content.payload }),
  }
}

function readV1(wire: PaymentPayloadV1, presented: unknown, { method }: X402Shape, at: string): Payment {
  const { scheme } = wire
  const network = readV1Network(wire.network, join(at, 'network'))
  const content = readContent({ scheme, network, method }, wire.payload, join(at, 'payload'))
  return {
    x402Version: 1,
    scheme,
    network,
    accepted: null,
    resourceUrl: null,
    extensions: {},
    ...content.facts,
    presented: new Secret(presented),
    wire: new Secret({ ...wire, payload: content.payload }),
  }
}

function readV1Network(name: string, member: string): string {
  const network = findV1Network(name)
  if (network === undefined) throw paymentInvalid(member, 'is not a network of x402 version 1.')
  return network
}

interface Content {
  readonly facts: Pick<Payment, 'kind' | 'payer' | 'nonce' | 'validBefore'>
  /** The payload for upstreams: the members that were read and nothing else, so that no two readers see two payments. */
  readonly payload: Record<string, unknown>
}

function readContent(
  {
    scheme,
    network,
    method,
  }: Pick<X402Shape, 'method'> & { readonly scheme: string; readonly network: string },
  payload: Record<string, unknown>,
  at: string,
): Content {
  if (scheme !== 'exact' || !network.startsWith('eip155:')) return readForeign(network, payload)
  if (method === 'eip3009') return readEip3009(payload, at)
  // It is read as far as it takes to name it, so that the firewall can say what to sign instead.
  if (method === 'permit2') return readForeign(network, payload)
  throw paymentInvalid(at, 'must hold authorization (EIP-3009), and no other permission beside it.')
}

function readEip3009(came: Record<string, unknown>, at: string): Content {
  const payload = readSigned(came, at)
  const { signature, authorization: wire } = payload
  const authorization: Eip3009Authorization = {
    from: wire.from,
    to: wire.to,
    value: BigInt(wire.value),
    validAfter: BigInt(wire.validAfter),
    validBefore: BigInt(wire.validBefore),
    nonce: wire.nonce,
  }
  return {
    facts: {
      kind: { type: 'eip3009', authorization, signature: new Secret(signature) },
      payer: wire.from,
      nonce: wire.nonce,
      validBefore: toMillis(authorization.validBefore),
    },
    payload: { ...payload },
  }
}

/** Another scheme, family or permission: the digest of what was signed, so that it counts once whatever is written around it. */
function readForeign(network: string, payload: Record<string, unknown>): Content {
  const { transaction } = payload
  const signed =
    network.startsWith('solana:') && typeof transaction === 'string'
      ? solanaMessage(transaction)
      : JSON.stringify(sorted({ ...payload, signature: undefined }))
  const nonce = createHash('sha256').update(network).update('\0').update(signed).digest('hex')
  return { facts: { kind: { type: 'foreign' }, payer: '', nonce, validBefore: null }, payload }
}

/** A transaction without its signatures, one of which is still empty and can be anything. */
function solanaMessage(transaction: string): Buffer {
  const bytes = Buffer.from(transaction, 'base64')
  const signatures = bytes[0] ?? 0
  return signatures < 0x80 ? bytes.subarray(1 + 64 * signatures) : bytes
}

/** Sorts the members, so that their order makes no second payment. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]))
}

const toMillis = (seconds: bigint) => Number(seconds < LAST_SECOND ? seconds : LAST_SECOND) * 1000
/** A dotted path; a part that is empty stands for the value as a whole. */
const join = (...parts: readonly string[]) => parts.filter((part) => part !== '').join('.')

/** @throws {GatewayError} payment_invalid, naming the first member that is wrong */
function parseShape<T>(schema: z.ZodType<T>, value: unknown, at: string): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = must(parsed.error.issues[0], 'the first issue of a refused value')
  const reason = issue.path.at(-1) === 'x402Version' ? INVALID_VERSION : undefined
  throw paymentInvalid(join(at, ...issue.path.map(String)), problemOf(issue), reason)
}

function problemOf(issue: z.core.$ZodIssue): string {
  // Limits are told in zod's own words, which begin a sentence and do not continue one.
  if (issue.code !== 'invalid_type') return `${issue.message.replace(/^Too /, 'is too ')}.`
  return issue.message.startsWith('must')
    ? `${issue.message}.`
    : `must be ${withArticle(issue.expected === 'record' ? 'object' : issue.expected)}.`
}

const withArticle = (type: string) => (/^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`)
