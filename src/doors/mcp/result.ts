// The answer of a tool call as a CallToolResult: an output, a problem document or a price, and the x402 metadata beside it.
import type { CallResult } from '../../core/call.ts'
import type { GatewayError, Problem } from '../../core/errors.ts'
import { type Challenge, paymentFactsOf } from '../../core/charging.ts'
import { isObject } from '../../lib/json.ts'
import { type Asked, messageAnswer } from '../message-answer.ts'
import { type JsonObject } from './wire.ts'

/** Key of the payment in the request's `_meta`. */
export const PAYMENT_META = 'x402/payment'
/** Key of the settlement in the result's `_meta`. */
const SETTLEMENT_META = 'x402/payment-response'
/** Key of a challenge's signed quote in both; echoing it is optional. */
export const QUOTE_META = 'agent-gateway/quote'
/** Key under `extensions` of the client's capabilities, and of ours. */
export const PAYMENT_EXTENSION = 'org.x402/payment'

export interface Encoded {
  /** JSON of a result's members without the braces, `_meta` and `resultType`. */
  readonly members: string
  readonly meta: JsonObject | undefined
  readonly resultType: 'complete' | 'payment_required'
}

/** One way to write a challenge down. */
type ChallengeEncoder = (json: string) => Pick<Encoded, 'members' | 'resultType'>

/** x402 transports-v2: the same JSON twice, because clients without structured output read the text. */
const asToolResult: ChallengeEncoder = (json) => ({
  members: `${content(json)},"isError":true`,
  resultType: 'complete',
})

/** The extension of 2026: a result type of its own, for clients that say they know it. */
const asPaymentRequired: ChallengeEncoder = (json) => ({
  members: `"paymentRequired":${json}`,
  resultType: 'payment_required',
})

/**
 * @param context.capabilities of the client, from the request's `_meta`
 * @param context.spell writes the tools' names in a text of ours as the connection does
 */
export function encodeCall(
  result: CallResult,
  context: {
    readonly asked: Asked
    readonly capabilities: unknown
    readonly toProblem: (error: GatewayError) => Problem
    readonly spell: (text: string) => string
  },
): Encoded {
  if (result.ok) {
    const { paid } = result
    const json = messageAnswer(context.asked, result).json()
    const meta = paid && { [SETTLEMENT_META]: paid.settlement }
    return { members: content(json), meta, resultType: 'complete' }
  }
  const { challenge, settlement } = paymentFactsOf(result.error)
  const meta = {
    ...(settlement === undefined ? {} : { [SETTLEMENT_META]: settlement }),
    ...(challenge?.quote === undefined ? {} : { [QUOTE_META]: challenge.quote }),
  }
  const encoded = challenge
    ? (knowsExtension(context.capabilities) ? asPaymentRequired : asToolResult)(
        besides(spellChallenge(challenge, context.spell), result.error),
      )
    : ({
        members: `${content(JSON.stringify(context.toProblem(result.error)))},"isError":true`,
        resultType: 'complete',
      } as const)
  return { ...encoded, meta: Object.keys(meta).length > 0 ? meta : undefined }
}

/** What the request was understood as stands beside what the protocol says: clients of the protocol leave it alone. */
const besides = (json: string, { extras }: GatewayError) =>
  extras['intent'] === undefined ? json : `${json.slice(0, -1)},"intent":${JSON.stringify(extras['intent'])}}`

/** JSON of the challenge; its sentences spell names as the connection does, all else of it is for the payment. */
function spellChallenge({ required, json }: Challenge, spell: (text: string) => string): string {
  const error = spell(required.error ?? '')
  const description = spell(required.resource.description ?? '')
  if (error === (required.error ?? '') && description === (required.resource.description ?? '')) return json
  return JSON.stringify({ ...required, error, resource: { ...required.resource, description } })
}

const content = (json: string) =>
  `"content":[{"type":"text","text":${JSON.stringify(json)}}],"structuredContent":${json}`

function knowsExtension(capabilities: unknown): boolean {
  const extensions = isObject(capabilities) ? capabilities['extensions'] : undefined
  return isObject(extensions) && extensions[PAYMENT_EXTENSION] !== undefined
}

/** @param modern what ends the results of the 2026 era: as metadata, and ready-made for a result that has none of its own */
export function resultJson(
  { members, meta, resultType }: Encoded,
  modern: { readonly modernMeta: JsonObject; readonly modernTail: string } | undefined,
): string {
  if (!modern) return `{${members}${meta === undefined ? '' : `,"_meta":${JSON.stringify(meta)}`}}`
  if (meta === undefined && resultType === 'complete') return `{${members}${modern.modernTail}`
  return `{${members},"resultType":"${resultType}","_meta":${JSON.stringify({ ...meta, ...modern.modernMeta })}}`
}
