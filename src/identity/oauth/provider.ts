// oidc-provider as this gateway sets it up. The library is certified and decides the protocol; what it is told here is what clients of MCP
// need it to be told, each with its reason.
import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import Provider, { type Configuration, errors, type KoaContextWithOIDC } from 'oidc-provider'
import type { Addresses } from '../../core/config.ts'
import { OPERATOR_SCOPE } from '../../core/authenticate.ts'
import type { Logger } from '../../lib/log.ts'
import { newToken } from '../../lib/tokens.ts'
import type { Store } from '../../store/ports.ts'
import type { Connections } from '../ports.ts'
import { createAdapters } from './adapter.ts'
import { CLI_CLIENT_ID, DEVICE_GRANT } from './clients.ts'
import { cookieKey, type DeriveKey, signingKey } from './keys.ts'
import { canonicalResource, GATEWAY_SCOPE, toCanonicalResource } from './resource.ts'
import type { Rows } from './rows.ts'

/** A working day: what is revoked ends at the next call whatever this is, and some clients never refresh. */
const ACCESS_SECONDS = 8 * 3600
const REFRESH_SECONDS = 30 * 24 * 3600
const CODE_SECONDS = 60
const INTERACTION_SECONDS = 30 * 60
const DEVICE_SECONDS = 10 * 60

export interface ProviderParts {
  readonly addresses: Addresses
  readonly store: Store
  readonly rows: Rows
  readonly connections: Connections
  readonly deriveKey: DeriveKey
  readonly fetchDocument: (input: string | URL | Request) => Promise<Response>
  /** Whether this visitor may have another document fetched. */
  readonly mayFetch: (ctx: KoaContextWithOIDC | undefined) => Promise<boolean>
  /** Where a person decides on the waiting request. */
  readonly consentAddress: (ctx: KoaContextWithOIDC, uid: string) => string
  /** Shows a refusal that cannot be sent to the client. */
  readonly showError: (
    ctx: KoaContextWithOIDC,
    error: string,
    description: string | undefined,
  ) => Promise<void>
  readonly log: Logger
  readonly now: () => number
}

export const OAUTH_ROUTES = {
  authorization: '/oauth/authorize',
  token: '/oauth/token',
  registration: '/oauth/register',
  revocation: '/oauth/revoke',
  introspection: '/oauth/introspect',
  jwks: '/oauth/jwks',
  device_authorization: '/oauth/device',
  code_verification: '/console/device',
} as const

export const SCOPES: readonly string[] = [GATEWAY_SCOPE, OPERATOR_SCOPE, 'offline_access', 'openid']

