import { z } from 'zod'
import { MAX_WAIT_SECONDS, PermitStanding, waitSeconds } from '../schemas/actions.ts'
import { waitOf } from '../src/actions/until-decided.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const actionsPermitsWait = defineTool({
  name: 'gateway.actions.permits.wait',
  toolset: 'egress',
  title: 'Wait for the approval of a permit',
  summary:
    'Tells whoever holds a permit how it stands: answers when people have approved or refused it, or when `wait_seconds` are over. ' +
    'Needs the permit itself and no other token. Sends nothing and does not use it up.',
  brief: 'Waits until people decide on a permit that you hold.',
  input: z.strictObject({
    permit: z.string().min(1).max(4096).describe('`permit` as prepared'),
    wait_seconds: waitSeconds.default(30).describe('Longest wait'),
  }),
  output: PermitStanding,
  price: free,
  caller: 'anyone',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  maxDurationMs: (MAX_WAIT_SECONDS + 10) * 1000,
  rest: { method: 'POST', path: '/v1/actions/permits/wait', operationId: 'waitForPermit' },
  skill: {
    id: 'actions-permits-wait',
    name: 'Wait for the approval of a permit',
    tags: ['actions', 'permits'],
    examples: ['Tell me when this permit is approved'],
  },
  errors: ['permit_invalid', 'permit_expired', 'permit_not_found'],
  examples: [
    { title: 'Until people have decided', input: { permit: 'replace-with-the-permit', wait_seconds: 60 } },
  ],
  handle: async function actionsPermitsWait({ permit, wait_seconds }, context) {
    return context.actions.standing(permit, waitOf(wait_seconds, context))
  },
})
