// One grant at an OAuth 2.0 token endpoint (RFC 6749, 3.2), through the safe way out. Whatever comes back is a token or a failure; the
// provider's own words stay here. A new refresh token is taken from every answer that has one, whatever else is wrong with that: the one
// that was sent may be worth nothing any more.
import {
  ClientSecretBasic,
  ClientSecretPost,
  type ClientAuth,
  customFetch,
  genericTokenEndpointRequest,
  modifyAssertion,
  None,
  PrivateKeyJwt,
  processGenericTokenEndpointResponse,
  WWWAuthenticateChallengeError,
} from 'oauth4webapi'
import type { KindOf } from '../../../schemas/credential-kinds.ts'
import { isObject } from '../../lib/json.ts'
import { Secret } from '../../lib/secret.ts'
import type { HeaderPairs } from '../headers.ts'
import { MIN_SECRET_BYTES } from '../leak/search.ts'
import type { SecretParts } from '../ports.ts'
import { ExchangeFailed, knownError } from './failure.ts'
import type { AskTokenEndpoint, MintedAnswer, TokenEndpointAnswer } from './kind.ts'
import { algorithmOf, importSigningKey, readPart } from './key-parts.ts'

export interface TokenGrant {
  readonly tokenUrl: URL
  readonly clientId: string
  readonly clientAuth: ClientAuth
  readonly grantType: string
  readonly parameters: Readonly<Record<string, string>>
}

/** @throws {ExchangeFailed} with the new refresh token, where the answer held one and no access token that can be used */
export async function requestToken(ask: AskTokenEndpoint, grant: TokenGrant): Promise<MintedAnswer> {
  const { tokenUrl, clientId, clientAuth, grantType, parameters } = grant
  const host = tokenUrl.hostname
  const server = { issuer: tokenUrl.origin, token_endpoint: tokenUrl.href }
  const client = { client_id: clientId }
  let isAsked = false
  let answer: TokenEndpointAnswer | undefined
  let body: AnswerBody | undefined
  try {
    const response = await genericTokenEndpointRequest(
      server,
      client,
      clientAuth,
      grantType,
      { ...parameters },
      {
        [customFetch]: async (url: string, init: { headers: Record<string, string>; body?: unknown }) => {
          isAsked = true
          answer = await ask({
            method: 'POST',
            url: new URL(url),
            headers: new Secret<HeaderPairs>(Object.entries(init.headers)),
            body: new Secret(String(init.body)),
          })
          body = readBody(answer)
          return toResponse(answer, body)
        },
      },
    )
    const token = await processGenericTokenEndpointResponse(server, client, response)
    if (token.token_type !== 'bearer' || !isToken(token.access_token) || !isRefreshTokenFit(body))
      throw new ExchangeFailed({ host, reason: 'malformed', status: response.status })
    return {
      accessToken: token.access_token,
      lifetimeMs: token.expires_in === undefined ? undefined : token.expires_in * 1000,
      refreshToken: refreshTokenOf(body),
    }
  } catch (thrown) {
    if (!answer) throw isAsked ? thrown : new ExchangeFailed({ host, reason: 'key_unusable' })
    // Errors of the library hold the whole answer, so that none becomes a cause.
    const { facts } =
      thrown instanceof ExchangeFailed ? thrown : failureOf(host, answer, errorCodeOf(thrown, body))
    const refreshToken = isSuccess(answer) ? refreshTokenOf(body) : undefined
    throw new ExchangeFailed(
      facts,
      undefined,
      refreshToken === undefined ? undefined : new Secret(refreshToken),
    )
  }
}

/** Whether the provider took what it was sent. */
export const isSuccess = ({ status = 0 }: { readonly status?: number | undefined }): boolean =>
  status >= 200 && status < 300

/**
 * A failure by the status and the error code of an answer that was no token.
 * @param code of whatever kind; of some providers with a status of success
 */
export function failureOf(
  host: string,
  answer: Pick<TokenEndpointAnswer, 'status' | 'headers'>,
  code?: unknown,
): ExchangeFailed {
  const { status, headers } = answer
  const oauthError = knownError(code)
  const isBusy =
    BUSY.has(status) ||
    status >= 500 ||
    oauthError === 'temporarily_unavailable' ||
    oauthError === 'server_error'
  const isRefused = status >= 400 || (isSuccess(answer) && typeof code === 'string' && code !== '')
  const seconds = Number(headers.find(({ name }) => name === 'retry-after')?.value)
  return new ExchangeFailed({
    host,
    reason: isBusy ? 'busy' : isRefused ? 'refused' : 'malformed',
    status,
    oauthError,
    retryAfterMs: isBusy && seconds > 0 ? seconds * 1000 : undefined,
  })
}

