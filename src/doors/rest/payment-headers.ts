// x402 over HTTP: this finds the payment in a request, and puts challenges and settlements into answers. The header is of v2 and the
// body of v1.
import type { IncomingMessage } from 'node:http'
import type { SettleResponse } from '../../../schemas/x402.ts'
import { GatewayError } from '../../core/errors.ts'
import { paymentFactsOf, type PresentedPayment, type PresentedSignIn } from '../../core/charging.ts'
import { type Speller, spellProblem } from '../../core/tool-words.ts'
import { isObject } from '../../lib/json.ts'
import { Secret } from '../../lib/secret.ts'
import { problemHeaders, problemOf, sendJson } from '../http/reply.ts'
import type { Exchange } from '../http/resource.ts'
import type { SitePages } from '../http/site-pages.ts'
import type { Addresses } from '../../core/config.ts'

const PAYMENT_HEADERS = ['payment-signature', 'x-payment'] as const

/**
 * HEAD pays for nothing: its answer has no body to release. `takesHead`: somebody sells the head itself.
 * @throws {GatewayError} payment_invalid when there is more than one payment
 */
export function presentedPayment(
  req: IncomingMessage,
  { takesHead = false }: { readonly takesHead?: boolean } = {},
): PresentedPayment | undefined {
  if (req.method === 'HEAD' && !takesHead) return undefined
  const { headers } = req
  if (headers['payment-signature'] === undefined && headers['x-payment'] === undefined) return undefined
  const given = PAYMENT_HEADERS.flatMap((name) =>
    (req.headersDistinct[name] ?? []).map((value) => ({ name, value })),
  )
  const [first, ...others] = given
  if (!first) return undefined
  if (others.length > 0)
    throw new GatewayError(
      'payment_invalid',
      'Send one payment, in one header: Payment-Signature (v2) or X-PAYMENT (v1).',
    )
  return { form: 'header', name: first.name, value: new Secret(first.value) }
}

/** Proof of who the payer is: x402's extension sign-in-with-x. HEAD has no body to release. */
export function presentedSignIn(req: IncomingMessage): PresentedSignIn | undefined {
  const proof = req.headers['sign-in-with-x']
  return typeof proof === 'string' && req.method !== 'HEAD' ? { value: new Secret(proof) } : undefined
}

/** The value of `X-Gateway-Quote`; undefined where there is none. */
export function presentedQuote(req: IncomingMessage): string | undefined {
  const quote = req.headers['x-gateway-quote']
  return typeof quote === 'string' && quote !== '' ? quote : undefined
}

/** The headers of a paid answer, which is nobody else's and is kept nowhere. */
export function paidHeaders(req: IncomingMessage, settlement: SettleResponse): Record<string, string> {
  return { 'cache-control': 'private, no-store', ...settlementHeaders(req, settlement) }
}

/** What a facilitator made of extensions of a payment is for the seller, and has a header of its own (bazaar.md). */
export function extensionHeaders(output: unknown): Record<string, string> {
  if (!isObject(output) || !isObject(output['extensionResponses'])) return {}
  return { 'extension-responses': base64(output['extensionResponses']) }
}

/** Buyers of v1 look for the same under the old name. */
function settlementHeaders(req: IncomingMessage, settlement: SettleResponse): Record<string, string> {
  const value = base64(settlement)
  return {
    'payment-response': value,
    ...(req.headers['x-payment'] !== undefined && { 'x-payment-response': value }),
  }
}

export interface RefusalParts {
  readonly addresses: Addresses
  /** Writes the tools' names in a sentence as routes. */
  readonly spell: Speller
  readonly site: Pick<SitePages, 'price'>
}

/**
 * A problem document; where it asks for a payment, also what v2 and v1 buyers and people need to make one.
 * @param others headers that every answer of this address has
 */
export async function sendRefusal(
  { addresses, spell, site }: RefusalParts,
  exchange: Exchange,
  error: GatewayError,
  others: Readonly<Record<string, string>>,
): Promise<void> {
  const { req, res, context } = exchange
  const problem = spellProblem(problemOf(error, context, addresses), spell)
  const headers = { ...problemHeaders(error, context.requestId), ...others }
  const { challenge, settlement } = paymentFactsOf(error)
  if (settlement) Object.assign(headers, settlementHeaders(req, settlement))
  if (!challenge) return sendJson(res, error.status, problem, headers)

  if (challenge.quote !== undefined) headers['x-gateway-quote'] = challenge.quote
  if (isBrowser(req)) {
    // The policy of a page is long, and what catalogues read is nothing for people.
    const brief = { ...headers, 'payment-required': challenge.brief }
    if (await site.price({ problem, challenge, headers: brief }, exchange)) return
  }
  headers['payment-required'] = challenge.header
  const body = {
    ...problem,
    x402Version: 1,
    accepts: challenge.acceptsV1,
    error: challenge.error,
  }
  sendJson(res, error.status, body, headers)
}

/** The protocol's own servers tell people from programs in this way. */
const isBrowser = ({ headers }: IncomingMessage) =>
  headers.accept?.includes('text/html') === true && headers['user-agent']?.includes('Mozilla') === true

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64')
