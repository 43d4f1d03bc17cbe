// Accounts that have credits, and every movement of credits.
import type { Role } from '../../../schemas/role.ts'
import type { Millis } from '../model.ts'

export interface Account {
  readonly id: string
  readonly name: string
  readonly createdAt: Millis
}

export interface ServiceKey {
  readonly id: string
  readonly accountId: string
  readonly label: string
  /** May grant credits, create accounts and rotate the authority. */
  readonly admin: boolean
  /** As a person's; `seller` opens what a seller does with its own offers, and nothing else of its account. */
  readonly role: Role
  readonly createdAt: Millis
  readonly revokedAt: Millis | null
}

export interface LedgerEntry {
  readonly transactionId: string
  /** An account id, or `system:<purpose>` for the other side. */
  readonly account: string
  /** Signed credits; the entries of one transaction sum to zero. */
  readonly amount: number
  readonly kind:
    'grant' | 'egress' | 'action' | 'edge' | 'call' | 'refund' | 'purchase' | 'reversal' | 'settlement'
  /** Purpose of the movement: an attempt id, or the reference given with a grant or with the debit of a call. */
  readonly reference: string
  readonly createdAt: Millis
}
