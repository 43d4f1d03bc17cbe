import { describe, expect, it } from 'vitest'
import { namesDropped } from '../../../../src/egress/headers.ts'
import { addressOf } from '../../../../src/egress/relay/credential.ts'
import {
  joinPairs,
  pickAnswerHeaders,
  pickProgramHeaders,
  takesKey,
} from '../../../../src/egress/relay/headers.ts'
import { createStreamLimits } from '../../../../src/egress/relay/streams.ts'
import { programTarget } from '../../../../src/egress/relay/target.ts'
import { newToken } from '../../../../src/lib/tokens.ts'
import { JWS_TYPES } from '../../../../src/receipts/types.ts'
import type { HeldCapability, SealedCredential } from '../../../../src/store/ports.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')
const RULES = { placements: [], isSigned: false, passesCookies: false }
const names = (given: [string, string][], rules = {}) =>
  pickProgramHeaders(given, { ...RULES, ...rules }).map(([name]) => name)

describe('headers of a program', () => {
  it('pass but for those of the connection, those that it names, and those of proxies', () => {
    const given: [string, string][] = [
      ['Host', 'gateway.example'],
      ['Connection', 'keep-alive, X-Hop'],
      ['X-Hop', '1'],
      ['Transfer-Encoding', 'chunked'],
      ['Proxy-Authorization', 'Basic eA=='],
      ['X-Forwarded-For', '203.0.113.1'],
      ['Range', 'bytes=0-1'],
      ['X-Gateway-Capability', 'x'],
      ['Accept', 'a/b'],
      ['X-Own', '1'],
      ['X-Own', '2'],
    ]
    expect(names(given)).toEqual(['accept', 'accept-encoding', 'x-own', 'x-own'])
  })

  it.each([
    'Authorization',
    'x-api-key',
    'api-key',
    'x-goog-api-key',
    'private-token',
    'xi-api-key',
    'X-Auth-Key',
    'x-amz-security-token',
  ])('never bring a key of the program’s own: %s', (name) =>
    expect(names([[name, 'mine']])).toEqual(['accept-encoding']),
  )

  it('never bring a key among the subprotocols of a WebSocket', () => {
    const given = 'realtime, openai-insecure-api-key.sk-of-the-program, openai-beta.realtime-v1'
    expect(pickProgramHeaders([['Sec-WebSocket-Protocol', given]], RULES)).toContainEqual([
      'sec-websocket-protocol',
      'realtime, openai-beta.realtime-v1',
    ])
  })

  it('never bring them in the spelling that a server’s variables make the same of', () => {
    expect(names([['X_Api_Key', 'mine']])).toEqual(['accept-encoding'])
    for (const name of [
      'X_Original_URL',
      'Transfer_Encoding',
      'Content_Length',
      'Accept_Encoding',
      'Proxy_Authorization',
      'X_Gateway_Capability',
      'X_Forwarded_Host',
      'If_Range',
    ])
      expect(names([[name, 'mine']])).toEqual(['accept-encoding'])
    const placements = [{ in: 'header', name: 'x-service-key' }]
    for (const name of ['X_Service_Key', 'x-service_key'])
      expect(names([[name, 'mine']], { placements })).toEqual(['accept-encoding'])
    expect(
      names([['X-Service-Key', 'mine']], { placements: [{ in: 'header', name: 'x_service_key' }] }),
    ).toEqual(['accept-encoding'])
  })

  it.each([
    'X-Forwarded-Uri',
    'X-Forwarded-Prefix',
    'X-Original-URI',
    'X-Original-Method',
    'X-Override-URL',
    'X-Host',
    'X-Forwarded',
    'X-Script-Name',
    'SCRIPT_NAME',
    'Path_Info',
    'X-Matched-Path',
    'X-Invoke-Path',
    'X-WAWS-Unencoded-URL',
    'Proxy',
    'Request-Range',
    'x-ms-range',
  ])('never ask for another target, or for a part of an answer: %s', (name) =>
    expect(names([[name, '/x']])).toEqual(['accept-encoding']),
  )

  it('are those of a key wherever a server takes them for the credential’s own', () => {
    const placements = [{ in: 'header', name: 'x-service-key' } as const]
    expect(takesKey('X_Service_Key', placements)).toBe(true)
    expect(takesKey('X-Service', placements)).toBe(false)
  })

  it('are joined under their name, whatever that is to an object', () => {
    const joined = joinPairs([
      ['__proto__', 'a'],
      ['x', '1'],
      ['x', '2'],
    ])
    expect(Object.entries(joined)).toEqual([
      ['__proto__', 'a'],
      ['x', '1, 2'],
    ])
  })

  it('never bring a token of the gateway, whatever they are called', () => {
    expect(names([['x-own', 'key=agw_cap_abc']])).toEqual(['accept-encoding'])
    expect(names([['x-own', 'agw_captain']])).toEqual(['accept-encoding', 'x-own'])
  })

  it.each(['cap', 'at', 'rt', 'ss', 'inv', 'sk', 'ek'] as const)(
    'never bring a token of the gateway of the kind %s, however it is encoded',
    (kind) => {
      const token = newToken(kind)
      for (const value of [token, token.replaceAll('_', '%5f'), `Basic ${base64(`me:${token}`)}`])
        expect(names([['x-own', value]])).toEqual(['accept-encoding'])
      expect(names([[token, '1']])).toEqual(['accept-encoding'])
      const protocols = `v1, base64url.bearer.${Buffer.from(token).toString('base64url')}`
      expect(pickProgramHeaders([['Sec-WebSocket-Protocol', protocols]], RULES)).toContainEqual([
        'sec-websocket-protocol',
        'v1',
      ])
    },
  )

  it('never bring a permit of the gateway, and bring other signed documents', () => {
    const signed = (typ: string) =>
      `${Buffer.from(JSON.stringify({ alg: 'EdDSA', kid: 'k'.repeat(43), typ })).toString('base64url')}.eyJhIjoxfQ.c2ln`
    expect(names([['x-own', signed(JWS_TYPES.permit)]])).toEqual(['accept-encoding'])
    expect(names([['x-own', base64(signed(JWS_TYPES.permit))]])).toEqual(['accept-encoding'])
    for (const value of [signed('JWT'), `Basic ${base64('me:mine')}`, '100%zz'])
      expect(names([['x-own', value]])).toEqual(['accept-encoding', 'x-own'])
  })

  it('never stand where the credential goes, nor bring the date of another signature', () => {
    const placements = [{ in: 'header', name: 'x-token' }]
    expect(names([['X-Token', 'mine']], { placements })).toEqual(['accept-encoding'])
    expect(names([['x-amz-date', 'then']], { isSigned: true })).toEqual(['accept-encoding'])
    expect(names([['x-amz-date', 'then']])).toEqual(['accept-encoding', 'x-amz-date'])
    const digest = (name: string, value: string) => names([[name, value]], { isSigned: true })
    expect(digest('x-amz-content-sha256', 'e3b0c442')).toEqual(['accept-encoding'])
    expect(digest('x_amz_content_sha256', 'STREAMING-UNSIGNED-PAYLOAD-TRAILER')).toEqual(['accept-encoding'])
    expect(digest('X-Amz-Content-Sha256', 'STREAMING-UNSIGNED-PAYLOAD-TRAILER')).toEqual([
      'accept-encoding',
      'x-amz-content-sha256',
    ])
  })

  it.each([
    'x-accel-redirect',
    'x-accel-buffering',
    'x-accel-expires',
    'x-sendfile',
    'x-sendfile2',
    'x-lighttpd-send-file',
    'x-lighttpd-send-tempfile',
    'x-litespeed-location',
    'x-reproxy-url',
    'x-reproxy-file',
  ])('of an answer do not tell a web server before the gateway what to do: %s', (name) => {
    const received = [
      { name, value: '/via/api/v1/other' },
      { name: 'x-acceleration', value: '1' },
    ]
    const picked = pickAnswerHeaders(received, { passesCookies: true, placements: [] })
    expect(picked).toEqual([['x-acceleration', '1']])
    expect(namesDropped(received, joinPairs(picked))).toEqual([name])
  })

  it('of an answer pass but for its frame, cookies, what a browser keeps for an origin, and what claims to be the gateway’s', () => {
    const received = [
      { name: 'content-type', value: 'a/b' },
      { name: 'content-encoding', value: 'gzip' },
      { name: 'content-length', value: '1' },
      { name: 'connection', value: 'x-hop' },
      { name: 'x-hop', value: '1' },
      { name: 'set-cookie', value: 'a=b' },
      { name: 'clear-site-data', value: '"cookies"' },
      { name: 'strict-transport-security', value: 'max-age=1' },
      { name: 'x-gateway-attempt', value: 'att_forged' },
      { name: 'x-late', value: '1', trailer: true },
      { name: 'x-odd', value: 'a\u0001b' },
      { name: 'link', value: 'a' },
      { name: 'link', value: 'b' },
    ]
    const picked = [
      ['content-type', 'a/b'],
      ['link', 'a'],
      ['link', 'b'],
    ]
    expect(pickAnswerHeaders(received, { passesCookies: false, placements: [] })).toEqual(picked)
    expect(pickAnswerHeaders(received, { passesCookies: true, placements: [] })).toContainEqual([
      'set-cookie',
      'a=b',
    ])
  })
})

