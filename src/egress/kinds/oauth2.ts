// The three grants of OAuth 2.0 that need nobody at a browser: refresh token, client credentials, and JWT bearer (RFC 7523), which is what a
// Google service account uses.
import { SignJWT } from 'jose'
import { None } from 'oauth4webapi'
import type { KindOf } from '../../../schemas/credential-kinds.ts'
import { ExchangeFailed } from './failure.ts'
import type { ExchangeInput, MintedAnswer } from './kind.ts'
import { algorithmOf, readPart, signJwt } from './key-parts.ts'
import { clientAuthOf, requestToken } from './token-request.ts'
import { tokenUrlOf } from './token-url.ts'

/** @throws {ExchangeFailed} */
export async function exchangeRefreshToken(
  input: ExchangeInput<KindOf<'oauth2_refresh_token'>>,
): Promise<MintedAnswer> {
  const { kind, parts, refreshToken, ask } = input
  return requestToken(ask, {
    tokenUrl: tokenUrlOf(kind),
    clientId: kind.client_id,
    clientAuth: await clientAuthOf(kind, parts),
    grantType: 'refresh_token',
    parameters: {
      ...parametersOf(kind),
      refresh_token: refreshToken ? refreshToken.use((token) => token) : readPart(parts, 'refresh_token'),
    },
  })
}

/** @throws {ExchangeFailed} */
export async function exchangeClientCredentials(
  input: ExchangeInput<KindOf<'oauth2_client_credentials'>>,
): Promise<MintedAnswer> {
  const { kind, parts, ask } = input
  const minted = await requestToken(ask, {
    tokenUrl: tokenUrlOf(kind),
    clientId: kind.client_id,
    clientAuth: await clientAuthOf(kind, parts),
    grantType: 'client_credentials',
    parameters: parametersOf(kind),
  })
  // RFC 6749, 4.4.3: a refresh token should not be included, and none is needed.
  return { ...minted, refreshToken: undefined }
}

const ASSERTION_SECONDS = 600
/** A clock that runs ahead must not make an assertion that comes from the future. */
const BACKDATE_SECONDS = 10

/** @throws {ExchangeFailed} */
export async function exchangeJwtBearer(
  input: ExchangeInput<KindOf<'oauth2_jwt_bearer'>>,
): Promise<MintedAnswer> {
  const { kind, parts, ask, now } = input
  const tokenUrl = tokenUrlOf(kind)
  const issuedAt = Math.floor(now / 1000) - BACKDATE_SECONDS
  const assertion = await signJwt(
    new SignJWT(kind.scopes ? { scope: kind.scopes.join(' ') } : {})
      .setIssuer(kind.issuer)
      .setSubject(kind.subject ?? kind.issuer)
      .setAudience(kind.audience ?? tokenUrl.href)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + ASSERTION_SECONDS),
    parts,
    { alg: algorithmOf(kind), ...(kind.key_id === undefined ? {} : { kid: kind.key_id }) },
  )
  if (assertion === undefined) throw new ExchangeFailed({ host: tokenUrl.hostname, reason: 'key_unusable' })
  const minted = await requestToken(ask, {
    tokenUrl,
    clientId: kind.issuer,
    // RFC 7523, 2.1: the assertion says who asks; a client id beside it makes some servers refuse.
    clientAuth: withoutClient,
    grantType: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    parameters: { assertion, ...(kind.scopes ? { scope: kind.scopes.join(' ') } : {}) },
  })
  return { ...minted, refreshToken: undefined }
}

const withoutClient: ReturnType<typeof None> = (_server, _client, body) => body.delete('client_id')

/** Parameters of the protocol are set after these, so that none can be replaced. */
function parametersOf(
  kind: KindOf<'oauth2_refresh_token' | 'oauth2_client_credentials'>,
): Record<string, string> {
  const { scopes, parameters = {} } = kind
  const allowed = Object.entries(parameters).filter(([name]) => !PROTOCOLS_OWN.has(name))
  return { ...Object.fromEntries(allowed), ...(scopes ? { scope: scopes.join(' ') } : {}) }
}

const PROTOCOLS_OWN = new Set([
  'grant_type',
  'client_id',
  'client_secret',
  'client_assertion',
  'client_assertion_type',
  'refresh_token',
  'scope',
])
