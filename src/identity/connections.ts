// Assistants that people allowed to connect.
import { GatewayError } from '../core/errors.ts'
import type { Connections } from './ports.ts'

export function createConnections(_parts: object): Connections {
  const later = async () => {
    throw new GatewayError('tool_unavailable', 'Not built yet.')
  }
  return {
    open: later,
    change: later,
    list: later,
    get: later,
    revoke: later,
    revokeClient: later,
    addToken: later,
    dropToken: later,
  }
}
