import { z } from 'zod'
import { pageInput, pageOutput } from '../schemas/egress.ts'
import { SessionRecord } from '../schemas/person.ts'
import { free } from '../src/core/price.ts'
import { toSessionRecord } from '../src/identity/wire.ts'
import { defineTool } from './services.ts'
import { whoseSessions } from '../src/identity/whose-sessions.ts'

export const sessionsList = defineTool({
  name: 'gateway.sessions.list',
  toolset: 'operator',
  title: 'List sessions',
  summary:
    'Who is signed in to your account, where and since when, newest first. An owner sees the sessions of everybody, others their own. Never a token.',
  input: z.strictObject({
    person_id: z.string().max(64).optional().describe('Of one person only'),
    ...pageInput,
  }),
  output: z.strictObject({ sessions: z.array(SessionRecord), ...pageOutput }),
  price: free,
  caller: 'operator',
  doors: ['rest'],
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/sessions', operationId: 'listSessions' },
  errors: ['key_required', 'role_required'],
  examples: [{ title: 'The latest', input: { limit: 20 } }],
  handle: async function sessionsList({ person_id, ...page }, { identity, caller }) {
    const { items, next } = await identity.sessions.list(
      caller.accountId,
      whoseSessions(caller, person_id),
      page,
    )
    return {
      sessions: items.map((session) => toSessionRecord(session, caller.session?.sessionId)),
      next,
    }
  },
})
