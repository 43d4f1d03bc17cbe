// Whose sessions somebody may see and end: an owner those of the account, everybody else their own.
import type { Operator } from '../core/caller.ts'
import { GatewayError } from '../core/errors.ts'

/**
 * @returns whose alone; undefined: everybody's
 * @throws {GatewayError} role_required
 */
export function whoseSessions(caller: Operator, asked: string | undefined): string | undefined {
  if (caller.role === 'owner') return asked
  const own = caller.session?.personId
  if (own === undefined || (asked !== undefined && asked !== own))
    throw new GatewayError(
      'role_required',
      `The sessions of others are an owner's to see and end, and your role is ${caller.role}.`,
    )
  return own
}
