// People and their roles.
import { GatewayError } from '../core/errors.ts'
import type { People } from './ports.ts'

export function createPeople(_parts: object): People {
  const later = async () => {
    throw new GatewayError('tool_unavailable', 'Not built yet.')
  }
  return { list: later, invite: later, setRole: later, remove: later }
}
