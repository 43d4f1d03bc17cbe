// Before a payment is taken on a network, its own chain has to show that the token is what it is taken for: what a node may
// say instead, and what the gateway says then. The chain is real; a proxy in front of it lies.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ConfigError } from '../../src/core/errors.ts'
import type { PaymentNetwork } from '../../src/core/networks.ts'
import { createChainRpc } from '../../src/payments/adapters/chain-rpc.ts'
import { proveToken } from '../../src/payments/adapters/token-proof.ts'
import { requirementsOf, signPayment, startTestChain, type TestChain } from '../support/chain.ts'
import { type ChainProxy, type Interception, startChainProxy } from '../support/chain-proxy.ts'
import { startTestGateway } from '../support/gateway.ts'

const NAME = '0x06fdde03'
const VERSION = '0x54fd4d50'
const DECIMALS = '0x313ce567'
const DOMAIN_SEPARATOR = '0x3644e515'
const EIP712_DOMAIN = '0x84b0196e'
const TRANSFER_TYPE = '0xa0cc6a68'
const AUTHORIZATION_STATE = '0xe94a0102'
const TRANSFER = '0xe3ee160e'

const word = (value: bigint) => value.toString(16).padStart(64, '0')
const bytesOf = (text: string | Buffer) => (typeof text === 'string' ? Buffer.from(text, 'utf8') : text)
const padded = (bytes: Buffer) => bytes.toString('hex').padEnd(Math.ceil(bytes.length / 32) * 64, '0')
const textOf = (text: string | Buffer) =>
  `0x${word(32n)}${word(BigInt(bytesOf(text).length))}${padded(bytesOf(text))}`
const domainOf = (name: string, version: string, chainId: bigint, address: string, fields = '0f') => {
  const names = [name, version].map((text) => word(BigInt(text.length)) + padded(bytesOf(text)))
  const offsets = [7n * 32n, 7n * 32n + 64n, 7n * 32n + 128n]
  return `0x${fields.padEnd(64, '0')}${word(offsets[0]!)}${word(offsets[1]!)}${word(chainId)}${word(BigInt(address))}${word(0n)}${word(offsets[2]!)}${names.join('')}${word(0n)}`
}

let chain: TestChain
let proxy: ChainProxy
beforeAll(async () => {
  chain = await startTestChain(84532)
  proxy = await startChainProxy(chain.rpcUrl)
})
afterEach(() => proxy.reset())
afterAll(async () => {
  await proxy?.close()
  await chain?.close()
})

/** Other answers to these functions of the token. */
function answer(lies: Readonly<Record<string, Interception>>): void {
  proxy.on('eth_call', ({ params: [call] }) => lies[String((call as { data: string }).data).slice(0, 10)])
}

async function prove(network: PaymentNetwork = chain.network) {
  const rpc = createChainRpc({ network, rpcUrl: async () => proxy.url, now: Date.now })
  return proveToken(rpc, network).finally(() => rpc.close())
}
/** The same token as the operator of a gateway names one: nothing of it is known before. */
const named = (): PaymentNetwork => ({
  ...chain.network,
  isPinned: false,
  asset: { ...chain.network.asset, name: '', version: '' },
})

