// An operator's private upstream, end to end: the product as it is started, the command line, a server on 127.0.0.1 with an
// authority of its own that asks for a client certificate.
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestCa, type Leaf } from '../support/ca.ts'
import { type GatewayProcess, runCli, startGatewayProcess } from '../support/cli.ts'
import { createClient, createWorld, UPSTREAM_HOST, type World } from '../support/gateway.ts'

let world: World
let gateway: GatewayProcess
let server: Server
let env: Record<string, string>
let port: number
let first: Leaf
let second: Leaf
const seen: (readonly [client: string | undefined, authorization: string | undefined])[] = []

beforeAll(async () => {
  const ca = await createTestCa()
  ;[first, second] = await Promise.all([ca.client('first'), ca.client('second')])
  const leaf = await ca.leaf(UPSTREAM_HOST)
  server = createServer({ ...leaf, ca: ca.pem, requestCert: true, rejectUnauthorized: true }, (req, res) => {
    const { subject } = (req.socket as TLSSocket).getPeerCertificate() as { subject?: { CN?: string } }
    seen.push([subject?.CN, req.headers.authorization])
    res.end('{}')
  })
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
  world = await createWorld({ ports: [port], env: { GATEWAY_UNSAFE_ALLOW_PRIVATE_CIDRS: '127.0.0.0/8' } })
  env = { ...world.env }
  writeFileSync(join(world.dataDir, 'ca.pem'), ca.pem)
  for (const [name, { cert, key }] of Object.entries({ first, second })) {
    writeFileSync(join(world.dataDir, `${name}.pem`), cert)
    writeFileSync(join(world.dataDir, `${name}.key`), key)
  }
  gateway = startGatewayProcess(env)
  await gateway.listening
})
afterAll(async () => {
  gateway.kill('SIGTERM')
  await gateway.ended
  server.closeAllConnections()
  server.close()
  await world.close()
})

const file = (name: string) => join(world.dataDir, name)
const clientFiles = (name: string) => [
  '--client-certificate-file',
  file(`${name}.pem`),
  '--client-key-file',
  file(`${name}.key`),
]
const add = (args: readonly string[], secret?: string) =>
  runCli(
    ['credentials', 'add', '--provider', 'custom', '--host', UPSTREAM_HOST, '--json', ...args],
    env,
    secret,
  )

it('is reached with the credential that was made for it, from the command line to the server', async () => {
  const target = `${UPSTREAM_HOST}:${port}=127.0.0.1/32`
  const reach = ['--unsafe-private-target', target, '--ca-file', file('ca.pem')]
  const stored = await add([...reach, ...clientFiles('first')], 'upstream-secret-1')
  expect(stored.code, stored.stderr).toBe(0)
  const { credential_id: id, settings } = JSON.parse(stored.stdout)
  expect(settings).toMatchObject({
    parts: { client_certificate: 'public', client_key: 'secret', secret: 'secret' },
    unsafe_private_targets: [{ host: UPSTREAM_HOST, port, cidr: '127.0.0.1/32' }],
  })
  const client = createClient(await gateway.listening, world)
  const { capability } = (await client.rest('POST', '/v1/egress/capabilities', { credential_id: id })).body
  const get = { method: 'GET', url: `https://${UPSTREAM_HOST}:${port}/v1` }
  expect((await client.fetch(capability, get)).status).toBe(200)

  const rotated = await runCli(
    ['credentials', 'rotate', id, '--json', ...clientFiles('second')],
    env,
    'upstream-secret-2',
  )
  expect(rotated.code, rotated.stderr).toBe(0)
  expect((await client.fetch(capability, get)).status).toBe(200)
  expect(seen).toEqual([
    ['first', 'Bearer upstream-secret-1'],
    ['second', 'Bearer upstream-secret-2'],
  ])

  const alone = await add([...reach, ...clientFiles('first'), '--no-secret'])
  expect(alone.code, alone.stderr).toBe(0)
  const issued = await client.rest('POST', '/v1/egress/capabilities', {
    credential_id: JSON.parse(alone.stdout).credential_id,
  })
  expect((await client.fetch(issued.body.capability, get)).status).toBe(200)
  expect(seen.at(-1)).toEqual(['first', undefined])

  const plain = await add(['--ca-file', file('ca.pem'), ...clientFiles('first'), '--no-secret'])
  const other = await client.rest('POST', '/v1/egress/capabilities', {
    credential_id: JSON.parse(plain.stdout).credential_id,
  })
  const refused = await client.fetch(other.body.capability, get)
  expect(refused.body).toMatchObject({ code: 'target_blocked' })
  const preflight = await client.rest('POST', '/v1/preflight', { url: get.url }, '')
  expect(preflight.text).toContain('target_blocked')
  expect(seen).toHaveLength(3)
  const log = gateway.stdout() + gateway.stderr()
  for (const { key } of [first, second]) expect(log).not.toContain(key.split('\n')[1])
})

it('is not stored with what cannot work, and the mistake is named', async () => {
  const mixed = ['--client-certificate-file', file('first.pem'), '--client-key-file', file('second.key')]
  expect((await add([...mixed, '--no-secret'])).stderr).toMatch(
    /not the key of the client certificate \(CN=first\)/,
  )
  expect((await add(['--client-key-file', file('first.key')])).stderr).toMatch(
    /certificate goes with its key/,
  )
  expect((await add(['--no-secret'])).stderr).toMatch(
    /--no-secret is for credentials with a client certificate/,
  )
  expect((await add(['--ca-file', file('first.pem')], 'upstream-secret-1')).stderr).toMatch(
    /CN=first is no certificate authority/,
  )
  expect((await add(['--unsafe-private-target', '10.0.0.0/8'], 'upstream-secret-1')).stderr).toMatch(
    /host:port=range/,
  )
  expect(
    (await add(['--unsafe-private-target', `${UPSTREAM_HOST}:${port}=10.0.0.0/8`], 'upstream-secret-1'))
      .stderr,
  ).toMatch(/not within GATEWAY_UNSAFE_ALLOW_PRIVATE_CIDRS \(127\.0\.0\.0\/8\)/)
})
