import { z } from 'zod'
import { Timestamp } from '../schemas/http.ts'
import { PersonName } from '../schemas/person.ts'
import { RoleName } from '../schemas/role.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const peopleInvite = defineTool({
  name: 'gateway.people.invite',
  toolset: 'operator',
  title: 'Invite somebody',
  summary:
    'Makes a link with which one person becomes a member of your account, or a member gets a new passkey. It works once, for an hour, and is ' +
    'shown once. Owners alone.',
  input: z.strictObject({
    role: RoleName.optional().describe(
      'Of somebody new: `owner` where the account has nobody yet, else `operator` unless said; a member keeps theirs',
    ),
    name: PersonName.optional().describe('Who is meant; they may write it differently'),
    person_id: z
      .string()
      .max(64)
      .optional()
      .describe(
        'A member who lost their passkey: their old ones and their sessions end when the link is used',
      ),
  }),
  output: z.strictObject({
    invitation_id: z.string(),
    link: z.string().describe('Send it over a way that others do not read. Shown once'),
    expires_at: Timestamp,
  }),
  price: free,
  caller: 'operator',
  roles: [],
  needsFreshSignIn: true,
  doors: ['rest'],
  effects: { readOnly: false, destructive: false, idempotent: false, openWorld: false },
  rest: { method: 'POST', path: '/v1/people/invitations', operationId: 'invitePerson', status: 201 },
  errors: ['key_required', 'role_required', 'fresh_sign_in_required', 'person_not_found', 'state_conflict'],
  examples: [
    { title: 'Somebody who approves', input: { role: 'approver', name: 'Sarah Haddad' } },
    { title: 'A new passkey', input: { person_id: 'per_0000000000000000000000000000000000' } },
  ],
  handle: async function peopleInvite({ role, name, person_id }, { identity, caller }) {
    const { accountId } = caller
    const isFirst = (await identity.people.list(accountId, { limit: 1 })).items.length === 0
    const { invitationId, link, expiresAt } = await identity.people.invite({
      accountId,
      role: role ?? (isFirst ? 'owner' : 'operator'),
      name: name ?? '',
      personId: person_id,
      invitedBy: caller.id,
    })
    return {
      invitation_id: invitationId,
      link: link.use((text) => text),
      expires_at: new Date(expiresAt).toISOString(),
    }
  },
})
