import { z } from 'zod'
import {
  capabilityArgument,
  CapabilityRecord,
  IssuedCapability,
  Label,
  pageInput,
  pageOutput,
  scopeFields,
} from '../schemas/egress.ts'
import { free } from '../schemas/money.ts'
import { GatewayError } from '../src/errors.ts'
import { defineTool } from '../src/registry.ts'
import { accountOf } from './account.ts'

const EXAMPLE_CREDENTIAL = 'cred_0000000000000000000000000000000000'
const EXAMPLE_CAPABILITY = 'cap_0000000000000000000000000000000000'

const scope = {
  hosts: scopeFields.hosts.optional(),
  path_prefixes: scopeFields.path_prefixes.optional(),
  methods: scopeFields.methods.optional(),
}
const ttl = z.int().min(60).max(86_400)
const maxUses = z.int().min(1).max(1_000_000).optional().describe('Attempts it allows; no limit by default')

export const egressCapabilitiesIssue = defineTool({
  name: 'gateway.egress.capabilities.issue',
  title: 'Issue a capability for an agent',
  summary:
    'Makes a short-lived bearer token on a stored credential, for an agent to use in its place. Hosts, path prefixes ' +
    "and methods default to the credential's own and can only be made smaller. The token is shown once.",
  input: z.strictObject({
    credential_id: z.string().min(1).max(64),
    ...scope,
    ttl_seconds: ttl.default(900).describe('Life in seconds; 15 minutes by default, a day at most'),
    max_uses: maxUses,
    label: Label.default('capability'),
  }),
  output: IssuedCapability,
  price: free,
  caller: 'operator',
  effects: { readOnly: false, destructive: false, idempotent: false, openWorld: false },
  rest: {
    method: 'POST',
    path: '/v1/egress/capabilities',
    operationId: 'issueEgressCapability',
    status: 201,
  },
  errors: ['key_required', 'credential_not_found', 'scope_denied', 'state_conflict'],
  examples: [
    { title: 'All the credential allows, for 15 minutes', input: { credential_id: EXAMPLE_CREDENTIAL } },
    {
      title: 'Read-only, one folder, five calls',
      input: {
        credential_id: EXAMPLE_CREDENTIAL,
        path_prefixes: ['/repos/acme/site/issues'],
        methods: ['GET'],
        ttl_seconds: 300,
        max_uses: 5,
        label: 'triage agent',
      },
    },
  ],
  async handle({ credential_id, ttl_seconds, max_uses, label, ...wanted }, { egress, caller }) {
    return egress.issueCapability(accountOf(caller), {
      credentialId: credential_id,
      scope: wanted,
      ttlSeconds: ttl_seconds,
      maxUses: max_uses ?? null,
      label,
    })
  },
})

export const egressCapabilitiesNarrow = defineTool({
  name: 'gateway.egress.capabilities.narrow',
  title: 'Make a smaller capability from your own',
  summary:
    'For handing part of your task to another agent: a capability with less scope, never living longer than yours. ' +
    'Its uses count on yours too, and it ends when yours is revoked.',
  input: z.strictObject({
    capability: capabilityArgument,
    ...scope,
    ttl_seconds: ttl.optional().describe('Life in seconds; ends with your own at the latest'),
    max_uses: maxUses,
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
  errors: ['capability_required', 'capability_invalid', 'scope_denied'],
  examples: [{ title: 'Read-only, one call', input: { methods: ['GET'], max_uses: 1 } }],
  async handle({ capability: _carried, ttl_seconds, max_uses, label, ...wanted }, { egress, caller }) {
    if (caller.kind !== 'agent')
      throw new GatewayError('capability_required', 'Send a capability (agw_cap_…).')
    return egress.narrowCapability(caller.capability, {
      scope: wanted,
      ttlSeconds: ttl_seconds,
      maxUses: max_uses ?? null,
      label,
    })
  },
})

export const egressCapabilitiesList = defineTool({
  name: 'gateway.egress.capabilities.list',
  title: 'List capabilities',
  summary: 'Issued capabilities, newest first, with scope, uses and expiry. Never a token.',
  input: z.strictObject({
    credential_id: z.string().min(1).max(64).optional().describe('Only those on this credential'),
    ...pageInput,
  }),
  output: z.object({ capabilities: z.array(CapabilityRecord), ...pageOutput }),
  price: free,
  caller: 'operator',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/egress/capabilities', operationId: 'listEgressCapabilities' },
  errors: ['key_required'],
  examples: [{ title: 'The latest', input: { limit: 20 } }],
  async handle({ credential_id, limit, before }, { egress, caller }) {
    const filter = { credentialId: credential_id }
    const { items, next } = await egress.listCapabilities(accountOf(caller), filter, { limit, before })
    return { capabilities: items, next }
  },
})

export const egressCapabilitiesRevoke = defineTool({
  name: 'gateway.egress.capabilities.revoke',
  title: 'Revoke a capability',
  summary: 'Ends a capability and everything narrowed from it, at once. Repeating it changes nothing.',
  input: z.strictObject({ capability_id: z.string().min(1).max(64) }),
  output: z.object({
    capability_id: z.string(),
    revoked: z.int().min(0).describe('How many became revoked by this call, narrowed ones included'),
  }),
  price: free,
  caller: 'operator',
  effects: { readOnly: false, destructive: true, idempotent: true, openWorld: false },
  rest: {
    method: 'POST',
    path: '/v1/egress/capabilities/{capability_id}/revoke',
    operationId: 'revokeEgressCapability',
  },
  errors: ['key_required', 'capability_not_found'],
  examples: [{ title: 'End it', input: { capability_id: EXAMPLE_CAPABILITY } }],
  async handle({ capability_id }, { egress, caller }) {
    const { revoked } = await egress.revokeCapability(accountOf(caller), capability_id)
    return { capability_id, revoked }
  },
})
