import { z } from 'zod'
import { pageInput, pageOutput } from '../schemas/egress.ts'
import { InvitationRecord, PersonRecord } from '../schemas/person.ts'
import { free } from '../src/core/price.ts'
import { toInvitationRecord, toPersonRecord } from '../src/identity/wire.ts'
import { defineTool } from './services.ts'

export const peopleList = defineTool({
  name: 'gateway.people.list',
  toolset: 'operator',
  title: 'List the people of an account',
  summary:
    'The people who sign in for your account, newest first, with their roles, and the invitations that wait. Never a link or a token.',
  input: z.strictObject({ ...pageInput }),
  output: z.strictObject({
    people: z.array(PersonRecord),
    invitations: z.array(InvitationRecord).describe('Those that wait, newest first'),
    ...pageOutput,
  }),
  price: free,
  caller: 'operator',
  doors: ['rest'],
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/people', operationId: 'listPeople' },
  errors: ['key_required'],
  examples: [{ title: 'The latest', input: { limit: 20 } }],
  handle: async function peopleList(page, { identity, caller: { accountId } }) {
    const [{ items, next }, invitations] = await Promise.all([
      identity.people.list(accountId, page),
      identity.people.invitations(accountId),
    ])
    return { people: items.map(toPersonRecord), invitations: invitations.map(toInvitationRecord), next }
  },
})
