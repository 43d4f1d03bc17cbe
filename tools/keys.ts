import { z } from 'zod'
import { Label, pageInput, pageOutput } from '../schemas/egress.ts'
import { Timestamp } from '../schemas/http.ts'
import { free } from '../schemas/money.ts'
import { GatewayError } from '../src/errors.ts'
import { defineTool } from '../src/registry.ts'
import type { ServiceKey } from '../src/store/ports.ts'
import { accountOf } from './account.ts'

const KeyRecord = z.object({
  key_id: z.string(),
  account_id: z.string(),
  label: z.string(),
  admin: z.boolean().describe('May grant credits, open accounts and rotate the authority'),
  created_at: Timestamp,
  revoked_at: Timestamp.nullable(),
})

const toKeyRecord = (key: ServiceKey): z.infer<typeof KeyRecord> => ({
  key_id: key.id,
  account_id: key.accountId,
  label: key.label,
  admin: key.admin,
  created_at: new Date(key.createdAt).toISOString(),
  revoked_at: key.revokedAt === null ? null : new Date(key.revokedAt).toISOString(),
})

export const keysCreate = defineTool({
  name: 'gateway.keys.create',
  title: 'Create a service key',
  summary:
    'Makes a further service key of your account, or (administrator only) opens a new account with its first key and ' +
    'its free credits. The key is shown once.',
  input: z.strictObject({
    account: z
      .enum(['own', 'new'])
      .default('own')
      .describe('`new` opens another account; administrators only'),
    name: z.string().min(1).max(100).optional().describe('Name of the new account'),
    label: Label.default('service key'),
  }),
  output: KeyRecord.extend({
    key: z.string().describe('The service key (agw_sk_…); shown once'),
    credits: z.int().min(0).describe('Free credits that came with it; 0 for a further key of an account'),
  }),
  price: free,
  caller: 'operator',
  effects: { readOnly: false, destructive: false, idempotent: false, openWorld: false },
  rest: { method: 'POST', path: '/v1/keys', operationId: 'createKey', status: 201 },
  errors: ['key_required', 'admin_required'],
  examples: [
    { title: 'A further key', input: { label: 'deploy pipeline' } },
    { title: 'A new account', input: { account: 'new', name: 'team-b', label: 'first key' } },
  ],
  async handle({ account, name, label }, { accounts, caller }) {
    if (account === 'own') {
      const { key, token } = await accounts.createKey({ accountId: accountOf(caller), label })
      return { ...toKeyRecord(key), key: token.use((text) => text), credits: 0 }
    }
    if (caller.kind !== 'operator' || !caller.admin)
      throw new GatewayError('admin_required', "Use the service key of the installation's first account.")
    const made = await accounts.createAccount({ name: name ?? label, label, admin: false })
    return { ...toKeyRecord(made.key), key: made.token.use((text) => text), credits: made.credits }
  },
})

export const keysList = defineTool({
  name: 'gateway.keys.list',
  title: 'List service keys',
  summary:
    'Service keys of your account, newest first; an administrator sees those of every account. Never a token.',
  input: z.strictObject({ ...pageInput }),
  output: z.object({ keys: z.array(KeyRecord), ...pageOutput }),
  price: free,
  caller: 'operator',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/keys', operationId: 'listKeys' },
  errors: ['key_required'],
  examples: [{ title: 'The latest', input: { limit: 20 } }],
  async handle(page, { accounts, caller }) {
    const isAdmin = caller.kind === 'operator' && caller.admin
    const { items, next } = await accounts.listKeys(isAdmin ? undefined : accountOf(caller), page)
    return { keys: items.map(toKeyRecord), next }
  },
})

export const keysRevoke = defineTool({
  name: 'gateway.keys.revoke',
  title: 'Revoke a service key',
  summary:
    'Ends a service key at once. Credentials and capabilities of the account stay. The last administrator key cannot ' +
    'be revoked. Repeating it changes nothing.',
  input: z.strictObject({ key_id: z.string().min(1).max(64) }),
  output: KeyRecord,
  price: free,
  caller: 'operator',
  effects: { readOnly: false, destructive: true, idempotent: true, openWorld: false },
  rest: { method: 'POST', path: '/v1/keys/{key_id}/revoke', operationId: 'revokeKey' },
  errors: ['key_required', 'key_not_found', 'state_conflict'],
  examples: [{ title: 'End it', input: { key_id: 'key_0000000000000000000000000000000000' } }],
  async handle({ key_id }, { accounts, caller }) {
    const isAdmin = caller.kind === 'operator' && caller.admin
    return toKeyRecord(await accounts.revokeKey(isAdmin ? undefined : accountOf(caller), key_id))
  },
})
