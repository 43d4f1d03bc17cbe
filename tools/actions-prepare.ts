import { z } from 'zod'
import { ActionRequest, mandateId, MandateTerms, PreparedPermit } from '../schemas/actions.ts'
import { credentialId } from '../schemas/egress.ts'
import { free } from '../src/core/price.ts'
import { exampleMandate } from './example-mandate.ts'
import { defineTool } from './services.ts'

export const actionsPrepare = defineTool({
  name: 'gateway.actions.prepare',
  toolset: 'operator',
  title: 'Prepare a permit',
  summary:
    'Signs a single-use permit for one exact request under a stored credential, for an agent to execute within 300 seconds. ' +
    'Needs a mandate that covers the request: in full (the same terms again share one limit), or by `mandate_id`. Free, but ' +
    'the account must hold 1 credit. Where the mandate requires approval the permit waits until a person decides.',
  brief:
    'Signs a permit for one exact request, executable once within 300 seconds. Needs a mandate: in full or by `mandate_id`. It may wait for a person.',
  input: z.strictObject({
    credential_id: credentialId,
    request: ActionRequest.meta({
      listedAs: {
        type: 'object',
        description: 'As gateway.actions.execute takes it',
        additionalProperties: true,
      },
    }),
    mandate: MandateTerms.optional()
      .describe('What you allow, and how often; or send `mandate_id`')
      .meta({
        listedAs: {
          type: 'object',
          description: 'As gateway.actions.mandates.create takes it; or `mandate_id`',
          additionalProperties: true,
        },
      }),
    mandate_id: mandateId.optional(),
  }),
  output: PreparedPermit,
  price: free,
  caller: 'operator',
  effects: { readOnly: false, destructive: false, idempotent: false, openWorld: false },
  rest: { method: 'POST', path: '/v1/actions/permits', operationId: 'prepareAction', status: 201 },
  skill: {
    id: 'actions-prepare',
    name: 'Prepare a permit',
    tags: ['actions', 'permits', 'operator'],
    examples: ['Allow my agent to open exactly this issue, once'],
  },
  // The permit is shown once: no task may keep it.
  errors: [
    'key_required',
    'input_conflict',
    'target_invalid',
    'header_forbidden',
    'credits_required',
    'scope_denied',
    'target_blocked',
    'credential_not_found',
    'state_conflict',
    'body_too_large',
    'mandate_required',
  ],
  examplesAt: (now) => [
    {
      title: 'One issue, under a mandate given in full',
      input: {
        credential_id: 'cred_0000000000000000000000000000000000',
        request: {
          url: 'https://api.github.com/repos/acme/site/issues',
          method: 'POST' as const,
          headers: { 'content-type': 'application/json' },
          body: '{"title":"Broken link on the front page"}',
        },
        mandate: exampleMandate(now),
      },
    },
    {
      title: 'Under a stored mandate',
      input: {
        credential_id: 'cred_0000000000000000000000000000000000',
        request: { url: 'https://api.github.com/user', method: 'GET' as const },
        mandate_id: 'mdt_0000000000000000000000000000000000',
      },
    },
  ],
  handle: async function actionsPrepare(input, { actions, caller }) {
    return actions.prepare(caller, input)
  },
})
