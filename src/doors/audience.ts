// Whose eyes a list of tools is for. The service key on the connection decides; whoever shows none is the public.
import type { Caller, CallerKind } from '../core/caller.ts'

export type Audience = 'public' | 'seller' | 'operator' | 'admin'

export const audienceOf = (caller: Caller): Audience => {
  if (caller.kind === 'seller') return 'seller'
  return caller.kind !== 'operator' ? 'public' : caller.admin ? 'admin' : 'operator'
}

/** Those who may call a tool of each kind; an operator may be a seller, too. */
const CALLERS: Readonly<Record<CallerKind, readonly Audience[]>> = {
  anyone: ['public', 'seller', 'operator', 'admin'],
  capability: ['public', 'seller', 'operator', 'admin'],
  account: ['public', 'seller', 'operator', 'admin'],
  email: ['public', 'seller', 'operator', 'admin'],
  seller: ['seller', 'operator', 'admin'],
  operator: ['operator', 'admin'],
  admin: ['admin'],
}

/** Whether a tool is for this audience; agents have their capability or email key as well. */
export const isFor = (audience: Audience, tool: { readonly caller: CallerKind }): boolean =>
  CALLERS[tool.caller].includes(audience)
