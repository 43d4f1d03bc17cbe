// The providers by name: where their API is, how it takes a credential, and which of its addresses hand out further
// credentials. Data; `custom` brings its own.
import { PROVIDERS, type ProviderId } from '../../schemas/egress.ts'
import type { HttpMethod } from '../../schemas/http.ts'
import type { z } from 'zod'

export interface Provider {
  readonly id: ProviderId
  readonly name: string
  /** Empty for `custom`, whose credentials name theirs. */
  readonly hosts: readonly string[]
  /** Request header the secret is sent in, and the word before it (`''` for none). */
  readonly header: string
  readonly scheme: string
  /** Sent where the caller gives none: headers that the API requires or that pin its version. */
  readonly versionHeaders: Readonly<Record<string, string>>
  /** Whether the API documents `Idempotency-Key`: only then is repeating an ambiguous request by hand safe. */
  readonly idempotencyHonoured: 'true' | 'false' | 'unknown'
  /** Addresses that answer with another secret; `*` stands for one path segment. */
  readonly denied: readonly DeniedPath[]
  readonly example: {
    readonly method: z.infer<typeof HttpMethod>
    readonly url: string
    readonly what: string
  }
  readonly docs: string
}

export interface DeniedPath {
  /** Absent: every method. */
  readonly method?: z.infer<typeof HttpMethod>
  readonly path: string
}

const deny = (...paths: readonly string[]): DeniedPath[] =>
  paths.map((text) => {
    const [first, second] = text.split(' ') as [string, string?]
    return second === undefined ? { path: first } : { method: first as 'POST', path: second }
  })

const BEARER = { header: 'authorization', scheme: 'Bearer' } as const

