import { z } from 'zod'
import { pageInput, pageOutput } from '../schemas/egress.ts'
import { EmailKeyRecord } from '../schemas/email.ts'
import { free } from '../src/core/price.ts'
import { toEmailKeyRecord } from '../src/email/wire.ts'
import { defineTool } from './services.ts'

export const emailKeysList = defineTool({
  name: 'gateway.email.keys.list',
  toolset: 'operator',
  title: 'List email keys',
  summary:
    'Free keys of email verification that this installation gave out, newest first, with the day each was used last. For ' +
    'the administrator. Never a token.',
  brief: 'Email keys given out, with their last day of use.',
  input: z.strictObject({ ...pageInput }),
  output: z.strictObject({
    keys: z.array(
      EmailKeyRecord.extend({
        used_today: z
          .int()
          .min(0)
          .nullable()
          .describe(
            'Addresses taken of its quota today (UTC), in portions: a gateway may hold some of them unused. Null: no quota',
          ),
      }),
    ),
    ...pageOutput,
  }),
  price: free,
  caller: 'admin',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/email/keys', operationId: 'listEmailKeys' },
  errors: ['key_required', 'admin_required'],
  examples: [{ title: 'The latest', input: { limit: 20 } }],
  handle: async function emailKeysList(page, { email }) {
    const { items, next } = await email.listKeys(page)
    return { keys: items.map((key) => ({ ...toEmailKeyRecord(key), used_today: key.usedToday })), next }
  },
})
