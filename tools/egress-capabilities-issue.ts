import { z } from 'zod'
import {
  credentialId,
  IssuedCapability,
  Label,
  capabilityTtl,
  capabilityMaxUses,
  wantedRules,
  wantedScopeFields,
} from '../schemas/egress.ts'
import { budgetWishes } from '../schemas/budget.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const egressCapabilitiesIssue = defineTool({
  name: 'gateway.egress.capabilities.issue',
  toolset: 'operator',
  title: 'Issue a capability for an agent',
  summary:
    'Makes a short-lived bearer token on a stored credential, for an agent to use in its place. Hosts, path prefixes ' +
    "and methods default to the credential's own and can only be made smaller. The token is shown once.",
  brief:
    'A short-lived token on a credential, for an agent, shown once. Scope is that of the credential, or less.',
  input: z.strictObject({
    credential_id: credentialId,
    ...wantedScopeFields,
    rules: wantedRules,
    ttl_seconds: capabilityTtl.default(900).describe('Life in seconds'),
    max_uses: capabilityMaxUses,
    budgets: budgetWishes.optional().meta({ listed: false }),
    shows_balance: z
      .boolean()
      .optional()
      .meta({ listed: false })
      .describe('May see the balance of the account'),
    label: Label.default('capability'),
  }),
  output: IssuedCapability,
  price: free,
  caller: 'operator',
  isForPeople: true,
  effects: { readOnly: false, destructive: false, idempotent: false, openWorld: false },
  rest: {
    method: 'POST',
    path: '/v1/egress/capabilities',
    operationId: 'issueEgressCapability',
    status: 201,
  },
  skill: {
    id: 'egress-capabilities-issue',
    name: 'Issue a capability for an agent',
    tags: ['egress', 'capabilities', 'operator'],
    examples: ['Give my triage agent read access to the issues of acme/site for an hour'],
  },
  errors: ['key_required', 'credential_not_found', 'scope_denied', 'state_conflict'],
  examples: [
    {
      title: 'All the credential allows, for 15 minutes',
      input: { credential_id: 'cred_0000000000000000000000000000000000' },
    },
    {
      title: 'Read-only, one folder, five calls',
      input: {
        credential_id: 'cred_0000000000000000000000000000000000',
        path_prefixes: ['/repos/acme/site/issues'],
        methods: ['GET'],
        ttl_seconds: 300,
        max_uses: 5,
        label: 'triage agent',
      },
    },
  ],
  handle: async function egressCapabilitiesIssue(
    { credential_id, ttl_seconds, max_uses, budgets, shows_balance, label, ...wanted },
    { egress, caller },
  ) {
    return egress.issueCapability(caller.accountId, {
      credentialId: credential_id,
      scope: wanted,
      ttlSeconds: ttl_seconds,
      maxUses: max_uses ?? null,
      budgets,
      showsBalance: shows_balance,
      label,
    })
  },
})