export function createProvider(parts: ProviderParts): Provider {
  const { addresses, rows, store, connections, deriveKey, log, now } = parts
  const resource = canonicalResource(addresses)
  const isSecure = addresses.baseUrl.startsWith('https:')
  const cookies = { httpOnly: true, sameSite: 'lax', signed: true, secure: isSecure } as const
  const prefix = isSecure ? '__Secure-' : ''
  const { d, ...publicPart } = signingKey(deriveKey)

  const configuration: Configuration = {
    adapter: createAdapters({ rows, store, connections, errors, now }),
    clients: [
      {
        client_id: CLI_CLIENT_ID,
        client_name: 'agent-gateway login',
        token_endpoint_auth_method: 'none',
        grant_types: [DEVICE_GRANT, 'refresh_token'],
        response_types: [],
        redirect_uris: [],
      },
    ],
    // An ES256 key alone: with the usual RS256 in it every registration would be refused.
    clientDefaults: {
      id_token_signed_response_alg: 'ES256',
      application_type: 'native',
      grant_types: ['authorization_code', 'refresh_token'],
    },
    jwks: { keys: [{ ...publicPart, d }] },
    enabledJWA: {
      idTokenSigningAlgValues: ['ES256'],
      clientAuthSigningAlgValues: ['ES256', 'RS256', 'PS256', 'EdDSA'],
    },
    cookies: {
      keys: [cookieKey(deriveKey)],
      names: {
        session: `${prefix}agw-oauth`,
        interaction: `${prefix}agw-interaction`,
        resume: `${prefix}agw-resume`,
      },
      short: cookies,
      long: cookies,
    },
    routes: OAUTH_ROUTES,
    scopes: [...SCOPES],
    responseTypes: ['code'],
    claims: { openid: ['sub'] },
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'],
    pkce: { required: () => true },
    allowOmittingSingleRegisteredRedirectUri: true,
    conformIdTokenClaims: false,
    clientBasedCORS: () => true,
    clockTolerance: 15,
    fetch: parts.fetchDocument,
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      userinfo: { enabled: false },
      // Its address would be outside of the routes, and no client of MCP asks for it.
      pushedAuthorizationRequests: { enabled: false },
      dPoP: { enabled: false },
      claimsParameter: { enabled: false },
      registration: {
        enabled: true,
        idFactory: () => `agw-client-${randomBytes(16).toString('base64url')}`,
        secretFactory: () => randomBytes(32).toString('base64url'),
        issueRegistrationAccessToken: false,
      },
      clientIdMetadataDocument: {
        enabled: true,
        ack: 'draft-02',
        allowFetch: (ctx) => parts.mayFetch(ctx),
        allowClient: async () => true,
        cacheDuration: { min: 300, max: 86_400 },
      },
      // The document of ChatGPT offers two ways to authenticate and lets the server choose.
      rpMetadataChoices: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: async () => resource,
        useGrantedResource: async () => true,
        getResourceServerInfo: async (_ctx, indicator) => {
          if (toCanonicalResource(indicator, addresses) === undefined)
            throw new errors.InvalidTarget(`this server gives tokens for ${resource} only`)
          return {
            audience: resource,
            scope: `${GATEWAY_SCOPE} ${OPERATOR_SCOPE}`,
            accessTokenTTL: ACCESS_SECONDS,
            accessTokenFormat: 'opaque',
          }
        },
      },
      introspection: {
        enabled: true,
        allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId,
      },
      revocation: {
        enabled: true,
        allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId,
      },
      deviceFlow: { enabled: true, charset: 'base-20', mask: '****-****', deviceInfo: () => ({}) },
    },
    ttl: {
      AccessToken: ACCESS_SECONDS,
      AuthorizationCode: CODE_SECONDS,
      DeviceCode: DEVICE_SECONDS,
      IdToken: 3600,
      Interaction: INTERACTION_SECONDS,
      // Never written, see the adapter.
      Session: INTERACTION_SECONDS,
      Grant: REFRESH_SECONDS,
      RefreshToken: (ctx) =>
        Math.max(
          1,
          Math.min(REFRESH_SECONDS, (ctx.oidc.entities.Grant?.exp ?? Infinity) - Math.floor(now() / 1000)),
        ),
    },
    // Some servers give refresh tokens for `offline_access` alone; the clients of MCP mostly do not ask for it.
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: () => true,
    revokeGrantPolicy: () => true,
    expiresWithSession: async () => false,
    findAccount: async (_ctx, sub) => ({ accountId: sub, claims: async () => ({ sub }) }),
    extraTokenClaims: async () => undefined,
    interactions: { url: async (ctx, { uid }) => parts.consentAddress(ctx, uid) },
    renderError: async (ctx, out) => parts.showError(ctx, out.error, out.error_description),
  }

  const provider = new Provider(addresses.baseUrl, configuration)
  // Its address is the one of the configuration: the door hands over requests that say so (pinned.ts).
  provider.proxy = true
  // Tokens look like the gateway's others, so that scanners find them.
  Object.assign(provider.AccessToken.prototype, { generateTokenId: () => newToken('at'), format: 'opaque' })
  Object.assign(provider.RefreshToken.prototype, { generateTokenId: () => newToken('rt') })
  provider.use(async (ctx, next) => {
    await next()
    ctx.set('referrer-policy', 'no-referrer')
    dropCookie(ctx, `${prefix}agw-oauth`)
  })
  provider.on('grant.revoked', (ctx, grantId) => {
    if (ctx.path === OAUTH_ROUTES.token)
      log.warn(
        { grant_id: grantId, client_id: ctx.oidc.client?.clientId },
        'a code or refresh token was used again: its connection is ended',
      )
  })
  provider.on('server_error', (_ctx, err) => log.error({ err }, 'the authorization server failed'))
  return provider
}

/** Sessions are not kept, so nobody needs the name of one. */
function dropCookie({ res }: { readonly res: ServerResponse }, name: string): void {
  const set = res.getHeader('set-cookie')
  if (!Array.isArray(set) || res.headersSent) return
  const kept = set.filter((cookie) => !cookie.startsWith(`${name}=`) && !cookie.startsWith(`${name}.sig=`))
  if (kept.length > 0) res.setHeader('set-cookie', kept)
  else res.removeHeader('set-cookie')
}
