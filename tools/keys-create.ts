import { z } from 'zod'
import { Label } from '../schemas/egress.ts'
import { KeyRecord } from '../schemas/key.ts'
import { RoleName } from '../schemas/role.ts'
import { free } from '../src/core/price.ts'
import { toKeyRecord } from '../src/accounts/wire.ts'
import { GatewayError } from '../src/core/errors.ts'
import { defineTool } from './services.ts'

export const keysCreate = defineTool({
  name: 'gateway.keys.create',
  toolset: 'operator',
  title: 'Create a service key',
  summary:
    'Makes a further service key of your account, or (administrator only) opens a new account with its first key and ' +
    'its free credits. The key is shown once.',
  brief: 'A further service key, or (administrator) an account with its first key; shown once.',
  input: z.strictObject({
    account: z.enum(['own', 'new']).default('own').describe('`new`: another account; administrators only'),
    name: z.string().min(1).max(100).optional().describe('Name of the new account'),
    label: Label.default('service key'),
    role: RoleName.optional().describe(
      'What it may do: `owner` (given by owners alone), `operator` unless said, `approver`, `seller`, `auditor` (reads). The first key of a new account is an owner’s',
    ),
  }),
  output: KeyRecord.extend({
    key: z.string().describe('The service key (agw_sk_…); shown once'),
    credits: z.int().min(0).describe('Free credits that came with it; 0 for a further key of an account'),
  }),
  price: free,
  caller: 'operator',
  isForPeople: true,
  needsFreshSignIn: true,
  effects: { readOnly: false, destructive: false, idempotent: false, openWorld: false },
  rest: { method: 'POST', path: '/v1/keys', operationId: 'createKey', status: 201 },
  errors: ['key_required', 'admin_required', 'role_required', 'input_conflict'],
  examples: [
    { title: 'A further key', input: { label: 'deploy pipeline' } },
    { title: 'One that reads', input: { label: 'monthly report', role: 'auditor' } },
    { title: 'A new account', input: { account: 'new', name: 'team-b', label: 'first key' } },
  ],
  handle: async function keysCreate({ account, name, label, role }, { accounts, caller }) {
    // Nobody gives what they do not have.
    if (role === 'owner' && caller.role !== 'owner')
      throw new GatewayError('role_required', 'The key of an owner is made by an owner.')
    if (account === 'own') {
      const { key, token } = await accounts.createKey({
        accountId: caller.accountId,
        label,
        ...(role && { role }),
      })
      return { ...toKeyRecord(key), key: token.use((text) => text), credits: 0 }
    }
    if (!caller.admin)
      throw new GatewayError('admin_required', "Use the service key of the installation's first account.")
    if (role !== undefined && role !== 'owner')
      throw new GatewayError(
        'input_conflict',
        'The first key of a new account is an owner’s: leave `role` out.',
      )
    const made = await accounts.createAccount({ name: name ?? label, label, admin: false })
    return { ...toKeyRecord(made.key), key: made.token.use((text) => text), credits: made.credits }
  },
})
