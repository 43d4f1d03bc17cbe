// Which capability a request of a connection goes out on: an assistant names a URL, never a credential.
import { GatewayError } from '../core/errors.ts'
import type { Store } from '../store/ports.ts'
import type { Egress } from './ports.ts'

/** @returns `capabilityFor` of the port */
export const createChooseCapability =
  (_store: Store): Egress['capabilityFor'] =>
  async (held) => {
    const { credentialId } = held
    if (credentialId !== null) return { ...held, credentialId }
    throw new GatewayError('scope_denied', 'This connection has no credential for this address.')
  }
