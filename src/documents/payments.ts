// How the OpenAPI description speaks of x402: who pays, in which headers, and what a refusal holds beside the problem.
import { WEB_FETCH } from '../../schemas/web-fetch.ts'
import type { ErrorCode } from '../core/errors.ts'
import { createNetworks } from '../core/networks.ts'
import { isAlwaysPaid, isPaid } from '../core/price.ts'
import type { AnyTool } from '../core/registry.ts'
import { must } from '../lib/must.ts'

type Json = Record<string, unknown>

/** What a wallet signs is no key to ask anybody for: without this mark, discovery clients take any header for an API key. */
const BY_WALLET = 'siwx'

export const PAYMENT_SCHEMES = {
  payment: {
    type: 'apiKey',
    in: 'header',
    name: 'Payment-Signature',
    description:
      'x402 v2: base64 of the signed payment that an x402 client makes of the header Payment-Required of a 402. No ' +
      'account is needed; the payer must be funded.',
    'x-agentcash-auth-kind': BY_WALLET,
  },
  paymentV1: {
    type: 'apiKey',
    in: 'header',
    name: 'X-PAYMENT',
    description: 'x402 v1: base64 of the signed payment, made of `accepts` in the body of a 402',
    'x-agentcash-auth-kind': BY_WALLET,
  },
  signIn: {
    type: 'apiKey',
    in: 'header',
    name: 'Sign-In-With-X',
    description:
      'x402 extension sign-in-with-x: base64 of `sign_in.info` with address, chainId, type and the EIP-191 (or ERC-1271) ' +
      'signature of the wallet that paid, over it as an EIP-4361 message',
    'x-agentcash-auth-kind': BY_WALLET,
  },
}

/** Reading a payment back is free, but it has to be shown. */
const showsPayment = (tool: AnyTool) => isPaid(tool) || tool.errors.includes('payment_not_found')
const takesQuote = (tool: AnyTool) => tool.errors.includes('quote_invalid')

/**
 * A tool whose every call costs something always needs the payment.
 * @param byCaller what its caller shows beside it; for a call by anyone that is nothing, or a token of their own choice
 */
export function securityOf(tool: AnyTool, byCaller: readonly Json[]): readonly Json[] {
  if (!showsPayment(tool)) return byCaller
  const payments: readonly Json[] = [
    { payment: [] },
    { paymentV1: [] },
    ...(tool.errors.includes('sign_in_refused') ? [{ signIn: [] }] : []),
  ]
  if (byCaller.length > 0)
    return payments.flatMap((payment) => byCaller.map((caller) => ({ ...caller, ...payment })))
  const isOptional = isPaid(tool) && !isAlwaysPaid(tool)
  return isOptional ? [{}, ...payments] : payments
}

const header = (description: string): Json => ({ schema: { type: 'string' }, description })

/** The header parameter of a tool that takes quotes; empty for any other. */
export const quoteParameters = (tool: AnyTool): readonly Json[] =>
  takesQuote(tool)
    ? [
        {
          name: 'X-Gateway-Quote',
          in: 'header',
          required: false,
          description: `The signed quote of this very request, from its 402${
            tool.name === WEB_FETCH ? ' or from POST /v1/pricing/quote' : ''
          }. It may be left out.`,
          schema: { type: 'string' },
        },
      ]
    : []

/** The headers of an answer that was paid for. */
export const paidHeaders = (tool: AnyTool): Json =>
  isPaid(tool)
    ? {
        'Payment-Response': header('Base64 of the x402 settlement: transaction, payer, network, receipt.'),
        'X-PAYMENT-RESPONSE': header('The same, where the payment came in X-PAYMENT.'),
        'Cache-Control': header('`private, no-store` once paid.'),
      }
    : {}

