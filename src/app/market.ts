// Composition of the market.
import { createCatalogue } from '../market/listings/catalogue.ts'
import { createMarketplace } from '../market/listings/index.ts'
import { createMarketSettingsReader } from '../market/settings.ts'
import { createRecorder } from '../market/trust/recorder.ts'
import type { Lifetime } from './lifetime.ts'
import type { Payments } from './payments.ts'
import type { Platform } from './platform.ts'

/** Composes what handlers and doors reach of the market. */
export function openMarket(platform: Platform, { payTo }: Pick<Payments, 'payTo'>, lifetime: Lifetime) {
  const { log, documents, now } = platform
  const recorder = createRecorder(platform)
  lifetime.onClose(() => recorder.close())
  const readSettings = createMarketSettingsReader(
    documents,
    (problem) => log.warn({ reason: problem }, 'market settings'),
    now,
  )
  const catalogue = createCatalogue({
    ...platform,
    payTo,
    async readFee() {
      const { fee } = await readSettings()
      return { bps: fee.bps, fixedAtomic: fee.fixed_atomic, minimumAtomic: fee.minimum_atomic }
    },
  })
  lifetime.onClose(() => catalogue.settled())
  return { marketplace: createMarketplace({ ...platform, catalogue }), catalogue, recorder, readSettings }
}