describe('the proof of a token', () => {
  it('holds for the pinned one, and reads the name and version of one that is only named', async () => {
    expect(await prove()).toEqual({ ok: true, name: 'USDC', version: '2' })
    expect(await prove(named())).toEqual({ ok: true, name: 'USDC', version: '2' })
  })

  it('costs two requests, each of which also asks for the chain', async () => {
    await prove()
    expect([proxy.requests, proxy.seen.filter((method) => method === 'eth_chainId').length]).toEqual([2, 2])
  })

  const REVERTED: Interception = { error: { code: 3, message: 'execution reverted', data: '0x' } }
  const missing = (...selectors: string[]) =>
    Object.fromEntries(selectors.map((selector) => [selector, REVERTED]))
  it.each<[string, Readonly<Record<string, Interception>>, string]>([
    ['18 decimals', { [DECIMALS]: { result: `0x${word(18n)}` } }, 'has 18 decimals, and amounts here have 6'],
    ['no decimals', missing(DECIMALS), 'says no decimals'],
    [
      'another name',
      { [NAME]: { result: textOf('USD Coin') } },
      'has the name "USD Coin", and "USDC" is known',
    ],
    ['another version', { [VERSION]: { result: textOf('1') } }, 'has the version "1", and "2" is known'],
    ['bytes that are no text', { [NAME]: { result: textOf(Buffer.from('ff00fe', 'hex')) } }, 'no name'],
    ['a name with an invisible character', { [NAME]: { result: textOf('USD\u200bC') } }, 'no name'],
    ['a name as bytes32', { [NAME]: { result: `0x${padded(Buffer.from('USDC'))}` } }, 'no name'],
    ['a name that ends before it should', { [NAME]: { result: `0x${word(32n)}${word(60n)}` } }, 'no name'],
    ['a name without end', { [NAME]: { result: textOf('x'.repeat(65)) } }, 'no name'],
    ['no version', missing(VERSION), 'no version'],
    [
      'another domain',
      { [DOMAIN_SEPARATOR]: { result: `0x${'11'.repeat(32)}` } },
      'signs for another domain',
    ],
    ['no domain', missing(DOMAIN_SEPARATOR), 'signs for another domain'],
    ['another type of transfer', { [TRANSFER_TYPE]: { result: `0x${'11'.repeat(32)}` } }, 'EIP-3009'],
    ['no authorizations', missing(AUTHORIZATION_STATE), 'EIP-3009'],
    ['no transfer by signature', missing(TRANSFER), 'refuses a transfer that its payer signed'],
    ['a transfer for anybody', { [TRANSFER]: { result: '0x' } }, "without its owner's signature"],
    ['a transfer that answers', { [TRANSFER]: { result: `0x${word(1n)}` } }, 'answers a transfer'],
  ])('fails for good with %s', async (_name, lies, words) => {
    answer(lies)
    expect(await prove()).toEqual({ ok: false, isFinal: true, why: expect.stringContaining(words) })
  })

  it('takes the domain of EIP-5267 before a name that was changed for display', async () => {
    const { address } = chain.network.asset
    answer({
      [NAME]: { result: textOf('USDC (bridged)') },
      [EIP712_DOMAIN]: { result: domainOf('USDC', '2', 84532n, address) },
    })
    expect(await prove(named())).toEqual({ ok: true, name: 'USDC', version: '2' })
  })

  it('waits for EIP-5267 where a name does not fit and the node refused that question', async () => {
    answer({
      [NAME]: { result: textOf('USDC (bridged)') },
      [EIP712_DOMAIN]: { error: { code: -32005, message: 'rate limit' } },
    })
    expect(await prove()).toMatchObject({ ok: false, isFinal: false })
  })

  it('does without EIP-5267 at a node that has other words for a revert', async () => {
    answer({
      [EIP712_DOMAIN]: { error: { code: -32015, message: 'VM execution error.', data: 'Reverted 0x' } },
    })
    expect(await prove()).toMatchObject({ ok: true })
    answer({ [EIP712_DOMAIN]: { error: { code: -32000, message: 'invalid opcode: INVALID' } } })
    expect(await prove()).toMatchObject({ ok: true })
  })

  it.each([
    ['chain', (address: string) => domainOf('USDC', '2', 1n, address)],
    ['contract', () => domainOf('USDC', '2', 84532n, `0x${'12'.repeat(20)}`)],
    ['form', (address: string) => domainOf('USDC', '2', 84532n, address, '1f')],
  ])('fails for good with an EIP-5267 domain of another %s', async (_name, make) => {
    answer({ [EIP712_DOMAIN]: { result: make(chain.network.asset.address) } })
    expect(await prove()).toMatchObject({ ok: false, isFinal: true, why: expect.stringContaining('5267') })
  })

  it('fails for good where no contract is', async () => {
    const { asset } = chain.network
    const nowhere = { ...chain.network, asset: { ...asset, address: `0x${'12'.repeat(20)}` } }
    expect(await prove(nowhere)).toMatchObject({
      isFinal: true,
      why: expect.stringContaining('there is no contract'),
    })
  })

  it('fails for good at a node of another chain', async () => {
    proxy.on('eth_chainId', () => ({ result: '0x1' }))
    expect(await prove()).toMatchObject({ isFinal: true, why: expect.stringContaining('another chain') })
  })

  it.each<[string, () => void]>([
    ['ends the connection', () => proxy.on('eth_getCode', () => ({ drop: 'before' }))],
    ['answers a page', () => proxy.onRequest((_body, res) => void res.end('<html>'))],
    ['refuses the question', () => answer({ [NAME]: { error: { code: -32005, message: 'rate limit' } } })],
    ['answers a call with a number', () => answer({ [NAME]: { result: 7 } })],
    ['does not run the transfer', () => answer({ [TRANSFER]: { error: { code: -32000, message: 'busy' } } })],
  ])('is open while the node %s', async (_name, disturb) => {
    disturb()
    expect(await prove()).toMatchObject({ ok: false, isFinal: false })
  })

  it('is open while transfers are paused', async () => {
    const error = { code: 3, message: 'execution reverted: Pausable: paused', data: '0x' }
    answer({ [TRANSFER]: { error } })
    expect(await prove()).toMatchObject({ ok: false, isFinal: false, why: expect.stringContaining('paused') })
  })
})

