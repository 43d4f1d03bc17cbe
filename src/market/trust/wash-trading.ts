// Finds buyers that a seller made up: its own addresses, wallets that these funded, and many wallets that one wallet funded. What they
// paid stays paid; it is shown and not counted. The chain says whose money it was, and nothing that anybody claims.
import type { Logger } from '../../lib/log.ts'
import type { Store } from '../../store/ports.ts'
import { OWN_SELLER_ID } from '../own-listing.ts'

interface Transfer {
  readonly from: string
  /** Atomic units. */
  readonly amount: bigint
  readonly block: number
  readonly transactionHash: string
}

/** The transfers of the asset to an account, as its chain tells. */
export interface TransferReader {
  /** @throws when the chain does not answer; it is tried again later */
  incoming(account: string): Promise<readonly Transfer[]>
}

export interface WashTradingParts {
  readonly store: Pick<
    Store,
    | 'listUncheckedPayers'
    | 'noteFunders'
    | 'noteSellerAddress'
    | 'listSellerAddresses'
    | 'listPayersFundedBy'
    | 'excludePayer'
    | 'findSeller'
  >
  readonly transfers: TransferReader
  /** Addresses of this gateway, lower case: money that it sent back is nobody's funding. */
  readonly ownAddresses: readonly string[]
  /** Exchanges and others that fund everybody, as the operator names them. */
  readonly readRules: () => Promise<{ readonly sharedFunders: readonly string[]; readonly ringSize: number }>
  readonly now: () => number
  readonly log: Logger
}

const AT_ONCE = 20
/** Funders of a payer whose own funders are looked at, too. */
const SECOND_HOPS = 4
const MAX_RING = 500
/** New tokens come from nobody. */
const MINT = `0x${'0'.repeat(40)}`

/** @returns looks at the payers that nobody has looked at; resolves with how many it left out of figures */
export function createWashTrading(parts: WashTradingParts): { check(): Promise<number> } {
  const { store, transfers, now, log } = parts
  const own = new Set(parts.ownAddresses)

  /** Each with all that it sent; the place is that of the newest transfer. */
  async function fundersOf(account: string): Promise<Map<string, Transfer>> {
    const funders = new Map<string, Transfer>()
    for (const transfer of await transfers.incoming(account)) {
      const { from } = transfer
      if (from === account || from === MINT || own.has(from)) continue
      const known = funders.get(from)
      funders.set(from, known ? { ...known, amount: known.amount + transfer.amount } : transfer)
    }
    return funders
  }

  async function addressesOf(sellerId: string): Promise<ReadonlySet<string>> {
    if (sellerId === OWN_SELLER_ID) return own
    const seller = await store.findSeller(sellerId)
    if (seller) await store.noteSellerAddress({ sellerId, address: seller.payoutAddress, now: now() })
    return new Set(await store.listSellerAddresses(sellerId))
  }

  return {
    async check() {
      const { sharedFunders, ringSize } = await parts.readRules()
      const shared = new Set(sharedFunders.map((address) => address.toLowerCase()))
      let excluded = 0
      for (const { payer, sellerIds, paid } of await store.listUncheckedPayers(AT_ONCE)) {
        let funders
        let second
        try {
          funders = await fundersOf(payer)
          second = new Map<string, ReadonlySet<string>>()
          for (const funder of [...funders.keys()].filter((one) => !shared.has(one)).slice(0, SECOND_HOPS))
            second.set(funder, new Set((await fundersOf(funder)).keys()))
        } catch (err) {
          log.warn({ err }, 'market: whose money buyers pay with could not be looked up; it is tried again')
          return excluded
        }
        // Dust is no funding: who wants to make somebody's buyers look made up has to give each as much as it paid.
        const noted = [...funders.values()]
          .filter(({ amount }) => amount >= BigInt(paid))
          .map(({ from, block, transactionHash }) => ({ funder: from, block, transactionHash }))
        await store.noteFunders({ payer, funders: noted, now: now() })
        for (const sellerId of sellerIds) {
          const addresses = await addressesOf(sellerId)
          const isOfSeller = (address: string) => addresses.has(address)
          const exclude = (who: string, exclusion: 'self' | 'funded' | 'ring') =>
            store.excludePayer({ sellerId, payer: who, exclusion, now: now() })
          if (isOfSeller(payer)) excluded += Number((await exclude(payer, 'self')) > 0)
          else if ([...funders.keys(), ...[...second.values()].flatMap((ones) => [...ones])].some(isOfSeller))
            excluded += Number((await exclude(payer, 'funded')) > 0)
          else
            for (const { funder } of noted) {
              if (shared.has(funder)) continue
              const ring = await store.listPayersFundedBy({ funder, sellerId, limit: MAX_RING })
              if (ring.length < ringSize) continue
              for (const member of ring) excluded += Number((await exclude(member, 'ring')) > 0)
            }
        }
      }
      return excluded
    },
  }
}
