import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestGateway, type TestGateway, UPSTREAM_HOST } from '../support/gateway.ts'
import { cites } from '../requirements.ts'

let gw: TestGateway
beforeAll(async () => void (gw = await startTestGateway()))
afterAll(() => gw.close())

const credential = { path_prefixes: ['/v1'], methods: ['GET', 'POST'] }
const narrow = (capability: string, body: Record<string, unknown>) =>
  gw.rest('POST', '/v1/egress/capabilities/narrow', body, capability)

describe('a credential', () => {
  const base = { provider: 'custom', secret: 'upstream-secret-1', hosts: [UPSTREAM_HOST], ...credential }
  const create = (change: Record<string, unknown>) =>
    gw.rest('POST', '/v1/egress/credentials', { ...base, ...change })

  it('shows everything but its secret', async () => {
    const made = await create({ label: 'mine' })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ label: 'mine', header: 'authorization', scheme: 'Bearer', version: 1 })
    const listed = await gw.rest('GET', '/v1/egress/credentials')
    expect(listed.body.credentials[0]).toEqual(made.body)
    expect(made.text + listed.text).not.toContain('upstream-secret-1')
  })

  it.each([
    ['no hosts', { hosts: undefined }, 'input_missing_field'],
    ['no paths', { path_prefixes: undefined }, 'input_missing_field'],
    ['no methods', { methods: undefined }, 'input_missing_field'],
    ['a local host', { hosts: ['printer.local'] }, 'input_invalid'],
    ['a port that is never used', { hosts: ['api.example.com:8443'] }, 'input_invalid'],
    ['a path that no request matches', { path_prefixes: ['/a//b'] }, 'input_invalid'],
    ['a secret of seven characters', { secret: '1234567' }, 'input_invalid'],
    ['a secret with a line break', { secret: 'abcdefgh\nij' }, 'input_invalid'],
    ['a secret that is no Latin-1', { secret: 'abcdefgh€' }, 'input_invalid'],
    ['a secret of 8193 characters', { secret: 'x'.repeat(8193) }, 'input_invalid'],
    ['a header that frames the message', { header: 'transfer-encoding' }, 'input_invalid'],
    ['a header that callers set', { header: 'content-type' }, 'input_invalid'],
    ['a version header that callers set', { header: 'anthropic-version' }, 'input_invalid'],
    ['a condition that callers set', { header: 'if-match' }, 'input_invalid'],
    ['a foreign host for a named provider', { provider: 'github' }, 'input_invalid'],
  ])('is refused with %s', async (_name, change, code) => {
    const answer = await create(change)
    expect([answer.status, answer.body.code]).toEqual([400, code])
    if ('secret' in change) expect(answer.text).not.toContain(change.secret)
  })

  it.each([
    ['of 8 characters', '12345678'],
    ['of 8192 characters', 'x'.repeat(8192)],
    ['with Latin-1 characters', 'pässwörd §1'],
  ])('may have a secret %s', async (_name, secret) => {
    expect((await create({ secret })).status).toBe(201)
  })

  it('brings host, header and scheme when its provider is known', async () => {
    const made = await create({ provider: 'anthropic', hosts: undefined })
    expect(made.body).toMatchObject({ hosts: ['api.anthropic.com'], header: 'x-api-key', scheme: '' })
  })

  it('is sent in the header and with the scheme it was stored with', async () => {
    const { capability } = await gw.grant({ credential: { header: 'x-api-key' } })
    await gw.fetch(capability, { url: gw.url('/') })
    const headers = gw.upstream.requests.at(-1)!.headers
    expect(headers.filter(([, value]) => value.includes('upstream-secret'))).toEqual([
      ['x-api-key', 'upstream-secret-1'],
    ])
  })

  it('takes its capabilities with it when it is revoked, and stays revoked', async () => {
    const { credentialId, capability } = await gw.grant()
    const revoke = () => gw.rest('POST', `/v1/egress/credentials/${credentialId}/revoke`)
    const first = await revoke()
    expect(first.status).toBe(200)
    expect((await revoke()).body.revoked_at).toBe(first.body.revoked_at)
    const refused = await gw.fetch(capability, { url: gw.url('/') })
    expect([refused.status, refused.body.code]).toEqual([401, 'capability_invalid'])
    const issue = await gw.rest('POST', '/v1/egress/capabilities', { credential_id: credentialId })
    expect([issue.status, issue.body.code]).toEqual([409, 'state_conflict'])
    const rotate = await gw.rest('POST', `/v1/egress/credentials/${credentialId}/rotate`, {
      secret: 'another-one',
    })
    expect([rotate.status, rotate.body.code]).toEqual([409, 'state_conflict'])
  })
})

