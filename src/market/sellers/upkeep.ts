// What is done for sellers without anybody asking: proofs are looked at again, and events are delivered. Strangers' hosts are slow, so
// that a round goes on beside the housekeeping of others, and the next one waits for it.
import type { Logger } from '../../lib/log.ts'
import type { OpenSellers } from './index.ts'
import type { Webhooks } from './webhooks.ts'

/** Batches of events that one round delivers at most. */
const MAX_BATCHES = 20

export interface SellerUpkeep {
  /** Starts a round where none is under way. */
  round(): void
  /** Resolves when the round that is under way has ended. */
  settled(): Promise<void>
}

export function createSellerUpkeep(parts: {
  readonly sellers: Pick<OpenSellers, 'recheck'>
  readonly webhooks: Webhooks
  readonly log: Logger
}): SellerUpkeep {
  let running: Promise<void> | undefined

  async function deliver(): Promise<void> {
    for (let batch = 0; batch < MAX_BATCHES; batch++) if ((await parts.webhooks.deliver()) === 0) return
  }

  async function work(): Promise<void> {
    const ended = await Promise.allSettled([parts.sellers.recheck(), deliver()])
    for (const one of ended)
      if (one.status === 'rejected')
        parts.log.warn({ err: one.reason as unknown }, 'the upkeep of sellers failed')
  }

  return {
    round() {
      running ??= work().finally(() => (running = undefined))
    },
    async settled() {
      await running
    },
  }
}
