// Who is calling, as established before the input is parsed.
import type { HeldCapability } from '../store/ports.ts'

export type Caller =
  | { readonly kind: 'anonymous'; readonly id: 'anonymous'; readonly address: string }
  | {
      readonly kind: 'operator'
      readonly id: string
      readonly accountId: string
      readonly admin: boolean
      readonly address: string
    }
  | {
      readonly kind: 'agent'
      readonly id: string
      readonly accountId: string
      readonly capability: HeldCapability
      readonly address: string
    }
  /** Holder of a free key of email verification: of no account. */
  | { readonly kind: 'email'; readonly id: string; readonly address: string }
