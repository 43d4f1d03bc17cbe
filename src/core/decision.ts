// One call as people see it go by: who asked for what, and how it ended. Names that the gateway gave, numbers, and the host that the
// call was for; nothing else of what was sent or answered.
import { isObject } from '../lib/json.ts'
import { actorOf } from './actor.ts'
import type { Caller } from './caller.ts'
import type { CallDoor } from './context.ts'
import type { GatewayError } from './errors.ts'
import type { Decision } from './live-events.ts'

interface Asked {
  readonly tool: { readonly name: string }
  readonly door: CallDoor
  readonly requestId: string
  readonly input: unknown
}

type Ended = { readonly caller?: Caller | undefined } & (
  | { readonly ok: true; readonly input: unknown; readonly output: unknown }
  | { readonly ok: false; readonly error: GatewayError }
)

/** @param ms how long it took */
export function decisionOf(request: Asked, result: Ended, at: number, ms: number): Decision {
  const { tool, door, requestId } = request
  const { caller } = result
  const actor = caller && actorOf(caller, { door, tool: tool.name, requestId })
  return {
    at,
    request: requestId,
    door,
    tool: tool.name,
    by: actor?.kind ?? 'anonymous',
    caller: actor?.id ?? null,
    host: hostIn(result.ok ? result.input : request.input),
    code: result.ok ? 'ok' : result.error.code,
    ms: Math.round(ms * 10) / 10,
    attempt: attemptIn(result),
  }
}

/** A name or an address as DNS allows them, so that nothing else of an address is shown by mistake. */
const HOST = /^(?:[a-z0-9-]{1,63}\.)*[a-z0-9-]{1,63}$|^\[[0-9a-f:.]+\]$/

function hostIn(input: unknown): string | null {
  if (!isObject(input)) return null
  const { url, request, host, 'merchant-host': merchant } = input
  const address = url ?? (isObject(request) ? request['url'] : undefined)
  const name =
    typeof address === 'string' && address.length <= 8192 && URL.canParse(address)
      ? new URL(address).hostname
      : (host ?? merchant)
  return typeof name === 'string' && name.length <= 253 && HOST.test(name) ? name : null
}

function attemptIn(result: Ended): string | null {
  const id = result.ok
    ? isObject(result.output)
      ? result.output['attempt_id']
      : undefined
    : result.error.extras.attempt_id
  return typeof id === 'string' && /^att_[0-9A-Za-z_-]{1,64}$/.test(id) ? id : null
}
