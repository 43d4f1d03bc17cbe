import { z } from 'zod'
import { PersonRecord } from '../schemas/person.ts'
import { RoleName } from '../schemas/role.ts'
import { free } from '../src/core/price.ts'
import { toPersonRecord } from '../src/identity/wire.ts'
import { defineTool } from './services.ts'

export const peopleRole = defineTool({
  name: 'gateway.people.role',
  toolset: 'operator',
  title: "Change a person's role",
  summary:
    'What a member of your account may do, from their next call on. The last owner stays one. Repeating it changes nothing. Owners alone.',
  input: z.strictObject({
    person_id: z.string().min(1).max(64).describe('`person_id` of the list'),
    role: RoleName,
  }),
  output: PersonRecord,
  price: free,
  caller: 'operator',
  roles: [],
  needsFreshSignIn: true,
  doors: ['rest'],
  effects: { readOnly: false, destructive: true, idempotent: true, openWorld: false },
  rest: { method: 'POST', path: '/v1/people/{person_id}/role', operationId: 'setPersonRole' },
  errors: ['key_required', 'role_required', 'fresh_sign_in_required', 'person_not_found', 'state_conflict'],
  examples: [
    {
      title: 'They only read from now on',
      input: { person_id: 'per_0000000000000000000000000000000000', role: 'auditor' },
    },
  ],
  handle: async function peopleRole({ person_id, role }, { identity, caller: { accountId } }) {
    return toPersonRecord(await identity.people.setRole({ accountId, personId: person_id, role }))
  },
})
