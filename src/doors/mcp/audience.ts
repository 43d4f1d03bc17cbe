// Who sees which tools: the token on a connection decides, and every list holds what that token can call.
import type { AnyTool } from '../../core/registry.ts'
import type { CallerKind } from '../../core/caller.ts'

/** No token is `public`, and so are two tokens of different kinds: each call says which of them it is made with. */
export type Audience = 'public' | 'agent' | 'email' | 'seller' | 'operator' | 'admin'

/** What everybody may try: capabilities and email keys are also taken as arguments. */
const PUBLIC: readonly CallerKind[] = ['anyone', 'capability', 'account', 'email']

const SHOWN: Readonly<Record<Audience, readonly CallerKind[]>> = {
  public: PUBLIC,
  agent: ['anyone', 'capability', 'account'],
  email: ['anyone', 'email'],
  // An operator that sells calls these too, but most do not: its list is long enough without them.
  seller: [...PUBLIC, 'seller'],
  operator: [...PUBLIC, 'operator'],
  admin: [...PUBLIC, 'operator', 'admin'],
}

export const AUDIENCES = Object.keys(SHOWN) as readonly Audience[]

/** Whether the list of this audience holds the tool. */
export const isShown = ({ caller }: Pick<AnyTool, 'caller'>, audience: Audience): boolean =>
  SHOWN[audience].includes(caller)
