import { None } from 'oauth4webapi'
import { describe, expect, it } from 'vitest'
import type { ExchangeFailed } from '../../../../src/egress/kinds/failure.ts'
import { isToken, requestToken } from '../../../../src/egress/kinds/token-request.ts'

it.each([
  ['of 8 characters is taken', true, 'k'.repeat(8)],
  ['of 7 is refused', false, 'k'.repeat(7)],
  ['of 8192 is taken', true, 'k'.repeat(8_192)],
  ['of 8193, which takes long to look for in an answer, is refused', false, 'k'.repeat(8_193)],
  ['with a space is refused', false, 'kkkkkkkk k'],
])('a token %s', (_, isTaken, token) => {
  expect(isToken(token)).toBe(isTaken)
})

const request = (status: number, answer: unknown, type = 'application/json') =>
  requestToken(
    async () => ({
      status,
      headers: [{ name: 'content-type', value: type }],
      body: Buffer.from(typeof answer === 'string' ? answer : JSON.stringify(answer)),
    }),
    {
      tokenUrl: new URL('https://login.example.com/token'),
      clientId: 'gateway',
      clientAuth: None(),
      grantType: 'refresh_token',
      parameters: { refresh_token: 'refresh-token-1' },
    },
  )
const GIVEN = { access_token: 'access-token-2', token_type: 'Bearer', expires_in: 60 }
const NEXT = 'refresh-token-2'

describe('an answer with a token is taken', () => {
  it.each([
    ['without a type', { token_type: undefined }],
    ['with a type that is null', { token_type: null }],
    ['of the type that Slack gives to a bot', { token_type: 'bot' }],
    ['of the type that Slack gives to a user', { token_type: 'user' }],
    ['with a list of scopes', { scope: ['read', 'write'] }],
    ['with an id_token of whatever kind', { id_token: 7 }],
  ])('%s', async (_, odd) => {
    expect(await request(200, { ...GIVEN, refresh_token: NEXT, ...odd })).toEqual({
      accessToken: 'access-token-2',
      lifetimeMs: 60_000,
      refreshToken: NEXT,
    })
  })

  it.each([null, '', undefined])('with the refresh token %j, which replaces none', async (refreshToken) => {
    expect(await request(200, { ...GIVEN, refresh_token: refreshToken })).toMatchObject({
      refreshToken: undefined,
    })
  })

  it('with a life of null, which says nothing', async () => {
    expect(await request(200, { ...GIVEN, expires_in: null })).toMatchObject({ lifetimeMs: undefined })
  })
})

describe('an answer without a token that can be used', () => {
  const failing = async (...answer: Parameters<typeof request>) =>
    request(...answer).then(
      () => expect.unreachable(),
      (thrown: unknown) => thrown,
    )
  it.each([
    ['of another type', 200, { token_type: 'mac' }],
    ['bound to a key', 200, { token_type: 'DPoP' }],
    ['that fits no header', 200, { access_token: 'access token 2' }],
    ['that is too long', 200, { access_token: 'k'.repeat(8_193) }],
    ['that is missing', 200, { access_token: undefined }],
    ['with a life below zero', 200, { expires_in: -1 }],
    ['under another status of success', 201, {}],
  ])('%s, gives its refresh token all the same', async (_, status, odd) => {
    expect(await failing(status, { ...GIVEN, refresh_token: NEXT, ...odd })).toMatchObject({
      facts: { reason: 'malformed', status },
      refreshToken: expect.objectContaining({}),
    })
  })

  it.each([
    ['that cannot be stored', 200, { ...GIVEN, refresh_token: 'short' }],
    ['that is no text', 200, { ...GIVEN, refresh_token: { token: NEXT } }],
    ['in what is no success', 400, { error: 'invalid_grant', refresh_token: NEXT }],
    ['in a page', 200, `<html>${NEXT}</html>`],
  ])('gives no refresh token %s', async (_, status, answer) => {
    expect(await failing(status, answer)).toMatchObject({ refreshToken: undefined })
  })
})

describe('a refusal is told as such, in codes of the standard alone', () => {
  const REFUSED = { reason: 'refused', status: 200 }
  const BUSY = { reason: 'busy', status: 200 }
  it.each([
    [
      'the code of the standard',
      200,
      { error: 'invalid_grant' },
      { ...REFUSED, oauthError: 'invalid_grant' },
    ],
    ['that of GitHub', 200, { error: 'bad_refresh_token' }, { ...REFUSED, oauthError: 'invalid_grant' }],
    [
      'that of Slack',
      200,
      { ok: false, error: 'bad_client_secret' },
      { ...REFUSED, oauthError: 'invalid_client' },
    ],
    [
      'a limit of Slack',
      200,
      { ok: false, error: 'ratelimited' },
      { ...BUSY, oauthError: 'temporarily_unavailable' },
    ],
    ['one that nobody knows', 200, { error: 'client-secret' }, { ...REFUSED, oauthError: undefined }],
    ['none', 200, { ok: false }, { reason: 'malformed', status: 200 }],
    ['an object', 200, { error: { code: 190 } }, { reason: 'malformed', status: 200 }],
    [
      'one of GitHub under 400',
      400,
      { error: 'bad_refresh_token' },
      { reason: 'refused', oauthError: 'invalid_grant' },
    ],
    ['none, after it waited too long', 408, '', { reason: 'busy', status: 408 }],
    ['none, since it came too early', 425, '', { reason: 'busy', status: 425 }],
    ['none, below these', 407, '', { reason: 'refused', status: 407 }],
  ])('with %s', async (_, status, answer, facts) => {
    const thrown = await request(status, answer).catch((failed: unknown) => failed)
    expect(thrown).toMatchObject({ facts })
    expect(JSON.stringify((thrown as ExchangeFailed).facts)).not.toContain('client-secret')
  })
})
