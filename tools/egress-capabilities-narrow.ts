import { z } from 'zod'
import {
  capabilityArgument,
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

export const egressCapabilitiesNarrow = defineTool({
  name: 'gateway.egress.capabilities.narrow',
  toolset: 'egress',
  title: 'Make a smaller capability from your own',
  summary:
    'For handing part of your task to another agent: a capability with less scope, never living longer than yours. ' +
    'Its uses count on yours too, and it ends when yours is revoked.',
  brief:
    'A smaller capability from yours, for another agent: less scope, no longer life; its uses count on yours.',
  input: z.strictObject({
    capability: capabilityArgument,
    ...wantedScopeFields,
    rules: wantedRules,
    ttl_seconds: capabilityTtl.optional().describe('At most what is left of yours'),
    max_uses: capabilityMaxUses,
    budgets: budgetWishes.optional().meta({ listed: false }),
    shows_balance: z
      .boolean()
      .optional()
      .meta({ listed: false })
      .describe("Whether it may see the account's balance; as yours by default, never where yours may not"),
    label: Label.default('narrowed'),
  }),
  output: IssuedCapability,
  price: free,
  caller: 'capability',
  effects: { readOnly: false, destructive: false, idempotent: false, openWorld: false },
  rest: {
    method: 'POST',
    path: '/v1/egress/capabilities/narrow',
    operationId: 'narrowEgressCapability',
    status: 201,
  },
  skill: {
    id: 'egress-capabilities-narrow',
    name: 'Make a smaller capability from your own',
    tags: ['egress', 'capabilities', 'delegation'],
    examples: ['Make a read-only capability for my helper from mine'],
  },
  errors: ['capability_required', 'capability_invalid', 'scope_denied', 'state_conflict'],
  examples: [{ title: 'Read-only, one call', input: { methods: ['GET'], max_uses: 1 } }],
  handle: async function egressCapabilitiesNarrow(
    { capability: _carried, ttl_seconds, max_uses, budgets, shows_balance, label, ...wanted },
    { egress, caller },
  ) {
    return egress.narrowCapability(caller.capability, {
      scope: wanted,
      ttlSeconds: ttl_seconds,
      maxUses: max_uses ?? null,
      budgets,
      showsBalance: shows_balance,
      label,
    })
  },
})
