import { z } from 'zod'
import { NotificationRecord } from '../schemas/notification.ts'
import { free } from '../src/core/price.ts'
import { toNotificationRecord } from '../src/notifications/wire.ts'
import { defineTool } from './services.ts'

export const notificationsList = defineTool({
  name: 'gateway.notifications.list',
  toolset: 'operator',
  title: 'List who is told',
  summary:
    'The addresses that are told of what happens: their hosts, of what, and whether they take it. Ten at most.',
  input: z.strictObject({}),
  output: z.strictObject({ notifications: z.array(NotificationRecord) }),
  price: free,
  caller: 'operator',
  doors: ['rest'],
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/notifications', operationId: 'listNotifications' },
  errors: ['key_required'],
  examples: [{ title: 'All of them', input: {} }],
  handle: async function notificationsList(_, { notifications, caller }) {
    return { notifications: (await notifications.list(caller.accountId)).map(toNotificationRecord) }
  },
})
