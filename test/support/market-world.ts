// Payouts and refunds of the real thing over a chain that a test moves, and a store that can be closed and opened in between.
import { randomBytes } from 'node:crypto'
import { noFault } from '../../src/lib/fault-points.ts'
import { newId } from '../../src/lib/ids.ts'
import { Secret } from '../../src/lib/secret.ts'
import { allocate } from '../../src/market/fee.ts'
import { createPayouts, type Payouts } from '../../src/market/money/payouts.ts'
import { marketSettingsDocument } from '../../src/market/settings.ts'
import { createEvidenceReader } from '../../src/payments/chain-evidence.ts'
import type { Chain } from '../../src/payments/chain-ports.ts'
import type { Upstream } from '../../src/payments/ports.ts'
import { createRefunds, type Refunds } from '../../src/payments/refunds.ts'
import { createTransferSigner } from '../../src/payments/transfer-signer.ts'
import type { Store } from '../../src/store/ports.ts'
import { saleOf, sell } from './market-money.ts'
import { exactKind, networks } from './payment-fakes.ts'
import { log, type Place } from './store.ts'

export const NETWORK = networks.find('eip155:8453') ?? networks.all[0]!
export const TREASURY_KEY = `0x${'b4'.repeat(32)}`

export interface Rails {
  readonly chain: Chain
  readonly upstream: Upstream
  /** A buyer's payment arrives. @returns its transaction */
  pay(to: string, value: bigint): Promise<string>
  now(): number
}

export interface Sold {
  readonly claimId: string
  readonly sellerId: string
  readonly amount: bigint
  readonly payer: string
  readonly transaction: string
}

/** One process of a gateway, as far as money is concerned. */
export async function openMarketWorld(place: Place, rails: Rails) {
  const account = await createTransferSigner(new Secret<string>(TREASURY_KEY))
  const { chain, upstream, now } = rails
  const chains = new Map([[NETWORK.network, chain]])
  const sold: Sold[] = []
  let store: Store
  let bootId = ''
  let payouts: Payouts
  let refunds: Refunds
  let returnsFee = true

  async function start(): Promise<void> {
    bootId = newId('boot')
    store = await place.open(bootId)
    const parts = {
      store,
      networks,
      chains,
      evidence: createEvidenceReader({ chains, now }),
      router: { routes: async () => [{ upstream, kind: exactKind(NETWORK.network), latencyMs: null }] },
      signer: {
        kid: 'k',
        environment: 'sandbox' as const,
        sign: (_typ: string, payload: unknown) => JSON.stringify(payload),
      },
      baseUrl: 'https://gateway.test',
      account,
      fault: noFault,
      now,
      log,
    }
    refunds = createRefunds({
      ...parts,
      renewReceipt: (receipt) => receipt,
      payTo: undefined,
      returnsFee: async () => returnsFee,
    })
    const { payouts: defaults } = marketSettingsDocument.initial
    payouts = createPayouts({
      ...parts,
      own: new Set([account.address]),
      findSeller: async (id) => ({ state: 'active', payoutAddress: addressOf(id) }),
      readSettings: async () => ({ payouts: { ...defaults, minimum_atomic: 1, schedule: 'manual' } }),
      bootId,
      isSandbox: true,
    })
  }
  await start()

  return {
    treasury: account.address,
    sold,
    store: () => store,
    setReturnsFee: (value: boolean) => void (returnsFee = value),
    async crash() {
      await store.close()
      await start()
    },
    /** A call that is paid, under the price and the fee of its offer; or one whose work failed, which nobody pays. */
    async sell(sellerId: string, amount: bigint, bps: number, isDelivered: boolean): Promise<void> {
      const { platformFeeAtomic, sellerProceedsAtomic } = allocate(amount, {
        bps,
        fixedAtomic: 1,
        minimumAtomic: 2,
      })
      const sale = saleOf(sellerId, {
        fee: { bps, fixedAtomic: 1, minimumAtomic: 2 },
        feeAtomic: platformFeeAtomic.toString(),
        proceedsAtomic: sellerProceedsAtomic.toString(),
      })
      const payer = `0x${randomBytes(20).toString('hex')}`
      const over = {
        network: NETWORK.network,
        asset: NETWORK.asset.address.toLowerCase(),
        payer,
        createdAt: now(),
        at: now(),
      }
      if (!isDelivered) {
        const id = newId('clm', now())
        const { at: _at, ...claim } = over
        await store.claimPayment({ claim: claimOf(id, amount, claim), bootId, sale })
        await store.cancelClaim({ id, bootId, reason: 'service_failed', now: now() })
        return
      }
      const transaction = await rails.pay(account.address, amount)
      const { id: claimId } = await sell(store, bootId, sale, over)
      sold.push({ claimId, sellerId, amount, payer, transaction })
    },
    refund: (claimId: string, amount: bigint, asker?: string) =>
      refunds.refund({
        claimId,
        amount: amount.toString(),
        reason: 'wrong',
        reference: randomBytes(8).toString('hex'),
        accountId: 'acct_operator',
        asker,
      }),
    payOut: () => payouts.run({ minimum: 1, patienceMs: 60_000 }),
    async round() {
      await payouts.keep()
      await refunds.reconcile()
    },
  }
}

const claimOf = (
  id: string,
  amount: bigint,
  over: { payer: string; network: string; asset: string; createdAt: number },
) => ({
  id,
  origin: 'tool' as const,
  nonce: `0x${randomBytes(32).toString('hex')}`,
  payTo: '0x00000000000000000000000000000000000000aa',
  amount: amount.toString(),
  validBefore: null,
  tool: 'gateway.marketplace.call',
  method: 'GET',
  resource: 'https://gateway.test/p/a/b/',
  requestDigest: 'a',
  requirementDigest: 'b',
  presentationDigest: 'c',
  secret: null,
  identifier: null,
  purchase: null,
  accountId: null,
  ...over,
})

/** Where a seller is paid. */
export const addressOf = (sellerId: string) =>
  `0x${Buffer.from(sellerId).toString('hex').padStart(40, 'f').slice(-40)}`
