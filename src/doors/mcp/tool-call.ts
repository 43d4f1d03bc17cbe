// tools/call: from JSON-RPC params to the call path and back, the same for the fast path, the SDK and stdio.
import { type GatewayError, toProblem } from '../../core/errors.ts'
import { IDEMPOTENCY_KEY_META, oneKey } from '../../core/idempotency-key.ts'
import type { CallResult } from '../../core/call.ts'
import { spellProblem } from '../../core/tool-words.ts'
import { isObject } from '../../lib/json.ts'
import type { CallContext } from '../../core/context.ts'
import { oversized } from '../http/body-limit.ts'
import { noteLimits } from '../http/reply.ts'
import { readTraceparent } from '../http/request.ts'
import { wantsWhole } from '../long-answer.ts'
import { messageProblem } from '../message-answer.ts'
import { readPayment, readSignIn, SIGN_IN_META } from '../message-payment.ts'
import { wantsSignatures } from '../receipt-signatures.ts'
import { challengeOf } from './challenge.ts'
import type { McpCore } from './core.ts'
import type { Link, SignInChallenge } from './link.ts'
import { type Encoded, encodeCall, PAYMENT_META, QUOTE_META } from './result.ts'
import { isRpcId, type JsonObject, META, RPC, type RpcError } from './wire.ts'

export type ToolOutcome =
  | {
      readonly ok: true
      readonly result: Encoded
      readonly challenge?: SignInChallenge | undefined
    }
  | { readonly ok: false; readonly error: RpcError }

export type Notify = (method: string, params: JsonObject) => void

/** `tools/call` under either spelling of a name. What the tool refuses is a result with `isError`; an unknown tool is a JSON-RPC error. */
export async function callTool(
  core: McpCore,
  link: Link,
  params: JsonObject,
  exchange: { readonly signal: () => AbortSignal; readonly notify: Notify },
): Promise<ToolOutcome> {
  const { parts } = core
  const { name } = params
  const input = params['arguments']
  if (typeof name !== 'string' || (input !== undefined && !isObject(input)))
    return invalid('tools/call needs `name`, a string, and takes `arguments`, an object.')
  const entry = parts.registry.find(name)
  if (!entry?.tool.doors.includes('mcp'))
    return invalid(core.catalogue.spell(core.selections.unknownTool(name), core.spellingOf(link)))

  const meta = isObject(params['_meta']) ? params['_meta'] : undefined
  const quote = meta?.[QUOTE_META]
  const whole = wantsSignatures(meta)
  const paid = readPayment(meta?.[PAYMENT_META], `_meta["${PAYMENT_META}"]`)
  const result: CallResult = await parts.calls.call({
    tool: entry.tool,
    input: input ?? {},
    payment: paid.payment,
    inputError: paid.inputError ?? oversized(entry.tool, link.bytes),
    signIn: readSignIn(meta?.[SIGN_IN_META]),
    quote: typeof quote === 'string' ? quote : undefined,
    idempotencyKey: oneKey(link.idempotencyKey, meta?.[IDEMPOTENCY_KEY_META]),
    resource: { url: `mcp://tool/${entry.tool.name}`, method: 'POST' },
    door: 'mcp',
    tokens: link.tokens,
    address: link.address,
    requestId: link.requestId,
    // SEP-414: a message says itself which trace it is of; its request may carry many, or come from a proxy.
    traceparent: readTraceparent(meta?.['traceparent']) ?? link.traceparent,
    signal: exchange.signal,
    progress: progressTo(meta?.['progressToken'], exchange.notify),
  })
  noteLimits(link.seen, result)
  const spell = (text: string) => core.catalogue.spell(text, core.spellingOf(link))
  const problemOf = (error: GatewayError) =>
    spellProblem(toProblem(error, { requestId: link.requestId, baseUrl: parts.addresses.baseUrl }), spell)
  const refusal = result.ok ? undefined : await challengeOf(core, link, { tool: entry.tool, input, result })
  const problem = refusal && problemOf(refusal.error)
  return {
    ok: true,
    challenge: refusal &&
      problem && {
        refusal,
        error: { code: RPC.invalidRequest, message: problem.detail, data: problem },
      },
    result: encodeCall(result, {
      asked: {
        tool: entry.tool,
        wantsSignatures: whole,
        wantsWhole: wantsWhole(meta),
        spell,
      },
      spell,
      // Revisions before 2026-07-28 have no result types, whatever a request of theirs claims.
      capabilities: meta?.[META.version] === undefined ? undefined : meta[META.capabilities],
      toProblem: (error) => messageProblem(problemOf(error), whole),
    }),
  }
}

const invalid = (message: string): ToolOutcome => ({
  ok: false,
  error: { code: RPC.invalidParams, message },
})

/** The token comes back with every report, so a long one would make many times as much of a request. */
const MAX_TOKEN = 256

function progressTo(token: unknown, notify: Notify): CallContext['progress'] | undefined {
  if (!isRpcId(token) || String(token).length > MAX_TOKEN) return undefined
  return ({ done, total, message }) =>
    notify('notifications/progress', {
      progressToken: token,
      progress: done,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
    })
}
