// kill -9 of the real server between a call that was paid and the moment in which it is counted: whoever starts next counts it, once.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/app/config.ts'
import { startTestChain, type TestChain } from '../support/chain.ts'
import { rss } from '../support/feeds.ts'
import { createWorld, ENGINES, type World } from '../support/gateway.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { createMarketBuyer } from '../support/market-buyer.ts'
import { figuresBesideLedger } from '../support/market-figures.ts'
import { queryOf } from '../support/store.ts'

const PATH = '/p/gateway/feed-digest/'
const DETAIL = '/v1/marketplace/services/gateway/feed-digest'

let chain: TestChain
beforeAll(async () => void (chain = await startTestChain(8453)))
afterAll(() => chain?.close())

describe.each(ENGINES)('kill -9 before a paid call is counted (%s)', (engine) => {
  let world: World
  beforeAll(async () => {
    const made = await createWorld({ engine, env: chain.env, nameTtlSeconds: 60 })
    world = { ...made, env: { ...made.env, GATEWAY_FEED_SOURCES: made.url('/feed.xml') } }
    world.upstream.respond((_request, res) => {
      const item = '<item><title>News</title><guid>1</guid></item>'
      res.writeHead(200, { 'content-type': 'application/rss+xml' }).end(rss(`<title>News</title>${item}`))
    })
  })
  afterAll(() => world?.close())

  const buy = ({ baseUrl }: GatewayProcess, nth: number) => {
    const payer = chain.payers[nth]
    if (!payer) throw new Error('the chain has payers')
    return createMarketBuyer(baseUrl, payer).buy(PATH)
  }

  it('leaves no call out of the figures, and counts none twice', async () => {
    const query = queryOf(loadConfig(world.env))
    const beside = () => figuresBesideLedger({ query })
    // It was answered, and its outcome is held for a moment.
    const answered = await startGatewayProcess(world)
    expect((await buy(answered, 0)).status).toBe(200)
    await answered.stop('SIGKILL')
    // It was settled, and nobody was told.
    const untold = await startGatewayProcess(world, { GATEWAY_FAULT: 'after_settled:kill' })
    await expect(buy(untold, 1)).rejects.toThrow()
    expect((await untold.process.ended).signal).toBe('SIGKILL')

    const lost = await beside()
    expect(lost.ledger.standings).toEqual(['gateway feed-digest live 2 200000 2'])
    expect(lost.figures.standings).not.toEqual(lost.ledger.standings)
    // What is younger than a few seconds may still be with a process that lives.
    await new Promise((resolve) => setTimeout(resolve, 6_000))

    const survivor = await startGatewayProcess(world)
    const stats = async () => (await survivor.rest('GET', DETAIL, undefined, '')).body.service.stats
    await expect.poll(stats).toMatchObject({ settled_calls: 2, volume_atomic: '200000' })
    expect((await buy(survivor, 2)).status).toBe(200)
    await expect.poll(stats).toMatchObject({ settled_calls: 3, unique_payers: 3 })
    await survivor.stop('SIGTERM')
    const again = await startGatewayProcess(world)
    await again.stop('SIGTERM')
    const { figures, ledger } = await beside()
    expect(figures).toEqual(ledger)
    expect(ledger.standings).toEqual(['gateway feed-digest live 3 300000 3'])
  })
})
