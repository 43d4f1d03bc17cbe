// Wire shapes of x402 v2 (and of v1, which is still spoken). Our own: the packages of the protocol carry another zod.
import { z } from 'zod'

/** CAIP-2, e.g. `eip155:8453`. */
export const CAIP_2 = /^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/
export const Network = z.string().regex(CAIP_2, 'must be a CAIP-2 network id')
/** Atomic units. 78 digits hold any uint256. */
export const AtomicAmount = z
  .string()
  .regex(/^(?:0|[1-9]\d{0,77})$/, 'must be a whole number of atomic units')

export const ResourceInfo = z.looseObject({
  url: z.string().max(2048),
  description: z.string().max(2048).optional(),
  mimeType: z.string().max(128).optional(),
})
export type ResourceInfo = z.infer<typeof ResourceInfo>

/** One way to pay. */
export const PaymentRequirements = z.object({
  scheme: z.string().min(1).max(64),
  network: Network,
  amount: AtomicAmount,
  asset: z.string().min(1).max(128),
  payTo: z.string().min(1).max(128),
  maxTimeoutSeconds: z.int().min(1).max(86_400),
  extra: z.record(z.string(), z.unknown()).optional(),
})
export type PaymentRequirements = z.infer<typeof PaymentRequirements>

export const Extensions = z.record(z.string(), z.unknown())

/** The challenge: HTTP header `Payment-Required`, MCP `structuredContent`, A2A `x402.payment.required`. */
export const PaymentRequired = z.object({
  x402Version: z.literal(2),
  error: z.string().optional(),
  resource: ResourceInfo,
  accepts: z.array(PaymentRequirements).min(1),
  extensions: Extensions.optional(),
})
export type PaymentRequired = z.infer<typeof PaymentRequired>

/** The payment that a buyer sends back. */
export const PaymentPayloadV2 = z.object({
  x402Version: z.literal(2),
  resource: ResourceInfo.optional(),
  accepted: PaymentRequirements,
  payload: z.record(z.string(), z.unknown()),
  extensions: Extensions.optional(),
})
export type PaymentPayloadV2 = z.infer<typeof PaymentPayloadV2>

export const PaymentPayloadV1 = z.object({
  x402Version: z.literal(1),
  scheme: z.string().min(1).max(64),
  /** A name of v1 such as `base-sepolia`. */
  network: z.string().min(1).max(64),
  payload: z.record(z.string(), z.unknown()),
})
export type PaymentPayloadV1 = z.infer<typeof PaymentPayloadV1>

/** Requirement in v1 form, as the 402 body carries it for v1 buyers. */
export const PaymentRequirementsV1 = z.looseObject({
  scheme: z.string().min(1).max(64),
  network: z.string().min(1).max(64),
  maxAmountRequired: AtomicAmount,
  resource: z.string().max(2048),
  description: z.string().max(2048),
  mimeType: z.string().max(128),
  payTo: z.string().min(1).max(128),
  maxTimeoutSeconds: z.int().min(1).max(86_400),
  asset: z.string().min(1).max(128),
  outputSchema: z.unknown().optional(),
  extra: z.record(z.string(), z.unknown()).nullish(),
})
export type PaymentRequirementsV1 = z.infer<typeof PaymentRequirementsV1>

/** Body of POST /verify answers. */
export const VerifyResponse = z.strictObject({
  isValid: z.boolean(),
  invalidReason: z.string().optional(),
  invalidMessage: z.string().optional(),
  payer: z.string().optional(),
})
export type VerifyResponse = z.infer<typeof VerifyResponse>

/** Body of POST /settle answers, header `Payment-Response`, MCP `_meta`, A2A receipts. */
export const SettleResponse = z.strictObject({
  success: z.boolean(),
  errorReason: z.string().optional(),
  errorMessage: z.string().optional(),
  payer: z.string().optional(),
  transaction: z.string().describe('Transaction hash; empty when nothing was broadcast'),
  network: z.string(),
  amount: z.string().optional(),
  extensions: Extensions.optional(),
  extensionResponses: Extensions.optional().describe(
    'What a facilitator made of extensions of the payment, for the seller: also in the header EXTENSION-RESPONSES',
  ),
  extra: z.record(z.string(), z.unknown()).optional(),
})
export type SettleResponse = z.infer<typeof SettleResponse>

export const SupportedKind = z.strictObject({
  x402Version: z.int(),
  scheme: z.string(),
  network: z.string(),
  extra: z.record(z.string(), z.unknown()).optional(),
})
export type SupportedKind = z.infer<typeof SupportedKind>

export const SupportedResponse = z.strictObject({
  kinds: z.array(SupportedKind),
  extensions: z.array(z.string()),
  signers: z.record(z.string(), z.array(z.string())),
})
export type SupportedResponse = z.infer<typeof SupportedResponse>
