// One chain as payments see it, against a real node with the real token.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createChain } from '../../src/payments/adapters/chain.ts'
import { packTransfer } from '../../src/payments/adapters/usdc-abi.ts'
import type { Chain, Eip3009Authorization } from '../../src/payments/ports.ts'
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
      blockNumber: expect.any(BigInt),
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

describe('head', () => {
  it('follows the latest block and its time', async () => {
    const before = await port.head()
    await chain.mine()
    const after = await port.head()
    expect(after.number).toBe(before.number + 1n)
    expect(after.time).toBe((await chain.blockTime()) * 1000)
  })
})
