// The market in the sandbox: an API is brought to it from its OpenAPI document, bought from by a program that knows only its address, and
// its seller is paid on the chain. A second demo finds the seller of the first.
import { setTimeout as sleep } from 'node:timers/promises'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { marketplaceHostsVerify } from '../../../tools/marketplace-hosts-verify.ts'
import { marketplaceHostsClaim } from '../../../tools/marketplace-hosts-claim.ts'
import { marketplaceListingsImport } from '../../../tools/marketplace-listings-import.ts'
import { marketplaceListingsStep } from '../../../tools/marketplace-listings-step.ts'
import { marketplaceModerationDecide } from '../../../tools/marketplace-moderation-decide.ts'
import { marketplacePayoutsRun } from '../../../tools/marketplace-payouts-run.ts'
import { marketplacePayoutsVerify } from '../../../tools/marketplace-payouts-verify.ts'
import { marketplacePayouts } from '../../../tools/marketplace-payouts.ts'
import { marketplaceSearch } from '../../../tools/marketplace-search.ts'
import { marketplaceSellerState } from '../../../tools/marketplace-seller-state.ts'
import { marketplaceSellersRegister } from '../../../tools/marketplace-sellers-register.ts'
import { SANDBOX_HOST } from '../../egress/target.ts'
import type { Client } from '../client.ts'
import { CommandFailure, Exit } from '../exit.ts'
import type { Buyer } from './pay.ts'

export interface MarketStep {
  readonly seller: string
  readonly service: string
  readonly path: string
  /** Atomic units, as are the others. */
  readonly paid: bigint
  readonly answer: unknown
  readonly payout: { readonly to: string; readonly amount: bigint; readonly transaction: string }
  /** What is on the chain and in the receipts is what the ledger says. */
  readonly verifies: boolean
}

const SELLER = 'demo-tea'
const SERVICE = 'tea'
const ORIGIN = `https://${SANDBOX_HOST}`
/** A change of the market reaches every replica within a second; a payout is in a block within a few. */
const WAIT_MS = 20_000
const POLL_MS = 250

/** @throws {CommandFailure} also where the sale or the payout does not come about */
export async function sellAndBuy(gateway: Client, buyer: Buyer): Promise<MarketStep> {
  const { seller, service } = (await findOffered(gateway)) ?? (await bringToMarket(gateway))
  const path = `/p/${seller}/${service}/brew/sencha?cups=2`
  await until('the service to be offered', async () =>
    (await fetch(gateway.url + path)).status === 402 ? true : undefined,
  )
  const bought = await buyer.pay({ method: 'GET', url: gateway.url + path, headers: {} })
  await gateway.call(marketplacePayoutsRun, { minimum_atomic: 1 })
  const payout = await until('the payout', async () => {
    const { payouts } = await gateway.call(marketplacePayouts, { seller, limit: 1 }, null)
    return payouts[0]
  })
  const proof = await gateway.call(marketplacePayoutsVerify, { limit: 1 })
  return {
    seller,
    service,
    path,
    paid: bought.amountAtomic,
    answer: bought.body,
    payout: {
      to: payout.to,
      amount: BigInt(payout.amount_atomic),
      transaction: payout.transaction ?? '',
    },
    verifies: proof.ok,
  }
}

/** The sample API where somebody sells it already: it is one seller's, and who read the guide has brought it to the market. */
async function findOffered(gateway: Client) {
  const { services } = await gateway.call(marketplaceSearch, { limit: 100 }, null)
  const found = services.find(
    ({ proof, availability }) => proof?.host === SANDBOX_HOST && availability === 'available',
  )
  return found && { seller: found.seller, service: found.service_id }
}

async function bringToMarket(gateway: Client) {
  const { seller, isSold } = await findSeller(gateway)
  if (!isSold) await offer(gateway, seller)
  return { seller, service: SERVICE }
}

/** The seller of the operator's own account, made where there is none. */
async function findSeller(gateway: Client): Promise<{ seller: string; isSold: boolean }> {
  try {
    const { seller, services } = await gateway.call(marketplaceSellerState, {})
    if (seller.seller !== SELLER)
      throw new CommandFailure(
        Exit.failed,
        `The account of this key sells as ${seller.seller} already. Run the demo in a data directory of its own.`,
      )
    const isSold = services.some(({ service_id, state }) => service_id === SERVICE && state === 'active')
    return { seller: seller.seller, isSold }
  } catch (thrown) {
    if (!(thrown instanceof CommandFailure) || thrown.problem?.['code'] !== 'seller_not_found') throw thrown
    return { seller: SELLER, isSold: false }
  }
}

async function offer(gateway: Client, seller: string): Promise<void> {
  const account = privateKeyToAccount(generatePrivateKey())
  await gateway.call(marketplaceSellersRegister, {
    seller,
    name: 'Tea advice (demo)',
    payout_address: account.address,
  })
  const { sign } = await gateway.call(marketplaceHostsClaim, { origin: ORIGIN })
  const { proven, problems } = await gateway.call(marketplaceHostsVerify, {
    origin: ORIGIN,
    ownership_proofs: [await account.signMessage({ message: sign.message })],
  })
  if (!proven) throw new CommandFailure(Exit.failed, `${ORIGIN} is not proven: ${problems.join(' ')}`)
  await gateway.call(marketplaceListingsImport, {
    service_id: SERVICE,
    origin: ORIGIN,
    url: `${ORIGIN}/tea/openapi.json`,
  })
  const { state } = await gateway.call(marketplaceListingsStep, { service_id: SERVICE, step: 'submit' })
  if (state === 'pending')
    await gateway.call(marketplaceModerationDecide, {
      seller,
      service_id: SERVICE,
      decision: 'approve',
      reason: 'The demo.',
    })
}

async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  for (const end = Date.now() + WAIT_MS; ; await sleep(POLL_MS)) {
    const found = await look()
    if (found !== undefined) return found
    if (Date.now() > end)
      throw new CommandFailure(Exit.failed, `Waited ${WAIT_MS / 1000} s for ${what} in vain.`)
  }
}
