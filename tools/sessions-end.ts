import { z } from 'zod'
import { SessionRecord } from '../schemas/person.ts'
import { free } from '../src/core/price.ts'
import { toSessionRecord } from '../src/identity/wire.ts'
import { defineTool } from './services.ts'
import { whoseSessions } from '../src/identity/whose-sessions.ts'

export const sessionsEnd = defineTool({
  name: 'gateway.sessions.end',
  toolset: 'operator',
  title: 'End a session',
  summary:
    'Signs somebody out at once, wherever they are. An owner ends any session of the account, an operator their own. Repeating it changes nothing.',
  input: z.strictObject({ session_id: z.string().min(1).max(64).describe('`session_id` of the list') }),
  output: SessionRecord,
  price: free,
  caller: 'operator',
  doors: ['rest'],
  effects: { readOnly: false, destructive: true, idempotent: true, openWorld: false },
  rest: { method: 'POST', path: '/v1/sessions/{session_id}/end', operationId: 'endSession' },
  errors: ['key_required', 'role_required', 'session_not_found'],
  examples: [{ title: 'End it', input: { session_id: 'ses_0000000000000000000000000000000000' } }],
  handle: async function sessionsEnd({ session_id }, { identity, caller }) {
    const ended = await identity.sessions.end({
      accountId: caller.accountId,
      sessionId: session_id,
      personId: whoseSessions(caller, undefined),
    })
    return toSessionRecord(ended, caller.session?.sessionId)
  },
})
