// A thief with yesterday's backup: payments that were made after it are spent on their chain, and one that was under way in it is decided there.
import { cp, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { requirementsOf, signPayment, startTestChain, type TestChain, toHeader } from '../support/chain.ts'
import { runCli } from '../support/cli.ts'
import { createWorld, type World } from '../support/gateway.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { post, PRICE } from '../support/paid-tools.ts'
import { queryOf } from '../support/store.ts'

const PATH = '/v1/tools/web.fetch/testnet'
const PAYER_USDC = 1_000_000_000n
const KEY_FILES = ['authority.jwk', 'signing.jwk', 'derivation.jwk']

let chain: TestChain
let world: World
let gateway: GatewayProcess
beforeAll(async () => {
  chain = await startTestChain(84532)
  world = await createWorld({ env: chain.env })
  gateway = await startGatewayProcess(world)
})
afterAll(async () => {
  await gateway?.stop()
  await world?.close()
  await chain?.close()
})

const sign = async (at: number) =>
  toHeader(await signPayment({ account: chain.payers[at]!, requirements: requirementsOf(chain) }))
const buy = (payment: string, path: string) =>
  post(gateway.baseUrl + PATH, { url: world.url(path) }, { 'payment-signature': payment })
const spent = async (at: number) => PAYER_USDC - (await chain.usdcOf(chain.payers[at]!.address))
const fetched = (path: string) => world.upstream.requests.filter(({ target }) => target === path)

it('buys nothing a second time after a restore, whether the backup knew of the payment or not', async () => {
  let deliver = () => {}
  const isDelivered = new Promise<void>((resolve) => (deliver = resolve))
  world.upstream.respond(async (request, res) => {
    if (request.target === '/slow') await isDelivered
    res.writeHead(200, { 'content-type': 'text/plain' }).end(`page ${request.target}`)
  })
  const [before, during, after] = [await sign(0), await sign(1), await sign(2)]
  expect((await buy(before, '/before')).status).toBe(200)
  const slow = buy(during, '/slow')
  while (fetched('/slow').length === 0) await new Promise((resolve) => setTimeout(resolve, 20))

  const file = join(world.dataDir, 'yesterday.gz')
  expect((await runCli(['backup', '--out', file], world.env)).code).toBe(0)
  deliver()
  expect((await slow).status).toBe(200)
  expect((await buy(after, '/after')).status).toBe(200)
  await gateway.stop()

  const dataDir = join(world.dataDir, 'restored')
  await mkdir(dataDir, { mode: 0o700 })
  for (const name of KEY_FILES) await cp(join(world.env['GATEWAY_DATA_DIR']!, name), join(dataDir, name))
  const env = { ...world.env, GATEWAY_DATA_DIR: dataDir }
  const restored = await runCli(['restore', file], env)
  expect([restored.code, restored.stdout]).toEqual([0, expect.stringContaining('1 payments under way')])
  gateway = await startGatewayProcess({ ...world, env })

  // The chain says what became of the one that was under way.
  const query = queryOf({ dataDir, databaseUrl: undefined })
  const states = async () =>
    (await query('SELECT state FROM payment_claims ORDER BY id')).map(({ state }) => state)
  while ((await states()).includes('unknown') || (await states()).includes('submitted'))
    await new Promise((resolve) => setTimeout(resolve, 50))
  expect(await states()).toEqual(['settled', 'settled'])

  const answers = await Promise.all([buy(before, '/before'), buy(during, '/slow'), buy(after, '/after')])
  expect(answers.map(({ status, body }) => [status, body.code])).toEqual([
    [409, 'payment_claimed'],
    [409, 'payment_claimed'],
    [402, 'payment_rejected'],
  ])
  expect(JSON.stringify(answers[2]!.body)).toContain('used or canceled on chain')
  for (const [at, path] of ['/before', '/slow', '/after'].entries()) {
    expect(await spent(at)).toBe(PRICE)
    expect(fetched(path)).toHaveLength(1)
  }
})
