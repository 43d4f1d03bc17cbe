import { MandateRecord, MandateTerms } from '../schemas/actions.ts'
import { free } from '../src/core/price.ts'
import { exampleMandate } from './example-mandate.ts'
import { defineTool } from './services.ts'

export const actionsMandatesCreate = defineTool({
  name: 'gateway.actions.mandates.create',
  toolset: 'operator',
  title: 'Store a mandate',
  summary:
    'Stores what permits may be prepared for: purpose, credential, host, path prefix, methods, limits and expiry. The same ' +
    'terms again are the same mandate, with what was used of it.',
  brief: 'Stores what permits may be prepared for. The same terms are the same mandate.',
  input: MandateTerms,
  output: MandateRecord,
  price: free,
  caller: 'operator',
  isForPeople: true,
  effects: { readOnly: false, destructive: false, idempotent: true, openWorld: false },
  rest: { method: 'POST', path: '/v1/actions/mandates', operationId: 'createActionMandate', status: 201 },
  errors: ['key_required', 'credential_not_found', 'scope_denied', 'state_conflict'],
  examplesAt: (now) => [
    {
      title: 'Five reports, each approved by a person',
      input: { ...exampleMandate(now), requires_approval: true },
    },
  ],
  handle: async function actionsMandatesCreate(terms, { actions, caller }) {
    return actions.storeMandate(caller.accountId, terms)
  },
})
