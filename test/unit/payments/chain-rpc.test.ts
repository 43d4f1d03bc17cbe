// What a node may do wrong, and that none of it looks like an answer.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ChainRpcOptions, createChainRpc } from '../../../src/payments/adapters/chain-rpc.ts'
import { createJsonRpc } from '../../../src/payments/adapters/json-rpc.ts'
import { createNetworks } from '../../../src/core/networks.ts'
import { type ChainProxy, startChainProxy } from '../../support/chain-proxy.ts'
import { freePort } from '../../support/free-port.ts'

const network = createNetworks([84532]).all[0]!
const ID = { result: '0x14a34' }

let node: ChainProxy
let clock: number
const opened: { close(): Promise<void> }[] = []
beforeAll(async () => {
  // Nothing passes it: every method that is asked for is answered here.
  node = await startChainProxy('http://127.0.0.1:1')
})
afterAll(() => node.close())
beforeEach(() => {
  clock = 1_000_000
  node.reset()
  node.on('eth_chainId', () => ID)
  node.on('eth_blockNumber', () => ({ result: '0x10' }))
})
afterEach(() => Promise.all(opened.splice(0).map((rpc) => rpc.close())))

function open(options: Partial<ChainRpcOptions> = {}) {
  const rpc = createChainRpc({
    network,
    rpcUrl: async () => node.url,
    now: () => clock,
    deadlineMs: 2_000,
    ...options,
  })
  opened.push(rpc)
  return rpc
}

const DETAILS: Readonly<Record<string, string>> = {
  malformed: 'answered something that makes no sense',
  unreachable: 'cannot be reached',
  wrong_chain: 'answers for another chain: check the address',
}
const height = { method: 'eth_blockNumber', params: [] }
const reply = (id: unknown, result: unknown) => ({ jsonrpc: '2.0', id, result })

describe('a node', () => {
  it('is known by the newest block that anybody asked it for, and no other answer changes that', async () => {
    const block = (tag: string) => ({ method: 'eth_getBlockByNumber', params: [tag, false] })
    node.on('eth_getBlockByNumber', () => ({ result: { number: '0x2a' } }))
    const rpc = open()
    await rpc.ask([height])
    expect(rpc.state()).not.toHaveProperty('latest_block')
    await rpc.ask([height, block('latest')])
    expect(rpc.state()).toMatchObject({ state: 'ok', latest_block: '42' })
    node.on('eth_getBlockByNumber', () => ({ result: { number: '0x1' } }))
    await rpc.ask([block('0x1')])
    expect(rpc.state()).toMatchObject({ latest_block: '42' })
    node.on('eth_getBlockByNumber', () => ({ result: null }))
    await rpc.ask([block('latest')])
    expect(rpc.state()).toMatchObject({ latest_block: '42' })
  })

  it.each<[string, string, (body: string, respond: (status: number, text: string) => void) => void]>([
    ['answers HTML', 'malformed', (_body, respond) => respond(200, '<html>')],
    ['answers nothing', 'malformed', (_body, respond) => respond(200, '')],
    ['answers null', 'malformed', (_body, respond) => respond(200, 'null')],
    ['answers too few', 'malformed', (_body, respond) => respond(200, JSON.stringify([reply(0, '0x1')]))],
    [
      'answers too many',
      'malformed',
      (_body, respond) => respond(200, JSON.stringify([0, 1, 2].map((id) => reply(id, '0x1')))),
    ],
    [
      'answers one twice',
      'malformed',
      (_body, respond) => respond(200, JSON.stringify([reply(0, '0x14a34'), reply(0, '0x1')])),
    ],
    [
      'answers under strange ids',
      'malformed',
      (_body, respond) => respond(200, JSON.stringify([reply('0', 1), reply(1.5, 2)])),
    ],
    [
      'answers neither result nor error',
      'malformed',
      (_body, respond) => respond(200, JSON.stringify([{ id: 0 }, { id: 1 }])),
    ],
    [
      'answers errors that are none',
      'malformed',
      (_body, respond) =>
        respond(
          200,
          JSON.stringify([
            { id: 0, error: 'no' },
            { id: 1, error: {} },
          ]),
        ),
    ],
    ['redirects', 'malformed', (_body, respond) => respond(307, '')],
    [
      'answers a megabyte too much',
      'malformed',
      (_body, respond) =>
        respond(200, JSON.stringify([reply(0, '0x14a34'), reply(1, '0x1')]) + ' '.repeat(1024 * 1024)),
    ],
    ['is out of order', 'unreachable', (_body, respond) => respond(503, '[]')],
    ['has had enough of us', 'unreachable', (_body, respond) => respond(429, '[]')],
    [
      'answers for another chain',
      'wrong_chain',
      (_body, respond) => respond(200, JSON.stringify([reply(0, '0x1'), reply(1, '0x1')])),
    ],
    [
      'will not say which chain it is of',
      'malformed',
      (_body, respond) =>
        respond(200, JSON.stringify([{ id: 0, error: { code: -32601, message: 'no' } }, reply(1, '0x1')])),
    ],
  ])('that %s is %s', async (_title, reason, answer) => {
    node.onRequest((body, res) =>
      answer(body, (status, text) => res.writeHead(status, { location: node.url }).end(text)),
    )
    const rpc = open()
    await expect(rpc.ask([height])).rejects.toMatchObject({ name: 'ChainError', reason })
    expect(rpc.state()).toMatchObject({ state: 'failing', detail: DETAILS[reason] })
    expect(node.requests).toBe(1)
  })

  it('that says nothing is given up at the deadline', async () => {
    node.onRequest(() => {})
    await expect(open({ deadlineMs: 30 }).ask([height])).rejects.toMatchObject({ reason: 'timeout' })
  })

  it('that sends its answer a byte at a time is given up at the deadline', async () => {
    node.onRequest((_body, res) => {
      res.write('[')
      const timer = setInterval(() => res.write(' '), 5)
      res.once('close', () => clearInterval(timer))
    })
    await expect(open({ deadlineMs: 60 }).ask([height])).rejects.toMatchObject({ reason: 'timeout' })
  })

  it('that is not there is unreachable, and its address is in no message', async () => {
    const rpc = open({ rpcUrl: async () => 'http://user:geheim@127.0.0.1:1/v2/key' })
    const error = (await rpc.ask([height]).catch((thrown: unknown) => thrown)) as Error
    expect(error).toMatchObject({ reason: 'unreachable', message: 'eip155:84532: unreachable' })
    expect(rpc.state().detail).toBe('cannot be reached')
  })

  it('that cannot be started says why where people look', async () => {
    const rpc = open({ rpcUrl: () => Promise.reject(new Error('install it')) })
    await expect(rpc.ask([height])).rejects.toMatchObject({ reason: 'unreachable' })
    expect(rpc.state()).toEqual({ state: 'failing', detail: 'install it', age_ms: 0 })
  })

  it('that answers in another order is understood', async () => {
    node.onRequest((body, res) => {
      const calls = JSON.parse(body) as { id: number; method: string }[]
      res.end(
        JSON.stringify(
          calls
            .map(({ id, method }) => reply(id, method === 'eth_chainId' ? '0x14a34' : `0x${id}`))
            .toReversed(),
        ),
      )
    })
    expect(await open().ask([height, height])).toEqual([
      { ok: true, result: '0x1' },
      { ok: true, result: '0x2' },
    ])
  })
})

