import { z } from 'zod'
import { pageInput, pageOutput } from '../schemas/egress.ts'
import { Timestamp } from '../schemas/http.ts'
import { toTimestamp } from '../src/lib/timestamp.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const marketplaceSellerEvents = defineTool({
  name: 'gateway.seller.events',
  toolset: 'market',
  title: 'What you were told',
  summary:
    'Events of your seller, newest first: what happened to hosts, services and payouts, and whether your webhook took it.',
  input: z.strictObject({ ...pageInput }),
  output: z.strictObject({
    events: z.array(
      z.strictObject({
        event_id: z.string(),
        type: z.string(),
        data: z.record(z.string(), z.unknown()),
        state: z.enum(['pending', 'sent', 'dropped']),
        tries: z.int(),
        problem: z.string().nullable(),
        created_at: Timestamp,
      }),
    ),
    ...pageOutput,
  }),
  price: free,
  caller: 'seller',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/marketplace/seller/events', operationId: 'listSellerEvents' },
  errors: ['seller_not_found'],
  examples: [{ title: 'The latest', input: { limit: 20 } }],
  handle: async function marketplaceSellerEvents(page, { sellers, caller }) {
    const { items, next } = await sellers.events(caller, page)
    const events = items.map(({ id, type, data, state, tries, problem, createdAt }) => ({
      event_id: id,
      type,
      data: { ...data },
      state,
      tries,
      problem,
      created_at: toTimestamp(createdAt),
    }))
    return { events, next }
  },
})
