// What a stranger can make the test wallet of a sandbox sign, and what not.
import { describe, expect, it } from 'vitest'
import { getAddress, recoverTypedDataAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { PaymentRequired } from '../../../schemas/x402.ts'
import { createNetworks } from '../../../src/core/networks.ts'
import { Secret } from '../../../src/lib/secret.ts'
import { toRequirements } from '../../../src/payments/requirements.ts'
import { createTestWallet } from '../../../src/sandbox/wallet.ts'

const PRIVATE_KEY = `0x${'a9e1'.repeat(16)}` as const
const PAY_TO = getAddress('0x00000000000000000000000000000000ca5cade5')
const BASE_URL = 'http://127.0.0.1:8402'
const networks = createNetworks([8453, 84532])
const [base, sepolia] = networks.all as [(typeof networks.all)[0], (typeof networks.all)[0]]

const wallet = createTestWallet({
  privateKey: new Secret(PRIVATE_KEY),
  payTo: PAY_TO,
  networks,
  chainIds: [84532],
  baseUrl: BASE_URL,
  now: () => 1_700_000_000_000,
})

const offer = toRequirements({ network: sepolia, amountAtomic: 1000n, payTo: PAY_TO })
const challenge = (change: Partial<typeof offer> = {}, url = `${BASE_URL}/v1/execute`): PaymentRequired => ({
  x402Version: 2,
  resource: { url },
  accepts: [{ ...offer, ...change }],
  extensions: { 'offer-receipt': { info: { challenge: 'x' } } },
})

describe('the test wallet', () => {
  it('signs a transfer of test money to this gateway, for five minutes, each with another nonce', async () => {
    const [payment, other] = await Promise.all([wallet.pay(challenge()), wallet.pay(challenge())])
    const { authorization, signature } = payment.payload as {
      authorization: Record<string, string>
      signature: `0x${string}`
    }
    const payer = privateKeyToAccount(PRIVATE_KEY).address
    expect(authorization).toMatchObject({
      from: payer.toLowerCase(),
      to: PAY_TO,
      value: '1000',
      validAfter: '0',
      validBefore: '1700000300',
    })
    expect(JSON.stringify(other)).not.toContain(authorization['nonce'])
    // The echo of the challenge shows later that the result is this buyer's.
    expect(payment).toMatchObject({ accepted: offer, extensions: challenge().extensions })
    const signer = await recoverTypedDataAddress({
      domain: { ...domain, chainId: 84532, verifyingContract: sepolia.asset.address as `0x${string}` },
      types,
      primaryType: 'TransferWithAuthorization',
      message: {
        from: payer,
        to: PAY_TO,
        value: 1000n,
        validAfter: 0n,
        validBefore: 1_700_000_300n,
        nonce: authorization['nonce'] as `0x${string}`,
      },
      signature,
    })
    expect(signer).toBe(payer)
  })

  it('pays 0.10 USDC, and not a hundred-thousandth part of a cent more', async () => {
    await expect(wallet.pay(challenge({ amount: '100000' }))).resolves.toBeTruthy()
    await expect(wallet.pay(challenge({ amount: '100001' }))).rejects.toThrow('at most 0.10 USDC')
  })

  it.each<[string, PaymentRequired]>([
    ['another payee', challenge({ payTo: `0x${'11'.repeat(20)}` })],
    ['another token', challenge({ asset: `0x${'22'.repeat(20)}` })],
    ['another chain', challenge({ network: 'eip155:1' })],
    ['a chain that is not of the sandbox', { ...challenge(), accepts: [onBase()] }],
    ['the other name of a network', challenge({ network: 'base-sepolia' })],
    ['a transfer by Permit2', challenge({ extra: { ...offer.extra, assetTransferMethod: 'permit2' } })],
    ['another domain', challenge({ extra: { name: 'Permit2', version: '1' } })],
    ['a longer time', challenge({ maxTimeoutSeconds: 86_400 })],
    ['another scheme', challenge({ scheme: 'upto' })],
  ])('signs nothing for %s', async (_, required) => {
    await expect(wallet.pay(required)).rejects.toMatchObject({ code: 'payment_invalid' })
  })

  it.each(['https://example.com/v1/execute', 'http://127.0.0.1:84021/v1/execute', `${BASE_URL}.evil.test/`])(
    'pays for nothing at %s',
    async (url) => {
      await expect(wallet.pay(challenge({}, url))).rejects.toThrow('calls of this gateway')
    },
  )

  it('takes the way that is ours where others stand beside it', async () => {
    const required = { ...challenge(), accepts: [onBase(), offer] }
    expect((await wallet.pay(required)).accepted).toEqual(offer)
  })
})

const onBase = () => toRequirements({ network: base, amountAtomic: 1000n, payTo: PAY_TO })
const domain = { name: 'USDC', version: '2' }
const types = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const
