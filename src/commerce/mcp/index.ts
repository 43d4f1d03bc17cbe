// MCP: calls of tools, which carry payments of other protocols or have an effect of their own.
import { NO_FACTS } from '../ports.ts'
import type { Protocol } from '../protocol.ts'
import { bindMcp } from './bind.ts'
import { detectMcp, type McpSights } from './detect.ts'
import type { McpFacts } from './facts.ts'
import { policy } from './policy.ts'
import { readMcp } from './read.ts'
import { mcpCall } from './score.ts'

export const mcp: Protocol<McpFacts, McpSights> = {
  name: 'mcp',
  role: 'transport',
  covers: {
    versions: ['2025-11-25', '2026-07-28'],
    transports: ['streamable-http'],
    stages: ['tools/call'],
  },
  detect: detectMcp,
  read: readMcp,
  summarise: ({ facts }) => ({ ...NO_FACTS, idempotencyKey: facts.idempotencyKey }),
  bind: bindMcp,
  score: { rubrics: [mcpCall], choose: () => mcpCall },
  policy,
}
