// Accounts, their keys and their credits, as handlers see them. Types only.
import type { Role } from '../../schemas/role.ts'
import type { Secret } from '../lib/secret.ts'
import type { Account, LedgerEntry, ServiceKey } from '../store/ports.ts'
import type { Page, PageRequest } from '../store/model.ts'

export interface Accounts {
  createAccount(input: {
    name: string
    label: string
    admin: boolean
  }): Promise<{ account: Account; key: ServiceKey; token: Secret<string>; credits: number }>
  /** @param input.role `operator` unless given */
  createKey(input: {
    accountId: string
    label: string
    role?: Role
  }): Promise<{ key: ServiceKey; token: Secret<string> }>
  listKeys(accountId: string | undefined, page: PageRequest): Promise<Page<ServiceKey>>
  /**
   * @param by role of whoever asks: the keys of owners end by owners alone
   * @throws {GatewayError} key_not_found, role_required; state_conflict for the last administrator key
   */
  revokeKey(accountId: string | undefined, keyId: string, by?: Role): Promise<ServiceKey>
  balance(accountId: string): Promise<number>
  ledger(accountId: string, page: PageRequest): Promise<Page<LedgerEntry>>
  grant(input: {
    accountId: string
    amount: number
    reference: string
  }): Promise<{ balance: number; repeated: boolean }>
}
