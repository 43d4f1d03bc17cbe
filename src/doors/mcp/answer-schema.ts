// The schema of what `structuredContent` may hold. Lists of tools do without it: no model API takes one, and all of them together weigh five
// times what every input does. It is read where one tool is described in full.
import type { JsonSchema, RegisteredTool } from '../../core/registry.ts'
import { isPaid } from '../../core/price.ts'
import type { JsonObject } from './wire.ts'

/** `structuredContent` holds this beside `isError`. */
const PROBLEM: JsonSchema = {
  type: 'object',
  description: 'Problem document (with isError): do what `detail` says',
  properties: {
    code: { type: 'string' },
    status: { type: 'integer' },
    title: { type: 'string' },
    detail: { type: 'string' },
    request_id: { type: 'string' },
  },
  required: ['code', 'status', 'title', 'detail', 'request_id'],
}

/** A paid tool answers this, with isError, to a call without a payment or with one that was not accepted. */
const PAYMENT_REQUIRED: JsonSchema = {
  type: 'object',
  description:
    'x402 payment required (with isError): send the same call again with a payment of one of `accepts` in _meta["x402/payment"]',
  properties: {
    x402Version: { type: 'integer', const: 2 },
    error: { type: 'string' },
    resource: { type: 'object' },
    accepts: { type: 'array', items: { type: 'object' } },
    extensions: { type: 'object' },
    intent: { type: 'object', description: 'What the request was understood as, and what is left out' },
  },
  required: ['x402Version', 'resource', 'accepts'],
}

/**
 * The answer of a tool over MCP: its output, a problem document, or the challenge of a paid one. Clients on the v1 SDK hold
 * `structuredContent` against a listed schema even when `isError` is set, and throw the answer away when it does not fit.
 */
export function answerSchema({ tool, messageSchema }: RegisteredTool): JsonObject {
  const { $defs, ...success } = messageSchema
  return {
    type: 'object',
    anyOf: [success, PROBLEM, ...(isPaid(tool) ? [PAYMENT_REQUIRED] : [])],
    ...($defs === undefined ? {} : { $defs }),
  }
}
