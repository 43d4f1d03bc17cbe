// kill -9 in the midst of a payout of a thousand sellers, at one point after the other: whoever starts next goes on, and in the end
// everybody was paid once.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/app/config.ts'
import type { FaultPoint } from '../../src/lib/fault-points.ts'
import { startTestChain, type TestChain } from '../support/chain.ts'
import { createWorld, ENGINES, type World } from '../support/gateway.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { marketLedgerFaults } from '../support/market-money.ts'
import { BASE, seedSellers } from '../support/market-payouts.ts'
import { queryOf, times } from '../support/store.ts'

const SELLERS = 1000
const KEY = `0x${0xeefd_0000_0012n.toString(16).padStart(64, '0')}` as const
const KILLS: readonly `${FaultPoint}:kill${'' | `:${number}`}`[] = [
  'after_payout_recorded:kill:5',
  'before_broadcast:kill:9',
  'after_broadcast:kill:3',
  'after_mined:kill:7',
  'after_payout_page:kill:2',
  'after_payout_recorded:kill',
]
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

describe.each(ENGINES)(`payouts of ${SELLERS} sellers (%s)`, (engine) => {
  let chain: TestChain
  let world: World
  const sellers = times(SELLERS, (i) => ({
    id: `seller-${String(i).padStart(4, '0')}`,
    payoutAddress: `0x${(0xcafe_0000_0000n + BigInt(i)).toString(16).padStart(40, '0')}`,
    sales: 1,
  }))
  beforeAll(async () => {
    chain = await startTestChain(8453)
    const created = await createWorld({ engine, env: chain.env })
    const file = join(created.dataDir, 'payout.key')
    await writeFile(file, KEY, { mode: 0o600 })
    world = { ...created, env: { ...created.env, GATEWAY_PAYOUT_KEY_FILE: file, GATEWAY_LOG_LEVEL: 'error' } }
    // More than is owed: what is in a block and not yet in the store counts twice for a moment, and would keep somebody waiting.
    await chain.fund(privateKeyToAccount(KEY).address, BigInt(SELLERS) * 2000n)
    await seedSellers(world, sellers)
  }, 1_200_000)
  afterAll(async () => {
    await chain?.close()
    await world?.close()
  })

  const run = (gateway: GatewayProcess) =>
    gateway.rest('POST', '/v1/marketplace/payouts/run', { minimum_atomic: 970 }, world.operatorKey)

  it('pay everybody once, whatever is killed when', async () => {
    const query = queryOf(loadConfig(world.env))
    for (const fault of KILLS) {
      const victim = await startGatewayProcess(world, { GATEWAY_FAULT: fault })
      // Where other replicas may be alive its lease holds for a while; the lease saves work and nothing else.
      if (engine === 'postgres') await forgetLease()
      await run(victim).catch(() => undefined)
      expect((await victim.process.ended).signal, fault).toBe('SIGKILL')
    }
    if (engine === 'postgres') await forgetLease()
    const [survivor, second] = [
      await startGatewayProcess(world),
      // Two that run at once: only one engine has a place for that.
      engine === 'postgres' ? await startGatewayProcess(world) : undefined,
    ]
    await Promise.all([run(survivor), second && run(second)])
    const open = async () =>
      query(`SELECT count(*) AS count FROM market_payouts WHERE state <> 'settled'
        UNION ALL SELECT count(*) FROM market_balances WHERE account LIKE 'seller:%' AND balance > 0`)
    await expect
      .poll(async () => (await open()).map((row) => Number(row['count'])), {
        timeout: 240_000,
        interval: 2000,
      })
      .toEqual([0, 0])
    const logs = (await chain.rpc('eth_getLogs', [
      { fromBlock: '0x0', toBlock: 'latest', address: chain.network.asset.address, topics: [TRANSFER] },
    ])) as { topics: string[]; data: string }[]
    const paid = new Map<string, bigint[]>()
    for (const { topics, data } of logs) {
      const to = `0x${topics[2]?.slice(-40) ?? ''}`
      paid.set(to, [...(paid.get(to) ?? []), BigInt(data)])
    }
    for (const { payoutAddress } of sellers) expect(paid.get(payoutAddress), payoutAddress).toEqual([970n])
    const proof = await survivor.rest(
      'GET',
      '/v1/marketplace/payouts/verify?limit=100',
      undefined,
      world.operatorKey,
    )
    expect(proof.body).toMatchObject({
      ok: true,
      ledger: expect.arrayContaining([expect.objectContaining({ network: BASE, ok: true })]),
    })
    expect(await marketLedgerFaults({ query })).toEqual([])
    await survivor.stop()
    await second?.stop()
  }, 1_200_000)

  async function forgetLease(): Promise<void> {
    const { openStore } = await import('../../src/store/index.ts')
    const { log } = await import('../support/store.ts')
    const store = await openStore({ config: loadConfig(world.env), log, bootId: 'boot_lease' })
    await store.takeLeadership({ name: 'payouts', holder: 'boot_lease', until: 0, isAlone: true, now: 0 })
    await store.giveUpLeadership({ name: 'payouts', holder: 'boot_lease' })
    await store.close()
  }
})
