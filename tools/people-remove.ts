import { z } from 'zod'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const peopleRemove = defineTool({
  name: 'gateway.people.remove',
  toolset: 'operator',
  title: 'Remove a person',
  summary:
    'Ends what somebody may do for your account, their sessions, every assistant that they connected and the service keys that they made, at ' +
    'once. `keep_keys` where somebody else has those keys and nobody who left. The last owner stays. Owners alone.',
  input: z.strictObject({
    person_id: z.string().min(1).max(64).describe('`person_id` of the list'),
    keep_keys: z.boolean().default(false).describe('Leave the service keys that they made as they are'),
  }),
  output: z.strictObject({
    person_id: z.string(),
    removed: z.literal(true),
    revoked_keys: z.array(z.string()).describe('Ids of the service keys that ended with them'),
  }),
  price: free,
  caller: 'operator',
  roles: [],
  needsFreshSignIn: true,
  doors: ['rest'],
  effects: { readOnly: false, destructive: true, idempotent: false, openWorld: false },
  rest: { method: 'POST', path: '/v1/people/{person_id}/remove', operationId: 'removePerson' },
  errors: ['key_required', 'role_required', 'fresh_sign_in_required', 'person_not_found', 'state_conflict'],
  examples: [{ title: 'Remove them', input: { person_id: 'per_0000000000000000000000000000000000' } }],
  handle: async function peopleRemove({ person_id, keep_keys }, { identity, caller: { accountId } }) {
    const { revokedKeys } = await identity.people.remove({
      accountId,
      personId: person_id,
      keepsKeys: keep_keys,
    })
    return { person_id, removed: true as const, revoked_keys: [...revokedKeys] }
  },
})
