// Sends what is due, as Standard Webhooks signed with the gateway's own key or as mail, and again, later and later, until it is taken.
import type { KeyObject } from 'node:crypto'
import type { Logger } from '../lib/log.ts'
import type { WebhookSender } from '../outbound/webhook.ts'
import type { DueNotification, NotificationTarget, Store } from '../store/ports.ts'
import { openAddress } from './address.ts'
import { readMailto } from './mail-address.ts'
import { createMailLimit } from './mail-limit.ts'
import { writeMail } from './mail.ts'
import type { Mailer } from './ports.ts'

const SECOND = 1000
/** Seconds to the next try; the sixth is the last: what waits for a person does not wait longer than a day. */
const PAUSES_S = [5, 30, 300, 1800, 7200] as const
/** Longer than a delivery may take: then whoever took it has died. */
const BUSY_MS = 60 * SECOND
const LOOK_MS = 5 * SECOND
const BATCH = 20
/** Sent at once: of all, and of one account. */
const MOST_UNDER_WAY = 200
const MOST_OF_ACCOUNT = 20
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
  /** The way to mailboxes; undefined where the operator named no mail server, or names none any more. */
  readonly mailer?: Mailer | undefined
  readonly baseUrl: string
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
  const mailed = createMailLimit(now)
  const closing = new AbortController()
  let running: Promise<void> | undefined
  let isStale = false
  // Whoever is alone, and told everything, need not ask until there is something new.
  let isQuiet = false
  // Nobody waits for somebody else's slow receiver: what is sent is looked after, and what is new is taken meanwhile.
  const underWay = new Map<Promise<void>, string>()
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
    const room = MOST_UNDER_WAY - underWay.size
    if (room <= 0) return
    const at = now()
    const limit = Math.min(BATCH, room)
    const due = await store.takeNotifications({ now: at, busyUntil: at + BUSY_MS, limit })
    for (const one of due) begin(one)
    if (due.length === limit) isStale = true
    if (due.length > 0) return
    await store.forgetNotifications({ before: at - KEPT_MS, limit: 500 })
    isQuiet = underWay.size === 0
  }

  function begin(one: DueNotification): void {
    const { accountId } = one.target
    const isCrowded = [...underWay.values()].filter((each) => each === accountId).length >= MOST_OF_ACCOUNT
    const wasFull = underWay.size + 1 >= MOST_UNDER_WAY
    const work = (isCrowded ? putOff(one) : deliver(one))
      .then((end) => {
        if (end === 'later') isQuiet = false
      })
      .catch((err: unknown) => {
        if (!closing.signal.aborted) log.warn({ err }, 'what became of a notification could not be written')
      })
      .finally(() => {
        underWay.delete(work)
        if (wasFull) wake()
      })
    underWay.set(work, accountId)
  }

  /** Whoever has many slow receivers waits for them, and nobody else does. */
  async function putOff({ id, tries, target }: DueNotification): Promise<'over' | 'later'> {
    const pause = PAUSES_S[tries - 1]
    const nextAt = pause === undefined ? null : now() + pause * SECOND
    await store.finishNotification({ id, targetId: target.id, problem: 'slow_receivers', nextAt, now: now() })
    return nextAt === null ? 'over' : 'later'
  }

  async function deliver({ id, body, tries, target }: DueNotification): Promise<'over' | 'later'> {
    const problem = await send(target, id, body)
    const pause = problem === undefined || problem === 'status_410' ? undefined : PAUSES_S[tries - 1]
    const nextAt = pause === undefined ? null : now() + pause * SECOND
    await store.finishNotification({ id, targetId: target.id, problem: problem ?? null, nextAt, now: now() })
    return nextAt === null ? 'over' : 'later'
  }

  async function send(target: NotificationTarget, id: string, body: string): Promise<string | undefined> {
    try {
      return await openAddress(key, target, target.sealed).use((url) => {
        const mailbox = readMailto(url)
        return mailbox ? sendMail(id, body, mailbox.address) : sendWebhook(target, id, body, url)
      })
    } catch (err) {
      log.error({ err, target: target.id }, 'the address of a notification could not be opened')
      return 'address_unreadable'
    }
  }

  async function sendMail(id: string, body: string, to: string): Promise<string | undefined> {
    if (!parts.mailer) return 'no_mail_server'
    if (!mailed.take(to.toLowerCase())) return 'too_many_mails'
    return parts.mailer.send({ id, to, signal: closing.signal, ...writeMail(body, parts.baseUrl) })
  }

  function sendWebhook(target: NotificationTarget, id: string, body: string, url: string) {
    const seconds = Math.floor(now() / SECOND)
    const { kid, signature } = parts.sign(`${id}.${seconds}.${body}`)
    return post({
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
    })
  }

  return {
    wake,
    send,
    async close() {
      clearInterval(timer)
      closing.abort()
      await running
      await Promise.all(underWay.keys())
    },
  }
}
