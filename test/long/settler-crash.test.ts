// kill -9 of the real server while its transaction waits for a block, then a restart with the same settler key: what it left
// behind holds up nobody, whether the node still has it or not.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { requirementsOf, signPayment, startTestChain, type TestChain } from '../support/chain.ts'
import { createWorld, type World } from '../support/gateway.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'

const SELLER = '0x0000000000000000000000000000000000C0FFEE'

describe('kill -9 while a transaction waits for its block', () => {
  let chain: TestChain
  let world: World
  const running: GatewayProcess[] = []
  beforeAll(async () => {
    chain = await startTestChain(84532)
    world = await createWorld({
      engine: 'sqlite',
      // One chain is enough, and no other one has to start.
      env: { ...chain.env, GATEWAY_RPC_8453: 'http://127.0.0.1:1' },
    })
  })
  afterAll(async () => {
    await Promise.all(running.map((gateway) => gateway.stop()))
    await world?.close()
    await chain?.close()
  })

  async function bodyOf(payer: number) {
    const account = chain.payers[payer]
    if (!account) throw new Error(`there is no payer ${payer}`)
    const requirements = { ...requirementsOf(chain, '1000'), payTo: SELLER }
    const paymentPayload = await signPayment({ account, requirements })
    return { x402Version: 2, paymentPayload, paymentRequirements: requirements }
  }

  /** A process that is gone once the node has its transaction. */
  async function leaveBehind(payer: number) {
    // A data directory has one gateway at a time.
    await Promise.all(running.splice(0).map((gateway) => gateway.stop()))
    await chain.setAutomine(false)
    const gateway = await startGatewayProcess(world, { GATEWAY_FAULT: 'after_broadcast:kill' })
    const body = await bodyOf(payer)
    await expect(gateway.rest('POST', '/settle', body)).rejects.toThrow()
    expect((await gateway.process.ended).signal).toBe('SIGKILL')
    expect(await chain.rpc('txpool_status')).toMatchObject({ pending: '0x1' })
    return body
  }
  async function restart(): Promise<GatewayProcess> {
    const gateway = await startGatewayProcess(world)
    running.push(gateway)
    return gateway
  }
  const waiting = (count: number) =>
    expect
      .poll(async () => {
        const { pending, queued } = (await chain.rpc('txpool_status')) as { pending: string; queued: string }
        return Number(pending) + Number(queued)
      })
      .toBe(count)

  it('is mined with the next one where the node has it still', async () => {
    const left = await leaveBehind(0)
    const gateway = await restart()
    const before = await chain.transfersTo(SELLER)
    const settling = gateway.rest('POST', '/settle', await bodyOf(1))
    await waiting(2)
    await chain.setBlockTime(1)
    const settled = await settling
    expect([settled.status, settled.body.success], JSON.stringify(settled.body)).toEqual([200, true])
    await expect
      .poll(async () => (await gateway.rest('POST', '/settle', left)).body.code)
      .toBe('settlement_replayed')
    expect(await chain.transfersTo(SELLER)).toBe(before + 2)
    await chain.setBlockTime(0)
  })

  it('leaves its nonce to the next one where the node dropped it', async () => {
    const left = await leaveBehind(2)
    await chain.rpc('anvil_dropAllTransactions')
    const gateway = await restart()
    const before = await chain.transfersTo(SELLER)
    await chain.setAutomine(true)
    const settled = await gateway.rest('POST', '/settle', await bodyOf(3))
    expect([settled.status, settled.body.success], JSON.stringify(settled.body)).toEqual([200, true])
    const open = await gateway.rest('POST', '/settle', left)
    expect([open.status, open.body.code]).toEqual([503, 'settlement_unknown'])
    expect(await chain.transfersTo(SELLER)).toBe(before + 1)
  })

  it('leaves a gap that is filled where the node drops it later', async () => {
    await leaveBehind(4)
    const [{ hash }] = (await pool()) as [{ hash: string }]
    const gateway = await restart()
    const before = await chain.transfersTo(SELLER)
    const settling = gateway.rest('POST', '/settle', await bodyOf(5))
    await waiting(2)
    await chain.rpc('anvil_dropTransaction', [hash])
    await chain.setBlockTime(1)
    const settled = await settling
    expect([settled.status, settled.body.success], JSON.stringify(settled.body)).toEqual([200, true])
    expect(await chain.transfersTo(SELLER)).toBe(before + 1)
    await chain.setBlockTime(0)
  })

  async function pool() {
    const { pending } = (await chain.rpc('txpool_content')) as {
      pending: Record<string, Record<string, { hash: string }>>
    }
    return Object.values(pending).flatMap((byNonce) => Object.values(byNonce))
  }
})
