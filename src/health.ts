import type { Config } from './config.ts'
import type { Health } from './services.ts'
import type { Store } from './store/ports.ts'

export function createHealth(_parts: {
  config: Config
  store: Store
  startedAt: number
  now: () => number
}): Health {
  throw new Error('being written')
}
