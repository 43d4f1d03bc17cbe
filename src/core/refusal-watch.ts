// The port through which the call path, and doors that refuse by themselves, tell of refusals: what is a security event is decided in src/audit.
import type { PresentedTokens } from './authenticate.ts'
import type { Caller } from './caller.ts'
import type { GatewayError } from './errors.ts'

export interface RefusedCall {
  /** Undefined where nobody was signed in. */
  readonly caller: Caller | undefined
  readonly tokens: PresentedTokens
  readonly address: string
  readonly door: string
  /** Of a door that refused by itself the page or the kind of request, such as `console.join`. */
  readonly tool: string
  readonly requestId: string
  readonly input: unknown
  readonly error: GatewayError
}

export interface RefusalWatch {
  /** Resolves when what is to be written down is. Never rejects: a refusal stays the refusal that it was. */
  refused(call: RefusedCall): Promise<void>
}
