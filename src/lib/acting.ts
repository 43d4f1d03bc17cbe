// On whose word the code at hand runs. The call path says it once, and whoever writes a security event down reads it: a change
// that lies ten functions below the door would otherwise have to be told by all of them.
import { AsyncLocalStorage } from 'node:async_hooks'

/** The acting party of a change. Ids, names and an address; never a token. */
export interface Actor {
  readonly kind:
    'service_key' | 'capability' | 'email_key' | 'person' | 'connection' | 'anonymous' | 'gateway'
  /** Id of the key, the capability, the person or the connection. */
  readonly id?: string | undefined
  /** Address that the call came from. */
  readonly address?: string | undefined
  readonly door?: string | undefined
  readonly tool?: string | undefined
  readonly request_id?: string | undefined
}

/** Nobody called: a start, housekeeping, a crash that is cleaned up. */
const GATEWAY: Actor = { kind: 'gateway' }
const acting = new AsyncLocalStorage<Actor>()

/** Runs `work`, and everything that it awaits, on the word of `actor`. */
export const actAs = <T>(actor: Actor, work: () => T): T => acting.run(actor, work)

/** The party that the running code acts for; the gateway itself where no call is being handled. */
export const currentActor = (): Actor => acting.getStore() ?? GATEWAY