describe('checksums of an answer', () => {
  const picked = (name: string, coding: string) =>
    pickAnswerHeaders(
      [
        { name, value: '1' },
        { name: 'content-encoding', value: coding },
      ],
      { passesCookies: false, placements: [] },
    )

  it.each([
    'content-md5',
    'content-digest',
    'repr-digest',
    'digest',
    'x-amz-checksum-crc64nvme',
    'x-amz-checksum-type',
    'x-goog-hash',
    'x-ms-content-crc64',
    'x-ms-blob-content-md5',
    'x-oss-hash-crc64ecma',
    'x-cos-hash-crc64ecma',
    'x-bz-content-sha1',
  ])('stay behind with the coding that they are over: %s', (name) => {
    expect(picked(name, 'br')).toEqual([])
    expect(picked(name, 'identity')).toEqual([[name, '1']])
  })

  it.each([
    'etag',
    'x-amz-meta-digest',
    'x-amz-meta-checksum-sha256',
    'x-digest',
    'x-goog-stored-content-encoding',
  ])('are not what no library compares with the bytes: %s', (name) =>
    expect(picked(name, 'gzip')).toEqual([[name, '1']]),
  )
})

describe('cookies of a program whose credential is one', () => {
  const placements = [{ in: 'cookie', name: 'my_sid' }] as const
  const rules = { ...RULES, placements, passesCookies: true }
  const sent = (cookie: string, passesCookies = true) =>
    pickProgramHeaders([['Cookie', cookie]], { ...rules, passesCookies }).find(
      ([name]) => name === 'cookie',
    )?.[1]

  it.each([
    ['theme=dark; my_sid=own; lang=en', 'theme=dark; lang=en'],
    ['MY_SID=own', undefined],
    ['my%5Fsid=own; a=1', 'a=1'],
    ['my.sid=own; a=1', 'a=1'],
    ['"my_sid"=own; a=1', 'a=1'],
    ['my_sid[]=own; a=1', 'a=1'],
    ['a=1, my_sid=own; b=2', 'b=2'],
    ['=my_sid=own; b=2', 'b=2'],
    ['my_sid; b=2', 'b=2'],
    ['my_sid2=own; xmy_sid=1', 'my_sid2=own; xmy_sid=1'],
    ['a=my_sid; b=my_sid=2', 'a=my_sid; b=my_sid=2'],
  ])('%s goes up as %s', (given, passed) => {
    expect(sent(given)).toBe(passed)
    expect(sent(given, false)).toBeUndefined()
  })

  it.each([
    ['my_sid=rotated; Path=/; HttpOnly', false],
    ['My_Sid=rotated', false],
    ['=my_sid=rotated', false],
    ['a=1; Expires=Wed, 21 Oct 2027 07:28:00 GMT, my_sid=rotated', false],
    ['a=1; Expires=Wed, 21 Oct 2027 07:28:00 GMT; Path=/', true],
    ['my_sid2=1', true],
    ['a=my_sid', true],
  ])('%s of an answer passes: %s', (value, passes) => {
    for (const name of ['set-cookie', 'set-cookie2']) {
      const picked = pickAnswerHeaders([{ name, value }], rules)
      expect(picked).toEqual(passes ? [[name, value]] : [])
      expect(pickAnswerHeaders([{ name, value }], { ...rules, placements: [] })).toHaveLength(1)
      expect(pickAnswerHeaders([{ name, value }], { ...rules, passesCookies: false })).toEqual([])
    }
  })
})

