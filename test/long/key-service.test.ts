// A gateway whose wrapping key is in a key service: what callers see when it is away, and how an installation moves there.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestCa } from '../support/ca.ts'
import { createWorld, startTestGateway, type TestGateway, type World } from '../support/gateway.ts'
import { type FakeVault, startVault } from '../support/key-services.ts'

const before = getCACertificates('default')
let vault: FakeVault
let world: World
let directory: string
let authority: string
let tokenFile: string
beforeAll(async () => {
  const ca = await createTestCa()
  setDefaultCACertificates([...before, ca.pem])
  directory = await mkdtemp(join(tmpdir(), 'agw-vault-'))
  vault = await startVault(ca)
  world = await createWorld()
  authority = `vault-transit:${vault.keyUrl}`
  tokenFile = join(directory, 'token')
  await writeFile(tokenFile, vault.token, { mode: 0o600 })
})
afterAll(async () => {
  setDefaultCACertificates([...before])
  await Promise.all([vault.close(), world.close()])
  await rm(directory, { recursive: true })
})

async function withGateway<T>(named: string, work: (gw: TestGateway) => Promise<T>): Promise<T> {
  const env = { ...world.env, GATEWAY_AUTHORITY: named, GATEWAY_VAULT_TOKEN_FILE: tokenFile }
  const gw = await startTestGateway({ world: { ...world, env } })
  try {
    return await work(gw)
  } finally {
    await gw.close()
  }
}

/** Begins a rotation and waits for its end, which an answer does for five seconds at most. */
async function rotate(gw: TestGateway) {
  const { body } = await gw.rest('POST', '/v1/authority/rotate', {})
  const newest = async () => (await gw.rest('GET', '/v1/authority/rotation')).body.rotation
  await expect.poll(async () => (await newest()).state).not.toBe('running')
  const ended = await newest()
  expect(ended.rotation_id).toBe(body.rotation_id)
  if (body.state !== 'running') expect(body).toEqual(ended)
  return ended
}

it('moves from its file to a service and rotates there; nothing is lost on the way', async () => {
  const fetchWith = async (gw: TestGateway, capability: string) =>
    (await gw.fetch(capability, { url: gw.url('/v1/things') })).status
  const { capability, credentialId } = await withGateway('file', (gw) => gw.grant())

  // The service alone cannot open what is under the file, and says what to do.
  await expect(withGateway(authority, async () => {})).rejects.toThrow(
    /after the new one \(for the key file: `,file`\)/,
  )

  await withGateway(`${authority},file`, async (gw) => {
    expect(await fetchWith(gw, capability)).toBe(200)
    expect(await rotate(gw)).toMatchObject({
      state: 'done',
      kid: 'vault-transit/transit/agent-gateway:v1',
      retired: [expect.stringMatching(/^[\w-]{43}$/)],
      rewrapped: 1,
    })
  })
  // The file is nothing that was retired: whoever goes back to it, and rotates, is where it was.
  await withGateway(`file,${authority}`, async (gw) => {
    const stored = await gw.grant({ secret: 'a-secret-of-the-way-back' })
    expect(await fetchWith(gw, stored.capability)).toBe(200)
    expect((await gw.rest('POST', `/v1/egress/credentials/${stored.credentialId}/delete`, {})).status).toBe(
      200,
    )
  })
  await withGateway(authority, async (gw) => {
    expect(await fetchWith(gw, capability)).toBe(200)
    vault.rotate()
    expect(await rotate(gw)).toMatchObject({
      kid: 'vault-transit/transit/agent-gateway:v2',
      retired: ['vault-transit/transit/agent-gateway:v1'],
      rewrapped: 1,
    })
    // A version that came into use by itself, because something was stored after the service had rotated its key.
    vault.rotate()
    const { credentialId: other } = await gw.grant()
    expect(await rotate(gw)).toMatchObject({
      kid: 'vault-transit/transit/agent-gateway:v3',
      retired: ['vault-transit/transit/agent-gateway:v2'],
      rewrapped: 1,
    })
    await gw.rest('POST', `/v1/egress/credentials/${other}/delete`, {})
    expect(await rotate(gw)).toMatchObject({
      retired: [],
      rewrapped: 0,
    })
    vault.setMinimum(3)
    const replaced = await gw.rest('POST', `/v1/egress/credentials/${credentialId}/rotate`, {
      secret: 'another-secret-1',
    })
    expect(replaced.body).toMatchObject({ version: 2 })
    expect(await fetchWith(gw, capability)).toBe(200)
    const keys = await gw.rest('GET', '/.well-known/gateway-egress-key.json', undefined, '')
    expect(keys.text).not.toContain('vault-transit')
  })
})

it('refunds a call and says what to do while the service is away, and serves the next one', async () => {
  await withGateway(authority, async (gw) => {
    const { capability } = await gw.grant()
    const balance = await gw.balance()
    vault.setSealed(true)
    const refused = await gw.fetch(capability, { url: gw.url('/v1/things') })
    expect([refused.status, refused.body.code]).toEqual([503, 'credential_unavailable'])
    expect(refused.body.detail).toContain(
      'The key service that guards it does not answer: try again in a moment.',
    )
    expect(refused.body.credits).toEqual({ charged: 0, balance })
    const stored = await gw.rest('POST', '/v1/egress/credentials', {
      provider: 'custom',
      label: 'x',
      secret: 'another-secret-2',
      hosts: ['api.example.com'],
      path_prefixes: ['/'],
      methods: ['GET'],
    })
    expect([stored.status, stored.body.code]).toEqual([503, 'credential_unavailable'])
    expect(stored.body.detail).toContain('Nothing was stored: try again in a moment.')
    vault.setSealed(false)
    expect((await gw.fetch(capability, { url: gw.url('/v1/things') })).status).toBe(200)
    expect(gw.log()).not.toContain(vault.token)
  })
})

it('waits in a rotation until the service opens and seals records again; no credential is given up', async () => {
  await withGateway(authority, async (gw) => {
    const { capability } = await gw.grant()
    vault.rotate()
    for (const verb of ['decrypt', 'encrypt']) {
      vault.deny(verb)
      setTimeout(() => vault.allow(), 500)
      expect(await rotate(gw)).toMatchObject({ state: 'done', credential_ids: [] })
      vault.rotate()
    }
    expect((await gw.fetch(capability, { url: gw.url('/v1/things') })).status).toBe(200)
  })
})

it('replaces no secret whose old one it may not read: upstreams may still show that', async () => {
  await withGateway(authority, async (gw) => {
    const { credentialId } = await gw.grant()
    const replace = () =>
      gw.rest('POST', `/v1/egress/credentials/${credentialId}/rotate`, { secret: 'another-secret-3' })
    vault.deny('decrypt')
    const refused = await replace()
    expect([refused.status, refused.body.code]).toEqual([503, 'credential_unavailable'])
    expect(refused.body.detail).toContain('Nothing was stored: ask the administrator')
    vault.allow()
    expect((await replace()).body).toMatchObject({ version: 2 })
  })
})

it('does not start without permission, and names the service and what to look at', async () => {
  await writeFile(tokenFile, 'hvs.another')
  await expect(withGateway(authority, async () => {})).rejects.toThrow(
    /GATEWAY_AUTHORITY: Vault transit \(.*\) does not let this gateway use the key/,
  )
  await writeFile(tokenFile, vault.token, { mode: 0o600 })
})
