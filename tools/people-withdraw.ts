import { z } from 'zod'
import { InvitationRecord } from '../schemas/person.ts'
import { free } from '../src/core/price.ts'
import { toInvitationRecord } from '../src/identity/wire.ts'
import { defineTool } from './services.ts'

export const peopleWithdraw = defineTool({
  name: 'gateway.people.withdraw',
  toolset: 'operator',
  title: 'Withdraw an invitation',
  summary:
    'Ends an invitation that nobody has used: its link opens nothing from then on. Repeating it changes nothing. Owners alone.',
  input: z.strictObject({ invitation_id: z.string().min(1).max(64) }),
  output: InvitationRecord,
  price: free,
  caller: 'operator',
  roles: [],
  doors: ['rest'],
  effects: { readOnly: false, destructive: true, idempotent: true, openWorld: false },
  rest: {
    method: 'POST',
    path: '/v1/people/invitations/{invitation_id}/revoke',
    operationId: 'withdrawInvitation',
  },
  errors: ['key_required', 'role_required', 'person_not_found'],
  examples: [{ title: 'Withdraw it', input: { invitation_id: 'inv_0000000000000000000000000000000000' } }],
  handle: async function peopleWithdraw({ invitation_id }, { identity, caller: { accountId } }) {
    return toInvitationRecord(await identity.people.withdraw(accountId, invitation_id))
  },
})