/** The headers of a refusal; a 402 for credits has none of them, because its offer is for another address. */
export const refusalHeaders = (tool: AnyTool, codes: readonly ErrorCode[]): Json =>
  isPaid(tool) && codes.includes('payment_required')
    ? {
        'Payment-Required': header(
          'Base64 of the x402 v2 challenge: `resource`, `accepts`, and signed offers in `extensions`.',
        ),
        ...(takesQuote(tool) && {
          'X-Gateway-Quote': header('Signed quote of this very request, valid for 300 seconds.'),
        }),
        'Payment-Response': header('Base64 of the x402 settlement, where one failed.'),
        'Cache-Control': header('`no-store`'),
      }
    : {}

const string = (description: string): Json => ({ type: 'string', description })

/** Members of problem documents about payments; stock x402 clients read those of the protocol. */
export const PAYMENT_MEMBERS: Json = {
  x402Version: { type: 'integer', const: 1, description: 'Of `accepts`, for v1 buyers of a paid address' },
  accepts: {
    type: 'array',
    items: { type: 'object' },
    description:
      'Ways to pay: in v1 form where this address is paid (v2 is in the header Payment-Required), in v2 form for an `offer`',
  },
  error: string('Why payment is asked for, for v1 buyers'),
  intent: {
    type: 'object',
    description:
      'In a 402 for an outcome: what the request was understood as, in words and as `capability`, `sources`, `limit` and `query`, ' +
      'what of it is `ignored`, and the jobs that are `left_out` because they are not done here',
  },
  check: string('The check of the payment firewall that failed'),
  invalid_reason: string('Stable x402 reason why the payment was not taken'),
  claim_id: string('The claim on the payment'),
  payment_url: string(
    'Where its state and result are read, with the same payment or after signing `sign_in`',
  ),
  sign_in: {
    type: 'object',
    description:
      'What the payer signs to be shown the result, where the payment holds no secret: the info of x402 extension sign-in-with-x',
  },
  receipt_id: string('Receipt of the settlement that was made before'),
  balance: { type: 'integer', minimum: 0, description: 'Credits left, in a 402 for credits' },
  offer: {
    type: 'object',
    description:
      'In a 402 for credits: an x402 challenge for POST /v1/credits/purchase; send `request.body` there and pay that',
  },
  isValid: { type: 'boolean', description: 'Of POST /verify' },
  invalidReason: string('Of POST /verify'),
  success: { type: 'boolean', description: 'Of POST /settle' },
  errorReason: string('Of POST /settle'),
  transaction: string('Of POST /settle; empty where nothing was broadcast'),
  network: string('Of POST /settle'),
  payer: string('Of POST /verify and POST /settle, where it could be read'),
}

const NOBODY = '0x000000000000000000000000000000000000dEaD'

/** The members that an example of the code shows beside the problem. */
export function paymentSample(code: ErrorCode, baseUrl: string): Json {
  const { network, v1Name, asset } = must(
    createNetworks([8453]).find('eip155:8453'),
    'Base among the pinned networks',
  )
  const common = {
    payTo: NOBODY,
    maxTimeoutSeconds: 300,
    asset: asset.address,
    extra: { name: asset.name, version: asset.version },
  }
  switch (code) {
    case 'payment_required':
    case 'payment_rejected':
    case 'settlement_failed': {
      const reason = code === 'payment_required' ? undefined : 'insufficient_funds'
      const accepted = {
        scheme: 'exact',
        network: v1Name,
        maxAmountRequired: '1000',
        resource: `${baseUrl}/v1/tools/web.fetch`,
        description: 'Fetch a public web page, paid per fetch',
        mimeType: 'application/json',
        ...common,
      }
      return {
        ...(reason && { invalid_reason: reason }),
        x402Version: 1,
        accepts: [accepted],
        error: reason ?? 'Payment required',
      }
    }
    case 'credits_required': {
      const url = `${baseUrl}/v1/credits/purchase`
      const accepts = [{ scheme: 'exact', network, amount: '100000', ...common }]
      const request = { method: 'POST', url, body: { credits: 100, account_reference: 'eyJ…' } }
      return { balance: 0, offer: { x402Version: 2, resource: { url }, accepts, request }, accepts }
    }
    case 'payment_blocked':
      return { check: 'amount' }
    default:
      return {}
  }
}
