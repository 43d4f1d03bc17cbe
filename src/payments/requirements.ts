// Writes a price as the requirement that a buyer signs for.
import type { PaymentRequirements } from '../../schemas/x402.ts'
import type { PaymentNetwork } from '../core/networks.ts'

/** A payment may stay valid for so long: time for the work and its settlement. */
export const MAX_TIMEOUT_SECONDS = 300

/** The requirement of scheme `exact` for a price in atomic units. */
export function toRequirements(price: {
  network: PaymentNetwork
  amountAtomic: bigint
  payTo: string
}): PaymentRequirements {
  const { network, asset } = price.network
  return {
    scheme: 'exact',
    network,
    amount: price.amountAtomic.toString(),
    asset: asset.address,
    payTo: price.payTo,
    maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
    extra: { name: asset.name, version: asset.version },
  }
}
