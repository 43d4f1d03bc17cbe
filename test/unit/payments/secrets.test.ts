import { generatePaymentId } from '@x402/extensions/payment-identifier'
import { createSecretKey, randomBytes, randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createSecrets, isUnguessable } from '../../../src/payments/secrets.ts'

const key = createSecretKey(randomBytes(32))
const secrets = createSecrets(key)
const echo = (challenge: unknown) => ({
  extensions: { 'offer-receipt': { info: { offers: [], challenge }, schema: {} } },
})
const identified = (id: unknown) => ({
  extensions: { 'payment-identifier': { info: { required: false, id }, schema: {} } },
})

describe('a challenge', () => {
  it('is a secret where it is one of ours, whichever replica made it', () => {
    expect(secrets.of(echo(secrets.mint()))).toBe('challenge')
    expect(createSecrets(key).of(echo(secrets.mint()))).toBe('challenge')
  })

  it('is never the same twice', () => {
    const minted = Array.from({ length: 1000 }, () => secrets.mint())
    expect(new Set(minted).size).toBe(1000)
    for (const one of minted) expect(secrets.of(echo(one)), one).toBe('challenge')
  })

  it('is none where the client made it up, or another gateway did', () => {
    const ours = secrets.mint()
    const other = createSecrets(createSecretKey(randomBytes(32))).mint()
    const flipped = ours.slice(0, 3) + (ours[3] === 'A' ? 'B' : 'A') + ours.slice(4)
    const made = [other, flipped, ours.slice(1), `${ours}A`, '!'.repeat(32), 'A'.repeat(32), '', 7, null]
    for (const challenge of made) expect(secrets.of(echo(challenge)), String(challenge)).toBeNull()
  })

  it('is looked for where 402s have it, and nowhere else', () => {
    const challenge = secrets.mint()
    for (const extensions of [
      {},
      { 'offer-receipt': challenge },
      { 'offer-receipt': { challenge } },
      { 'offer-receipt': { info: [challenge] } },
      { other: { info: { challenge } } },
    ])
      expect(secrets.of({ extensions })).toBeNull()
  })
})

describe('an identifier', () => {
  it('is a secret where it was drawn at random; the challenge counts first', () => {
    const { extensions } = identified('pay_7f3a9c2e1b8d4f6a')
    expect(secrets.of({ extensions })).toBe('identifier')
    expect(secrets.of({ extensions: { ...extensions, ...echo(secrets.mint()).extensions } })).toBe(
      'challenge',
    )
    expect(secrets.of(identified('order-0123456789'))).toBeNull()
  })

  it.each([
    'pay_7f3a9c2e1b8d4f6a0c5e9b7d3f1a8c2e',
    '3c5a1c52-9a2b-4c0e-8f0e-6b1d2a7c9e4f',
    '01JD8Z4K7QH3M9X2V5T6B8N1RC',
    'V1StGXR8_Z5jdHi6B-myT',
  ])('of programs is taken for random: %s', (id) => expect(isUnguessable(id)).toBe(true))

  it('of the stock client, and a UUID, is taken for random nearly always', () => {
    const taken = (make: () => string) =>
      Array.from({ length: 5000 }, make).filter((id) => isUnguessable(id)).length
    expect(taken(generatePaymentId)).toBeGreaterThan(4950)
    expect(taken(randomUUID)).toBeGreaterThan(4950)
  })

  it.each([
    'order-0123456789-001',
    'order-2026-11-22-000001',
    'invoice_20261122T183000Z_17',
    '00000000-0000-4000-8000-000000000001',
    'a1a1a1a1a1a1a1a1a1a1a1a1',
    'the-quick-brown-fox-jumps-over',
    '12345678901234567890123456789012',
    'pay_7f3a9c2e1b8d4f6',
    '',
  ])('that can be guessed is none: %s', (id) => expect(isUnguessable(id)).toBe(false))
})