describe('a gateway', () => {
  const env = () => ({ ...chain.env, GATEWAY_RPC_84532: proxy.url, GATEWAY_RPC_8453: 'http://127.0.0.1:1' })
  const problemsOf = async (more: Record<string, string> = {}) => {
    const thrown = await startTestGateway({ env: { ...env(), ...more } }).then(
      (gateway) => gateway.close(),
      (error: unknown) => error,
    )
    expect(thrown).toBeInstanceOf(ConfigError)
    return (thrown as ConfigError).problems
  }

  it('does not start on a token that is not what it must be, and names each of them', async () => {
    answer({ [DECIMALS]: { result: `0x${word(8n)}` } })
    expect(await problemsOf({ GATEWAY_RPC_8453: chain.rpcUrl })).toEqual([
      expect.stringMatching(/^GATEWAY_RPC_8453: the node answers for another chain than 8453/),
      expect.stringMatching(/^GATEWAY_RPC_84532: the token at 0x036CbD.* has 8 decimals/),
    ])
  })

  it('serves nothing on a network while its node is away, and by itself once it has proven the token', async () => {
    proxy.onRequest((_body, res) => void res.destroy())
    const gateway = await startTestGateway({ env: env() })
    try {
      const read = async (path: string) => (await gateway.rest('GET', path, undefined, '')).body
      const requirements = requirementsOf(chain)
      const paymentPayload = await signPayment({ account: chain.payers[0]!, requirements })
      const verify = () =>
        gateway.rest('POST', '/verify', { paymentPayload, paymentRequirements: requirements }, '')

      expect((await read('/supported')).kinds).toEqual([])
      expect((await read('/facilitator')).networks).toEqual([])
      expect((await read('/healthz')).chains).toContainEqual(
        expect.objectContaining({
          network: 'eip155:84532',
          state: 'failing',
          detail: expect.stringContaining('no payment is taken: the node gives no answer'),
        }),
      )
      expect(await verify()).toMatchObject({ status: 503, body: { isValid: false } })

      proxy.reset()
      // The node is asked again five seconds after the first time, whoever needs it meanwhile.
      await expect.poll(async () => (await read('/supported')).kinds.length).toBe(2)
      expect(await verify()).toMatchObject({ status: 200, body: { isValid: true } })
      expect((await read('/facilitator')).networks).toMatchObject([{ network: 'eip155:84532' }])
    } finally {
      await gateway.close()
    }
  })

  it('looks at the token again when its node was away, and takes nothing from another one', async () => {
    const gateway = await startTestGateway({ env: env() })
    try {
      const requirements = requirementsOf(chain)
      const paymentPayload = await signPayment({ account: chain.payers[0]!, requirements })
      const verify = async () =>
        (await gateway.rest('POST', '/verify', { paymentPayload, paymentRequirements: requirements }, ''))
          .status
      const detail = async () =>
        (await gateway.rest('GET', '/healthz', undefined, '')).body.chains.find(
          (one: { network: string }) => one.network === 'eip155:84532',
        ).detail
      expect(await verify()).toBe(200)
      proxy.onRequest((_body, res) => void res.destroy())
      expect(await verify()).toBe(503)
      proxy.reset()
      answer({ [NAME]: { result: textOf('Not USDC') } })
      await expect.poll(async () => (await verify(), detail())).toContain('no payment is taken: the token at')
      expect(await verify()).toBe(503)
    } finally {
      await gateway.close()
    }
  })
})
