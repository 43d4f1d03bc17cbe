// Composition of the market's money.
import { createMarketMoney } from '../market/money/index.ts'
import { createRenewReceipt } from '../receipts/renewal.ts'
import type { Lifetime } from './lifetime.ts'
import type { Payments } from './payments.ts'
import type { Platform } from './platform.ts'

/** Composes payouts, sellers' refunds and statements. */
export function openMarketMoney(platform: Platform, payments: Payments, lifetime: Lifetime) {
  const { payoutAccount, refundAccount, payTo, readMarket } = payments
  const own = [payTo, payoutAccount?.address, refundAccount?.address].filter(
    (address) => address !== undefined,
  )
  const opened = createMarketMoney({
    ...platform,
    ...platform.addresses,
    ...payments,
    verifyOwn: platform.signer.verifyOwn,
    renewReceipt: createRenewReceipt(platform.signer),
    account: payoutAccount,
    own: new Set(own.map((address) => address.toLowerCase())),
    findSeller: platform.store.findSeller,
    readSettings: readMarket,
  })
  lifetime.onClose(() => opened.payouts.close())
  return opened
}