describe('the chain id', () => {
  it('is asked for at first use, then once a minute', async () => {
    const rpc = open()
    const asked = async () => {
      node.reset()
      node.on('eth_chainId', () => ID)
      node.on('eth_blockNumber', () => ({ result: '0x10' }))
      await rpc.ask([height])
      return node.seen.includes('eth_chainId')
    }
    expect(await asked()).toBe(true)
    expect(await asked()).toBe(false)
    clock += 60_001
    expect(await asked()).toBe(true)
  })

  it('is asked for again after a failure, and the address too', async () => {
    let askedForUrl = 0
    const rpc = open({ rpcUrl: async () => (askedForUrl++, node.url) })
    await rpc.ask([height])
    node.on('eth_blockNumber', () => ({ drop: 'before' }))
    await expect(rpc.ask([height])).rejects.toMatchObject({ reason: 'unreachable' })
    node.on('eth_blockNumber', () => ({ result: '0x10' }))
    node.on('eth_chainId', () => ({ result: '0x1' }))
    await expect(rpc.ask([height])).rejects.toMatchObject({ reason: 'wrong_chain' })
    node.on('eth_chainId', () => ID)
    expect(await rpc.ask([height])).toEqual([{ ok: true, result: '0x10' }])
    expect(askedForUrl).toBe(3)
    expect(rpc.state()).toMatchObject({ state: 'ok', detail: 'answers' })
  })

  it('is known before anything is submitted', async () => {
    node.on('eth_chainId', () => ({ result: '0x1' }))
    await expect(open().submit('eth_sendRawTransaction', ['0x'])).rejects.toMatchObject({
      reason: 'wrong_chain',
    })
    expect(node.seen).toEqual(['eth_chainId'])
  })
})

describe('questions', () => {
  it('of one tick travel together, as many as the node takes', async () => {
    const rpc = open({ maxCalls: 10 })
    await rpc.ask([height])
    const before = node.requests
    const answers = await Promise.all(Array.from({ length: 7 }, () => rpc.ask([height, height, height])))
    expect(answers.every((replies) => replies.length === 3)).toBe(true)
    expect(node.requests - before).toBe(3)
  })

  it('fail together when their request does, and only they', async () => {
    const rpc = open({ maxCalls: 4 })
    await rpc.ask([height])
    node.on('eth_gasPrice', () => ({ drop: 'before' }))
    const price = { method: 'eth_gasPrice', params: [] }
    const settled = await Promise.allSettled([rpc.ask([height, height]), rpc.ask([price]), rpc.ask([height])])
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
  })
})

describe('a submission', () => {
  it('is told apart: answered, not sent, no reply', async () => {
    node.on('eth_sendRawTransaction', () => ({ result: '0xab' }))
    const rpc = createJsonRpc({ network: 'x', url: node.url })
    const impatient = createJsonRpc({ network: 'x', url: node.url, deadlineMs: 500 })
    opened.push(rpc, impatient)
    expect(await rpc.submit('eth_sendRawTransaction', ['0x'])).toEqual({
      state: 'answered',
      reply: { ok: true, result: '0xab' },
    })
    node.on('eth_sendRawTransaction', () => ({ drop: 'before' }))
    expect(await rpc.submit('eth_sendRawTransaction', ['0x'])).toEqual({ state: 'no_reply' })
    node.onRequest(() => {})
    expect(await impatient.submit('eth_sendRawTransaction', ['0x'])).toEqual({ state: 'no_reply' })
    const nobody = createJsonRpc({ network: 'x', url: `http://127.0.0.1:${await freePort()}` })
    opened.push(nobody)
    expect(await nobody.submit('eth_sendRawTransaction', ['0x'])).toEqual({ state: 'not_sent' })
  })
})
