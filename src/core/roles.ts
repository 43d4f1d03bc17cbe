// What people and service keys may do for their account. A role is checked once, by the call path, for every tool at every door; pages
// that show what no tool answers ask `mayRead`.
import type { Role } from '../../schemas/role.ts'
import type { Caller, Operator } from './caller.ts'
import { GatewayError } from './errors.ts'
import type { AnyTool } from './tool.ts'

/** How long a sign-in counts as fresh for what cannot be taken back, in milliseconds. */
export const FRESH_MS = 5 * 60_000

/** The roles that may call a tool, beside `owner`, who may call all. */
export function rolesFor(tool: Pick<AnyTool, 'caller' | 'effects' | 'roles'>): readonly Role[] {
  if (tool.roles) return tool.roles
  const readers: readonly Role[] = ['operator', 'approver', 'auditor']
  switch (tool.caller) {
    case 'anyone':
    case 'email':
    case 'seller':
      return tool.effects.readOnly ? [...readers, 'seller'] : ['operator', 'seller']
    default:
      return tool.effects.readOnly ? readers : ['operator']
  }
}

/** Whether a tool is for this role. */
export const isForRole = (tool: Pick<AnyTool, 'caller' | 'effects' | 'roles'>, role: Role): boolean =>
  role === 'owner' || rolesFor(tool).includes(role)

/**
 * Holds a caller who works for an account to its role, and a person who does what cannot be taken back to a sign-in of the last minutes.
 * @throws {GatewayError} role_required (an assistant is none of the people that some tools are for), fresh_sign_in_required
 */
export function checkRole(tool: AnyTool, caller: Caller, now: number): void {
  if (caller.kind !== 'operator') return
  if (!isForRole(tool, caller.role))
    throw new GatewayError(
      'role_required',
      `This takes the role ${['owner', ...rolesFor(tool)].join(' or ')}, and yours is ${caller.role}. Ask an owner of the account.`,
      { extras: { role: caller.role } },
    )
  if (caller.connection && isForPeople(tool))
    throw new GatewayError(
      'role_required',
      'No assistant does this, whatever it was allowed: a person does it in the console, or a program with a service key.',
      { reason: 'for_people' },
    )
  if (tool.needsFreshSignIn && caller.session && !isFresh(caller.session, now))
    throw new GatewayError(
      'fresh_sign_in_required',
      'This cannot be taken back. Show again that it is you, with your passkey, and do it within five minutes.',
    )
}

/** What decides who may do what, what cannot be taken back, and what models are not even told of. */
export const isForPeople = (tool: Pick<AnyTool, 'isForPeople' | 'needsFreshSignIn' | 'doors'>): boolean =>
  tool.isForPeople === true || tool.needsFreshSignIn === true || !tool.doors.includes('mcp')

/**
 * Holds an assistant to what the person who connected it said of tools that cost money. A request with a credential is what it was connected
 * for: the budgets of the connection bound those.
 * @throws {GatewayError} insufficient_scope
 */
export function requireMayPay(caller: Caller): void {
  if (!('connection' in caller) || !caller.connection || caller.connection.mayPay) return
  throw new GatewayError(
    'insufficient_scope',
    'The person who connected this assistant did not allow it tools that cost money. They can: in the console, or where you sign in again.',
    { reason: 'connection_pays', extras: { scope: 'gateway' } },
  )
}

/** Whether the person showed within the last minutes that it is them. */
export const isFresh = (
  { freshAt }: Pick<NonNullable<Operator['session']>, 'freshAt'>,
  now: number,
): boolean => now - freshAt <= FRESH_MS
