// Lets web pages of other origins use what needs no cookie (Fetch standard, section 3.2). No cookie ever counts at these addresses, and
// `*` makes browsers send none: a page has what its own script presents, a token or a payment, and nothing of its visitor's.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Headers, sendEmpty } from './reply.ts'

export type Reading = 'public' | 'paid' | 'protocol'

/** The headers that a page may read of an answer; it reads no other. */
const EXPOSED: Readonly<Record<Reading, string>> = {
  public: 'x-request-id, retry-after, ratelimit, ratelimit-policy, etag, www-authenticate',
  // The head of an answer about money has 4 KiB (payments/head-size.ts), so only what buyers need is named.
  paid: 'payment-required, payment-response, x-payment-response, x-gateway-quote, x-request-id, retry-after, ratelimit, ratelimit-policy',
  protocol:
    'mcp-session-id, mcp-protocol-version, a2a-version, a2a-extensions, x-a2a-extensions, x-request-id, retry-after, ratelimit, ratelimit-policy, www-authenticate, etag, allow',
}

/** The headers that a page may send; clients of x402 send the last one, though it means nothing in a request. */
const PAID_REQUEST_HEADERS =
  'authorization, x-gateway-capability, accept, content-type, payment-signature, x-payment, x-gateway-quote, idempotency-key, traceparent, access-control-expose-headers'
/** A buyer shows the payment again to read what became of it. */
const PUBLIC_REQUEST_HEADERS =
  'authorization, x-gateway-capability, accept, content-type, payment-signature, x-payment, sign-in-with-x, traceparent'
/** Every other header is in the star, which does not hold the first one; what old browsers take by name follows. */
const PROTOCOL_REQUEST_HEADERS =
  'authorization, *, accept, content-type, last-event-id, idempotency-key, x-gateway-capability, traceparent, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name, a2a-version, a2a-extensions, x-a2a-extensions'

const REQUEST_HEADERS: Readonly<Record<Reading, string>> = {
  public: PUBLIC_REQUEST_HEADERS,
  paid: PAID_REQUEST_HEADERS,
  protocol: PROTOCOL_REQUEST_HEADERS,
}

const open = (reading: Reading): Headers => ({
  'access-control-allow-origin': '*',
  'access-control-expose-headers': EXPOSED[reading],
})

/** The headers that let pages of other origins read an answer. */
export const OPEN: Readonly<Record<Reading, Headers>> = {
  public: open('public'),
  paid: open('paid'),
  protocol: open('protocol'),
}

const NOTHING: Headers = {}

/** The same for MCP and A2A, where programs send no Origin and need none of it. */
export const openToPages = ({ headers }: IncomingMessage): Headers =>
  headers.origin === undefined ? NOTHING : OPEN.protocol

/** The headers of an answer to a preflight. @param allow methods of the address */
export const preflightHeaders = (reading: Reading, allow: readonly string[]): Headers => ({
  ...OPEN[reading],
  'access-control-allow-methods': allow.join(', '),
  'access-control-allow-headers': REQUEST_HEADERS[reading],
  'access-control-max-age': '3600',
})

/** Answers OPTIONS of an address, from a page or from anybody who asks what there is. */
export function sendOptions(
  res: ServerResponse,
  requestId: string,
  allow: readonly string[],
  reading?: Reading,
): void {
  sendEmpty(res, 204, {
    allow: allow.join(', '),
    'x-request-id': requestId,
    ...(reading !== undefined && preflightHeaders(reading, allow)),
  })
}
