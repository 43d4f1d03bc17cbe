// One chain as payments see it, against a real node with the real token.
import { encodeFunctionData, keccak256, parseAbi } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createChain } from '../../src/payments/adapters/chain.ts'
import { packTransfer } from '../../src/payments/adapters/usdc-abi.ts'
import { type Chain, ChainError, type Eip3009Authorization } from '../../src/payments/chain-ports.ts'
import { Secret } from '../../src/lib/secret.ts'
import {
  type ExactPayload,
  requirementsOf,
  signPayment,
  type SignOptions,
  startTestChain,
  type TestChain,
} from '../support/chain.ts'

let chain: TestChain
let port: Chain
beforeAll(async () => {
  chain = await startTestChain(84532)
  port = createChain({ network: chain.network, rpcUrl: async () => chain.rpcUrl, now: Date.now })
})
afterAll(async () => {
  await port.close()
  await chain.close()
})

async function sign(payer: number, overrides: SignOptions['overrides'] = {}) {
  const account = chain.payers[payer]!
  const payload = await signPayment({ account, requirements: requirementsOf(chain), overrides })
  const { authorization: a, signature } = payload.payload as unknown as ExactPayload
  const authorization: Eip3009Authorization = {
    from: a.from.toLowerCase(),
    to: a.to.toLowerCase(),
    value: BigInt(a.value),
    validAfter: BigInt(a.validAfter),
    validBefore: BigInt(a.validBefore),
    nonce: a.nonce,
  }
  const { from, to, value, nonce } = authorization
  return {
    account,
    payload,
    authorization,
    signature: new Secret<string>(signature),
    question: { from, to, value, nonce, since: Date.now() },
  }
}

describe('probe', () => {
  it('finds nothing against a good payment', async () => {
    const { authorization, signature } = await sign(0)
    expect(await port.probe(authorization, signature)).toEqual({
      nonceUsed: false,
      balance: null,
      payerHasCode: false,
      revert: null,
    })
  })

  it.each([
    [
      'a used nonce',
      'FiatTokenV2: authorization is used or canceled',
      async (p: Signed) => void (await chain.preempt(p.payload)),
      {},
    ],
    [
      'a canceled nonce',
      'FiatTokenV2: authorization is used or canceled',
      (p: Signed) => chain.cancelAuthorization(p.account, p.authorization.nonce),
      {},
    ],
    ['an expired window', 'FiatTokenV2: authorization is expired', undefined, { validBefore: '1' }],
    [
      'a window that has not begun',
      'FiatTokenV2: authorization is not yet valid',
      undefined,
      { validAfter: '99999999999' },
    ],
    ['another domain', 'FiatTokenV2: invalid signature', undefined, { domain: { name: 'USD Coin' } }],
    ['more than there is', 'ERC20: transfer amount exceeds balance', undefined, { value: '99999999999' }],
  ])('names %s as the token does', async (_title, revert, before, overrides) => {
    const payment = await sign(1, overrides)
    await before?.(payment)
    const probe = await port.probe(payment.authorization, payment.signature)
    expect(probe.revert).toBe(revert)
    expect(probe.nonceUsed).toBe(before !== undefined)
  })

  it('sees code at the payer, and asks it for the signature', async () => {
    const { authorization, signature, account } = await sign(2)
    // Answers the ERC-1271 magic value to whatever it is asked.
    await chain.rpc('anvil_setCode', [account.address, '0x631626ba7e60e01b60005260206000f3'])
    expect(await port.probe(authorization, new Secret(`${'0x'}${'ab'.repeat(100)}`))).toMatchObject({
      payerHasCode: true,
      revert: null,
    })
    expect(await port.probe(authorization, signature)).toMatchObject({ payerHasCode: true, revert: null })
  })
})

describe('acceptsSignature', () => {
  const wallet = '0x000000000000000000000000000000000000127b'
  const ask = (account = wallet) =>
    port.acceptsSignature({ account, digest: Buffer.alloc(32, 0xd1), signature: Buffer.alloc(65, 0x51) })

  it.each<[string, string, boolean]>([
    ['answers the magic value', '0x631626ba7e60e01b60005260206000f3', true],
    ['answers true', '0x600160005260206000f3', false],
    ['answers the magic value at the wrong end', '0x631626ba7e60005260206000f3', false],
    ['answers four bytes', '0x631626ba7e60e01b60005260046000f3', false],
    ['answers nothing', '0x00', false],
    ['reverts', '0x60006000fd', false],
  ])('of a contract that %s', async (_, code, isTaken) => {
    await chain.rpc('anvil_setCode', [wallet, code])
    expect(await ask()).toBe(isTaken)
  })

  it('of an account without code is no', async () => {
    expect(await ask(chain.payers[9]!.address)).toBe(false)
  })

  it('hands the contract digest and signature as the standard packs them', async () => {
    // The magic value, if the calldata has the hash of what viem packs.
    const data = encodeFunctionData({
      abi: parseAbi(['function isValidSignature(bytes32 digest, bytes signature) view returns (bytes4)']),
      args: [`0x${'d1'.repeat(32)}`, `0x${'51'.repeat(65)}`],
    })
    const code = `0x36600060003736600020${'7f'}${keccak256(data).slice(2)}14631626ba7e60e01b0260005260206000f3`
    await chain.rpc('anvil_setCode', [wallet, code])
    expect(await ask()).toBe(true)
  })

  it('of a contract that never ends is not waited for', async () => {
    await chain.rpc('anvil_setCode', [wallet, '0x5b600056'])
    const outcome = await ask().catch((thrown: unknown) => thrown)
    expect(outcome === false || outcome instanceof ChainError).toBe(true)
  })
})

