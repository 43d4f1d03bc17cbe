import { z } from 'zod'
import { notificationId } from '../schemas/notification.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const notificationsTest = defineTool({
  name: 'gateway.notifications.test',
  toolset: 'operator',
  title: 'Send a test notification',
  summary: 'Sends one notification of the type `test` to an address now, and says whether it was taken.',
  input: z.strictObject({ notification_id: notificationId }),
  output: z.strictObject({
    taken: z.boolean().describe('Whether it was answered with 2xx'),
    problem: z.string().nullable().describe('What kept it, as a stable word'),
  }),
  price: free,
  caller: 'operator',
  doors: ['rest'],
  effects: { readOnly: false, destructive: false, idempotent: false, openWorld: true },
  rest: {
    method: 'POST',
    path: '/v1/notifications/{notification_id}/test',
    operationId: 'testNotification',
  },
  errors: ['key_required', 'not_found'],
  examples: [{ title: 'Try it', input: { notification_id: 'ntg_0000000000000000000000000000000000' } }],
  handle: async function notificationsTest({ notification_id }, { notifications, caller }) {
    const problem = await notifications.test(caller.accountId, notification_id)
    return { taken: problem === undefined, problem: problem ?? null }
  },
})
