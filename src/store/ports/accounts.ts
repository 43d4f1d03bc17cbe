// Accounts that have credits, and every movement of credits.
import type { Millis } from '../model.ts'

export interface Account {
  readonly id: string
  readonly name: string
  readonly createdAt: Millis
}

/** `seller`: opens what a seller does with its own offers, and nothing else of its account. */
export type KeyRole = 'operator' | 'seller'

export interface ServiceKey {
  readonly id: string
  readonly accountId: string
  readonly label: string
  /** May grant credits, create accounts and rotate the authority. */
  readonly admin: boolean
  readonly role: KeyRole
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
