// An authority and a client certificate of a credential, against real servers that ask for one.
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createTestCa, type Leaf, type TestCa } from '../support/ca.ts'
import { startTestGateway, type TestGateway, UPSTREAM_HOST } from '../support/gateway.ts'

interface Served {
  readonly path: string
  readonly client: string | undefined
  readonly authorization: string | undefined
  readonly connection: TLSSocket
}

let publicCa: TestCa
let ownCa: TestCa
let clients: Readonly<Record<'first' | 'second' | 'stranger', Leaf>>
let gw: TestGateway
let served: Served[] = []
const servers: Server[] = []

/** @param options of the server; where it has `ca`, clients need a certificate of that */
async function serve(leaf: Leaf, options: { ca?: string; maxVersion?: 'TLSv1.2' } = {}): Promise<number> {
  const server = createServer(
    { ...leaf, ...options, requestCert: options.ca !== undefined, rejectUnauthorized: true },
    (req, res) => {
      const connection = req.socket as TLSSocket
      const { subject } = connection.getPeerCertificate() as { subject?: { CN?: string } }
      served.push({
        path: req.url ?? '',
        client: subject?.CN,
        authorization: req.headers.authorization,
        connection,
      })
      res.setHeader('content-type', 'application/json').end('{"ok":true}')
    },
  )
  server.on('tlsClientError', () => {})
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

let ports: Readonly<Record<'ours' | 'asking' | 'asking12', number>>
beforeAll(async () => {
  ;[publicCa, ownCa] = await Promise.all([createTestCa(), createTestCa()])
  const [first, second, stranger] = await Promise.all([
    ownCa.client('first'),
    ownCa.client('second'),
    publicCa.client('stranger'),
  ])
  clients = { first, second, stranger }
  const leaf = await ownCa.leaf(UPSTREAM_HOST)
  ports = {
    ours: await serve(leaf),
    asking: await serve(leaf, { ca: ownCa.pem }),
    asking12: await serve(leaf, { ca: ownCa.pem, maxVersion: 'TLSv1.2' }),
  }
  gw = await startTestGateway({
    ports: Object.values(ports),
    // A server of this process tells of a certificate when it has its turn.
    times: { certificateVerdictMs: 30_000 },
  })
})
afterAll(async () => {
  await gw.close()
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
})
beforeEach(() => void (served = []))

const get = (port: number, path = '/v1') => ({
  method: 'GET',
  url: `https://${UPSTREAM_HOST}:${port}${path}`,
})
const withClient = ({ cert, key }: Leaf, more: Record<string, string> = {}) => ({
  secret: undefined,
  parts: { client_certificate: cert, client_key: key, ...more },
  settings: { tls: { ca: ownCa.pem } },
})

describe("an authority of one's own", () => {
  it('is trusted by the credential that has it, and by no other', async () => {
    const own = await gw.grant({ credential: { settings: { tls: { ca: ownCa.pem } } } })
    const plain = await gw.grant()
    expect((await gw.fetch(own.capability, get(ports.ours))).status).toBe(200)
    const before = await gw.balance()
    const refused = await gw.fetch(plain.capability, get(ports.ours))
    expect(refused.status).toBe(503)
    expect(refused.body).toMatchObject({ code: 'upstream_unreachable' })
    expect(refused.body.detail).toMatch(/signed by no authority that counts/)
    expect(await gw.balance()).toBe(before)
    expect(served).toHaveLength(1)
  })

  it('is the only one that counts for its credential', async () => {
    const { capability } = await gw.grant({ credential: { settings: { tls: { ca: ownCa.pem } } } })
    const answer = await gw.fetch(capability, { method: 'GET', url: gw.url('/v1') })
    expect(answer.status).toBe(503)
    expect(gw.upstream.requests).toHaveLength(0)
  })
})

describe('an authority below another one', () => {
  it('counts by itself: what another of the same root signed is not trusted', async () => {
    const [mine, other] = await Promise.all([ownCa.below(), ownCa.below()])
    const own = await Promise.all([mine, other].map(async ({ leaf }) => serve(await leaf(UPSTREAM_HOST))))
    const below = await startTestGateway({ ports: own })
    try {
      const { capability } = await below.grant({ credential: { settings: { tls: { ca: mine.pem } } } })
      const statuses = []
      for (const port of own) statuses.push((await below.fetch(capability, get(port))).status)
      expect(statuses).toEqual([200, 503])
    } finally {
      await below.close()
    }
  })
})

describe('a client certificate', () => {
  it('is all that a credential may be made of', async () => {
    const { capability, credentialId } = await gw.grant({ credential: withClient(clients.first) })
    const answer = await gw.fetch(capability, get(ports.asking))
    expect(answer.status, answer.text).toBe(200)
    expect(served).toMatchObject([{ client: 'first', authorization: undefined }])
    const list = (await gw.rest('GET', '/v1/egress/credentials')).text
    expect(list).toContain(credentialId)
    expect(list + gw.log()).not.toContain(clients.first.key.split('\n')[1])
  })

  it('goes beside a token', async () => {
    const { capability } = await gw.grant({
      credential: withClient(clients.first, { secret: 'upstream-secret-1' }),
    })
    expect((await gw.fetch(capability, get(ports.asking))).status).toBe(200)
    expect(served).toMatchObject([{ client: 'first', authorization: 'Bearer upstream-secret-1' }])
  })

  it('is on connections of its credential alone', async () => {
    const [first, second] = [
      await gw.grant({ credential: withClient(clients.first) }),
      await gw.grant({ credential: withClient(clients.second) }),
    ]
    for (const { capability } of [first, second, first, second])
      expect((await gw.fetch(capability, get(ports.asking))).status).toBe(200)
    expect(served.map(({ client }) => client)).toEqual(['first', 'second', 'first', 'second'])
    expect(new Set(served.map(({ connection }) => connection)).size).toBe(2)
  })

  it('is not used any more, on kept connections neither, once it was replaced', async () => {
    const { capability, credentialId } = await gw.grant({ credential: withClient(clients.first) })
    expect((await gw.fetch(capability, get(ports.asking))).status).toBe(200)
    const { parts } = withClient(clients.second)
    const rotated = await gw.rest('POST', `/v1/egress/credentials/${credentialId}/rotate`, { parts })
    expect(rotated.status, rotated.text).toBe(200)
    expect((await gw.fetch(capability, get(ports.asking))).status).toBe(200)
    expect(served.map(({ client }) => client)).toEqual(['first', 'second'])
  })

  it.each(['asking', 'asking12'] as const)(
    'that the server does not take is told in words, and nothing is charged: %s',
    async (server) => {
      const { capability } = await gw.grant({ credential: withClient(clients.stranger) })
      const without = await gw.grant({ credential: { settings: { tls: { ca: ownCa.pem } } } })
      const before = await gw.balance()
      for (const held of [capability, without.capability])
        for (const method of ['GET', 'POST']) {
          const answer = await gw.fetch(held, { ...get(ports[server]), method })
          expect(answer.status, answer.text).toBe(503)
          expect(answer.body).toMatchObject({ code: 'upstream_unreachable' })
          expect(answer.body.detail).toMatch(/not take the client certificate/)
        }
      expect(await gw.balance()).toBe(before)
      expect(served).toHaveLength(0)
    },
  )

  it('is refused when it is stored with a key that is not its own, in words', async () => {
    const answer = await gw.rest('POST', '/v1/egress/credentials', {
      provider: 'custom',
      hosts: [UPSTREAM_HOST],
      path_prefixes: ['/'],
      methods: ['GET'],
      ...withClient({ cert: clients.first.cert, key: clients.second.key }),
    })
    expect(answer.status).toBe(400)
    expect(answer.body.detail).toMatch(
      /client_key: this is not the key of the client certificate \(CN=first\)/,
    )
    expect(answer.text).not.toContain(clients.second.key.split('\n')[1])
  })

  it('whose key comes back in an answer is withheld', async () => {
    const { capability } = await gw.grant({ credential: { ...withClient(clients.first), settings: {} } })
    gw.upstream.respond((_request, res) => res.end(JSON.stringify({ key: clients.first.key })))
    const answer = await gw.fetch(capability, { method: 'GET', url: gw.url('/v1') })
    expect(answer.status).toBe(502)
    expect(answer.body).toMatchObject({ code: 'secret_reflected' })
  })
})
