import { describe, expect, it } from 'vitest'
import { privateKeyToAccount } from 'viem/accounts'
import { verifyOwnership } from '../../../../src/market/sellers/ownership.ts'
import { ChainError } from '../../../../src/payments/chain-ports.ts'

const ORIGIN = 'https://api.example.com'
const account = privateKeyToAccount(`0x${'7a'.repeat(32)}`)
const address = account.address.toLowerCase()
const signed = await account.signMessage({ message: ORIGIN })
const signedForAnother = await account.signMessage({ message: 'https://api.example.com/' })
const contract = (answer: () => boolean) => ({ acceptsSignature: async () => answer() })

describe('an origin', () => {
  it.each<[string, readonly string[], string]>([
    ['is signed by the account', [signed], 'eip191'],
    ['is signed by one of several', ['0x00', 'no hex', signed], 'eip191'],
    [
      'is signed by a wallet that counts from 0',
      [signed.slice(0, -2) + (signed.endsWith('1b') ? '00' : '01')],
      'eip191',
    ],
    ['is not signed at all', [], 'none'],
    ['is signed for another', [signedForAnother], 'other_signer'],
    ['is signed by nobody', [`0x${'11'.repeat(65)}`], 'other_signer'],
  ])('%s', async (_, proofs, expected) => {
    const verdict = await verifyOwnership(ORIGIN, address, proofs, undefined)
    expect(verdict.ok ? verdict.kind : verdict.reason).toBe(expected)
  })

  it('is signed by a contract where the contract says so, and unknown where the chain is silent', async () => {
    const proof = [`0x${'22'.repeat(100)}`]
    expect(
      await verifyOwnership(
        ORIGIN,
        address,
        proof,
        contract(() => true),
      ),
    ).toMatchObject({ ok: true, kind: 'erc1271' })
    expect(
      await verifyOwnership(
        ORIGIN,
        address,
        proof,
        contract(() => false),
      ),
    ).toEqual({ ok: false, reason: 'other_signer' })
    const silent = contract(() => {
      throw new ChainError('timeout', 'eip155:8453')
    })
    expect(await verifyOwnership(ORIGIN, address, proof, silent)).toEqual({ ok: false, reason: 'unknown' })
  })
})
