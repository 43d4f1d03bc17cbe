import { generateKeyPairSync } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createWorld, ENGINES, startTestGateway, type TestGateway, type World } from '../support/gateway.ts'

/** How long an answer waits for the end of its rotation, which goes on by itself after that; less what a timer is early. */
const PATIENCE_MS = 5_000 - 10

describe.each(ENGINES)('rotating the authority (%s)', (engine) => {
  let world: World
  let gw: TestGateway
  beforeEach(async () => {
    world = await createWorld({ engine, env: { GATEWAY_SERVICE_KEY_CREDITS: '10000' } })
    gw = await startTestGateway({ world })
  })
  afterEach(async () => {
    await gw.close()
    await world.close()
  })

  const keyFile = () => join(world.dataDir, 'data', 'authority.jwk')
  const privateKeys = async (): Promise<{ kid: string }[]> =>
    JSON.parse(await readFile(keyFile(), 'utf8')).keys
  const published = async () =>
    (await gw.rest('GET', '/.well-known/gateway-egress-key.json', undefined, '')).body.keys.filter(
      (key: { use: string }) => key.use === 'enc',
    )
  /** Rotates until the end, which the answer may leave to be asked for where it was long in coming, and only there. */
  const rotate = async () => {
    const startedAt = performance.now()
    const answer = await gw.rest('POST', '/v1/authority/rotate', {})
    const isAnswered = answer.body.state !== 'running'
    const isLate = performance.now() - startedAt >= PATIENCE_MS
    const newest = async () => (await gw.rest('GET', '/v1/authority/rotation')).body.rotation
    await expect.poll(async () => (await newest()).state).not.toBe('running')
    expect(isAnswered || isLate).toBe(true)
    return { answer, isAnswered, ended: await newest() }
  }

  it('refuses no request meanwhile and leaves every credential usable under the new key alone', async () => {
    const grants = await Promise.all(
      Array.from({ length: 5 }, (_, i) => gw.grant({ secret: `upstream-secret-${i}` })),
    )
    const [old] = await privateKeys()
    const rotations = { done: false }
    const traffic = grants.map(async ({ capability }, i) => {
      const answers: number[] = []
      do {
        answers.push((await gw.fetch(capability, { url: gw.url(`/${i}`) })).status)
        // Storing goes on too: what was sealed under the old key a moment ago must not be forgotten.
        await gw.grant({ secret: `stored-meanwhile-${i}` })
      } while (!rotations.done)
      return answers
    })
    const rotated = await rotate()
    const again = await rotate()
    rotations.done = true
    const statuses = new Set((await Promise.all(traffic)).flat())
    expect([rotated.answer.status, again.answer.status, [...statuses]]).toEqual([200, 200, [200]])
    for (const { answer, isAnswered, ended } of [rotated, again]) {
      expect(ended.state).toBe('done')
      if (isAnswered) expect(answer.body).toEqual(ended)
    }
    expect(rotated.ended.retired).toEqual([old!.kid])
    expect(rotated.ended.rewrapped).toBeGreaterThanOrEqual(5)

    expect((await privateKeys()).map(({ kid }) => kid)).toEqual([again.ended.kid])
    const wrapping: { kid: string; retired_at: string | null }[] = await published()
    expect(wrapping).toHaveLength(3)
    expect(wrapping.filter(({ retired_at }) => retired_at === null).map(({ kid }) => kid)).toEqual([
      again.ended.kid,
    ])
    const { credentials } = (await gw.rest('GET', '/v1/egress/credentials?limit=100')).body
    expect(credentials.every((each: { version: number }) => each.version === 1)).toBe(true)
    for (const [i, { capability }] of grants.entries()) {
      expect((await gw.fetch(capability, { url: gw.url('/') })).status).toBe(200)
      const sent = gw.upstream.requests.at(-1)!.headers.find(([name]) => name === 'authorization')![1]
      expect(sent).toBe(`Bearer upstream-secret-${i}`)
    }
  })

  it('survives a restart', async () => {
    const { capability } = await gw.grant()
    await gw.rest('POST', '/v1/authority/rotate', {})
    await gw.close()
    gw = await startTestGateway({ world })
    expect((await gw.fetch(capability, { url: gw.url('/') })).status).toBe(200)
  })

  it('fails closed and refunds when the key of one credential is gone from the file', async () => {
    const { capability } = await gw.grant()
    const restartWith = async (keys: readonly object[]) => {
      await gw.close()
      await writeFile(keyFile(), JSON.stringify({ keys }))
      gw = await startTestGateway({ world })
    }
    const newer = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' })
    await restartWith([newer, ...(await privateKeys())])
    await gw.grant()
    await restartWith([newer])
    const before = await gw.balance()
    const answer = await gw.fetch(capability, { url: gw.url('/') })
    expect([answer.status, answer.body.code]).toEqual([503, 'credential_unavailable'])
    expect(answer.body.credits).toEqual({ charged: 0, balance: before })
    expect(gw.upstream.requests).toEqual([])
    const attempt = (await gw.rest('GET', `/v1/egress/attempts/${answer.body.attempt_id}`)).body
    expect(attempt).toMatchObject({ state: 'refunded', outcome: 'credential_unavailable' })

    const { answer: told, isAnswered, ended } = await rotate()
    if (isAnswered) {
      expect([told.status, told.body.code]).toEqual([409, 'state_conflict'])
      expect(told.body.credential_ids).toEqual(ended.credential_ids)
    }
    expect(ended.state).toBe('failed')
    expect(ended.credential_ids).toHaveLength(1)
    expect((await privateKeys()).length).toBe(2)
  })
})
