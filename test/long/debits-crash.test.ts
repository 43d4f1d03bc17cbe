// kill -9 of the real server at every step of a call that credits pay for, then a restart: there is a receipt, or the credits
// are back.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/app/config.ts'
import { DEBIT_POINTS } from '../../src/lib/fault-points.ts'
import { SHOUT_COST } from '../support/credit-tool.ts'
import { createWorld, ENGINES, type World } from '../support/gateway.ts'
import { type GatewayProcess, startGatewayProcess, untilUnlocked } from '../support/gateway-process.ts'
import { queryOf, sumOfLedger, unbalancedAccounts } from '../support/store.ts'

/** The movements that each point leaves once its successor has started, and how many receipts. */
const LEFT: Readonly<Record<(typeof DEBIT_POINTS)[number], { amounts: number[]; receipts: number }>> = {
  before_debit: { amounts: [], receipts: 0 },
  after_debit: { amounts: [-SHOUT_COST, SHOUT_COST], receipts: 0 },
  before_receipt: { amounts: [-SHOUT_COST, SHOUT_COST], receipts: 0 },
  after_receipt: { amounts: [-SHOUT_COST], receipts: 1 },
}

describe.each(ENGINES)('kill -9 in a call that credits pay for (%s)', (engine) => {
  let world: World
  let gateway: GatewayProcess
  beforeAll(async () => {
    world = await createWorld({ engine, env: { GATEWAY_SERVICE_KEY_CREDITS: '100' } })
  })
  afterAll(async () => {
    await gateway?.stop()
    await world?.close()
  })
  const start = async (env?: Record<string, string>) => {
    await untilUnlocked(world)
    return startGatewayProcess(world, env, 'credit-gateway')
  }

  async function observe() {
    const query = queryOf(loadConfig(world.env))
    expect(await sumOfLedger({ query })).toBe(0)
    expect(await unbalancedAccounts({ query })).toEqual([])
    const ledger = (await gateway.rest('GET', '/v1/credits?limit=100')).body.ledger as { amount: number }[]
    const receipts = await query('SELECT jws FROM receipts')
    return { ledger, receipts: receipts.length, balance: await gateway.balance() }
  }

  it.each(DEBIT_POINTS)('%s: leaves a receipt or gives the credits back, once', async (point) => {
    gateway = await start({ GATEWAY_FAULT: `${point}:kill` })
    const before = await observe()
    await expect(gateway.rest('POST', '/v1/text/shout', { text: 'hello' })).rejects.toThrow()
    expect((await gateway.process.ended).signal).toBe('SIGKILL')

    // The second start has nothing left to settle.
    for (let restart = 0; restart < 2; restart++) {
      gateway = await start()
      const after = await observe()
      const { amounts, receipts } = LEFT[point]
      const added = after.ledger.slice(0, after.ledger.length - before.ledger.length)
      expect(added.map(({ amount }) => amount).toReversed()).toEqual(amounts)
      expect(after.receipts - before.receipts).toBe(receipts)
      expect(before.balance - after.balance).toBe(receipts * SHOUT_COST)
      await gateway.stop()
    }
  })

  it('answers as ever afterwards, and keeps what it was paid for', async () => {
    gateway = await start()
    const { balance } = await observe()
    const { status, body } = await gateway.rest('POST', '/v1/text/shout', { text: 'hello' })
    expect([status, body.text, body.credits]).toEqual([200, 'HELLO', { charged: 2, balance: balance - 2 }])
    await gateway.stop()
    gateway = await start()
    expect(await gateway.balance()).toBe(balance - SHOUT_COST)
    expect((await gateway.rest('GET', `/v1/receipts/${body.receipt.receipt_id}`, undefined, '')).status).toBe(
      200,
    )
  })
})
