import { z } from 'zod'
import { budgetWishes } from '../schemas/budget.ts'
import {
  CredentialSettings,
  HeaderName,
  HeaderScheme,
  SETTINGS_IN_LISTS,
} from '../schemas/credential-settings.ts'
import {
  CredentialMetadata,
  Label,
  ProviderId,
  scopeFields,
  SecretTexts,
  UpstreamSecret,
} from '../schemas/egress.ts'
import { free } from '../src/core/price.ts'
import { readParts } from '../src/egress/placement/parts.ts'
import { defineTool } from './services.ts'

export const egressCredentialsCreate = defineTool({
  name: 'gateway.egress.credentials.create',
  toolset: 'operator',
  title: 'Store an upstream credential',
  summary:
    'Encrypts and stores a reusable API credential, with the hosts, path prefixes and methods it may ever be used for. ' +
    'For operators: agents get capabilities on it, never the secret. Named providers bring their own host and header; ' +
    '`custom` must name its hosts. The secret can be replaced and revoked, but never read.',
  brief: 'Stores a secret of an API, sealed: no answer ever shows it. Agents use it through capabilities.',
  input: z.strictObject({
    provider: ProviderId,
    label: Label.default('credential'),
    secret: UpstreamSecret.optional(),
    parts: SecretTexts.optional(),
    hosts: scopeFields.hosts.optional().describe("Exact hosts; by default the provider's"),
    path_prefixes: scopeFields.path_prefixes.describe('Path prefixes'),
    methods: scopeFields.methods
      .describe('HTTP methods')
      .meta({ listedAs: { type: 'array', items: { type: 'string' } } }),
    header: HeaderName.optional().describe('Of `custom`; `authorization` by default'),
    scheme: HeaderScheme.optional().describe('Of `custom`: word before the secret'),
    settings: CredentialSettings.optional()
      .describe('What it is beyond one secret in one header')
      .meta({ listedAs: SETTINGS_IN_LISTS }),
    budgets: budgetWishes.optional().meta({ listed: false }),
  }),
  output: CredentialMetadata,
  price: free,
  caller: 'operator',
  effects: { readOnly: false, destructive: false, idempotent: false, openWorld: false },
  rest: {
    method: 'POST',
    path: '/v1/egress/credentials',
    operationId: 'createEgressCredential',
    status: 201,
  },
  skill: {
    id: 'egress-credentials-create',
    name: 'Store an upstream credential',
    tags: ['egress', 'credentials', 'operator'],
    examples: ['Store this GitHub token for the repository acme/site'],
  },
  errors: ['key_required', 'admin_required', 'scope_denied', 'credential_unavailable'],
  examples: [
    {
      title: 'A GitHub token for one repository',
      input: {
        provider: 'github',
        label: 'site issues',
        secret: 'replace-with-the-real-token',
        path_prefixes: ['/repos/acme/site'],
        methods: ['GET', 'POST'],
      },
    },
    {
      title: 'Any other API',
      input: {
        provider: 'custom',
        label: 'inventory',
        secret: 'replace-with-the-real-token',
        hosts: ['inventory.example.com'],
        path_prefixes: ['/v2'],
        methods: ['GET'],
        header: 'x-api-key',
        scheme: '',
      },
    },
  ],
  handle: async function egressCredentialsCreate(
    { provider, label, secret, parts, header, scheme, settings, budgets, ...scope },
    { egress, caller },
  ) {
    return egress.createCredential(caller.accountId, {
      provider,
      label,
      secret: readParts({ secret, parts }),
      scope,
      header,
      scheme,
      settings,
      isAdministrator: caller.admin,
      budgets,
    })
  },
})
