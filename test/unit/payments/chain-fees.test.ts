import { describe, expect, it } from 'vitest'
import { createFees, maxFeePerGasOf } from '../../../src/payments/adapters/fees.ts'
import type { RpcReply } from '../../../src/payments/adapters/json-rpc.ts'
import { createNetworks } from '../../../src/core/networks.ts'

const GWEI = 1_000_000_000n
const hex = (value: bigint) => `0x${value.toString(16)}`
const ok = (result: unknown): RpcReply => ({ ok: true, result })
const no: RpcReply = { ok: false, code: -32601, message: 'no such method', data: undefined }

function open(chainId: number, base: RpcReply, tip: RpcReply) {
  let asked = 0
  let clock = 0
  const network = createNetworks([chainId]).all[0]!
  const fees = createFees({
    network,
    maxFeePerGas: maxFeePerGasOf(network),
    rpc: { ask: async () => (asked++, [base, tip]) },
    now: () => clock,
  })
  return { fees, asked: () => asked, later: (ms: number) => void (clock += ms) }
}
const block = (base: bigint) => ok({ baseFeePerGas: hex(base) })

describe('fees', () => {
  it.each([
    ['twice the base fee and the tip', 8453, GWEI, ok(hex(5n)), 2n * GWEI + 5n, 5n],
    ['a small tip where the node names none', 8453, GWEI, no, 2n * GWEI + 1_000_000n, 1_000_000n],
    ['no more than the cap', 8453, 8n * GWEI, ok(hex(GWEI)), 10n * GWEI, GWEI],
    ['no more tip than the cap leaves', 8453, 9n * GWEI, ok(hex(5n * GWEI)), 10n * GWEI, GWEI],
    [
      'more on chains whose gas is worth less',
      137,
      300n * GWEI,
      ok(hex(30n * GWEI)),
      630n * GWEI,
      30n * GWEI,
    ],
  ])('are %s', async (_title, chainId, base, tip, maxFeePerGas, maxPriorityFeePerGas) => {
    expect(await open(chainId, block(base), tip).fees()).toEqual({ maxFeePerGas, maxPriorityFeePerGas })
  })

  it('are bounded by what the operator says of this chain, else by a bound of the chain', () => {
    const [base, polygon] = [8453, 137].map((id) => createNetworks([id]).all[0]!)
    expect(maxFeePerGasOf(base!, { 8453: 3n })).toBe(3n)
    expect(maxFeePerGasOf(base!, { 137: 3n })).toBe(10n * GWEI)
    expect(maxFeePerGasOf(polygon!)).toBe(2_000n * GWEI)
  })

  it('are none above the cap', async () => {
    expect(await open(8453, block(10n * GWEI), ok('0x1')).fees()).toBeUndefined()
    expect(await open(8453, block(10n * GWEI - 1_000_000n), ok('0x1')).fees()).toBeDefined()
  })

  it('are asked for once in two seconds, and again after a failure', async () => {
    const { fees, asked, later } = open(8453, block(GWEI), ok('0x1'))
    await Promise.all([fees(), fees(), fees()])
    later(1_999)
    await fees()
    expect(asked()).toBe(1)
    later(1)
    await fees()
    expect(asked()).toBe(2)
    const failing = open(8453, ok({}), ok('0x1'))
    await expect(failing.fees()).rejects.toMatchObject({ reason: 'malformed' })
    await expect(failing.fees()).rejects.toMatchObject({ reason: 'malformed' })
    expect(failing.asked()).toBe(2)
  })
})
