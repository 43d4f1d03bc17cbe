import { randomBytes } from 'node:crypto'
import * as PublicKey from 'ox/PublicKey'
import { recoverPublicKey } from 'ox/Secp256k1'
import { keccak256, recoverAddress, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  createSecp256k1,
  loadNative,
  loadSecp256k1,
  loadWasm,
  type Secp256k1,
} from '../../../src/payments/secp256k1.ts'

const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n
const ORDER = 2n * HALF_ORDER + 1n
const bytesOf = (hex: string) => Buffer.from(hex.slice(2), 'hex')

let fastest: Secp256k1
let wasm: Secp256k1
let native: Secp256k1 | undefined

beforeAll(async () => {
  fastest = await loadSecp256k1()
  wasm = await loadWasm(fastest.keccak256)
  native = loadNative(fastest.keccak256)
})

const engines = () => [wasm, ...(native ? [native] : [])]

describe('secp256k1', () => {
  it('takes the addon where there is one, and never its slow substitute', () => {
    expect(fastest.engine).toBe(native ? 'native' : 'wasm')
    expect(wasm.engine).toBe('wasm')
    const { sharedObjects } = process.report.getReport() as unknown as { sharedObjects: string[] }
    expect(sharedObjects.some((path) => path.includes('secp256k1'))).toBe(native !== undefined)
  })

  it('is loaded once', async () => {
    expect(await loadSecp256k1()).toBe(fastest)
  })

  it('names the account that signed, in every engine as in viem', async () => {
    for (let i = 0; i < 40; i++) {
      const account = privateKeyToAccount(toHex(randomBytes(32)))
      const hash = keccak256(randomBytes(20))
      const signature = await account.sign({ hash })
      for (const engine of engines())
        expect(engine.recoverAddress(bytesOf(hash), bytesOf(signature))).toBe(account.address.toLowerCase())
    }
  })

  it('says the same as viem about signatures that nobody made', async () => {
    for (let i = 0; i < 60; i++) {
      const hash = toHex(randomBytes(32))
      const signature = Buffer.concat([randomBytes(64), Buffer.from([27 + (i % 2)])])
      const expected = await recoverAddress({ hash, signature }).then(
        (address) => address.toLowerCase(),
        () => undefined,
      )
      for (const engine of engines()) {
        const recovered = engine.recoverAddress(bytesOf(hash), signature)
        // Engines may refuse an s in the upper half; the firewall has refused it before them.
        const s = BigInt(`0x${signature.toString('hex', 32, 64)}`)
        if (s <= HALF_ORDER || recovered !== undefined) expect(recovered).toBe(expected)
      }
    }
  })

  it.each<[string, (signature: Buffer) => Buffer]>([
    ['r of zero', (signature) => Buffer.concat([Buffer.alloc(32), signature.subarray(32)])],
    [
      's of zero',
      (signature) => Buffer.concat([signature.subarray(0, 32), Buffer.alloc(32), signature.subarray(64)]),
    ],
    [
      'r beyond the order',
      (signature) => Buffer.concat([bytesOf(toHex(ORDER, { size: 32 })), signature.subarray(32)]),
    ],
    ['64 bytes', (signature) => signature.subarray(0, 64)],
    ['66 bytes', (signature) => Buffer.concat([signature, Buffer.from([0])])],
    ['v of 0', (signature) => Buffer.concat([signature.subarray(0, 64), Buffer.from([0])])],
    ['v of 29', (signature) => Buffer.concat([signature.subarray(0, 64), Buffer.from([29])])],
    ['nothing', () => Buffer.alloc(0)],
  ])('recovers nobody from %s', async (_, change) => {
    const hash = keccak256('0x01')
    const signature = bytesOf(await privateKeyToAccount(`0x${'11'.repeat(32)}`).sign({ hash }))
    for (const engine of engines()) {
      expect(engine.recoverAddress(bytesOf(hash), signature)).toBeDefined()
      expect(engine.recoverAddress(bytesOf(hash), change(signature))).toBeUndefined()
      expect(engine.recoverAddress(bytesOf(hash).subarray(1), signature)).toBeUndefined()
    }
  })

  it('does not start with an implementation that is wrong', () => {
    const wrong = {
      recoverPublicKey: () => new Uint8Array(65),
      sign: () => ({ rs: new Uint8Array(64), recoveryId: 0 }),
    }
    expect(() => createSecp256k1('native', fastest.keccak256, wrong)).toThrow(/self-test/)
    expect(() => createSecp256k1('wasm', () => new Uint8Array(32), wrong)).toThrow(/self-test/)
    expect(loadNative(() => new Uint8Array(32))).toBeUndefined()
  })
})

describe('a signature of our own', () => {
  it('is the one that viem makes, in every engine, for many keys and digests', async () => {
    for (let i = 0; i < 150; i++) {
      const privateKey = toHex(randomBytes(32))
      const hash = toHex(randomBytes(32))
      const expected = await privateKeyToAccount(privateKey).sign({ hash })
      for (const engine of engines())
        expect(toHex(engine.sign(bytesOf(hash), bytesOf(privateKey))), engine.engine).toBe(expected)
    }
  })

  it.each<[string, string]>([
    ['the smallest key', '1'],
    ['the largest key', (ORDER - 1n).toString(16)],
    // Of a digest beyond the order, which nobody can find, RFC 6979 derives another nonce than libsecp256k1: as good a one.
  ])('is the one that viem makes for %s, over the smallest and the largest digest', async (_, key) => {
    const privateKey = toHex(BigInt(`0x${key}`), { size: 32 })
    for (const hash of [toHex(0n, { size: 32 }), toHex(ORDER - 1n, { size: 32 })]) {
      const expected = await privateKeyToAccount(privateKey).sign({ hash })
      for (const engine of engines())
        expect(toHex(engine.sign(bytesOf(hash), bytesOf(privateKey))), engine.engine).toBe(expected)
    }
  })

  it.each<[string, Buffer]>([
    ['zero', Buffer.alloc(32)],
    ['the order', bytesOf(toHex(ORDER, { size: 32 }))],
    ['31 bytes', Buffer.alloc(31, 1)],
  ])('is not made with a key of %s', (_, key) => {
    for (const engine of engines()) expect(() => engine.sign(Buffer.alloc(32, 7), key)).toThrow()
  })

  it('keeps an implementation out that recovers well and signs otherwise', () => {
    const recovers = {
      recoverPublicKey: (digest: Uint8Array, rs: Uint8Array, yParity: 0 | 1) =>
        bytesOf(
          PublicKey.toHex(
            recoverPublicKey({
              payload: digest,
              signature: { r: toHex(rs.subarray(0, 32)), s: toHex(rs.subarray(32)), yParity },
            }),
          ),
        ),
    }
    const signs = (flip: boolean) => ({
      ...recovers,
      sign(digest: Uint8Array, privateKey: Uint8Array) {
        const signature = wasm.sign(digest, privateKey)
        return { rs: signature.subarray(0, 64), recoveryId: (signature[64]! - 27) ^ Number(flip) }
      },
    })
    expect(createSecp256k1('wasm', fastest.keccak256, signs(false)).engine).toBe('wasm')
    expect(() => createSecp256k1('wasm', fastest.keccak256, signs(true))).toThrow(/self-test/)
  })
})
