import { createSecretKey, randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { digestFacts, openEvidence, sealEvidence } from '../../../src/actions/evidence.ts'
import { readFacts } from '../../../src/actions/summary.ts'
import { digestRequest } from '../../../src/egress/digest.ts'

const key = createSecretKey(randomBytes(32))
const permit = { id: 'pmt_1', requestDigest: 'digest' }
const facts = JSON.stringify({
  method: 'POST',
  url: 'https://api.example.com/v1/orders',
  headers: [['content-type', 'application/json']],
  body: Buffer.from('{"sku":"tea"}').toString('base64'),
  credential: {
    credential_id: 'cred_1',
    provider: 'custom',
    label: 'shop',
    version: 3,
    header: 'authorization',
  },
  mandate: { mandate_id: 'mdt_1', purpose: 'Orders' },
})

describe('an approved request that is kept', () => {
  it('comes out as it went in, and says nothing while it is sealed', () => {
    const sealed = sealEvidence(key, permit, facts)
    expect(sealed.toString('latin1')).not.toContain('example')
    expect(openEvidence(key, permit, sealed)).toBe(facts)
  })

  it.each<[string, () => unknown]>([
    ['another permit', () => openEvidence(key, { ...permit, id: 'pmt_2' }, sealEvidence(key, permit, facts))],
    [
      'another request',
      () => openEvidence(key, { ...permit, requestDigest: 'other' }, sealEvidence(key, permit, facts)),
    ],
    [
      'another key',
      () => openEvidence(createSecretKey(randomBytes(32)), permit, sealEvidence(key, permit, facts)),
    ],
    [
      'one changed bit',
      () => {
        const sealed = sealEvidence(key, permit, facts)
        sealed.writeUInt8(sealed.readUInt8(40) ^ 1, 40)
        return openEvidence(key, permit, sealed)
      },
    ],
  ])('does not open for %s', (_, open) => {
    expect(open).toThrow()
  })

  it('has the digest that the permit has of the same request', () => {
    expect(digestFacts(readFacts(facts))).toBe(
      digestRequest({
        method: 'POST',
        url: 'https://api.example.com/v1/orders',
        headers: [['content-type', 'application/json']],
        body: Buffer.from('{"sku":"tea"}'),
        credentialId: 'cred_1',
        secretVersion: 3,
      }),
    )
  })
})
