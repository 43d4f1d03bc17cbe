// Requests of MCP that are no call of a tool: lists, resources, the handshake, and calls of a tool that there is not. The call path tells of
// the others.
import type { Registry } from '../core/registry.ts'
import type { ObserveMessage } from '../doors/parts.ts'
import { mcpMethodLabel, OTHER } from './labels.ts'
import { secondsSince, type Telemetry } from './port.ts'

export function observeMessages(telemetry: Telemetry, registry: Pick<Registry, 'find'>): ObserveMessage {
  return async ({ method, name }, answer) => {
    const isCall = method === 'tools/call'
    if (isCall && typeof name === 'string' && registry.find(name)?.tool.doors.includes('mcp')) return answer()
    const labels = {
      'mcp.method.name': mcpMethodLabel(method),
      ...(isCall && { 'gen_ai.tool.name': OTHER, 'gen_ai.operation.name': 'execute_tool' }),
    }
    const started = performance.now()
    const span = telemetry.tracing?.start({
      name: isCall ? `tools/call ${OTHER}` : labels['mcp.method.name'],
      kind: 'internal',
      labels,
    })
    // An unknown tool is answered with a JSON-RPC error, which is an answer like others here.
    let failure: string | undefined = isCall ? 'unknown_tool' : undefined
    try {
      await (span ? span.run(answer) : answer())
    } catch (thrown) {
      failure = OTHER
      throw thrown
    } finally {
      telemetry.record('mcp.server.operation.duration', secondsSince(started), {
        ...labels,
        ...(failure !== undefined && { 'error.type': failure }),
      })
      span?.end(failure)
    }
  }
}
