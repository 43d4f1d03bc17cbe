// Composition of the market.
import { createMarketplace } from '../market/listings/index.ts'
import { createRecorder } from '../market/trust/recorder.ts'
import type { Lifetime } from './lifetime.ts'
import type { Payments } from './payments.ts'
import type { Platform } from './platform.ts'

/** Composes what handlers and doors reach of the market. */
export function openMarket(platform: Platform, { payTo }: Pick<Payments, 'payTo'>, lifetime: Lifetime) {
  const recorder = createRecorder(platform)
  lifetime.onClose(() => recorder.close())
  return { marketplace: createMarketplace({ ...platform, payTo }), recorder }
}
