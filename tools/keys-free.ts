import { z } from 'zod'
import { Timestamp } from '../schemas/http.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

/** A key for email verification, for anybody who asks. */
export const keysFree = defineTool({
  name: 'gateway.keys.free',
  toolset: 'email',
  title: 'Get a free email key',
  summary:
    'Makes a key (agw_ek_…) for email verification: no account, no payment. It is shown once. So many a day for one ' +
    'network; use the one that you have.',
  brief: 'A free key (agw_ek_…) for email verification, shown once. A few a day: keep it.',
  input: z.strictObject({}),
  output: z.strictObject({
    key_id: z.string(),
    key: z
      .string()
      .describe('Send it as `Authorization: Bearer`, or as `email_key` of the email tools; shown once'),
    created_at: Timestamp,
    daily_quota: z.int().nullable().describe('Addresses it verifies in a UTC day; null: no limit'),
  }),
  price: free,
  caller: 'anyone',
  effects: { readOnly: false, destructive: false, idempotent: false, openWorld: false },
  rest: { method: 'POST', path: '/v1/keys/free', operationId: 'createFreeKey', status: 201 },
  errors: ['rate_limited'],
  examples: [{ title: 'A key', input: {} }],
  handle: async function keysFree(_input, { email, caller }) {
    const { id, createdAt, dailyQuota, token } = await email.createFreeKey(caller.address)
    return {
      key_id: id,
      key: token.use((text) => text),
      created_at: new Date(createdAt).toISOString(),
      daily_quota: dailyQuota,
    }
  },
})
