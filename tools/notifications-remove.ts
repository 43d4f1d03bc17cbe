import { z } from 'zod'
import { notificationId } from '../schemas/notification.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const notificationsRemove = defineTool({
  name: 'gateway.notifications.remove',
  toolset: 'operator',
  title: 'Tell an address no more',
  summary: 'Forgets an address for notifications, and what was still to be told there.',
  input: z.strictObject({ notification_id: notificationId }),
  output: z.strictObject({ removed: z.literal(true) }),
  price: free,
  caller: 'operator',
  doors: ['rest'],
  effects: { readOnly: false, destructive: true, idempotent: false, openWorld: false },
  rest: {
    method: 'POST',
    path: '/v1/notifications/{notification_id}/remove',
    operationId: 'removeNotification',
  },
  errors: ['key_required', 'not_found'],
  examples: [{ title: 'Forget it', input: { notification_id: 'ntg_0000000000000000000000000000000000' } }],
  handle: async function notificationsRemove({ notification_id }, { notifications, caller }) {
    await notifications.remove(caller.accountId, notification_id)
    return { removed: true as const }
  },
})
