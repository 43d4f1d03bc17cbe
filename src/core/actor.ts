// A caller as the audit log names it: by id and address, never by token.
import type { Actor } from '../lib/acting.ts'
import type { Caller } from './caller.ts'

const KINDS = {
  operator: 'service_key',
  seller: 'service_key',
  agent: 'capability',
  email: 'email_key',
  anonymous: 'anonymous',
} as const satisfies Record<Caller['kind'], Actor['kind']>

/** @returns who acts in the call that `call` describes */
export const actorOf = (
  caller: Caller,
  call: { readonly door: string; readonly tool: string; readonly requestId: string },
): Actor => ({
  kind:
    'session' in caller && caller.session
      ? 'person'
      : 'connection' in caller && caller.connection
        ? 'connection'
        : KINDS[caller.kind],
  ...(caller.kind !== 'anonymous' && { id: caller.id }),
  address: caller.address,
  door: call.door,
  tool: call.tool,
  request_id: call.requestId,
})
