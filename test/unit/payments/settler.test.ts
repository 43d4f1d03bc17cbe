import { randomBytes } from 'node:crypto'
import { keccak256, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import { openSettler } from '../../../src/payments/adapters/settler.ts'
import { createNetworks } from '../../../src/core/networks.ts'
import { Secret } from '../../../src/lib/secret.ts'

const network = createNetworks([8453]).all[0]!

/** A node that takes everything. */
function openNode(nonce: bigint) {
  const raw: string[] = []
  return {
    raw,
    ask: async () => [{ ok: true as const, result: toHex(nonce) }],
    async submit(_method: string, [sent]: readonly unknown[]) {
      raw.push(sent as string)
      return {
        state: 'answered' as const,
        reply: { ok: true as const, result: keccak256(sent as `0x${string}`) },
      }
    },
  }
}

describe('a transaction of a settler', () => {
  it('is, byte for byte, what viem signs, and has the hash that the node will give it', async () => {
    for (let i = 0; i < 60; i++) {
      const privateKey = toHex(randomBytes(32))
      const account = privateKeyToAccount(privateKey)
      const nonce = BigInt(i < 3 ? i : randomBytes(3).readUIntBE(0, 3))
      const node = openNode(nonce)
      const settler = await openSettler({
        key: new Secret<string>(privateKey),
        network,
        rpc: node,
        fees: async () => undefined,
        maxFeePerGas: 0n,
        now: Date.now,
      })
      const fees = {
        maxFeePerGas: randomBytes(5).readUIntBE(0, 5),
        maxPriorityFeePerGas: i % 4 === 0 ? 0 : 1_000_000,
      }
      const transaction = {
        to: network.asset.address as `0x${string}`,
        data: toHex(randomBytes(i % 5 === 0 ? 0 : 4 + 32 * 9)),
        gas: 120_000n,
        maxFeePerGas: BigInt(fees.maxFeePerGas + fees.maxPriorityFeePerGas),
        maxPriorityFeePerGas: BigInt(fees.maxPriorityFeePerGas),
      }
      const { to, data, gas, ...asked } = transaction
      const broadcast = await settler.broadcast({ to, data, gas, fees: asked, isWanted: async () => true })
      const expected = await account.signTransaction({
        ...transaction,
        type: 'eip1559',
        chainId: 8453,
        nonce: Number(nonce),
      })
      expect(settler.address).toBe(account.address)
      expect(node.raw.map((raw) => raw.toLowerCase())).toEqual([expected])
      settler.close()
      expect(broadcast).toEqual({ state: 'sent', transaction: keccak256(expected) })
    }
  })

  it('leaves no copy of the key in the slab from which Node cuts short buffers', async () => {
    const privateKey = toHex(randomBytes(32))
    // Not cut from it.
    const key = Buffer.alloc(32)
    key.write(privateKey.slice(2), 'hex')
    const settler = await openSettler({
      key: new Secret<string>(privateKey),
      network,
      rpc: openNode(0n),
      fees: async () => undefined,
      maxFeePerGas: 0n,
      now: Date.now,
    })
    const slab = () => Buffer.from(Buffer.from('a slab').buffer)
    const before = slab()
    const fees = { maxFeePerGas: 2n, maxPriorityFeePerGas: 1n }
    const sent = await settler.broadcast({
      to: network.asset.address,
      data: '0x',
      gas: 120_000n,
      fees,
      isWanted: async () => true,
    })
    settler.close()
    expect(sent.state).toBe('sent')
    for (const seen of [before, slab()]) expect(seen.includes(key)).toBe(false)
  })
})
