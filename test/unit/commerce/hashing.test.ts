// How much is hashed for one message: bodies and tokens once, however much refers to them.
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { analyse } from '../../../src/commerce/analysis.ts'
import { readMessage } from '../../../src/commerce/message.ts'
import type { TransactionInput } from '../../../src/commerce/ports.ts'
import { SAMPLES } from '../../data/commerce/samples.ts'
import { change, wire, type Plain } from '../../support/commerce.ts'

// The function of Node is replaced in place, because the modules under test may be loaded already.
const realHash = crypto.hash
const hashed = { characters: 0 }
beforeAll(() => {
  crypto.hash = ((...given: Parameters<typeof realHash>) => {
    hashed.characters += String(given[1]).length
    return realHash(...given)
  }) as typeof realHash
  syncBuiltinESMExports()
})
afterAll(() => {
  crypto.hash = realHash
  syncBuiltinESMExports()
})

const look = (input: TransactionInput) => {
  const message = readMessage(input)
  return analyse(message).bindings
}

describe('hashing', () => {
  beforeEach(() => {
    hashed.characters = 0
  })

  it('reads a body once for each algorithm, however many digests are sent with it', () => {
    const body = 'prices of tea '.repeat(1000)
    const digest = (algorithm: string, text: string) =>
      `${algorithm.replace('sha', 'sha-')}=:${realHash(algorithm, text, 'base64')}:`
    const many = (text: string) =>
      Array.from({ length: 30 }, () => [digest('sha256', text), digest('sha512', text)].join(', '))
    const headers = { 'Content-Digest': [...many('other'), ...many(body).slice(0, 2)] }
    hashed.characters = 0
    const found = look({ target: 'https://shop.example/', headers, body }).filter(
      ({ kind }) => kind === 'digest',
    )
    expect(found.map(({ verdict }) => verdict)).toEqual([
      ...Array<string>(60).fill('mismatch'),
      ...Array<string>(4).fill('match'),
    ])
    expect(hashed.characters).toBe(2 * body.length)
  })

  it('reads a mandate once, however many constraints refer to it', () => {
    const cart = (SAMPLES['ap2-checkout']!.body as { [name: string]: Plain })['checkout_mandate']!
    const referring = (count: number) =>
      wire(
        change(SAMPLES['ap2-payment']!, [
          { op: 'set', at: '/body/checkout_mandate', value: cart },
          {
            op: 'set',
            at: '/body/payment_mandate_chain/$chain/open/constraints',
            value: Array.from({ length: count }, () => ({
              type: 'payment.reference',
              conditional_transaction_id: 'D'.repeat(43),
            })),
          },
        ]),
      )
    const costOf = (count: number) => {
      const input = referring(count)
      hashed.characters = 0
      expect(
        look(input).filter(({ kind, verdict }) => kind === 'constraint' && verdict === 'mismatch'),
      ).toHaveLength(count)
      return hashed.characters
    }
    const [few, many] = [costOf(8), costOf(96)]
    expect(few).toBeGreaterThan(0)
    expect(many).toBeLessThan(12 * few)
    // Each reference is hashed with the mandate that holds it, alone and in its chain, and brings nothing else along.
    const characters = JSON.stringify(referring(96)).length - JSON.stringify(referring(8)).length
    expect(many - few).toBeLessThanOrEqual(2 * characters)
  })
})
