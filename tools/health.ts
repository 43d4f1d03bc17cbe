import { z } from 'zod'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

const Health = z.looseObject({
  status: z.enum(['ok', 'degraded']),
  mode: z.enum(['sandbox', 'production']),
  uptime_seconds: z.int().min(0),
})

/** 200 while the process serves; what is wrong with a part is in the body. */
export const health = defineTool({
  name: 'gateway.health',
  toolset: 'web',
  title: 'Health',
  summary:
    'State and age of the store, the resolver and every upstream. Answers 200 while the process serves.',
  brief: 'State of the store, the resolver and every upstream.',
  input: z.strictObject({}),
  output: Health,
  price: free,
  caller: 'anyone',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/healthz', operationId: 'getHealth' },
  errors: [],
  examples: [{ title: 'Read it', input: {} }],
  handle: async function health(_input, { health }) {
    return (await health.report()) as z.infer<typeof Health>
  },
})
