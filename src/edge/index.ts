// The edge proxy, as the rest of the gateway sees it.
import { GatewayError } from '../errors.ts'
import type { Edge } from '../services.ts'
import type { EdgeParts } from './ports.ts'

export function createEdge(_parts: EdgeParts): Edge {
  const missing = () => Promise.reject(new GatewayError('tool_unavailable', 'Not built yet.'))
  return { forward: missing, check: missing }
}
