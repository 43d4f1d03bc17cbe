// tools/call: from JSON-RPC params to the call path and back, the same for the fast path, the SDK and stdio.
import type { PresentedTokens } from '../../authenticate.ts'
import { toProblem } from '../../errors.ts'
import type { HandlerContext } from '../../services.ts'
import type { DoorParts } from '../parts.ts'
import type { Spelling } from './names.ts'
import { isObject, isRpcId, type JsonObject, RPC, type RpcError } from './wire.ts'

/** What a connection brings along with its messages. */
export interface Link {
  readonly tokens: PresentedTokens
  readonly address: string
  readonly requestId: string
  readonly traceparent: string | undefined
  readonly query: string | undefined
  readonly userAgent: string | undefined
  readonly session: Spelling | undefined
}

export type ToolOutcome =
  /** `json` is `structured`, serialised. */
  | { readonly ok: true; readonly isError: boolean; readonly structured: unknown; readonly json: string }
  | { readonly ok: false; readonly error: RpcError }

export type Notify = (method: string, params: JsonObject) => void

export async function callTool(
  parts: DoorParts,
  link: Link,
  params: JsonObject,
  exchange: { readonly signal: AbortSignal; readonly notify: Notify },
): Promise<ToolOutcome> {
  const { name } = params
  const input = params['arguments']
  if (typeof name !== 'string' || (input !== undefined && !isObject(input)))
    return invalid('tools/call needs `name`, a string, and takes `arguments`, an object.')
  const entry = parts.registry.find(name)
  if (!entry?.tool.doors.includes('mcp'))
    return invalid(`Unknown tool: ${name.slice(0, 128)}. tools/list names the tools there are.`)

  const meta = isObject(params['_meta']) ? params['_meta'] : undefined
  const result = await parts.calls.call({
    tool: entry.tool,
    input: input ?? {},
    door: 'mcp',
    tokens: link.tokens,
    address: link.address,
    requestId: link.requestId,
    traceparent: link.traceparent ?? traceparentOf(meta),
    signal: exchange.signal,
    progress: progressTo(meta?.['progressToken'], exchange.notify),
  })
  const structured = result.ok
    ? result.output
    : toProblem(result.error, { requestId: link.requestId, baseUrl: parts.addresses.baseUrl })
  return { ok: true, isError: !result.ok, structured, json: JSON.stringify(structured) }
}

const invalid = (message: string): ToolOutcome => ({
  ok: false,
  error: { code: RPC.invalidParams, message },
})

/** Result JSON without the end that the eras differ in. */
export function encodeOutcome({ json, isError }: ToolOutcome & { ok: true }): string {
  const text = JSON.stringify(json)
  return `{"content":[{"type":"text","text":${text}}],"structuredContent":${json}${isError ? ',"isError":true' : ''}`
}

/** The token comes back with every report; reports that do not move forward are dropped, as the protocol demands. */
function progressTo(token: unknown, notify: Notify): HandlerContext['progress'] | undefined {
  if (!isRpcId(token)) return undefined
  let last = -Infinity
  return ({ done, total, message }) => {
    if (!(done > last)) return
    last = done
    notify('notifications/progress', {
      progressToken: token,
      progress: done,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
    })
  }
}

const TRACEPARENT = /^[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/

function traceparentOf(meta: JsonObject | undefined): string | undefined {
  const value = meta?.['traceparent']
  return typeof value === 'string' && TRACEPARENT.test(value) ? value : undefined
}
