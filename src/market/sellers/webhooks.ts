// Tells sellers what happened, as Standard Webhooks: one POST an event, signed with the gateway's own key (`v1a`, Ed25519), to an
// address on the public internet. What is not taken is sent again, later and later, and given up after three days.
import { toTimestamp } from '../../lib/timestamp.ts'
import type { Logger } from '../../lib/log.ts'
import type { WebhookSender } from '../../outbound/webhook.ts'
import type { MarketEvent, Store } from '../../store/ports.ts'

const SECOND = 1000
/** Seconds to the next try; the tenth is the last. */
const PAUSES_S = [5, 30, 120, 600, 1800, 3600, 4 * 3600, 12 * 3600, 24 * 3600] as const
/** Longer than a delivery may take: then whoever took it has died. */
const BUSY_MS = 60 * SECOND
const BATCH = 20
const KEPT_MS = 30 * 24 * 3600 * SECOND

export interface WebhookParts {
  readonly store: Pick<Store, 'takeMarketEvents' | 'finishMarketEvent' | 'findSeller' | 'forgetMarketEvents'>
  readonly post: WebhookSender['post']
  /** Ed25519 of the installation over a text; base64. */
  readonly sign: (message: string) => { readonly kid: string; readonly signature: string }
  readonly log: Logger
  readonly now: () => number
}

export interface Webhooks {
  /** Delivers what is due, a bounded number. @returns how many events were taken */
  deliver(): Promise<number>
}

/** The body that is signed and sent: the same bytes at every try. */
export const bodyOf = ({ type, createdAt, data, sellerId }: MarketEvent): string =>
  JSON.stringify({ type, timestamp: toTimestamp(createdAt), data: { seller: sellerId, ...data } })

export function createWebhooks(parts: WebhookParts): Webhooks {
  const { store, post, now } = parts

  /** @returns undefined where it was taken; else a word for why not */
  function send(event: MarketEvent, url: string): Promise<string | undefined> {
    const body = bodyOf(event)
    const seconds = Math.floor(now() / SECOND)
    const { kid, signature } = parts.sign(`${event.id}.${seconds}.${body}`)
    return post({
      url,
      headers: [
        ['content-type', 'application/json'],
        ['user-agent', 'agent-gateway/5 (webhooks)'],
        ['webhook-id', event.id],
        ['webhook-timestamp', String(seconds)],
        ['webhook-signature', `v1a,${signature}`],
        ['webhook-key-id', kid],
      ],
      body,
      partition: `market webhook ${event.sellerId}`,
    })
  }

  async function deliverOne(event: MarketEvent): Promise<void> {
    const seller = await store.findSeller(event.sellerId)
    const end = (state: MarketEvent['state'], problem: string | null, nextAt = now()) =>
      store.finishMarketEvent({ id: event.id, state, nextAt, problem, now: now() })
    // It stays in the list that the seller can read.
    if (!seller || seller.webhookUrl === null) return end('dropped', 'no_webhook')
    const problem = await send(event, seller.webhookUrl)
    if (problem === undefined) return end('sent', null)
    // Standard Webhooks: 410 says that nothing is to be sent any more.
    const pause = problem === 'status_410' ? undefined : PAUSES_S[event.tries - 1]
    return pause === undefined ? end('dropped', problem) : end('pending', problem, now() + pause * SECOND)
  }

  return {
    async deliver() {
      const at = now()
      const events = await store.takeMarketEvents({ now: at, busyUntil: at + BUSY_MS, limit: BATCH })
      await Promise.all(
        events.map((event) =>
          deliverOne(event).catch((err: unknown) =>
            parts.log.warn({ err, event: event.id }, 'an event could not be delivered'),
          ),
        ),
      )
      if (events.length === 0) await store.forgetMarketEvents({ finishedBefore: at - KEPT_MS, limit: 500 })
      return events.length
    },
  }
}