describe('a capability', () => {
  it.each([
    ['method', { url: '/v1/x', method: 'POST' }],
    ['path', { url: '/v1/xy', method: 'GET' }],
    ['path', { url: '/v10', method: 'GET' }],
  ])(
    cites('egress:capability:refused', 'refuses another %s and says that it was the capability'),
    async (what, { url, method }) => {
      const { capability } = await gw.grant({
        credential,
        capability: { path_prefixes: ['/v1/x'], methods: ['GET'] },
      })
      const answer = await gw.fetch(capability, { url: gw.url(url), method })
      expect([answer.status, answer.body.code]).toEqual([403, 'scope_denied'])
      expect(answer.body).toMatchObject({ refused_by: 'capability', scope: { path_prefixes: ['/v1/x'] } })
      expect(answer.body.detail).toContain(what)
    },
  )

  it.each([
    ['hosts', { hosts: ['www.example.com'] }],
    ['path_prefixes', { path_prefixes: ['/'] }],
    ['path_prefixes', { path_prefixes: ['/v10'] }],
    ['methods', { methods: ['GET', 'DELETE'] }],
  ])(
    cites('egress:capability:issue', 'cannot be issued with more %s than its credential'),
    async (field, wanted) => {
      const { credentialId } = await gw.grant({ credential })
      const answer = await gw.rest('POST', '/v1/egress/capabilities', {
        credential_id: credentialId,
        ...wanted,
      })
      expect([answer.status, answer.body.code]).toEqual([403, 'scope_denied'])
      expect(answer.body).toMatchObject({ refused_by: 'credential', scope: credential })
      expect(answer.body.detail).toContain(field)
    },
  )

  it(
    cites(
      'egress:capability:lifetime',
      'lives 15 minutes unless told otherwise, and between a minute and a day',
    ),
    async () => {
      const { credentialId } = await gw.grant({ credential })
      const issue = (ttl_seconds?: number) =>
        gw.rest('POST', '/v1/egress/capabilities', { credential_id: credentialId, ttl_seconds })
      const { created_at, expires_at } = (await issue()).body
      expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(900_000)
      expect((await issue(60)).status).toBe(201)
      expect((await issue(86_400)).status).toBe(201)
      expect((await issue(59)).status).toBe(400)
      expect((await issue(86_401)).status).toBe(400)
    },
  )

  it(
    cites(
      'egress:capability:narrow',
      'can be narrowed by its holder, never widened, and never outlives its parent',
    ),
    async () => {
      const { capability, capabilityId } = await gw.grant({ credential, capability: { ttl_seconds: 120 } })
      const parent = (await gw.rest('GET', '/v1/egress/capabilities')).body.capabilities[0]
      const child = await narrow(capability, {
        path_prefixes: ['/v1/x'],
        methods: ['GET'],
        ttl_seconds: 3600,
      })
      expect(child.status).toBe(201)
      expect(child.body).toMatchObject({
        parent_id: capabilityId,
        path_prefixes: ['/v1/x'],
        methods: ['GET'],
      })
      expect(child.body.expires_at).toBe(parent.expires_at)

      expect((await gw.fetch(child.body.capability, { url: gw.url('/v1/x/y') })).status).toBe(200)
      const outside = await gw.fetch(child.body.capability, { url: gw.url('/v1/z') })
      expect(outside.body).toMatchObject({ code: 'scope_denied', refused_by: 'capability' })
      const wider = await narrow(child.body.capability, { path_prefixes: ['/v1'] })
      expect([wider.status, wider.body.refused_by]).toEqual([403, 'capability'])
    },
  )

  it('can be narrowed fifteen times over and not once more', async () => {
    let { capability } = await gw.grant({ credential })
    for (let i = 0; i < 15; i++) capability = (await narrow(capability, {})).body.capability
    expect((await gw.fetch(capability, { url: gw.url('/v1/x') })).status).toBe(200)
    const deeper = await narrow(capability, {})
    expect([deeper.status, deeper.body.code]).toEqual([409, 'state_conflict'])
  })

  it(
    cites('egress:capability:revoke', 'ends with everything narrowed from it when it is revoked'),
    async () => {
      const { capability, capabilityId } = await gw.grant({ credential })
      const child = (await narrow(capability, {})).body.capability
      const grandchild = (await narrow(child, {})).body.capability
      const revoke = () => gw.rest('POST', `/v1/egress/capabilities/${capabilityId}/revoke`)
      expect((await revoke()).body).toEqual({ capability_id: capabilityId, revoked: 3 })
      expect((await revoke()).body.revoked).toBe(0)
      for (const token of [capability, child, grandchild])
        expect((await gw.fetch(token, { url: gw.url('/v1/x') })).body.code).toBe('capability_invalid')
    },
  )

  it('is of no use where a service key is asked for, and a service key not where a capability is', async () => {
    const { capability } = await gw.grant()
    const store = await gw.rest('GET', '/v1/egress/credentials', undefined, capability)
    expect([store.status, store.body.code]).toEqual([401, 'key_required'])
    const answer = await gw.fetch(gw.operatorKey, { url: gw.url('/') })
    expect([answer.status, answer.body.code]).toEqual([401, 'capability_required'])
  })
})

describe('the operator’s policy', () => {
  const write = async (policy: unknown) => {
    const directory = join(gw.dataDir, 'data')
    await mkdir(directory, { recursive: true })
    await writeFile(join(directory, 'egress-policy.json'), JSON.stringify(policy))
  }

  it('stops a host, and everything, without a restart and without a charge', async () => {
    const { capability } = await gw.grant()
    const get = () => gw.fetch(capability, { url: gw.url('/') })
    const code = async () => (await get()).body.code
    await write({ denied_hosts: ['example.com'], paused: true })
    await expect.poll(code).toBe('egress_paused')
    const paused = await get()
    expect([paused.status, paused.headers.get('retry-after')]).toEqual([503, '60'])
    const before = await gw.balance()
    await write({ paused: 'what' })
    await expect.poll(async () => (await get(), gw.log())).toContain('egress-policy')
    expect(await code()).toBe('egress_paused')
    await write({ denied_hosts: ['example.com'] })
    await expect.poll(code).toBe('target_blocked')
    expect((await get()).status).toBe(403)
    expect(await gw.balance()).toBe(before)
    await write({})
    await expect.poll(async () => (await get()).status).toBe(200)
  })
})
