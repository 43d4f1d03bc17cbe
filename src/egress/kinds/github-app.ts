// A GitHub App as one of its installations: a short JWT of the app is traded for a token that lives an hour.
import { SignJWT } from 'jose'
import type { KindOf } from '../../../schemas/credential-kinds.ts'
import { isObject } from '../../lib/json.ts'
import { Secret } from '../../lib/secret.ts'
import type { HeaderPairs } from '../headers.ts'
import { ExchangeFailed } from './failure.ts'
import type { ExchangeInput, MintedAnswer } from './kind.ts'
import { algorithmOf, signJwt } from './key-parts.ts'
import { failureOf, isToken } from './token-request.ts'
import { tokenUrlOf } from './token-url.ts'

/** GitHub refuses more than ten minutes between now and the end, and recommends a minute of backdating. */
const BACKDATE_SECONDS = 60
const LIFETIME_SECONDS = 9 * 60

/** @throws {ExchangeFailed} */
export async function exchangeGithubApp(input: ExchangeInput<KindOf<'github_app'>>): Promise<MintedAnswer> {
  const { kind, parts, ask, now } = input
  const url = tokenUrlOf(kind)
  const host = url.hostname
  const seconds = Math.floor(now / 1000)
  const jwt = await signJwt(
    new SignJWT()
      .setIssuer(kind.app_id)
      .setIssuedAt(seconds - BACKDATE_SECONDS)
      .setExpirationTime(seconds + LIFETIME_SECONDS),
    parts,
    { alg: algorithmOf(kind) },
  )
  if (jwt === undefined) throw new ExchangeFailed({ host, reason: 'key_unusable' })
  const { repositories, permissions } = kind
  const answer = await ask({
    method: 'POST',
    url,
    headers: new Secret<HeaderPairs>([
      ['accept', 'application/vnd.github+json'],
      ['authorization', `Bearer ${jwt}`],
      ['content-type', 'application/json'],
      ['user-agent', 'agent-gateway'],
      ['x-github-api-version', '2022-11-28'],
    ]),
    body: new Secret(
      JSON.stringify({ ...(repositories && { repositories }), ...(permissions && { permissions }) }),
    ),
  })
  const given = answer.status === 201 ? parse(answer.body) : undefined
  if (!given) throw failureOf(host, answer)
  if (!isToken(given.token)) throw new ExchangeFailed({ host, reason: 'malformed', status: answer.status })
  const expiresAt = Date.parse(given.expiresAt)
  return {
    accessToken: given.token,
    lifetimeMs: Number.isNaN(expiresAt) ? undefined : Math.max(0, expiresAt - now),
    refreshToken: undefined,
  }
}

function parse(body: Buffer): { token: string; expiresAt: string } | undefined {
  try {
    const given: unknown = JSON.parse(body.toString('utf8'))
    if (!isObject(given) || typeof given['token'] !== 'string') return undefined
    return { token: given['token'], expiresAt: String(given['expires_at']) }
  } catch {
    return undefined
  }
}
