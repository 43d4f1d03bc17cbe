// A thief with yesterday's backup: payments that were made after it are spent on their chain, and one that was under way in it is decided there.
import { cp, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { writeBackup } from '../../src/store/transfer/write-backup.ts'
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
const dataDirOf = (name: string) => join(world.dataDir, name)
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
  // Made here: the fetch that is held has eight seconds, in which a busy machine may not even start the command line.
  const config = { dataDir: world.env['GATEWAY_DATA_DIR']!, databaseUrl: undefined }
  await writeBackup({ config, origin: { gateway: 'test', taken_at: new Date().toISOString() } }, file)
  deliver()
  expect((await slow).status).toBe(200)
  expect((await buy(after, '/after')).status).toBe(200)
  await gateway.stop()

  const dataDir = dataDirOf('restored')
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
  // One look at a time: between two of them a claim goes from one open state to the other.
  const isOpen = (state: unknown) => state === 'submitted' || state === 'pending' || state === 'unknown'
  while ((await states()).some(isOpen)) await new Promise((resolve) => setTimeout(resolve, 50))
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

it('says what a reorganisation of the lost time did: to a payment that the backup knows, and to one that it does not', async () => {
  world.upstream.respond((_request, res) => res.writeHead(200, { 'content-type': 'text/plain' }).end('page'))
  const [known, lost] = [await sign(3), await sign(4)]
  const block = Number(await chain.rpc('eth_blockNumber'))
  const first = await buy(known, '/known')
  expect(first.status).toBe(200)
  const file = join(world.dataDir, 'before-reorganisation.gz')
  expect(
    (await runCli(['backup', '--out', file], { ...world.env, GATEWAY_DATA_DIR: dataDirOf('restored') })).code,
  ).toBe(0)
  expect((await buy(lost, '/lost')).status).toBe(200)
  await gateway.stop()
  await chain.reorg(Number(await chain.rpc('eth_blockNumber')) - block)
  expect([await spent(3), await spent(4)]).toEqual([0n, 0n])

  const dataDir = dataDirOf('reorganised')
  await mkdir(dataDir, { mode: 0o700 })
  for (const name of KEY_FILES) await cp(join(world.env['GATEWAY_DATA_DIR']!, name), join(dataDir, name))
  const env = { ...world.env, GATEWAY_DATA_DIR: dataDir }
  const { code, stdout } = await runCli(['restore', file], env)
  expect(code).toBe(0)
  expect(stdout).toMatch(
    /^- [23] payments were settled in the last 15 minutes before the backup\. .*`payments list --state pending`/m,
  )
  expect(stdout).toMatch(
    /^- Those payments are in no list: neither `payments reconcile` nor `payments refund` finds them\. /m,
  )
  expect(stdout).toMatch(/^- One of them that a reorganisation took back is not missed by anybody here: /m)
  gateway = await startGatewayProcess({ ...world, env })

  // The start finds out about the first, which is open, and buys nothing else meanwhile.
  const query = queryOf({ dataDir, databaseUrl: undefined })
  const reasons = async () =>
    (await query(`SELECT reason FROM payment_claims WHERE state = 'pending'`)).map(({ reason }) => reason)
  while ((await reasons()).length === 0) await new Promise((resolve) => setTimeout(resolve, 50))
  expect(await reasons()).toEqual(['reorganised'])
  expect((await buy(known, '/known')).body.code).not.toBe('payment_rejected')
  expect(fetched('/known')).toHaveLength(1)

  // Nobody misses the second: its signature is good once more.
  expect((await buy(lost, '/lost')).status).toBe(200)
  expect(fetched('/lost')).toHaveLength(2)
  expect(await spent(4)).toBe(PRICE)
})
