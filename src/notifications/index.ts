// Composes notifications: who is told, of what, and the delivery.
import type { KeyObject } from 'node:crypto'
import type { Alert, Alerts } from '../core/alerts.ts'
import { GatewayError } from '../core/errors.ts'
import { newId } from '../lib/ids.ts'
import { toTimestamp } from '../lib/timestamp.ts'
import type { WebhookSender } from '../outbound/webhook.ts'
import type { NotificationTarget, Store } from '../store/ports.ts'
import { sealAddress } from './address.ts'
import { isAllowed, isMail, readMailto } from './mail-address.ts'
import { createDelivery, type DeliveryParts } from './delivery.ts'
import { MAX_TARGETS, type OpenNotifications, type ShownTarget } from './ports.ts'

export interface NotificationParts extends Omit<DeliveryParts, 'store' | 'post' | 'key'> {
  readonly store: DeliveryParts['store'] &
    Pick<Store, 'addNotificationTarget' | 'listNotificationTargets' | 'removeNotificationTarget'>
  readonly webhooks: WebhookSender
  readonly key: KeyObject
  /** Addresses and domains that mail may go to. */
  readonly recipients?: readonly string[] | undefined
}

/** The same of the same is told once an hour. */
const AGAIN_MS = 3_600_000

/** The page that people look at when they are told. */
const PAGES = {
  approval: '/console/inbox',
  refresh_failed: '/console/credentials',
  secret_reflected: '/console/attempts',
  settler_low: '/console/settlement',
} as const satisfies Record<Alert['kind'], string>

export function createNotifications(parts: NotificationParts): OpenNotifications {
  const { store, webhooks, key, baseUrl, log, now } = parts
  const delivery = createDelivery({ ...parts, post: webhooks.post })

  async function find(accountId: string, id: string): Promise<NotificationTarget> {
    const target = (await store.listNotificationTargets(accountId)).find((each) => each.id === id)
    if (!target) throw notFound()
    return target
  }

  const bodyOf = (type: string, at: number, page: string, data: Alert['data']) =>
    JSON.stringify({ type, timestamp: toTimestamp(at), data: { ...data, url: baseUrl + page } })

  const alerts: Alerts = {
    tell({ kind, accountId, about, data }) {
      const at = now()
      store
        .queueNotifications({
          accountId,
          kind,
          about,
          body: bodyOf(kind, at, PAGES[kind], data),
          againAfter: AGAIN_MS,
          now: at,
        })
        .then((queued) => {
          if (queued > 0) delivery.wake()
        })
        .catch((err: unknown) => log.warn({ err, kind }, 'a notification could not be written down'))
    },
  }

  /** @returns what is shown of it: not whose mailbox it is, which may be personal */
  function checkMailbox(url: string): string {
    const mailbox = readMailto(url)
    if (!mailbox)
      throw new GatewayError('target_invalid', 'Write one address and nothing else: mailto:anna@example.com.')
    const { mailer, recipients = [] } = parts
    if (!mailer)
      throw new GatewayError(
        'target_invalid',
        'This gateway sends no mail: its operator names a mail server with GATEWAY_SMTP_URL.',
        { reason: 'no_mail_server' },
      )
    if (!isAllowed(mailbox, recipients))
      throw new GatewayError(
        'target_blocked',
        'This gateway sends mail to addresses that its operator allows, and this is none of them (GATEWAY_SMTP_RECIPIENTS).',
        { reason: 'recipient' },
      )
    return `mailto:${mailbox.domain}`
  }

  return {
    alerts,
    list: async (accountId) => (await store.listNotificationTargets(accountId)).map(show),

    async add({ accountId, url, kinds, by, admin }) {
      const host = isMail(url) ? checkMailbox(url) : await webhooks.check(url)
      const createdAt = now()
      const row = { id: newId('ntg', createdAt), accountId, host, kinds, admin, createdAt, createdBy: by }
      const isAdded = await store.addNotificationTarget(
        { ...row, sealed: sealAddress(key, row, url) },
        MAX_TARGETS,
      )
      if (!isAdded)
        throw new GatewayError(
          'state_conflict',
          `An account has at most ${MAX_TARGETS} addresses for notifications: remove one first.`,
        )
      return { ...row, toldAt: null, problem: null, problemAt: null }
    },

    async remove(accountId, id) {
      if (!(await store.removeNotificationTarget({ id, accountId, now: now() }))) throw notFound()
    },

    async test(accountId, id) {
      const target = await find(accountId, id)
      const at = now()
      return delivery.send(target, newId('nty', at), bodyOf('test', at, '/console/notifications', {}))
    },

    close: () => delivery.close(),
  }
}

const show = ({ sealed: _sealed, ...target }: NotificationTarget): ShownTarget => target

const notFound = () =>
  new GatewayError('not_found', 'Your account has no address for notifications of this id.')
