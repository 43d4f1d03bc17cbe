// The caller of a tool, as established before the input is parsed.
import type { HeldCapability, HeldConnection, SignedIn } from '../store/ports.ts'
import type { Role } from '../../schemas/role.ts'

export type Caller =
  | { readonly kind: 'anonymous'; readonly id: 'anonymous'; readonly address: string }
  | {
      /** Whoever works for the account: the holder of a service key, or a person. The role says what they may do. */
      readonly kind: 'operator'
      /** Of the key, or of the person. */
      readonly id: string
      readonly accountId: string
      readonly admin: boolean
      readonly role: Exclude<Role, 'seller'>
      readonly address: string
      /** A person who signed in; a program with a service key has none. */
      readonly session?: SignedIn
      /** The assistant that acts for them, where they allowed it tools of operators. */
      readonly connection?: HeldConnection
    }
  | {
      readonly kind: 'agent'
      readonly id: string
      readonly accountId: string
      /** Of a connection the one at the root of it, which is for no credential itself. */
      readonly capability: HeldCapability
      readonly address: string
      /** Where it is an assistant that a person allowed to connect (OAuth). */
      readonly connection?: HeldConnection
    }
  /** Holder of a seller's key, or a person who sells: they act for the seller of their account, and open nothing else of it. */
  | {
      readonly kind: 'seller'
      readonly id: string
      readonly accountId: string
      readonly address: string
      readonly session?: SignedIn
    }
  /** Holder of a free key of email verification: of no account. */
  | { readonly kind: 'email'; readonly id: string; readonly address: string }

/**
 * The kinds of caller that a tool may ask for.
 * `anyone`: no token needed; `capability`: an agent's capability; `operator`: a service key;
 * `admin`: the service key of the installation's first account; `account`: service key or capability;
 * `email`: a free key of email verification, or a service key; `seller`: a seller's key, or a service key whose account has a seller.
 */
export const CALLER_KINDS = [
  'anyone',
  'capability',
  'operator',
  'admin',
  'account',
  'email',
  'seller',
] as const
export type CallerKind = (typeof CALLER_KINDS)[number]

export type Operator = Extract<Caller, { kind: 'operator' }>
export type Seller = Extract<Caller, { kind: 'seller' }>
export type Agent = Extract<Caller, { kind: 'agent' }>

/** The callers that authentication lets through for each kind: the type of `context.caller` in a handler. */
export interface CallersOf {
  readonly anyone: Extract<Caller, { kind: 'anonymous' }> | Operator | Agent
  readonly capability: Agent
  readonly operator: Operator
  readonly admin: Operator & { readonly admin: true }
  readonly account: Operator | Agent
  readonly email: Extract<Caller, { kind: 'email' }> | Operator
  readonly seller: Seller | Operator
}
export type CallerOf<K extends CallerKind> = CallersOf[K]
