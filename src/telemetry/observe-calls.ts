// The call path as it is measured: one span and one duration for each call of a tool, whatever door it came through. Of the caller, the
// input and the answer nothing is told.
import type { CallPath, CallRequest, CallResult } from '../core/call.ts'
import { OTHER } from './labels.ts'
import { type OpenSpan, secondsSince, type Telemetry } from './port.ts'

/** Codes that are a fault of the gateway: what its objective counts (docs/slo.md). */
export const CALL_FAULTS = ['internal', 'store_unavailable', 'overloaded', 'credential_unavailable'] as const
const FAULTS: ReadonlySet<string> = new Set(CALL_FAULTS)

/** @param isNetwork whether a network is one that payments are taken on */
export function observeCalls(
  telemetry: Telemetry,
  calls: CallPath,
  isNetwork: (network: string) => boolean,
): CallPath {
  // A rate does not have what a series begins with: without a 0 before it, the first fault of each kind is in none.
  for (const code of [...CALL_FAULTS, OTHER])
    telemetry.add('agent_gateway.calls.ended', 0, { 'agent_gateway.code': code })

  async function call(request: CallRequest): Promise<CallResult> {
    const { tool, door } = request
    const started = performance.now()
    const span = spanOf(telemetry, request)
    const result = await (span ? span.run(() => calls.call(request)) : calls.call(request))
    const seconds = secondsSince(started)

    const code = result.ok ? 'ok' : result.error.code
    const outcome = result.ok ? 'ok' : result.error.status >= 500 ? 'failed' : 'refused'
    const named = { 'gen_ai.tool.name': tool.name }
    const through = { ...named, 'agent_gateway.door': door }
    telemetry.add('agent_gateway.calls', 1, { ...through, 'agent_gateway.code': code })
    telemetry.add('agent_gateway.calls.ended', 1, { 'agent_gateway.code': FAULTS.has(code) ? code : OTHER })
    telemetry.record('agent_gateway.call.duration', seconds, { ...through, 'agent_gateway.outcome': outcome })
    if (door === 'mcp')
      telemetry.record('mcp.server.operation.duration', seconds, {
        ...MCP_CALL,
        ...named,
        ...(!result.ok && { 'error.type': 'tool_error' }),
      })
    if (result.ok && result.credits) telemetry.add('agent_gateway.credits.charged', result.credits, named)
    if (result.ok && result.paid) {
      const { network } = result.paid.settlement
      telemetry.add('agent_gateway.payments', 1, {
        ...named,
        'agent_gateway.network': isNetwork(network) ? network : OTHER,
        'agent_gateway.outcome': result.paid.replayed ? 'replayed' : 'settled',
      })
    }
    span?.label({ 'agent_gateway.code': code })
    span?.end(result.ok ? undefined : code)
    return result
  }

  return {
    call,
    admit: calls.admit,
    bodyLimit: calls.bodyLimit,
    isKnown: calls.isKnown,
    refuseSpent: calls.refuseSpent,
    refuseSpentMessage: calls.refuseSpentMessage,
    countLargeMessage: calls.countLargeMessage,
    drain: calls.drain,
    get inFlight() {
      return calls.inFlight
    },
    get isCrowded() {
      return calls.isCrowded
    },
  }
}

const MCP_CALL = { 'mcp.method.name': 'tools/call', 'gen_ai.operation.name': 'execute_tool' }

/** At MCP the message is the operation, and the span is named after it; its own `traceparent` goes before that of its request. */
function spanOf({ tracing }: Telemetry, { tool, door, traceparent }: CallRequest): OpenSpan | undefined {
  if (!tracing) return undefined
  const labels = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': tool.name,
    'agent_gateway.door': door,
  }
  if (door !== 'mcp') return tracing.start({ name: `execute_tool ${tool.name}`, kind: 'internal', labels })
  return tracing.start({
    name: `tools/call ${tool.name}`,
    kind: 'server',
    labels: { ...labels, 'mcp.method.name': 'tools/call' },
    parent: traceparent,
    isOtherTrace: traceparent !== undefined && traceparent !== tracing.incoming(),
  })
}
