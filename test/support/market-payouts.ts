// Sellers who are owed something, in the store of a gateway that is not running yet.
import { loadConfig } from '../../src/app/config.ts'
import { createSemaphore } from '../../src/lib/semaphore.ts'
import { hashToken, newToken } from '../../src/lib/tokens.ts'
import { openStore } from '../../src/store/index.ts'
import { saleOf, sell } from './market-money.ts'
import { newSeller, registration } from './market-sellers.ts'
import { log } from './store.ts'
import { startTestGateway, type World } from './gateway.ts'

export const BASE = 'eip155:8453'
export const BASE_USDC = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'

export interface OwedSeller {
  readonly id: string
  readonly payoutAddress: string
  /** Sales of 1000 atomic units each, of which the seller gets 970. */
  readonly sales: number
}

/** @returns the key of each seller, and the claims of its sales, in the order of `sellers` */
export async function seedSellers(world: World, sellers: readonly OwedSeller[]) {
  // The first account of an installation is its operator's.
  await (await startTestGateway({ world })).close()
  const config = loadConfig(world.env)
  const bootId = 'boot_seed'
  const store = await openStore({ config, log, bootId })
  // A thousand at once would wait for sixteen connections longer than a call may wait for one.
  const places = createSemaphore(32)
  try {
    const at = Date.now() - 60_000
    const seed = async ({ id, payoutAddress, sales }: OwedSeller) => {
      const key = newToken('sk')
      const seller = { ...newSeller(id, { payoutAddress }), createdAt: at, updatedAt: at }
      const made = await store.createSeller(registration(seller, hashToken(key), { from: null }))
      if (!made.ok) throw new Error(made.reason)
      const over = { network: BASE, asset: BASE_USDC, at, createdAt: at }
      const claims: string[] = []
      for (let i = 0; i < sales; i++) claims.push((await sell(store, bootId, saleOf(id), over)).id)
      return { key, claims }
    }
    return await Promise.all(sellers.map((seller) => places.run(() => seed(seller))))
  } finally {
    await store.close()
  }
}
