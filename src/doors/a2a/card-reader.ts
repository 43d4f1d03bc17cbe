// Whom an agent card is for. The service key decides: each kind of key has a card with what it may call besides what everybody may.
import type { Caller, CallerKind } from '../../core/caller.ts'

export type CardReader = 'public' | 'seller' | 'operator' | 'admin'

export const readerOf = (caller: Caller): CardReader => {
  if (caller.kind === 'seller') return 'seller'
  return caller.kind !== 'operator' ? 'public' : caller.admin ? 'admin' : 'operator'
}

/** Those who may call a tool of each kind; an operator may be a seller, too. */
const CALLERS: Readonly<Record<CallerKind, readonly CardReader[]>> = {
  anyone: ['public', 'seller', 'operator', 'admin'],
  capability: ['public', 'seller', 'operator', 'admin'],
  account: ['public', 'seller', 'operator', 'admin'],
  email: ['public', 'seller', 'operator', 'admin'],
  seller: ['seller', 'operator', 'admin'],
  operator: ['operator', 'admin'],
  admin: ['admin'],
}

/** Whether this reader's card has the tool; agents have their capability or email key as well. */
export const isFor = (reader: CardReader, tool: { readonly caller: CallerKind }): boolean =>
  CALLERS[tool.caller].includes(reader)
