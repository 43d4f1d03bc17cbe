// A private range belongs to a credential: what an administrator granted to one host, port and range of one credential, no
// other credential and no tool without one can use. Here 127.0.0.1 is what it is to the product: private.
import { afterEach, describe, expect, it } from 'vitest'
import { createAddressPolicy } from '../../src/egress/address.ts'
import { UPSTREAM_HOST, createWorld, startTestGateway, type TestGateway } from '../support/gateway.ts'

const OTHER_HOST = 'other.example.com'
const publicAddresses = createAddressPolicy([])
const bounds = (cidrs: string) => ({ GATEWAY_UNSAFE_ALLOW_PRIVATE_CIDRS: cidrs })

let gw: TestGateway | undefined
const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  await gw?.close()
  gw = undefined
  for (const close of closers.splice(0).toReversed()) await close()
})

async function start(cidrs = '127.0.0.0/8') {
  const started = await startTestGateway({ env: bounds(cidrs), publicAddresses })
  gw = started
  return started
}
const targetOf = ({ upstream }: TestGateway, changes: object = {}) => ({
  host: UPSTREAM_HOST,
  port: upstream.port,
  cidr: '127.0.0.1/32',
  ...changes,
})
const granting = (...targets: object[]) => ({ settings: { unsafe_private_targets: targets } })
const get = (gateway: TestGateway, path = '/v1/items') => ({ method: 'GET', url: gateway.url(path) })

describe('a private address', () => {
  it('is reached with the credential that it was granted to, and with no other', async () => {
    const gateway = await start()
    const granted = await gateway.grant({ credential: granting(targetOf(gateway)) })
    const plain = await gateway.grant({ secret: 'upstream-secret-2' })

    const answer = await gateway.fetch(granted.capability, get(gateway))
    expect(answer.status, answer.text).toBe(200)
    const before = await gateway.balance()
    // Asked again: the name is remembered now, and the connection is kept.
    const again = await gateway.fetch(plain.capability, get(gateway))
    expect(again.body).toMatchObject({ code: 'target_blocked' })
    expect(await gateway.balance()).toBe(before)
    expect(gateway.upstream.requests).toHaveLength(1)
  })

  it('is reached by nothing that has no credential, whatever the gateway allows to be granted', async () => {
    const gateway = await start()
    const granted = await gateway.grant({ credential: granting(targetOf(gateway)) })
    expect((await gateway.fetch(granted.capability, get(gateway))).status).toBe(200)
    const connections = gateway.upstream.connections

    const preflight = await gateway.rest('POST', '/v1/preflight', { url: gateway.url('/admin') }, '')
    expect(preflight.text).toContain('target_blocked')
    const edge = await gateway.rest('POST', '/v1/edge/check', {
      host: `${UPSTREAM_HOST}:${gateway.upstream.port}`,
    })
    expect(edge.body.reachable).toEqual({ ok: false, reason: 'loopback' })
    expect(gateway.upstream.connections).toBe(connections)
  })

  it('stays closed on another port, outside of the range and under another name', async () => {
    const gateway = await start()
    gateway.dns.set(OTHER_HOST, { A: ['127.0.0.1'], ttl: 0 })
    const before = await gateway.balance()
    for (const changes of [{ port: 443 }, { cidr: '127.0.0.2/32' }, { host: OTHER_HOST }]) {
      const { capability } = await gateway.grant({
        credential: { hosts: [UPSTREAM_HOST, OTHER_HOST], ...granting(targetOf(gateway, changes)) },
      })
      expect((await gateway.fetch(capability, get(gateway))).body).toMatchObject({ code: 'target_blocked' })
    }
    expect(await gateway.balance()).toBe(before)
    expect(gateway.upstream.connections).toBe(0)
  })

  it('stays closed where the name leads to a granted address and to another private one', async () => {
    const gateway = await start()
    const { capability } = await gateway.grant({ credential: granting(targetOf(gateway)) })
    gateway.dns.set(UPSTREAM_HOST, { A: ['127.0.0.1', '10.1.2.3'], ttl: 0 })
    expect((await gateway.fetch(capability, get(gateway))).body).toMatchObject({ code: 'target_blocked' })
    expect(gateway.upstream.connections).toBe(0)
  })

  it('closes at the next start that bounds grants more narrowly', async () => {
    const world = await createWorld({ env: bounds('127.0.0.0/8') })
    closers.push(() => world.close())
    let gateway = await startTestGateway({ world, publicAddresses })
    const { capability } = await gateway.grant({
      credential: granting({ host: UPSTREAM_HOST, port: world.upstream.port, cidr: '127.0.0.0/30' }),
    })
    expect((await gateway.fetch(capability, get(gateway))).status).toBe(200)
    await gateway.close()

    const narrower = { ...world, env: { ...world.env, ...bounds('127.0.0.2/32') } }
    gateway = await startTestGateway({ world: narrower, publicAddresses })
    closers.push(() => gateway.close())
    expect((await gateway.fetch(capability, get(gateway))).body).toMatchObject({ code: 'target_blocked' })
    expect(gateway.log()).toContain('beyond_bound')
    expect(world.upstream.requests).toHaveLength(1)
  })

  it('is on a connection of the credential alone', async () => {
    const gateway = await start()
    const first = await gateway.grant({ credential: granting(targetOf(gateway)) })
    const second = await gateway.grant({ credential: granting(targetOf(gateway)) })
    const round = async () => {
      for (const [{ capability }, path] of [
        [first, '/first'],
        [second, '/second'],
        [first, '/first'],
      ] as const)
        expect((await gateway.fetch(capability, get(gateway, path))).status).toBe(200)
      return gateway.upstream.requests.slice(-3).map(({ connection }) => connection)
    }
    // Kept for four seconds, which one round may take on a busy machine: the next finds a connection, then.
    let [before, between, after] = await round()
    for (let rounds = 1; before !== after && rounds < 10; rounds++) [before, between, after] = await round()
    expect(after).toBe(before)
    expect(between).not.toBe(before)
    const usersOf = (connection: number) =>
      gateway.upstream.requests
        .filter((request) => request.connection === connection)
        .map(({ target }) => target)
    for (const { connection } of gateway.upstream.requests)
      expect(new Set(usersOf(connection)).size, `connection ${connection}`).toBe(1)
  })
})

