// kill -9 of the real server at every step of an exchange for a token, at a provider that replaces refresh tokens with each use. What
// the provider forgot must not be what the gateway remembers; where nobody can know what was lost, it says so.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorld, ENGINES, startTestGateway, type TestGateway, type World } from '../support/gateway.ts'
import { type GatewayProcess, startGatewayProcess, untilUnlocked } from '../support/gateway-process.ts'
import type { ReceivedRequest } from '../support/upstream.ts'

/** `strict` takes everything back when a refresh token comes twice; `lenient` takes the one before, too, as many providers do for a while. */
type Policy = 'strict' | 'lenient'
const POINTS = [
  // The first connection of a call is the one to the token endpoint.
  { fault: 'before_exchange:kill', mayBeLost: false },
  { fault: 'before_connect:kill:1', mayBeLost: false },
  { fault: 'after_request:kill:1', mayBeLost: true },
  { fault: 'after_headers:kill:1', mayBeLost: true },
  { fault: 'after_response:kill:1', mayBeLost: true },
  { fault: 'after_exchange:kill', mayBeLost: true },
  { fault: 'after_token_stored:kill', mayBeLost: false },
] as const
const CASES = POINTS.flatMap((point) =>
  (['strict', 'lenient'] as const).map((policy) => ({ ...point, policy })),
)
type Case = (typeof CASES)[number]

const SECRET = 'client-secret-of-the-test'

/** A token endpoint that remembers, for each family, which refresh token is the current one. */
function startProvider(world: World) {
  const families = new Map<string, { policy: Policy; current: number; revoked: boolean; repeats: number }>()
  const good = new Set<string>()
  const bearerOf = ({ headers }: ReceivedRequest) =>
    headers.find(([name]) => name === 'authorization')?.[1].replace(/^Bearer /, '') ?? ''
  let asked = 0
  world.upstream.respond((request, res) => {
    const reply = (status: number, body: unknown) =>
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (request.target !== '/token') return reply(good.has(bearerOf(request)) ? 200 : 401, { ok: true })
    asked++
    const [name = '', number] =
      new URLSearchParams(request.body.toString()).get('refresh_token')?.split('.') ?? []
    const family = families.get(name)
    if (!family || family.revoked) return reply(400, { error: 'invalid_grant' })
    const isCurrent = Number(number) === family.current
    if (!isCurrent) family.repeats++
    if (!isCurrent && (family.policy === 'strict' || Number(number) !== family.current - 1)) {
      family.revoked = true
      return reply(400, { error: 'invalid_grant' })
    }
    family.current++
    const accessToken = `access-token-${name}-${family.current}`
    good.add(accessToken)
    reply(200, {
      access_token: accessToken,
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: `${name}.${family.current}`,
    })
  })
  return {
    get asked() {
      return asked
    },
    family: (name: string) => families.get(name),
    add(name: string, policy: Policy): string {
      families.set(name, { policy, current: 1, revoked: false, repeats: 0 })
      return `${name}.1`
    },
  }
}

const credentialOf = (world: World, refreshToken: string) => ({
  secret: undefined,
  parts: { refresh_token: refreshToken, client_secret: SECRET },
  settings: {
    kind: { type: 'oauth2_refresh_token', token_url: world.url('/token'), client_id: 'gateway' },
  },
})

describe.each(ENGINES)('kill -9 during an exchange (%s)', (engine) => {
  let world: World
  let survivor: GatewayProcess
  let provider: ReturnType<typeof startProvider>
  const capabilities = new Map<string, string>()
  const labelOf = ({ fault, policy }: Case) => `${fault.replaceAll(/[^a-z0-9]/g, '-')}-${policy}`

  beforeAll(async () => {
    world = await createWorld({ engine, env: { GATEWAY_SERVICE_KEY_CREDITS: '1000' } })
    provider = startProvider(world)
    for (const one of CASES) {
      const gateway = await startGatewayProcess(world, { GATEWAY_FAULT: one.fault })
      const { capability } = await gateway.grant({
        credential: credentialOf(world, provider.add(labelOf(one), one.policy)),
        capability: { ttl_seconds: 86_400 },
      })
      capabilities.set(labelOf(one), capability)
      await expect(gateway.fetch(capability, { url: world.url('/v1') })).rejects.toThrow()
      expect((await gateway.process.ended).signal).toBe('SIGKILL')
      await untilUnlocked(world)
      // What had left the process is given the time to arrive.
      for (
        let tries = 100;
        one.mayBeLost && provider.family(labelOf(one))?.current !== 2 && tries > 0;
        tries--
      )
        await new Promise((resolve) => setTimeout(resolve, 20))
    }
    survivor = await startGatewayProcess(world)
  }, 1_200_000)
  afterAll(async () => {
    await survivor?.stop()
    await world?.close()
  })

  it.concurrent.each(CASES)(
    '$fault, $policy provider: the next call is served, or its operator is told why not',
    async (one) => {
      const { status, body } = await survivor.fetch(capabilities.get(labelOf(one)) ?? '', {
        url: world.url('/v1'),
      })
      const family = provider.family(labelOf(one))
      if (!one.mayBeLost || one.policy === 'lenient') {
        expect([status, body.upstream?.status]).toEqual([200, 200])
        expect(family?.repeats).toBe(one.mayBeLost ? 1 : 0)
        return
      }
      expect(body).toMatchObject({
        code: 'credential_unavailable',
        mended_by: 'operator',
        credits: { charged: 0 },
      })
      expect(body.detail).toContain('An earlier exchange ended without an answer')
    },
  )
})

describe('two gateways on one database', () => {
  let world: World
  let gateways: TestGateway[]
  let clock = 0
  beforeAll(async () => {
    world = await createWorld({ engine: 'postgres', env: { GATEWAY_SERVICE_KEY_CREDITS: '1000' } })
    gateways = [
      await startTestGateway({ world, now: () => Date.now() + clock }),
      await startTestGateway({ world, now: () => Date.now() + clock }),
    ]
  })
  afterAll(async () => {
    await Promise.all(gateways.map((gateway) => gateway.close()))
    await world.close()
  })

  it('make one exchange for 64 calls at once, each time that the token ends, at a provider that takes each refresh token once', async () => {
    const provider = startProvider(world)
    const [one] = gateways
    if (!one) throw new Error('no gateway')
    const { capability } = await one.grant({
      credential: credentialOf(world, provider.add('replicas', 'strict')),
      capability: { ttl_seconds: 86_400 },
    })
    for (const round of [1, 2, 3]) {
      const answers = await Promise.all(
        Array.from({ length: 64 }, (_, i) => gateways[i % 2]?.fetch(capability, { url: world.url('/v1') })),
      )
      expect(answers.map((answer) => answer?.body.upstream?.status)).toEqual(
        Array.from({ length: 64 }, () => 200),
      )
      expect(provider.asked).toBe(round)
      clock += 3_600_000
    }
  })
})
