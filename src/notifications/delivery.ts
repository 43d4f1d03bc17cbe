// Sends what is due, as Standard Webhooks signed with the gateway's own key, and again, later and later, until it is taken.
import type { KeyObject } from 'node:crypto'
import type { Logger } from '../lib/log.ts'
import type { WebhookSender } from '../outbound/webhook.ts'
import type { DueNotification, NotificationTarget, Store } from '../store/ports.ts'
import { openAddress } from './address.ts'

const SECOND = 1000
/** Seconds to the next try; the sixth is the last: what waits for a person does not wait longer than a day. */
const PAUSES_S = [5, 30, 300, 1800, 7200] as const
/** Longer than a delivery may take: then whoever took it has died. */
const BUSY_MS = 60 * SECOND
const LOOK_MS = 5 * SECOND
const BATCH = 20
const KEPT_MS = 24 * 3600 * SECOND

export interface DeliveryParts {
  readonly store: Pick<
    Store,
    'engine' | 'takeNotifications' | 'finishNotification' | 'forgetNotifications' | 'queueNotifications'
  >
  readonly post: WebhookSender['post']
  /** Ed25519 of the installation over a text; base64. */
  readonly sign: (message: string) => { readonly kid: string; readonly signature: string }
  readonly key: KeyObject
  readonly log: Logger
  readonly now: () => number
}

export interface Delivery {
  /** There is something to tell: it is looked at now. */
  wake(): void
  /** One notification to one target, whatever is due. @returns a word for why it was not taken */
  send(target: NotificationTarget, id: string, body: string): Promise<string | undefined>
  close(): Promise<void>
}

export function createDelivery(parts: DeliveryParts): Delivery {
  const { store, post, key, log, now } = parts
  const closing = new AbortController()
  let running: Promise<void> | undefined
  let isStale = false
  // Whoever is alone, and told everything, need not ask until there is something new.
  let isQuiet = false
  const timer = setInterval(() => {
    if (!isQuiet || store.engine === 'postgres') wake()
  }, LOOK_MS)
  timer.unref()

  function wake(): void {
    if (closing.signal.aborted) return
    if (running) {
      isStale = true
      return
    }
    isStale = false
    isQuiet = false
    running = round()
      .catch((err: unknown) => {
        if (!closing.signal.aborted) log.warn({ err }, 'notifications could not be looked for')
      })
      .finally(() => {
        running = undefined
        if (isStale) wake()
      })
  }

  async function round(): Promise<void> {
    const at = now()
    const due = await store.takeNotifications({ now: at, busyUntil: at + BUSY_MS, limit: BATCH })
    const ends = await Promise.all(due.map(deliver))
    if (due.length === BATCH) isStale = true
    if (due.length === 0) {
      await store.forgetNotifications({ before: at - KEPT_MS, limit: 500 })
      isQuiet = true
    } else if (ends.some((end) => end === 'later')) isQuiet = false
  }

  async function deliver({ id, body, tries, target }: DueNotification): Promise<'over' | 'later'> {
    const problem = await send(target, id, body)
    const pause = problem === undefined || problem === 'status_410' ? undefined : PAUSES_S[tries - 1]
    const nextAt = pause === undefined ? null : now() + pause * SECOND
    await store.finishNotification({ id, targetId: target.id, problem: problem ?? null, nextAt, now: now() })
    return nextAt === null ? 'over' : 'later'
  }

  async function send(target: NotificationTarget, id: string, body: string): Promise<string | undefined> {
    const seconds = Math.floor(now() / SECOND)
    const { kid, signature } = parts.sign(`${id}.${seconds}.${body}`)
    try {
      return await openAddress(key, target, target.sealed).use((url) =>
        post({
          url,
          headers: [
            ['content-type', 'application/json'],
            ['user-agent', 'agent-gateway/5 (notifications)'],
            ['webhook-id', id],
            ['webhook-timestamp', String(seconds)],
            ['webhook-signature', `v1a,${signature}`],
            ['webhook-key-id', kid],
          ],
          body,
          partition: `notifications ${target.id}`,
          signal: closing.signal,
        }),
      )
    } catch (err) {
      log.error({ err, target: target.id }, 'the address of a notification could not be opened')
      return 'address_unreadable'
    }
  }

  return {
    wake,
    send,
    async close() {
      clearInterval(timer)
      closing.abort()
      await running
    },
  }
}
