// MCP: what the policy has to know of it.
import type { ProtocolPolicy } from '../protocol.ts'
import type { McpFacts } from './facts.ts'

export const policy: ProtocolPolicy<McpFacts> = {
  /** Everything is a POST over JSON-RPC; what only reads is told by its name, and a name of nobody's may do anything. */
  isRisky: ({ layer }) => layer.stage === 'tools/call' || layer.stage === 'request',
}
