// Action permits, as the rest of the gateway sees them.
import { GatewayError } from '../errors.ts'
import type { Actions } from '../services.ts'
import type { ActionParts } from './ports.ts'

export function createActions(_parts: ActionParts): Actions {
  const missing = () => Promise.reject(new GatewayError('tool_unavailable', 'Not built yet.'))
  return {
    storeMandate: missing,
    listMandates: missing,
    revokeMandate: missing,
    prepare: missing,
    getPermit: missing,
    listPermits: missing,
    decide: missing,
    execute: missing,
    stats: missing,
  }
}
