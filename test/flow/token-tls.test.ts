// Credentials that mint tokens or sign, with an authority and a client certificate of their own: at the upstream, and at the token endpoint.
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createTestCa, type Leaf, type TestCa } from '../support/ca.ts'
import { startTestGateway, type TestGateway, UPSTREAM_HOST } from '../support/gateway.ts'

const LOGIN_HOST = 'login.example.com'
const SECRET = 'client-secret-0123456789'

interface Served {
  readonly path: string
  readonly client: string | undefined
  readonly authorization: string | undefined
}
let served: Served[] = []
let body = (path: string) => JSON.stringify({ path })
const servers: Server[] = []

/** Tokens at `/token`, where a client needs a certificate of `ca` as everywhere. */
async function serve(leaf: Leaf, ca?: string): Promise<number> {
  const server = createServer({ ...leaf, ca, requestCert: ca !== undefined, rejectUnauthorized: true })
  server.on('request', (req, res) => {
    const { subject } = (req.socket as TLSSocket).getPeerCertificate() as { subject?: { CN?: string } }
    const path = req.url ?? ''
    served.push({ path, client: subject?.CN, authorization: req.headers.authorization })
    const token = `access-token-${served.length}-q7Zk9Wm2Rt5Y`
    const minted = JSON.stringify({ access_token: token, token_type: 'bearer', expires_in: 3600 })
    req.resume()
    res.setHeader('content-type', 'application/json').end(path === '/token' ? minted : body(path))
  })
  server.on('tlsClientError', () => {})
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

let ownCa: TestCa
let client: Leaf
let next: Leaf
let gw: TestGateway
let ports: Readonly<Record<'asking' | 'login', number>>
beforeAll(async () => {
  ownCa = await createTestCa()
  ;[client, next] = await Promise.all([ownCa.client('first'), ownCa.client('second')])
  ports = {
    asking: await serve(await ownCa.leaf(UPSTREAM_HOST), ownCa.pem),
    login: await serve(await ownCa.leaf(LOGIN_HOST), ownCa.pem),
  }
  gw = await startTestGateway({ ports: Object.values(ports), names: [LOGIN_HOST] })
})
afterAll(async () => {
  await gw.close()
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
})
beforeEach(() => {
  served = []
  body = (path) => JSON.stringify({ path })
})

const partsOf = ({ cert, key }: Leaf, more: Record<string, string>) => ({
  client_certificate: cert,
  client_key: key,
  ...more,
})
const tokensAt = (host: string, port: number) => ({
  type: 'oauth2_client_credentials',
  token_url: `https://${host}:${port}/token`,
  client_id: 'gateway',
})
const grantOf = (
  kind: Record<string, unknown>,
  tls: Record<string, unknown>,
  parts: Record<string, string>,
) =>
  gw.grant({ credential: { secret: undefined, parts, settings: { kind, tls: { ca: ownCa.pem, ...tls } } } })
const get = (capability: string, port: number = ports.asking) =>
  gw.fetch(capability, { method: 'GET', url: `https://${UPSTREAM_HOST}:${port}/v1` })

describe('a token endpoint on a host of the credential', () => {
  it('is asked under its authority and with its client certificate, and so is the upstream', async () => {
    const parts = partsOf(client, { client_secret: SECRET })
    const { capability } = await grantOf(tokensAt(UPSTREAM_HOST, ports.asking), {}, parts)
    const answer = await get(capability)
    expect(answer.status, answer.text).toBe(200)
    expect(served).toMatchObject([
      { path: '/token', client: 'first' },
      { path: '/v1', client: 'first', authorization: expect.stringMatching(/^Bearer access-token-1-/) },
    ])
  })

  it('sees the new certificate once that was replaced, and no kept connection of the old one', async () => {
    const kind = tokensAt(UPSTREAM_HOST, ports.asking)
    const { capability, credentialId } = await grantOf(kind, {}, partsOf(client, { client_secret: SECRET }))
    await get(capability)
    const rotated = await gw.rest('POST', `/v1/egress/credentials/${credentialId}/rotate`, {
      parts: partsOf(next, { client_secret: SECRET }),
    })
    expect(rotated.status, rotated.text).toBe(200)
    expect((await get(capability)).status).toBe(200)
    expect(served.map((each) => `${each.path} ${each.client}`)).toEqual([
      '/token first',
      '/v1 first',
      '/token second',
      '/v1 second',
    ])
  })

  it('is asked as everybody asks where the settings say so, and that it is not trusted then is told in words', async () => {
    const parts = partsOf(client, { client_secret: SECRET })
    const kind = tokensAt(UPSTREAM_HOST, ports.asking)
    const { capability } = await grantOf(kind, { token_endpoint: false }, parts)
    const before = await gw.balance()
    const { status, body: problem } = await get(capability)
    expect(status).toBe(503)
    expect(problem).toMatchObject({
      code: 'credential_unavailable',
      failed: 'token_exchange',
      mended_by: 'operator',
    })
    expect(problem.detail).toMatch(/signed by no authority that counts.*settings\.tls/)
    expect(await gw.balance()).toBe(before)
    expect(served).toEqual([])
  })

  it('is told in words when it does not take the client certificate', async () => {
    const { capability } = await grantOf(tokensAt(UPSTREAM_HOST, ports.asking), {}, { client_secret: SECRET })
    const { status, body: problem } = await get(capability)
    expect(status).toBe(503)
    expect(problem.code).toBe('credential_unavailable')
    expect(served).toEqual([])
  })
})

describe('a token endpoint elsewhere', () => {
  it('is shown no client certificate, and has a public one', async () => {
    const parts = partsOf(client, { client_secret: SECRET })
    const { capability } = await grantOf(tokensAt(LOGIN_HOST, ports.login), {}, parts)
    expect((await get(capability)).body).toMatchObject({
      code: 'credential_unavailable',
      token_host: LOGIN_HOST,
    })
    expect(served).toEqual([])
  })

  it('is asked with both where the settings say so', async () => {
    const parts = partsOf(client, { client_secret: SECRET })
    const { capability } = await grantOf(tokensAt(LOGIN_HOST, ports.login), { token_endpoint: true }, parts)
    const answer = await get(capability)
    expect(answer.status, answer.text).toBe(200)
    expect(served.map((each) => `${each.path} ${each.client}`)).toEqual(['/token first', '/v1 first'])
  })
})

describe('a credential that signs', () => {
  const hmac = {
    type: 'hmac',
    algorithm: 'sha256',
    encoding: 'hex',
    message: '{method}{target}{body}',
    headers: { authorization: 'Signature {signature}' },
  }

  it.each([
    ['aws_sigv4', { type: 'aws_sigv4', region: 'eu-west-1', service: 's3' }, /^AWS4-HMAC-SHA256 /],
    ['hmac', hmac, /^Signature [0-9a-f]{64}$/],
  ])('shows its client certificate: %s', async (type, kind, authorization) => {
    const keys: Record<string, string> =
      type === 'hmac'
        ? { key: 'a-key-of-the-exchange' }
        : { access_key_id: 'AKIAGATEWAYTEST', secret_access_key: 'wJalrXUtnFEMI-the-secret-of-this-test' }
    const { capability } = await grantOf(kind, {}, partsOf(client, keys))
    expect((await get(capability)).status).toBe(200)
    expect(served).toEqual([
      { path: '/v1', client: 'first', authorization: expect.stringMatching(authorization) },
    ])
  })

  it('does not put the client key into a template', async () => {
    const stored = await gw.rest('POST', '/v1/egress/credentials', {
      provider: 'custom',
      hosts: [UPSTREAM_HOST],
      path_prefixes: ['/'],
      methods: ['GET'],
      parts: partsOf(client, { key: 'a-key-of-the-exchange' }),
      settings: { kind: { ...hmac, headers: { ...hmac.headers, 'x-key': '{part.client_key}' } } },
    })
    expect(stored.status).toBe(400)
    expect(stored.body.detail).toMatch(/client_key, which is not stored/)
  })

  it.each([
    ['signs', hmac, { key: 'a-key-of-the-exchange' }],
    ['mints', undefined, { client_secret: SECRET }],
  ])('keeps its client key out of answers: one that %s', async (_, kind, keys) => {
    const parts = partsOf(client, keys as Record<string, string>)
    const { capability } = await grantOf(kind ?? tokensAt(UPSTREAM_HOST, ports.asking), {}, parts)
    body = () => JSON.stringify({ file: client.key })
    expect((await get(capability)).body.code).toBe('secret_reflected')
  })
})
