// A secret with awkward characters goes through everything that can happen to a secret. Afterwards it is looked for, in
// every encoding, in all that the gateway sent, logged and stored. Only the upstream may have received it.
import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { beforeAll, describe, expect, it } from 'vitest'
import { encodingsOf, findSecret } from '../support/encodings.ts'
import { createClient, type Engine, ENGINES, startTestGateway, type TestGateway } from '../support/gateway.ts'
import { storedBytes } from '../support/stored-bytes.ts'
import { READ_PATHS } from '../support/read-paths.ts'
import type { ReceivedRequest } from '../support/upstream.ts'
import { startWiretap, type Wiretap } from '../support/wiretap.ts'

const canary = () => `CANARY_${randomBytes(24).toString('base64')}+/=&"<'>\\%41 ü§_end`

type Respond = (request: ReceivedRequest, res: ServerResponse, credential: string) => void
const echoes: Record<string, Respond> = {
  'in its body': (_request, res, credential) => res.writeHead(200).end(`you sent ${credential}`),
  'as JSON': (request, res) => res.writeHead(200).end(JSON.stringify(request.headers)),
  'in an error page': (_request, res, credential) =>
    res
      .writeHead(401, { 'content-type': 'text/html' })
      .end(`<p>bad key ${encodeURIComponent(credential)}</p>`),
  'in a header': (_request, res, credential) =>
    res.writeHead(302, { location: `https://x.example/?k=${encodeURIComponent(credential)}` }).end(),
  'in the reason phrase': (_request, res, credential) =>
    res.writeHead(400, `bad ${Buffer.from(credential).toString('hex')}`).end(),
  'in a trailer': (_request, res, credential) => {
    res.writeHead(200, { trailer: 'x-echo' }).write('x')
    res.addTrailers({ 'x-echo': Buffer.from(credential).toString('base64') })
    res.end()
  },
  'across chunks': (_request, res, credential) => {
    for (const char of Buffer.from(credential).toString('base64url')) res.write(char)
    res.end()
  },
}

interface Evidence {
  readonly wire: Buffer
  readonly log: string
  readonly stored: Buffer
  readonly upstream: readonly ReceivedRequest[]
}

/** Everything a secret goes through: stored, used, echoed, failed on, replaced, re-wrapped, revoked. */
async function runEverything(
  gw: TestGateway,
  tap: Wiretap,
  secret: string,
  replacement: string,
): Promise<void> {
  const client = createClient(tap.baseUrl, gw)
  const { credentialId, capability } = await client.grant({ secret })
  const get = (path: string, more: Record<string, unknown> = {}) =>
    client.fetch(capability, { url: gw.url(path), ...more })
  const mcp = (name: string, args: Record<string, unknown>) =>
    client.rest('POST', '/mcp', {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: args },
    })

  await get('/plain')
  for (const [name, respond] of Object.entries(echoes)) {
    gw.upstream.respond((request, res) => respond(request, res, secret))
    await get(`/${encodeURIComponent(name)}`, { method: 'POST', body: 'x' })
    await mcp('gateway.egress.fetch', { capability, url: gw.url('/mcp') })
  }
  gw.upstream.respond((_request, res) => res.destroy())
  await get('/reset', { method: 'POST' })
  gw.upstream.respond((_request, res) => res.writeHead(200).end('x'.repeat(100)))
  await get('/large', { max_bytes: 10 })
  await get('/bad', { headers: { cookie: secret } })
  await client.rest('POST', '/v1/egress/credentials', { provider: 'custom', secret, hosts: 'not an array' })
  await client.rest('POST', '/v1/egress/credentials', {
    provider: 'custom',
    label: secret,
    secret: `${secret}\n`,
  })
  await mcp('gateway.egress.credentials.create', { provider: 'custom', secret, unknown: secret })

  await client.rest('POST', `/v1/egress/credentials/${credentialId}/rotate`, { secret: replacement })
  await client.rest('POST', '/v1/authority/rotate', {})
  gw.upstream.respond((request, res) => res.writeHead(200).end(JSON.stringify(request.headers)))
  await get('/after')
  for (const path of READ_PATHS) await client.rest('GET', path)
  await mcp('gateway.egress.credentials.list', {})
  await client.rest('POST', `/v1/egress/credentials/${credentialId}/revoke`, {})
  await get('/revoked')
}

async function gatherEvidence(
  engine: Engine,
  secrets: readonly [string, string],
  options: Parameters<typeof startTestGateway>[0] = {},
): Promise<Evidence> {
  const gw = await startTestGateway({ ...options, engine, env: { GATEWAY_LOG_LEVEL: 'trace' } })
  const tap = await startWiretap(gw.gateway.port)
  try {
    await runEverything(gw, tap, ...secrets)
    return {
      wire: tap.received(),
      log: gw.log(),
      stored: await storedBytes(gw),
      upstream: [...gw.upstream.requests],
    }
  } finally {
    await tap.close()
    await gw.close()
  }
}

describe.each(ENGINES)('a secret (%s)', (engine) => {
  const secrets = [canary(), canary()] as const
  const encodings = secrets.map((secret) => encodingsOf(secret))
  const find = (bytes: Buffer | string) => encodings.flatMap((each) => findSecret(bytes, each))
  let evidence: Evidence
  beforeAll(async () => void (evidence = await gatherEvidence(engine, secrets)))

  it('reaches the upstream, in the one header it was stored for', () => {
    const latin1 = secrets.map((secret) => `Bearer ${secret}`)
    const carried = evidence.upstream.map(({ headers }) =>
      headers.filter(([, value]) => latin1.includes(value)).map(([name]) => name),
    )
    expect(carried.length).toBeGreaterThan(10)
    expect(carried.every((names) => names.length === 1 && names[0] === 'authorization')).toBe(true)
  })

  it('is in nothing that the gateway sent', () => {
    expect(evidence.wire.length).toBeGreaterThan(10_000)
    const wire = evidence.wire.toString('latin1')
    for (const proof of ['secret_reflected', 'structuredContent', 'outcome_ambiguous', 'response_too_large'])
      expect(wire).toContain(proof)
    expect(find(evidence.wire)).toEqual([])
  })

  it('is in no log line, down to trace', () => {
    expect(evidence.log).toContain('secret_reflected')
    expect(find(evidence.log)).toEqual([])
  })

  it('is in no file, no table and no write-ahead log', () => {
    expect(evidence.stored.length).toBeGreaterThan(10_000)
    expect(find(evidence.stored)).toEqual([])
  })
})

describe('the search of this test', () => {
  const secrets = [canary(), canary()] as const
  const encodings = secrets.map((secret) => encodingsOf(secret))
  let evidence: Evidence
  beforeAll(async () => {
    const createLeakGate = () => ({ inspect: async () => ({ ok: true as const }) })
    evidence = await gatherEvidence('sqlite', secrets, { createLeakGate })
  })

  it('finds the secret on the wire when the leak gate is switched off', () => {
    const found = encodings.flatMap((each) => findSecret(evidence.wire, each))
    expect(found.length).toBeGreaterThan(2)
  })

  it('finds every encoding it looks for', () => {
    for (const [name, needle] of encodings[0]!)
      expect(
        findSecret(Buffer.concat([Buffer.from('<'), needle, Buffer.from('>')]), encodings[0]!),
      ).toContain(name)
  })
})
