// What a seller and this page know of each other so far: in memory, for as long as the page is open.
import type { OwnHost, OwnListing, OwnSeller } from '../../../../../schemas/market-seller.ts'
import type { Account } from './wallet.ts'

export interface Known {
  readonly key?: string
  /** It was made here, and nobody has kept it yet. */
  readonly isKeyNew?: boolean
  readonly seller?: OwnSeller
  readonly account?: Account
  readonly host?: OwnHost
  readonly listing?: OwnListing
  readonly isChecked?: boolean
}
