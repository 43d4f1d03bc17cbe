// Whose rows a call touches.
import { GatewayError } from '../src/core/errors.ts'
import type { Caller } from '../src/core/caller.ts'

/** @throws {GatewayError} key_required for callers without an account */
export function accountOf(caller: Caller): string {
  if (!('accountId' in caller)) throw new GatewayError('key_required', 'Send a service key (agw_sk_…).')
  return caller.accountId
}

/** Who decides, where a decision is noted. @throws {GatewayError} key_required for callers without a service key */
export function operatorOf(caller: Caller): { readonly id: string; readonly accountId: string } {
  if (caller.kind !== 'operator') throw new GatewayError('key_required', 'Send a service key (agw_sk_…).')
  return caller
}
