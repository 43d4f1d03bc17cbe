// What a door reaches of the engine, by way of the call path: one decrypted request in, its answer out while it arrives.
import type { CreditCharge } from '../../core/credit-charge.ts'
import type { HttpExchange } from '../../core/message.ts'
import type { Millis } from '../../store/model.ts'
import type { HeldCapability } from '../../store/ports.ts'
import type { Watched } from '../revocations.ts'

/** How an exchange ended; receipts name it. */
export const RELAY_ENDS = [
  'complete',
  'client_closed',
  'client_stalled',
  'upstream_reset',
  'idle',
  'limit',
  'reflected',
  'revoked',
] as const
export type RelayEnd = (typeof RELAY_ENDS)[number]

/** An exchange whose answer was begun. */
export interface Relayed {
  readonly attempt_id: string
  readonly end: RelayEnd
}

export interface Relay {
  /**
   * One attempt: the same checks, debit and placement as `Egress.fetch`; its answer is searched while it passes. From the moment that the
   * head is written it resolves, however the answer ends: what went wrong is in the receipt, and the program's connection was broken off.
   * @param held whose capability it is, authenticated already
   * @throws {GatewayError} as `Egress.fetch`, and not_found, rate_limited, before anything of an answer was written: the door answers with
   * a problem document and the headers of `retryHeaders`
   */
  relay(exchange: HttpExchange, held: HeldCapability, charge: CreditCharge): Promise<Relayed>
  /** For connections that somebody else holds on the word of a capability: told when it is not good any more, or its time is over. */
  watchRevocation(capabilityId: string, expiresAt: Millis): Watched
}
