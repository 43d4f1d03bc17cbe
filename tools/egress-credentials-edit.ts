import { z } from 'zod'
import { budgetWishes } from '../schemas/budget.ts'
import { CredentialSettings } from '../schemas/credential-settings.ts'
import { credentialId, EditedCredential, Label, wantedScopeFields } from '../schemas/egress.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const egressCredentialsEdit = defineTool({
  name: 'gateway.egress.credentials.edit',
  toolset: 'operator',
  title: 'Edit a credential',
  summary:
    'Changes label, hosts, path prefixes, methods, settings or budgets of a stored credential; what is left out stays. The secret ' +
    'is not needed and not shown. Raises the version: permits prepared before have to be prepared again, and capabilities are ' +
    'judged by the new scope from the next request on.',
  brief:
    'Changes scope, label, settings or budgets of a credential; what is left out stays. A smaller scope holds at once.',
  input: z.strictObject({
    credential_id: credentialId,
    label: Label.optional(),
    ...wantedScopeFields,
    settings: CredentialSettings.omit({ kind: true, parts: true, placements: true })
      .optional()
      .describe(
        'All of them from now on, but for `kind`, `parts` and `placements`, which belong to the secret and stay',
      )
      .meta({
        listedAs: {
          type: 'object',
          description: 'Replaces headers, limits, tls: see /openapi.json',
          additionalProperties: true,
        },
      }),
    budgets: budgetWishes
      .optional()
      .describe('All of them from now on; what was used of one that stays is still used'),
  }),
  output: EditedCredential,
  price: free,
  caller: 'operator',
  effects: { readOnly: false, destructive: true, idempotent: false, openWorld: false },
  rest: {
    method: 'POST',
    path: '/v1/egress/credentials/{credential_id}/edit',
    operationId: 'editEgressCredential',
  },
  skill: {
    id: 'egress-credentials-edit',
    name: 'Edit a credential without its secret',
    tags: ['egress', 'credentials', 'operator'],
    examples: ['Allow only GET with the token of acme/site from now on'],
  },
  errors: [
    'key_required',
    'admin_required',
    'role_required',
    'credential_not_found',
    'credential_unavailable',
    'state_conflict',
  ],
  examples: [
    {
      title: 'Read only from now on, and at most 1,000 calls a day',
      input: {
        credential_id: 'cred_0000000000000000000000000000000000',
        methods: ['GET'],
        budgets: [{ unit: 'calls', per: 'day', limit: '1000' }],
      },
    },
  ],
  handle: async function egressCredentialsEdit(
    { credential_id, label, settings, budgets, ...scope },
    { egress, caller },
  ) {
    return egress.editCredential(caller.accountId, credential_id, {
      label,
      scope,
      settings,
      budgets,
      isAdministrator: caller.admin,
      // Nor does an assistant that an owner connected: it would free itself from the people who are to look on.
      isOwner: caller.role === 'owner' && caller.connection === undefined,
    })
  },
})
