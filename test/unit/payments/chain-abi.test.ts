// Calldata and revert reasons by hand, against an ABI library.
import fc from 'fast-check'
import { encodeAbiParameters, encodeErrorResult, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { describe, expect, it } from 'vitest'
import {
  packAuthorizationState,
  packBalanceOf,
  packTransfer,
  readRevert,
} from '../../../src/payments/adapters/usdc-abi.ts'
import { Secret } from '../../../src/lib/secret.ts'

const abi = parseAbi([
  'function transferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce,uint8 v,bytes32 r,bytes32 s)',
  'function transferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce,bytes signature)',
  'function balanceOf(address account) view returns (uint256)',
  'function authorizationState(address authorizer,bytes32 nonce) view returns (bool)',
])
const bytes = (length: number) =>
  fc
    .uint8Array({ minLength: length, maxLength: length })
    .map((raw): Hex => `0x${Buffer.from(raw).toString('hex')}`)
const uint = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
const authorization = fc.record({
  from: bytes(20),
  to: bytes(20),
  value: uint,
  validAfter: uint,
  validBefore: uint,
  nonce: bytes(32),
})

describe('calldata', () => {
  it('is what an ABI library makes of it', () => {
    fc.assert(
      fc.property(
        authorization,
        bytes(65),
        fc
          .integer({ min: 0, max: 300 })
          .filter((n) => n !== 65)
          .chain(bytes),
        (a, short, other) => {
          const { from, to, value, validAfter, validBefore, nonce } = a
          const fields = [from, to, value, validAfter, validBefore, nonce] as const
          const [r, s, v] = [short.slice(0, 66), `0x${short.slice(66, 130)}`, Number(`0x${short.slice(130)}`)]
          expect(packTransfer(a, new Secret<string>(short))).toBe(
            encodeFunctionData({
              abi,
              functionName: 'transferWithAuthorization',
              args: [...fields, v, r as Hex, s as Hex],
            }),
          )
          expect(packTransfer(a, new Secret<string>(other))).toBe(
            encodeFunctionData({ abi, functionName: 'transferWithAuthorization', args: [...fields, other] }),
          )
          expect(packBalanceOf(from)).toBe(
            encodeFunctionData({ abi, functionName: 'balanceOf', args: [from] }),
          )
          expect(packAuthorizationState(from, nonce)).toBe(
            encodeFunctionData({ abi, functionName: 'authorizationState', args: [from, nonce] }),
          )
        },
      ),
    )
  })
})

const reason = (text: string) =>
  encodeErrorResult({ abi: parseAbi(['error Error(string reason)']), errorName: 'Error', args: [text] })
const panic = `0x4e487b71${encodeAbiParameters([{ type: 'uint256' }], [0x11n]).slice(2)}`

describe('a revert', () => {
  it.each([
    [
      'geth',
      { code: 3, message: 'execution reverted: paused', data: reason('Pausable: paused') },
      'Pausable: paused',
    ],
    [
      'geth without data',
      { code: -32000, message: 'execution reverted', data: undefined },
      'reverted without a reason',
    ],
    [
      'a proxy of geth',
      { code: -32000, message: 'execution reverted: not enough', data: undefined },
      'not enough',
    ],
    ['parity', { code: -32015, message: 'VM execution error.', data: `Reverted ${reason('no')}` }, 'no'],
    [
      'parity without data',
      { code: -32015, message: 'VM execution error.', data: 'Reverted 0x' },
      'VM execution error.',
    ],
    ['a failed assertion', { code: 3, message: 'execution reverted', data: panic }, 'panic 17'],
    [
      'an error of its own',
      { code: 3, message: 'execution reverted', data: '0x12345678' },
      'reverted without a reason',
    ],
    ['control characters', { code: 3, message: 'x', data: reason('a\u0000\u001b[31mb\nc') }, 'a[31mbc'],
    ['a novel', { code: 3, message: 'x', data: reason('n'.repeat(900)) }, 'n'.repeat(120)],
    ['a length that lies', { code: 3, message: 'reverted: x', data: `0x08c379a0${'f'.repeat(128)}` }, 'x'],
  ])('of %s is read', (_title, error, expected) => {
    expect(readRevert({ ok: false, ...error })).toBe(expected)
  })

  it.each([
    { code: -32005, message: 'rate limit exceeded' },
    { code: -32000, message: 'header not found' },
    { code: -32603, message: 'Internal error' },
    { code: -32601, message: 'the method eth_call does not exist' },
  ])('is not what a node says of itself: $message', (error) => {
    expect(readRevert({ ok: false, ...error, data: undefined })).toBeUndefined()
  })
})
