import fc from 'fast-check'
import { type Hex, checksumAddress, hashTypedData, keccak256 as viemKeccak256 } from 'viem'
import { beforeAll, describe, expect, it } from 'vitest'
import { hasGoodChecksum } from '../../../src/lib/eip55.ts'
import { createEip3009Hasher, type Eip3009Hasher } from '../../../src/payments/eip3009.ts'
import { createNetworks } from '../../../src/core/networks.ts'
import type { Eip3009Authorization } from '../../../src/payments/chain-ports.ts'
import type { PaymentNetwork } from '../../../src/core/networks.ts'
import { loadSecp256k1, type Secp256k1 } from '../../../src/payments/secp256k1.ts'
import { cites } from '../../requirements.ts'

const networks = createNetworks([1, 10, 137, 8453, 42161, 43114, 84532]).all
let secp256k1: Secp256k1
let hasher: Eip3009Hasher

beforeAll(async () => {
  secp256k1 = await loadSecp256k1()
  hasher = createEip3009Hasher(secp256k1.keccak256)
})

const hex = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`
const bytesOf = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map(hex)
const uint256 = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
  fc.constantFrom(0n, 1n, 2n ** 64n - 1n, 2n ** 64n, 2n ** 128n, 2n ** 256n - 1n),
)
const authorizations = fc.record({
  from: bytesOf(20),
  to: bytesOf(20),
  value: uint256,
  validAfter: uint256,
  validBefore: uint256,
  nonce: bytesOf(32),
})

function hashByViem({ chainId, asset }: PaymentNetwork, message: Eip3009Authorization): Hex {
  return hashTypedData({
    domain: {
      name: asset.name,
      version: asset.version,
      chainId,
      verifyingContract: asset.address as Hex,
    },
    types: {
      TransferWithAuthorization: [
        { name: 'from', type: 'address' },
        { name: 'to', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'validAfter', type: 'uint256' },
        { name: 'validBefore', type: 'uint256' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'TransferWithAuthorization',
    message: { ...message, from: message.from as Hex, to: message.to as Hex, nonce: message.nonce as Hex },
  })
}

describe('digest of an EIP-3009 authorization', () => {
  it(
    cites('x402:eip3009:digest', 'is what viem computes, on every network and for every authorization'),
    () => {
      fc.assert(
        fc.property(fc.constantFrom(...networks), authorizations, (network, authorization) => {
          expect(hex(hasher.hash(network, authorization))).toBe(hashByViem(network, authorization))
        }),
        { numRuns: 300 },
      )
    },
  )

  it('leaves nothing of one authorization in the next', () => {
    const full = {
      from: `0x${'ff'.repeat(20)}`,
      to: `0x${'ff'.repeat(20)}`,
      value: 2n ** 256n - 1n,
      validAfter: 2n ** 256n - 1n,
      validBefore: 2n ** 256n - 1n,
      nonce: `0x${'ff'.repeat(32)}`,
    }
    const empty = {
      from: `0x${'00'.repeat(20)}`,
      to: `0x${'00'.repeat(20)}`,
      value: 0n,
      validAfter: 0n,
      validBefore: 0n,
      nonce: `0x${'00'.repeat(32)}`,
    }
    const network = networks[0]!
    hasher.hash(network, full)
    expect(hex(hasher.hash(network, empty))).toBe(hashByViem(network, empty))
  })

  it('gives a digest that later calls do not change', () => {
    const authorization = {
      from: `0x${'11'.repeat(20)}`,
      to: `0x${'22'.repeat(20)}`,
      value: 1n,
      validAfter: 0n,
      validBefore: 5n,
      nonce: `0x${'33'.repeat(32)}`,
    }
    const first = hasher.hash(networks[0]!, authorization)
    const before = hex(first)
    hasher.hash(networks[1]!, { ...authorization, value: 2n })
    expect(hex(first)).toBe(before)
  })
})

describe('checksums of addresses', () => {
  it(
    cites('x402:eip55:checksum', 'are good exactly where viem writes the same, and in one case alone'),
    () => {
      fc.assert(
        fc.property(bytesOf(20), fc.nat(39), (address, at) => {
          const checked = checksumAddress(address)
          expect(hasGoodChecksum(checked, secp256k1.keccak256)).toBe(true)
          expect(hasGoodChecksum(address, secp256k1.keccak256)).toBe(true)
          const char = checked[2 + at]!
          const flipped = char === char.toLowerCase() ? char.toUpperCase() : char.toLowerCase()
          const changed = checked.slice(0, 2 + at) + flipped + checked.slice(3 + at)
          const isOneCase = [changed.slice(2).toLowerCase(), changed.slice(2).toUpperCase()].includes(
            changed.slice(2),
          )
          expect(hasGoodChecksum(changed, secp256k1.keccak256)).toBe(flipped === char || isOneCase)
        }),
        { numRuns: 300 },
      )
    },
  )

  it('rest on the keccak-256 that everybody uses', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        expect(hex(secp256k1.keccak256(bytes))).toBe(viemKeccak256(bytes))
      }),
    )
  })
})