type Signed = Awaited<ReturnType<typeof sign>>

describe('authorizationStatus', () => {
  it('is unused until somebody submits it', async () => {
    const { question } = await sign(3)
    expect(await port.authorizationStatus(question)).toEqual({ state: 'unused' })
  })

  it('is used and transferred, by whoever submitted it', async () => {
    const { question, payload } = await sign(3)
    const transaction = await chain.preempt(payload)
    expect(await port.authorizationStatus(question)).toEqual({
      state: 'used',
      transaction,
      transferred: true,
      block: { number: expect.any(BigInt), hash: expect.stringMatching(/^0x[0-9a-f]{64}$/) },
      submittedBy: '0x0000000000000000000000000000000005774139',
    })
  })

  it('is canceled when the payer took it back', async () => {
    const { question, account } = await sign(3)
    await chain.cancelAuthorization(account, question.nonce)
    expect(await port.authorizationStatus(question)).toMatchObject({ state: 'canceled' })
  })

  it('is not transferred when the payer used the nonce for somebody else', async () => {
    const { question } = await sign(4)
    const other = await sign(4, { nonce: question.nonce as `0x${string}`, to: chain.payers[5]!.address })
    await chain.preempt(other.payload)
    expect(await port.authorizationStatus(question)).toMatchObject({ state: 'used', transferred: false })
    expect(await port.authorizationStatus(other.question)).toMatchObject({ state: 'used', transferred: true })
  })

  it('counts each of two equal payments that one transaction carries', async () => {
    const payments = [await sign(5), await sign(5)]
    const calls = payments.map((p) => ({
      target: chain.network.asset.address as `0x${string}`,
      allowFailure: false,
      callData: packTransfer(p.authorization, p.signature) as `0x${string}`,
    }))
    const { encodeFunctionData, multicall3Abi } = await import('viem')
    const data = encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [calls] })
    await chain.submit({ to: '0xcA11bde05977b3631167028862bE2a173976CA11', data })
    const statuses = await Promise.all(payments.map((p) => port.authorizationStatus(p.question)))
    expect(statuses).toEqual([
      expect.objectContaining({ state: 'used', transferred: true }),
      expect.objectContaining({ state: 'used', transferred: true }),
    ])
    expect(statuses[0]).toMatchObject({ transaction: (statuses[1] as { transaction: string }).transaction })
  })

  it('is found when our clock is far ahead of the chain', async () => {
    const { question, payload } = await sign(6)
    await chain.preempt(payload)
    expect(
      await port.authorizationStatus({ ...question, since: Date.now() + 10 * 86_400_000 }),
    ).toMatchObject({
      state: 'used',
    })
  })

  it('is forgotten with its block, and found again in the next', async () => {
    const { question, payload } = await sign(7)
    await chain.preempt(payload)
    expect(await port.authorizationStatus(question)).toMatchObject({ state: 'used' })
    await chain.reorg(1)
    expect(await port.authorizationStatus(question)).toEqual({ state: 'unused' })
    await chain.preempt(payload)
    expect(await port.authorizationStatus(question)).toMatchObject({ state: 'used', transferred: true })
  })
})

describe('blockHashes', () => {
  it('are those of the blocks at these heights now, and null where there is none', async () => {
    await chain.mine(2)
    const { number } = await port.head()
    const heights = [number, number - 1n, number + 1n]
    const before = await port.blockHashes(heights)
    expect(before).toEqual([expect.stringMatching(/^0x[0-9a-f]{64}$/), expect.stringMatching(/^0x/), null])
    await chain.reorg(1)
    const after = await port.blockHashes(heights)
    expect(after[0]).not.toBe(before[0])
    expect(after.slice(1)).toEqual(before.slice(1))
    expect(await port.blockHashes([])).toEqual([])
  })
})

describe('head', () => {
  it('follows the latest block and its time', async () => {
    const before = await port.head()
    await chain.mine()
    const after = await port.head()
    expect(after.number).toBe(before.number + 1n)
    expect(after.time).toBe((await chain.blockTime()) * 1000)
  })
})
