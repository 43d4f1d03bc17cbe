import { z } from 'zod'
import { AlertKind, NotificationRecord } from '../schemas/notification.ts'
import { GatewayError } from '../src/core/errors.ts'
import { free } from '../src/core/price.ts'
import { toNotificationRecord } from '../src/notifications/wire.ts'
import { defineTool } from './services.ts'

export const notificationsAdd = defineTool({
  name: 'gateway.notifications.add',
  toolset: 'operator',
  title: 'Be told of what happens',
  summary:
    'Tells a public HTTPS address of permits that wait and of failures, as Standard Webhooks signed with the key of this gateway; or a mailbox, ' +
    'where the operator of this gateway configured mail: no secret and nothing of a request is in it. The address ' +
    'is kept sealed and shown to nobody again. The same of the same is told once an hour.',
  input: z.strictObject({
    url: z.string().min(1).max(2048).describe('Public https address, or mailto:anna@example.com'),
    kinds: z.array(AlertKind).min(1).max(4).describe('Of what it is told'),
  }),
  output: NotificationRecord,
  price: free,
  caller: 'operator',
  doors: ['rest'],
  effects: { readOnly: false, destructive: false, idempotent: false, openWorld: true },
  rest: { method: 'POST', path: '/v1/notifications', operationId: 'addNotification', status: 201 },
  errors: [
    'key_required',
    'admin_required',
    'target_invalid',
    'target_blocked',
    'egress_paused',
    'state_conflict',
  ],
  examples: [
    {
      title: 'What waits for a person, and what fails',
      input: { url: 'https://hooks.example.com/agents', kinds: ['approval', 'refresh_failed'] },
    },
  ],
  handle: async function notificationsAdd({ url, kinds }, { notifications, caller }) {
    if (kinds.includes('settler_low') && !caller.admin)
      throw new GatewayError(
        'admin_required',
        'Settlers belong to the installation: leave `settler_low` out.',
      )
    const { accountId, id: by, admin } = caller
    return toNotificationRecord(
      await notifications.add({ accountId, url, kinds: [...new Set(kinds)], by, admin }),
    )
  },
})