describe('a private target', () => {
  it('is granted by an administrator alone', async () => {
    const gateway = await start()
    const other = (await gateway.rest('POST', '/v1/keys', { account: 'new', name: 'team-b' })).body
    const body = {
      provider: 'custom',
      secret: 'upstream-secret-1',
      hosts: [UPSTREAM_HOST],
      path_prefixes: ['/'],
      methods: ['GET'],
      ...granting(targetOf(gateway)),
    }
    const refused = await gateway.rest('POST', '/v1/egress/credentials', body, other.key)
    expect(refused.status).toBe(403)
    expect(refused.body).toMatchObject({ code: 'admin_required' })
    expect(refused.body.detail).toMatch(/administrator/)
    expect(
      (await gateway.rest('GET', '/v1/egress/credentials', undefined, other.key)).body.credentials,
    ).toEqual([])
  })

  it('is shown in the list and logged when it is granted, without the secret', async () => {
    const gateway = await start()
    const { credentialId } = await gateway.grant({ credential: granting(targetOf(gateway)) })
    const list = (await gateway.rest('GET', '/v1/egress/credentials')).body.credentials
    expect(list).toMatchObject([
      { credential_id: credentialId, settings: { unsafe_private_targets: [targetOf(gateway)] } },
    ])
    const line = gateway
      .log()
      .split('\n')
      .find((text) => text.includes('private targets'))
    expect(JSON.parse(line ?? '{}')).toMatchObject({
      credential_id: credentialId,
      private_targets: [`${UPSTREAM_HOST}:${gateway.upstream.port}=127.0.0.1/32`],
    })
    expect(gateway.log()).not.toContain('upstream-secret-1')
  })

  it('survives that the secret is replaced', async () => {
    const gateway = await start()
    const { credentialId, capability } = await gateway.grant({ credential: granting(targetOf(gateway)) })
    const rotated = await gateway.rest('POST', `/v1/egress/credentials/${credentialId}/rotate`, {
      secret: 'upstream-secret-2',
    })
    expect(rotated.status, rotated.text).toBe(200)
    expect((await gateway.fetch(capability, get(gateway))).status).toBe(200)
  })
})

it('reaches a private server that only one of two accounts was granted, on kept connections too', async () => {
  const gateway = await start()
  const mine = await gateway.grant({ credential: granting(targetOf(gateway)) })
  const team = (await gateway.rest('POST', '/v1/keys', { account: 'new', name: 'team-b' })).body
  const stored = await gateway.rest(
    'POST',
    '/v1/egress/credentials',
    {
      provider: 'custom',
      secret: 'upstream-secret-3',
      hosts: [UPSTREAM_HOST],
      path_prefixes: ['/'],
      methods: ['GET'],
    },
    team.key,
  )
  const issued = await gateway.rest(
    'POST',
    '/v1/egress/capabilities',
    { credential_id: stored.body.credential_id },
    team.key,
  )
  gateway.dns.set(UPSTREAM_HOST, { A: ['127.0.0.1'], ttl: 60 })
  for (let i = 0; i < 3; i++) {
    expect((await gateway.fetch(mine.capability, get(gateway))).status).toBe(200)
    const refused = await gateway.fetch(issued.body.capability, get(gateway))
    expect(refused.body).toMatchObject({ code: 'target_blocked' })
  }
  expect(gateway.upstream.requests).toHaveLength(3)
})
