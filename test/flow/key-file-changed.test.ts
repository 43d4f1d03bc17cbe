// The key file of a running gateway is replaced, damaged or taken away: what its callers, its probe and its log say.
import { chmod, copyFile, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createWorld, startTestGateway, type TestGateway, type World } from '../support/gateway.ts'

let world: World
let gw: TestGateway
let file: string
beforeAll(async () => {
  world = await createWorld({ env: { GATEWAY_SERVICE_KEY_CREDITS: '100' } })
  gw = await startTestGateway({ world })
  file = join(world.dataDir, 'data', 'authority.jwk')
})
afterAll(async () => {
  await gw.close()
  await world.close()
})

const store = () =>
  gw.rest('POST', '/v1/egress/credentials', {
    provider: 'custom',
    label: 'x',
    secret: 'a-secret-of-a-new-one',
    hosts: ['api.example.com'],
    path_prefixes: ['/'],
    methods: ['GET'],
  })
const readiness = async () => {
  const { status, body } = await gw.rest('GET', '/readyz', undefined, '')
  const named = body.degraded.filter(({ part }: { part: string }) => part === 'authority')
  return { status, failing: body.failing, degraded: named.length }
}
const WELL = { status: 200, failing: [], degraded: 0 }
const linesOf = (text: string) =>
  gw
    .log()
    .split('\n')
    .filter((line) => line.includes('"level":50') && line.includes(text))

it.each([
  ['is replaced by that of before a rotation', (old: string) => writeFile(file, old), 'in use'],
  ['is damaged', () => writeFile(file, '{"keys":['), 'is not a private P-256 JWK'],
  ['is taken away', () => rm(file), 'is gone'],
  ['may be read by others', () => chmod(file, 0o644), 'can be read by other users'],
])(
  'where it %s, nothing is lost and nothing is stored, and the log names it once',
  async (_, change, words) => {
    const { capability } = await gw.grant()
    const old = await readFile(file, 'utf8')
    expect((await gw.rest('POST', '/v1/authority/rotate', {})).body.state).toBe('done')
    const kept = `${file}.kept`
    await copyFile(file, kept)
    expect(await readiness()).toEqual(WELL)

    await change(old)
    for (let i = 0; i < 3; i++) {
      const answer = await store()
      expect([answer.status, answer.body.code]).toEqual([503, 'credential_unavailable'])
      expect(answer.body.detail).toContain('Nothing was stored')
      expect(answer.text).not.toContain(file)
    }
    expect((await gw.fetch(capability, { url: gw.url('/v1/things') })).status).toBe(200)
    // What is stored opens here as everywhere: no balancer takes a replica out for it.
    await expect.poll(readiness).toEqual({ ...WELL, degraded: 1 })
    expect(linesOf(words)).toEqual([expect.stringContaining(file)])
    const rotation = await gw.rest('POST', '/v1/authority/rotate', {})
    expect([rotation.status, rotation.body.code]).toEqual([409, 'state_conflict'])

    await copyFile(kept, file)
    await chmod(file, 0o600)
    expect((await store()).status).toBe(201)
    await expect.poll(readiness).toEqual(WELL)
    expect((await gw.fetch(capability, { url: gw.url('/v1/things') })).status).toBe(200)
  },
)
