import { describe, expect, it } from 'vitest'
import {
  createPaymentPolicyReader,
  type PaymentPolicyDocument,
  paymentPolicyDocument,
  toPolicy,
} from '../../../src/payments/policy.ts'
import { createRate } from '../../../src/payments/rates.ts'

const ADDRESS = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
const SOLANA = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'

describe('the payment policy', () => {
  it('denies nobody until an operator says so', () => {
    const policy = toPolicy(paymentPolicyDocument.parse({}))
    expect([policy.isPaused, policy.isDeniedPayer(ADDRESS), policy.isDeniedPayee(ADDRESS)]).toEqual([
      false,
      false,
      false,
    ])
  })

  it('knows an EVM address in any case, and others only as they are', () => {
    const policy = toPolicy(
      paymentPolicyDocument.parse({
        denied_payers: [ADDRESS, SOLANA],
        denied_payees: [ADDRESS.toLowerCase()],
      }),
    )
    expect(policy.isDeniedPayer(ADDRESS.toLowerCase())).toBe(true)
    expect(policy.isDeniedPayee(ADDRESS)).toBe(true)
    expect(policy.isDeniedPayer(SOLANA)).toBe(true)
    expect(policy.isDeniedPayer(SOLANA.toLowerCase())).toBe(false)
    expect(policy.isDeniedPayee(SOLANA)).toBe(false)
  })

  it.each<[string, unknown]>([
    ['a misspelled member', { denied_payer: [ADDRESS] }],
    ['an address that is none', { denied_payers: [''] }],
    ['a text for a switch', { paused: 'yes' }],
    ['a list', []],
  ])('does not accept a document with %s', (_, document) => {
    expect(() => paymentPolicyDocument.parse(document)).toThrow()
  })

  function arrange() {
    const state = {
      document: {} as Partial<PaymentPolicyDocument>,
      problem: '',
      fails: false,
      reads: 0,
      now: 1000,
    }
    const reported: string[] = []
    const read = createPaymentPolicyReader(
      {
        async read(kind) {
          state.reads++
          if (state.fails) throw new Error('disk')
          const value = kind.parse(state.document)
          return state.problem === '' ? { value } : { value, problem: state.problem }
        },
      },
      (problem) => reported.push(problem),
      () => state.now,
    )
    return { state, reported, read }
  }

  it('is read again after a quarter of a second', async () => {
    const { state, read } = arrange()
    await Promise.all([read(), read()])
    state.document = { paused: true }
    state.now += 249
    expect([(await read()).isPaused, state.reads]).toEqual([false, 1])
    state.now += 1
    expect([(await read()).isPaused, state.reads]).toEqual([true, 2])
  })

  it('reports a problem once, and again when it is another', async () => {
    const { state, reported, read } = arrange()
    for (const problem of ['a', 'a', '', 'a', 'b']) {
      state.problem = problem
      state.now += 300
      await read()
    }
    expect(reported).toEqual(['a', 'a', 'b'])
  })

  it('is asked for again at once when it could not be read', async () => {
    const { state, read } = arrange()
    state.fails = true
    await expect(read()).rejects.toThrow('disk')
    state.fails = false
    expect((await read()).isPaused).toBe(false)
  })
})

describe('a rate', () => {
  it('counts by key and by minute', () => {
    const time = { now: 0 }
    const rate = createRate(2, () => time.now)
    rate.count('a')
    expect(rate.allows('a')).toBe(true)
    rate.count('a')
    expect([rate.allows('a'), rate.allows('b')]).toEqual([false, true])
    time.now = 59_999
    expect(rate.allows('a')).toBe(false)
    time.now = 60_000
    expect(rate.allows('a')).toBe(true)
  })

  it('starts anew when the clock is set back', () => {
    const time = { now: 1_000_000 }
    const rate = createRate(1, () => time.now)
    rate.count('a')
    time.now = 0
    expect(rate.allows('a')).toBe(true)
  })

  it('has no limit at zero', () => {
    const rate = createRate(0, () => 0)
    for (let i = 0; i < 10; i++) rate.count('a')
    expect(rate.allows('a')).toBe(true)
  })

  it('remembers a bounded number of keys, and goes on counting those', () => {
    const rate = createRate(2, () => 0)
    for (let i = 0; i < 100_000; i++) rate.count(`k${i}`)
    for (let i = 0; i < 3; i++) rate.count('one more')
    rate.count('k0')
    expect([rate.allows('one more'), rate.allows('k0')]).toEqual([true, false])
  })
})