describe('the address of a program', () => {
  const ORIGIN = 'https://api.example.com'
  const target = (path: string, placements: Parameters<typeof programTarget>[1] = []) =>
    programTarget(ORIGIN + path, placements).slice(ORIGIN.length)

  it.each([
    ['/v1/%7Euser', '/v1/~user'],
    ['/v1/a%3ab', '/v1/a%3Ab'],
    ['/v1/%2e%2e/x', '/v1/%2E%2E/x'],
    ['/v1/../x', '/v1/../x'],
    ['/v1//x', '/v1//x'],
    ['?a=1', '/?a=1'],
    ['/v1?', '/v1'],
    ['/v1?a="b"', '/v1?a=%22b%22'],
  ])('is written in one way, and what is ambiguous stays so for the judge: %s', (given, written) => {
    expect(target(given)).toBe(written)
  })

  it.each([
    ['/v1/admin/users', 0, undefined],
    ['/v1/botanics/list', 1, 'bot'],
    ['/v1/bot', 1, 'bot'],
    ['/bot123:abc/getMe', 0, 'bot'],
    ['/v2/key-of-the-program', 1, undefined],
  ])('neither loses %s nor brings it beside the secret in segment %i', (path, at, prefix) => {
    const asked = () => target(path, [{ in: 'path', at, ...(prefix && { prefix }) }])
    expect(asked).toThrow(`segment ${at + 1} of the path, and what stands there is no placeholder`)
    expect(asked).not.toThrow(/admin|botanics|123:abc|key-of/)
  })

  it.each([
    ['/', 0, undefined],
    ['/v1', 1, undefined],
    ['/v1/', 1, undefined],
    ['/v1/x', 1, 'bot'],
  ])('stays %s where nothing stands in the place of the secret', (path, at, prefix) =>
    expect(target(path, [{ in: 'path', at, ...(prefix && { prefix }) }])).toBe(path),
  )

  it('loses the placeholder where the credential says that the secret goes', () => {
    for (const placeholder of ['123:agw_cap_abc', '123:AgentGat', 'agw%5Fcap_abc', `${newToken('cap')}`])
      expect(target(`/bot${placeholder}/getMe`, [{ in: 'path', at: 0, prefix: 'bot' }])).toBe('/getMe')
    expect(target('/getMe', [{ in: 'path', at: 0, prefix: 'bot' }])).toBe('/getMe')
    expect(target('/v1?Key=mine&a=1&k%65y=mine', [{ in: 'query', name: 'key' }])).toBe('/v1?a=1')
    expect(target('/v1?a=1&t=agw_cap_abc')).toBe('/v1?a=1')
    expect(target('/v1?a=1&key=agw%5Fc%61p_abc')).toBe('/v1?a=1')
    expect(target('/v1?a=1%26b&c=%zz')).toBe('/v1?a=1%26b&c=%zz')
    expect(() => target('/agw_cap_abc/v1')).toThrow('token of this gateway')
    const refresh = newToken('rt')
    expect(target(`/v1?a=1&t=${refresh}&u=${encodeURIComponent(base64(`me:${refresh}`))}`)).toBe('/v1?a=1')
    expect(() => target(`/v1/${Buffer.from(refresh).toString('base64url')}`)).toThrow('token of this gateway')
    expect(target(`/v1/${base64('me:mine')}?t=${base64('me:mine')}`)).toBe(
      `/v1/${base64('me:mine')}?t=${base64('me:mine')}`,
    )
  })
})