export const providers: Readonly<Record<ProviderId, Provider>> = {
  openai: {
    id: 'openai',
    name: 'OpenAI',
    hosts: ['api.openai.com'],
    ...BEARER,
    versionHeaders: {},
    idempotencyHonoured: 'unknown',
    denied: deny(
      'POST /v1/realtime/sessions',
      'POST /v1/realtime/transcription_sessions',
      'POST /v1/realtime/client_secrets',
      'POST /v1/realtime/translations/client_secrets',
      'POST /v1/chatkit/sessions',
      'POST /v1/organization/admin_api_keys',
      'POST /v1/organization/projects/*/service_accounts',
    ),
    example: { method: 'GET', url: 'https://api.openai.com/v1/models', what: 'List the models' },
    docs: 'https://platform.openai.com/docs/api-reference/authentication',
  },
  anthropic: {
    id: 'anthropic',
    name: 'Anthropic',
    hosts: ['api.anthropic.com'],
    header: 'x-api-key',
    scheme: '',
    versionHeaders: { 'anthropic-version': '2023-06-01' },
    idempotencyHonoured: 'unknown',
    denied: deny('POST /v1/oauth/token'),
    example: {
      method: 'POST',
      url: 'https://api.anthropic.com/v1/messages',
      what: 'Send a message to a model',
    },
    docs: 'https://docs.anthropic.com/en/api/overview',
  },
  github: {
    id: 'github',
    name: 'GitHub',
    hosts: ['api.github.com'],
    ...BEARER,
    versionHeaders: { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' },
    idempotencyHonoured: 'unknown',
    denied: deny(
      'POST /app/installations/*/access_tokens',
      'POST /app-manifests/*/conversions',
      'PATCH /applications/*/token',
      'POST /applications/*/token/scoped',
      'POST /repos/*/*/actions/runners/registration-token',
      'POST /repos/*/*/actions/runners/remove-token',
      'POST /repos/*/*/actions/runners/generate-jitconfig',
      'POST /orgs/*/actions/runners/registration-token',
      'POST /orgs/*/actions/runners/remove-token',
      'POST /orgs/*/actions/runners/generate-jitconfig',
      'POST /enterprises/*/actions/runners/registration-token',
      'POST /enterprises/*/actions/runners/remove-token',
      'POST /enterprises/*/actions/runners/generate-jitconfig',
    ),
    example: {
      method: 'POST',
      url: 'https://api.github.com/repos/octocat/hello-world/issues',
      what: 'Open an issue',
    },
    docs: 'https://docs.github.com/en/rest/authentication/authenticating-to-the-rest-api',
  },
  stripe: {
    id: 'stripe',
    name: 'Stripe',
    hosts: ['api.stripe.com'],
    ...BEARER,
    versionHeaders: {},
    idempotencyHonoured: 'true',
    denied: deny(
      'POST /v1/ephemeral_keys',
      'POST /v1/account_sessions',
      'POST /v1/customer_sessions',
      'POST /v1/accounts/*/login_links',
      'POST /v1/terminal/connection_tokens',
      'POST /v1/apps/secrets',
      'GET /v1/apps/secrets/find',
      // The answer to creating one holds its signing secret.
      'POST /v1/webhook_endpoints',
    ),
    example: { method: 'GET', url: 'https://api.stripe.com/v1/customers?limit=3', what: 'List customers' },
    docs: 'https://docs.stripe.com/api/authentication',
  },
  slack: {
    id: 'slack',
    name: 'Slack',
    hosts: ['slack.com'],
    ...BEARER,
    versionHeaders: {},
    idempotencyHonoured: 'unknown',
    denied: deny(
      '/api/oauth.access',
      '/api/oauth.token',
      '/api/oauth.v2.access',
      '/api/oauth.v2.exchange',
      '/api/openid.connect.token',
      '/api/tooling.tokens.rotate',
      '/api/apps.connections.open',
      '/api/apps.manifest.create',
      '/api/rtm.connect',
      '/api/rtm.start',
    ),
    example: { method: 'POST', url: 'https://slack.com/api/chat.postMessage', what: 'Post a message' },
    docs: 'https://docs.slack.dev/authentication/tokens',
  },
  notion: {
    id: 'notion',
    name: 'Notion',
    hosts: ['api.notion.com'],
    ...BEARER,
    versionHeaders: { 'notion-version': '2022-06-28' },
    idempotencyHonoured: 'unknown',
    denied: deny('POST /v1/oauth/token', 'POST /v1/oauth/introspect'),
    example: { method: 'GET', url: 'https://api.notion.com/v1/users/me', what: 'Read the bot user' },
    docs: 'https://developers.notion.com/reference/authentication',
  },
  cloudflare: {
    id: 'cloudflare',
    name: 'Cloudflare',
    hosts: ['api.cloudflare.com'],
    ...BEARER,
    versionHeaders: {},
    idempotencyHonoured: 'unknown',
    denied: deny(
      'POST /client/v4/user/tokens',
      'PUT /client/v4/user/tokens/*/value',
      'POST /client/v4/accounts/*/tokens',
      'PUT /client/v4/accounts/*/tokens/*/value',
      'GET /client/v4/accounts/*/cfd_tunnel/*/token',
      'POST /client/v4/accounts/*/cfd_tunnel/*/management',
      'POST /client/v4/accounts/*/access/service_tokens',
      'POST /client/v4/accounts/*/access/service_tokens/*/rotate',
      'POST /client/v4/zones/*/access/service_tokens',
      'POST /client/v4/accounts/*/r2/temp-access-credentials',
      'POST /client/v4/accounts/*/stream/keys',
    ),
    example: {
      method: 'GET',
      url: 'https://api.cloudflare.com/client/v4/user/tokens/verify',
      what: 'Check that the token works',
    },
    docs: 'https://developers.cloudflare.com/fundamentals/api/how-to/make-api-calls/',
  },
  mistral: {
    id: 'mistral',
    name: 'Mistral AI',
    hosts: ['api.mistral.ai'],
    ...BEARER,
    versionHeaders: {},
    idempotencyHonoured: 'unknown',
    denied: [],
    example: { method: 'GET', url: 'https://api.mistral.ai/v1/models', what: 'List the models' },
    docs: 'https://docs.mistral.ai/api/',
  },
  custom: {
    id: 'custom',
    name: 'Any HTTPS API',
    hosts: [],
    ...BEARER,
    versionHeaders: {},
    idempotencyHonoured: 'unknown',
    denied: [],
    example: { method: 'GET', url: 'https://api.example.com/v1/things', what: 'Call an API of your own' },
    docs: 'https://www.rfc-editor.org/rfc/rfc6750',
  },
}

/** Every provider with its hosts, paths and methods, in the order in which documents show them. */
export const listProviders = (): readonly Provider[] => PROVIDERS.map((id) => providers[id])

/** The rule that denies the request, when the provider answers it with another secret. */
export function findDeniedPath(provider: ProviderId, method: string, path: string): DeniedPath | undefined {
  const { denied } = providers[provider]
  if (denied.length === 0) return undefined
  // An escaped slash is a character of its segment to one server, and a slash to another.
  const readings = [path, path.replaceAll('%2F', '/')].map((text) =>
    text.replace(/\/$/, '').toLowerCase().split('/'),
  )
  return denied.find((rule) => {
    if (rule.method !== undefined && rule.method !== method) return false
    const wanted = rule.path.split('/')
    return readings.some(
      (segments) =>
        wanted.length === segments.length && wanted.every((want, i) => want === '*' || want === segments[i]),
    )
  })
}
