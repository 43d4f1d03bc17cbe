import { keccak256, toHex } from 'viem'
import { afterEach, expect, it } from 'vitest'
import { createNetworks } from '../../../src/core/networks.ts'
import { Secret } from '../../../src/lib/secret.ts'
import { createSettlerPool, type SettlerPool } from '../../../src/payments/adapters/settler-pool.ts'

const network = createNetworks([8453]).all[0]!
const FEES = { maxFeePerGas: 2n, maxPriorityFeePerGas: 1n }

let pool: SettlerPool | undefined
afterEach(() => pool?.close())

/** Two accounts at a node that takes everything and mines nothing. */
function open() {
  const raw: `0x${string}`[] = []
  let clock = 0
  pool = createSettlerPool({
    keys: async () => [1n, 2n].map((key) => new Secret<string>(toHex(key, { size: 32 }))),
    network,
    rpc: {
      ask: async (calls) =>
        calls.map(({ method }) => ({
          ok: true,
          result: method.endsWith('ByHash') ? {} : method.endsWith('Receipt') ? null : toHex(10n ** 18n),
        })),
      async submit(_method, [sent]) {
        raw.push(sent as `0x${string}`)
        return { state: 'answered', reply: { ok: true, result: keccak256(sent as `0x${string}`) } }
      },
    },
    gas: 100_000n,
    fees: async () => FEES,
    maxFeePerGas: 10n,
    now: () => clock,
  })
  const broadcast = (data: `0x${string}`) =>
    pool!.broadcast(
      { to: network.asset.address, data, gas: 100_000n, fees: FEES, isWanted: async () => true },
      performance.now() + 10_000,
    )
  return { raw, broadcast, pass: (ms: number) => void (clock += ms) }
}

it('sends a transfer by one account alone, however often it is asked to while it is in no block', async () => {
  const { raw, broadcast, pass } = open()
  const first = await broadcast('0x01')
  expect(first).toMatchObject({ state: 'sent' })
  // Its account is stuck by now, and the other one is free.
  pass(60_000)
  const again = await broadcast('0x01')
  expect(again).toMatchObject({ state: 'sent' })
  expect(raw).toHaveLength(1)
  expect(await broadcast('0x02')).toMatchObject({ state: 'sent' })
  expect(raw).toHaveLength(2)
  // In a block: whoever asks now wants it sent anew.
  again.end(true)
  await broadcast('0x01')
  expect(raw).toHaveLength(3)
})
