import type { UnwrapAuthority, Vault } from './ports.ts'

export function createVault(_authority: UnwrapAuthority): Vault {
  throw new Error('being written')
}