describe('requests under way', () => {
  it('are bounded for one lineage, for one account and in all, and counted once when they end', () => {
    const limits = createStreamLimits({ inAll: 4, ofAccount: 3, ofCapability: 2 })
    const leave = limits.enter('acct_1', 'a')
    limits.enter('acct_1', 'a')
    expect(() => limits.enter('acct_1', 'a')).toThrow('This capability has 2 requests under way')
    limits.enter('acct_1', 'b')
    expect(() => limits.enter('acct_1', 'c')).toThrow('This account has 3 requests under way')
    limits.enter('acct_2', 'd')
    expect(() => limits.enter('acct_2', 'd')).toThrow('Programs have too many requests')
    leave()
    leave()
    limits.enter('acct_1', 'a')
    expect(() => limits.enter('acct_2', 'd')).toThrow('Programs have too many requests')
  })
})

describe('the credential that a base URL names', () => {
  const scope = { hosts: ['api.example.com'], path_prefixes: ['/'], methods: ['GET' as const] }
  /** A connection over credentials of these labels, by id. */
  async function find(named: string, labels: Readonly<Record<string, string>>) {
    const parts = Object.keys(labels).map((credentialId) => ({ credentialId, scope }))
    const { capability } = await addressOf(
      {
        store: {
          getCredential: async (id: string) => ({ label: labels[id] }) as SealedCredential,
          findParts: async () => [],
        },
        capabilityFor: () => Promise.reject(new Error('not asked')),
      },
      { target: { credential: named, path: '/' }, method: 'GET' },
      { credentialId: null, accountId: 'acct_1', parts } as unknown as HeldCapability,
    )
    return capability.credentialId
  }

  it('is that of this id, else of this label, else of a label that reads so', async () => {
    const labels = { crd_1: 'OpenAI (prod)', crd_2: 'openai-prod', crd_3: 'crd_1', crd_4: 'Other API' }
    expect(await find('crd_1', labels)).toBe('crd_1')
    expect(await find('openai-prod', labels)).toBe('crd_2')
    expect(await find('other-api', labels)).toBe('crd_4')
    await expect(find('none', labels)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('is asked for where two of them read so', async () => {
    const labels = { crd_1: 'OpenAI (prod)', crd_2: 'openai/prod' }
    await expect(find('openai-prod', labels)).rejects.toMatchObject({
      code: 'target_invalid',
      reason: 'ambiguous_credential',
    })
  })
})
