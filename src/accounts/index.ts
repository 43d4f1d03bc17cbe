import type { Accounts } from '../services.ts'
import type { Store } from '../store/ports.ts'

export function createAccounts(_parts: { store: Store; freeCredits: number; now: () => number }): Accounts {
  throw new Error('being written')
}