/** Of those below 500: a request that took too long, one that came too early, one of too many. */
const BUSY = new Set([408, 425, 429])

function errorCodeOf(thrown: unknown, body: AnswerBody | undefined): unknown {
  if (thrown instanceof WWWAuthenticateChallengeError) {
    const found = thrown.cause.find(({ parameters }) => parameters['error'] !== undefined)
    if (found) return found.parameters['error']
  }
  return body?.['error']
}

type AnswerBody = Readonly<Record<string, unknown>>

function readBody({ body }: TokenEndpointAnswer): AnswerBody | undefined {
  try {
    const answer: unknown = JSON.parse(body.toString('utf8'))
    return isObject(answer) ? answer : undefined
  } catch {
    return undefined
  }
}

function toResponse({ status, headers, body: bytes }: TokenEndpointAnswer, body?: AnswerBody): Response {
  const fields = headers.filter(({ name }) => name === 'content-type' || name === 'www-authenticate')
  const bodyless = status === 204 || status === 205 || status === 304
  const text = body ? JSON.stringify(whatIsJudged(body)) : bytes.toString('utf8')
  return new Response(bodyless ? null : text, {
    status,
    headers: fields.map(({ name, value }) => [name, value] as [string, string]),
  })
}

/**
 * What the library is to judge of an answer. Nobody reads its scope, whatever the shape, an id_token would be checked against an issuer
 * that is not known, and the refresh token is judged by itself.
 */
function whatIsJudged(body: AnswerBody): AnswerBody {
  const { access_token, token_type: type, expires_in: expiresIn } = body
  return { access_token, token_type: isBearer(type) ? 'bearer' : type, expires_in: expiresIn ?? undefined }
}

/** Slack names whose token it is in the place of how to send it. */
const SENT_AS_BEARER = new Set(['bearer', 'bot', 'user'])
/**
 * RFC 6749, 5.1 requires a type, which many providers leave out: what they give is a bearer token, as any other has to be asked for.
 * 7.1: a token of a type that is not known is not used.
 */
const isBearer = (type: unknown): boolean =>
  type === undefined || type === null || (typeof type === 'string' && SENT_AS_BEARER.has(type.toLowerCase()))

/** Undefined where the answer has none that can be stored. */
function refreshTokenOf(body: AnswerBody | undefined): string | undefined {
  const token = body?.['refresh_token']
  return typeof token === 'string' && isToken(token) ? token : undefined
}

/** One that cannot be stored would be missed at the next exchange. */
const isRefreshTokenFit = (body: AnswerBody | undefined): boolean =>
  [undefined, null, ''].includes(body?.['refresh_token'] as string) || refreshTokenOf(body) !== undefined

/** The long ones of Entra have 4 KB. Every answer is searched for each, and an endpoint is not to say how long that takes. */
const MAX_TOKEN_CHARS = 8 * 1024
/** A token has to fit a header, and to be long enough to be told from chance in an answer. */
export const isToken = (token: string): boolean =>
  token.length >= MIN_SECRET_BYTES && token.length <= MAX_TOKEN_CHARS && /^[\x21-\x7e]+$/.test(token)

/** @throws {ExchangeFailed} where the private key cannot be used */
export async function clientAuthOf(
  kind: KindOf<'oauth2_refresh_token' | 'oauth2_client_credentials'>,
  parts: SecretParts,
): Promise<ClientAuth> {
  switch (kind.client_authentication ?? 'client_secret_basic') {
    case 'none':
      return None()
    case 'client_secret_post':
      return ClientSecretPost(readPart(parts, 'client_secret'))
    case 'client_secret_basic':
      return ClientSecretBasic(readPart(parts, 'client_secret'))
    case 'private_key_jwt': {
      const key = await importSigningKey(parts, algorithmOf(kind))
      if (!key) throw new ExchangeFailed({ host: new URL(kind.token_url).hostname, reason: 'key_unusable' })
      return PrivateKeyJwt(
        { key, ...(kind.key_id === undefined ? {} : { kid: kind.key_id }) },
        {
          // The library names the issuer, which only an operator knows; the address that is asked says as well who is meant (RFC 7523, 3).
          [modifyAssertion]: (_header, payload) => {
            payload['aud'] = kind.assertion_audience ?? kind.token_url
          },
        },
      )
    }
  }
}
