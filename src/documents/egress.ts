// The egress manifest (1.0.0), its credit boundary and the provider presets, as plain JSON.
import { type Config, EGRESS_VERSION } from '../core/config.ts'
import type { Addresses } from '../core/config.ts'
import type { Provider } from '../egress/providers/index.ts'

type Json = Record<string, unknown>

export const CREDITS_PER_ATTEMPT = 1

/** `GET /v1/egress`: what the broker guarantees, where its routes are, and its providers. */
export function egressManifest({ baseUrl }: Addresses, providers: readonly Provider[]): Json {
  return {
    name: 'Agent Gateway egress',
    version: EGRESS_VERSION,
    role: 'Credential broker and controlled egress point for AI agents.',
    guarantee:
      'A stored secret is never returned: not by a list, not in an error, not in a log, and not in an upstream response, ' +
      'which is searched for it in every common encoding before its first byte is passed on.',
    credentials: `${baseUrl}/v1/egress/credentials`,
    list_credentials: `${baseUrl}/v1/egress/credentials`,
    capabilities: `${baseUrl}/v1/egress/capabilities`,
    fetch: `${baseUrl}/v1/egress/fetch`,
    providers: `${baseUrl}/v1/egress/providers`,
    public_key: `${baseUrl}/.well-known/gateway-egress-key.json`,
    credits_per_authorized_egress_attempt: CREDITS_PER_ATTEMPT,
    providers_supported: providers.map(({ id }) => id),
    controls: [
      'Exact HTTPS host, path prefix at a `/` boundary and method, from the credential and from the capability; both must allow.',
      'Canonical URLs only; the name is resolved once, every address must be public, and only a vetted address is dialled.',
      'Redirects are returned as data and never followed, so a credential is never sent to a second host.',
      'Request and response headers pass an allow-list; authentication is added by the gateway, never by the agent.',
      'An Idempotency-Key is added to POST, PUT, PATCH and DELETE.',
      'One credit is debited, durably, before the credential is opened and before the first packet.',
      'One request on the wire for one attempt: no retry of any kind, least of all after an ambiguous outcome.',
      'Secrets are encrypted under a key per record, wrapped to the published authority key and bound to their scope.',
      'Every charged attempt leaves a signed receipt that verifies offline against the published keys.',
    ],
    boundary:
      'The gateway limits where a credential goes and what comes back. It does not judge what an allowed API call does: ' +
      'grant the narrowest host, path and methods that the job needs.',
  }
}

/** `GET /v1/egress/pricing`: one credit an attempt, when it is charged and when it is given back. */
export function egressPricing({ baseUrl }: Addresses, config: Pick<Config, 'serviceKeyCredits'>): Json {
  return {
    version: EGRESS_VERSION,
    unit: 'credit',
    credits_per_authorized_egress_attempt: CREDITS_PER_ATTEMPT,
    free_credits_per_account: config.serviceKeyCredits,
    charged:
      'Before the credential is opened and before the first packet, in the transaction that records the attempt.',
    refunded:
      'When no byte of the request left the gateway: the name did not resolve or was refused, the connection or TLS ' +
      'failed, or the credential could not be opened.',
    not_refunded:
      'When the upstream answered, whatever its status, and when the outcome is ambiguous (503 outcome_ambiguous).',
    not_charged: 'A request that is refused: no capability, invalid input, out of scope, no credits.',
    balance: `${baseUrl}/v1/credits`,
    top_up:
      'Pay the `offer` of the 402: POST its `request.body` to /v1/credits/purchase with an x402 payment; no person is ' +
      'needed. Or the operator grants credits: `agent-gateway credits grant`.',
    purchase: `${baseUrl}/v1/credits/purchase`,
    fetch: `${baseUrl}/v1/egress/fetch`,
  }
}

/** `GET /v1/egress/providers`: hosts, paths and methods that a credential of each provider has from the start. */
export function egressProviders({ baseUrl }: Addresses, providers: readonly Provider[]): Json {
  return {
    version: EGRESS_VERSION,
    credentials: `${baseUrl}/v1/egress/credentials`,
    providers: providers.map(describeProvider),
  }
}

/** Placements say where the gateway puts the secret; the agent never sends it. */
function describeProvider(provider: Provider): Json {
  const header = provider.placements.find((placement) => placement.in === 'header')
  return {
    id: provider.id,
    name: provider.name,
    category: provider.category,
    hosts: provider.hosts,
    ...ifAny('host_suffixes', provider.host_suffixes),
    header: header?.name ?? '',
    scheme: header?.scheme ?? '',
    placements: provider.placements,
    ...(provider.parts && { parts: provider.parts }),
    version_headers: provider.version_headers,
    ...ifAny('request_headers', provider.request_headers),
    ...ifAny('account_headers', provider.account_headers),
    ...ifAny('response_headers', provider.response_headers),
    idempotency_honoured: provider.idempotency_honoured,
    denied_paths: provider.denied.map(({ method, path, word }) => ({
      method: method ?? null,
      path: word === undefined ? path : `${path}?${word}`,
    })),
    ...(provider.variables.length > 0 && { variables: provider.variables, key_format: provider.key_format }),
    example: provider.test_call,
    docs: provider.docs,
  }
}

const ifAny = (name: string, list: readonly string[]): Json => (list.length > 0 ? { [name]: list } : {})
