// One gas rule for verification and settlement: what could not be settled within the limit is refused when it is verified, in
// words, and costs the operator nothing.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noFault } from '../../src/lib/fault-points.ts'
import { Secret } from '../../src/lib/secret.ts'
import { createChain } from '../../src/payments/adapters/chain.ts'
import { createLocalUpstream } from '../../src/payments/adapters/local-upstream.ts'
import { judgeProbe } from '../../src/payments/verify.ts'
import { paymentOf, requirementsOf, signPayment, startTestChain, type TestChain } from '../support/chain.ts'

let chain: TestChain
beforeAll(async () => {
  chain = await startTestChain(84532)
})
afterAll(() => chain.close())

const LIMIT = 120_000n
/** Whatever is asked, the answer is the magic value of ERC-1271. */
const AGREES = '631626ba7e60e01b60005260206000f3'
/** The same after 2,000 rounds of counting down, which cost some 60,000. */
const AGREES_SLOWLY = `6107d05b6001900380600357${AGREES}`

async function payFrom(payer: number, code: string, signature: string) {
  const account = chain.payers[payer]
  if (!account) throw new Error(`there is no payer ${payer}`)
  await chain.rpc('anvil_setCode', [account.address, `0x${code}`])
  const requirements = requirementsOf(chain)
  const payload = await signPayment({ account, requirements, overrides: { signature: () => signature } })
  return { ...paymentOf(payload, chain.network), requirements }
}
type Paying = Awaited<ReturnType<typeof payFrom>>

async function judge({ payment, requirements, authorization, signature }: Paying, settlementGas?: bigint) {
  const rpcUrl = async () => chain.rpcUrl
  const port = createChain({ network: chain.network, rpcUrl, now: Date.now, settlementGas })
  const upstream = createLocalUpstream({
    chains: [{ network: chain.network, rpcUrl }],
    settlerKeys: async () => chain.settlerKeys.slice(0, 1).map((key) => new Secret<string>(key)),
    fault: noFault,
    settlementGas,
    now: Date.now,
  })
  const request = { payment, requirements, deadlineMs: 10_000 }
  const before = await chain.rpc('eth_blockNumber')
  try {
    const refusal = judgeProbe(await port.probe(authorization, signature), authorization.value, false)
    const verified = await upstream.verify(request)
    const settled = await upstream.settle(request)
    return { refusal, verified, settled, isMined: (await chain.rpc('eth_blockNumber')) !== before }
  } finally {
    await upstream.close()
    await port.close()
  }
}

const bytes = (count: number) => `0x${'11'.repeat(count)}`
const words = expect.stringMatching(/needs more than the 120000 gas that one settlement may burn here/)

describe('the gas of one settlement', () => {
  it.each([
    ['whose signature of 2,048 bytes costs too much to send', 1, AGREES, bytes(2_048)],
    ['whose check costs too much to run', 2, AGREES_SLOWLY, bytes(66)],
  ])(
    'is the limit of verification too: a wallet %s is refused at once',
    async (_, payer, code, signature) => {
      const paying = await payFrom(payer, code, signature)
      const { refusal, verified, settled, isMined } = await judge(paying)
      const expected = {
        ok: false,
        check: 'simulation',
        reason: 'invalid_exact_evm_transaction_simulation_failed',
        message: words,
        isRetryable: false,
      }
      expect(refusal).toMatchObject(expected)
      expect(verified).toMatchObject(expected)
      expect(settled).toMatchObject({ state: 'refused' })
      expect(isMined).toBe(false)
      // Where the operator allows more, the same payment goes through.
      expect(await judge(paying, 250_000n)).toMatchObject({
        refusal: undefined,
        verified: { ok: true },
        settled: { state: 'settled' },
      })
    },
  )

  it('is enough for a wallet with an ordinary signature, and is what its transaction gets', async () => {
    const { refusal, verified, settled } = await judge(await payFrom(3, AGREES, bytes(66)))
    expect(refusal).toBeUndefined()
    expect([verified.ok, settled.state]).toEqual([true, 'settled'])
    const block = (await chain.rpc('eth_getBlockByNumber', ['latest', true])) as {
      transactions: { gas: string }[]
    }
    expect(block.transactions.map(({ gas }) => BigInt(gas))).toEqual([LIMIT])
  })

  it('is not blamed where the wallet says no, however much it is given', async () => {
    // JUMPDEST PUSH1 0 JUMP: it burns whatever it gets.
    const { refusal, verified } = await judge(await payFrom(4, '5b600056', bytes(66)))
    expect(refusal).toMatchObject({ check: 'signature' })
    expect(verified).toMatchObject({ message: expect.stringContaining('invalid signature') })
  })

  it('is not blamed where the node is silent', async () => {
    const paying = await payFrom(5, AGREES, bytes(2_048))
    const upstream = createLocalUpstream({
      chains: [{ network: chain.network, rpcUrl: async () => 'http://127.0.0.1:1' }],
      settlerKeys: async () => [],
      fault: noFault,
      now: Date.now,
    })
    const verdict = await upstream.verify({ ...paying, deadlineMs: 1_000 })
    expect(verdict).toMatchObject({ ok: false, isRetryable: true })
    await upstream.close()
  })
})
