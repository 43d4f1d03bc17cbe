import { z } from 'zod'
import { pageInput, pageOutput } from '../schemas/egress.ts'
import { KeyRecord } from '../schemas/key.ts'
import { free } from '../src/core/price.ts'
import { toKeyRecord } from '../src/accounts/wire.ts'
import { defineTool } from './services.ts'

export const keysList = defineTool({
  name: 'gateway.keys.list',
  toolset: 'operator',
  title: 'List service keys',
  summary:
    'Service keys of your account, newest first; an administrator sees those of every account. Never a token.',
  brief: 'Service keys, newest first; never a token.',
  input: z.strictObject({ ...pageInput }),
  output: z.strictObject({ keys: z.array(KeyRecord), ...pageOutput }),
  price: free,
  caller: 'operator',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/keys', operationId: 'listKeys' },
  errors: ['key_required'],
  examples: [{ title: 'The latest', input: { limit: 20 } }],
  handle: async function keysList(page, { accounts, caller }) {
    const isAdmin = caller.kind === 'operator' && caller.admin
    const { items, next } = await accounts.listKeys(isAdmin ? undefined : caller.accountId, page)
    return { keys: items.map(toKeyRecord), next }
  },
})
