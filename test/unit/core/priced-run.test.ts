// What is charged for a run, however it ends: each kind of price against handlers that leak, lie, throw or take what is not theirs.
import { hash } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import type { PaidCall, PaymentGate } from '../../../src/core/charging.ts'
import type { CallContext } from '../../../src/core/context.ts'
import type { CreditCharge } from '../../../src/core/credit-charge.ts'
import { createDebits } from '../../../src/core/debits.ts'
import { GatewayError } from '../../../src/core/errors.ts'
import { credits, free, type Price, x402 } from '../../../src/core/price.ts'
import { createPricedRun, neverGone } from '../../../src/core/priced-run.ts'
import type { AnyTool, Plan } from '../../../src/core/registry.ts'
import { digestCanonical } from '../../../src/lib/canonical-json.ts'
import { noFault } from '../../../src/lib/fault-points.ts'
import { createLogger } from '../../../src/lib/log.ts'
import { defineTool } from '../../../tools/services.ts'
import { noGate, signCallReceipt } from '../../support/no-gate.ts'

const OUTPUT = z.strictObject({ text: z.string() })
const GOOD = { text: 'a' }

function toolOf(price: Price): AnyTool {
  return defineTool({
    name: 'gateway.priced',
    title: 'Priced work',
    toolset: 'web',
    summary: 's',
    input: z.looseObject({}),
    output: OUTPUT,
    price: free,
    caller: 'account',
    effects: { readOnly: false, idempotent: false, openWorld: false },
    rest: { method: 'POST', path: '/priced', operationId: 'priced' },
    errors: [],
    examples: [],
    handle: async () => GOOD,
    // Types tell a price that is known; here every kind goes through the same test.
    ...({ price } as object),
  })
}

type Run = (context: CallContext & { readonly charge?: CreditCharge }) => Promise<unknown>

/** @param options.settling what the store does when a receipt is brought, call by call; else it takes it */
function setUp(
  options: { balance?: number; losesAnswer?: boolean; settling?: (boolean | 'away' | 'loses answer')[] } = {},
) {
  const ledger = { balance: options.balance ?? 10, entries: [] as string[] }
  const asked: PaidCall[] = []
  /** A gate that settles only what came back from the work. */
  const gate: PaymentGate = {
    ...noGate,
    async run(call) {
      asked.push(call)
      const output = await call.work('clm_1')
      ledger.entries.push('settled')
      return {
        output,
        json: JSON.stringify(output),
        settlement: { success: true, transaction: '0x1', network: 'eip155:84532', amount: '1000' },
        claimId: 'clm_1',
        replayed: false,
      }
    },
  }
  const debits = createDebits({
    sign: signCallReceipt,
    budgetSpent: ({ unit }) => new GatewayError('budget_spent', unit),
    bootId: 'boot-1',
    fault: noFault,
    log: createLogger('silent'),
    now: () => 1_800_000_000_000,
    store: {
      async debitCredits({ amount, reference }) {
        if (ledger.balance < amount) return { ok: false, balance: ledger.balance }
        ledger.entries.push(`-${amount} ${reference}`)
        ledger.balance -= amount
        if (options.losesAnswer) throw new GatewayError('store_unavailable', 'away')
        return { ok: true, balance: ledger.balance }
      },
      async settleDebit({ receipt }) {
        const does = options.settling?.shift() ?? true
        if (does === 'away') throw new GatewayError('store_unavailable', 'away')
        if (does && !ledger.entries.includes(receipt.id)) ledger.entries.push(receipt.id)
        if (does === 'loses answer') throw new GatewayError('store_unavailable', 'away')
        return does
      },
      async refundCredits() {
        if (ledger.entries.includes('rcp_1')) return { ok: false, balance: ledger.balance }
        ledger.entries.push('given back')
        return { ok: true, balance: (ledger.balance += 2) }
      },
      recoverDebits: () => Promise.reject(new Error('no call recovers')),
      listOpenDebits: async () => (options.losesAnswer ? [{ id: 'txn_lost' }] : []),
      listDeadOwners: () => Promise.reject(new Error('no call looks for the dead')),
    },
  })
  const run = createPricedRun({
    gate,
    debits,
    creditsRequired: async ({ what }) => new GatewayError('credits_required', what),
    hideNames: (pointer) => pointer,
  })
  async function call(
    price: Price,
    work: Run,
    over: { plan?: Partial<Plan>; input?: unknown; signal?: () => AbortSignal } = {},
  ) {
    try {
      const { output } = await run({
        tool: toolOf(price),
        input: over.input ?? {},
        plan: { run: work, ...over.plan },
        context: {
          caller: {
            kind: 'operator',
            id: 'key_1',
            accountId: 'acct_1',
            admin: false,
            role: 'operator',
            address: '',
          },
          signal: over.signal ?? neverGone,
          door: 'rest',
          requestId: 'req_1',
          now: () => 0,
          newId: (prefix) => `${prefix}_1`,
          quota: () => {},
          progress: () => {},
        },
        resource: { url: 'urn:x', method: 'POST' },
        payment: undefined,
        quote: undefined,
        accept: () => {},
      })
      return { output }
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown
      return { code: thrown.code, reason: thrown.reason, extras: thrown.extras, message: thrown.message }
    }
  }
  return { call, ledger, asked }
}

const paid = x402({ amount: '0.001', networks: ['eip155:84532'] })

/** Answers that are not what the schema says, each of which would leave with whoever stringifies it. */
const WRONG: readonly [string, () => unknown, string][] = [
  ['a member too many', () => ({ ...GOOD, leaked: 'hunter2' }), '/leaked: Unknown property'],
  ['a Date for a text', () => ({ text: new Date(0) }), '/text: '],
  ['nothing', () => undefined, 'the output: '],
  ['a list', () => [GOOD], 'the output: '],
  ['a secret for a member', () => ({ text: { toJSON: () => 'hunter2' } }), '/text: '],
]

describe('an output that its schema refuses', () => {
  it.each(WRONG)(
    'is internal for a free tool, with its place and without its value: %s',
    async (_, make, place) => {
      const { call } = setUp()
      const refused = await call(free, async () => make())
      expect(refused).toMatchObject({ code: 'internal', reason: expect.stringContaining(place) as string })
      expect(JSON.stringify(refused)).not.toContain('hunter2')
    },
  )

  it.each(WRONG)('gives the credits back: %s', async (_, make) => {
    const { call, ledger } = setUp()
    expect(await call(credits(2), async () => make())).toMatchObject({ code: 'internal' })
    expect(ledger).toMatchObject({ balance: 10, entries: ['-2 gateway.priced req_1', 'given back'] })
  })

  it.each(WRONG)('settles no payment: %s', async (_, make) => {
    const { call, ledger } = setUp()
    expect(await call(paid, async () => make())).toMatchObject({ code: 'internal' })
    expect(ledger.entries).toEqual([])
  })

  it('names the attempt where one was made and stays charged', async () => {
    const { call } = setUp()
    const refused = await call(credits(1, { within: 'attempt' }), async ({ charge }) => {
      charge?.taken(1, 'att_1')
      return { leaked: 1 }
    })
    expect(refused).toMatchObject({ code: 'internal', extras: { attempt_id: 'att_1' } })
  })

  it('is judged by what is sent: a getter is read once, and what it says next goes nowhere', async () => {
    const { call } = setUp()
    let reads = 0
    const output = Object.defineProperty({}, 'text', {
      enumerable: true,
      get: () => (reads++ === 0 ? 'a' : 'hunter2'),
    })
    const answered = await call(free, async () => output)
    expect(answered).toEqual({ output: { text: 'a' } })
    expect(JSON.stringify(answered)).toBe('{"output":{"text":"a"}}')
  })
})

describe('credits of a call', () => {
  it('are debited before the run and told in the answer', async () => {
    const { call, ledger } = setUp()
    let during = 0
    const answered = await call(credits(2), async () => {
      during = ledger.balance
      return GOOD
    })
    expect(during).toBe(8)
    const receipt = {
      receipt_id: 'rcp_1',
      url: expect.any(String) as string,
      jws: expect.any(String) as string,
    }
    expect(answered).toEqual({ output: { ...GOOD, credits: { charged: 2, balance: 8 }, receipt } })
    expect(ledger.entries).toEqual(['-2 gateway.priced req_1', 'rcp_1'])
  })

  it('leave a receipt over what was asked and what was answered', async () => {
    const { call } = setUp()
    const { output } = await call(credits(2), async () => GOOD, { input: { b: 1, a: 2 } })
    const { receipt, ...rest } = output as { receipt: { jws: string } }
    expect(JSON.parse(receipt.jws)).toEqual({
      accountId: 'acct_1',
      credits: 2,
      transactionId: expect.stringMatching(/^txn_/) as string,
      startedAt: 1_800_000_000_000,
      tool: 'gateway.priced',
      requestDigest: digestCanonical({ tool: 'gateway.priced', input: { a: 2, b: 1 } }),
      resultSha256: hash('sha256', JSON.stringify(rest), 'hex'),
    })
  })

  it('are not taken for an input that no receipt can name', async () => {
    const { call, ledger } = setUp()
    const refused = await call(credits(2), async () => GOOD, { input: { text: '\ud800' } })
    expect(refused).toMatchObject({ code: 'input_invalid' })
    expect(ledger.entries).toEqual([])
  })

  it('that somebody gave back meanwhile buy no answer', async () => {
    const { call, ledger } = setUp({ settling: [false] })
    const refused = await call(credits(2), async () => ({ text: 'hunter2' }))
    expect(refused).toMatchObject({ code: 'internal' })
    expect(JSON.stringify(refused)).not.toContain('hunter2')
    expect(ledger.entries).not.toContain('rcp_1')
  })

  it.each([
    ['does not take the receipt', 'away'],
    ['does not say that it has the receipt', 'loses answer'],
  ] as const)('are kept with a receipt and an answer when the store %s the first time', async (_, once) => {
    const { call, ledger } = setUp({ settling: [once] })
    expect(await call(credits(2), async () => GOOD)).toMatchObject({ output: GOOD })
    expect(ledger).toMatchObject({ balance: 8, entries: ['-2 gateway.priced req_1', 'rcp_1'] })
  })

  it('are given back, and nothing is answered, when the store takes no receipt', async () => {
    const { call, ledger } = setUp({ settling: ['away', 'away'] })
    expect(await call(credits(2), async () => GOOD)).toMatchObject({ code: 'store_unavailable' })
    expect(ledger).toMatchObject({ balance: 10, entries: ['-2 gateway.priced req_1', 'given back'] })
  })

  it('are given back when the run throws, and its own error is told', async () => {
    const { call, ledger } = setUp()
    const refused = await call(credits(2), async () => {
      throw new GatewayError('upstream_unreachable', 'not there')
    })
    expect(refused).toMatchObject({ code: 'upstream_unreachable' })
    expect(ledger.balance).toBe(10)
  })

  it('are given back when the store took them and did not say so', async () => {
    vi.useFakeTimers()
    try {
      const { call, ledger } = setUp({ losesAnswer: true })
      let ran = false
      const refused = await call(credits(2), async () => ((ran = true), GOOD))
      expect(refused).toMatchObject({ code: 'store_unavailable' })
      expect([ran, ledger.balance]).toEqual([false, 8])
      await vi.runAllTimersAsync()
      expect(ledger).toMatchObject({ balance: 10, entries: ['-2 gateway.priced req_1', 'given back'] })
    } finally {
      vi.useRealTimers()
    }
  })

  it('pay for work that goes on when its caller hangs up', async () => {
    const { call, ledger } = setUp()
    const hungUp = AbortSignal.abort()
    const answered = await call(
      credits(2),
      async ({ signal }) => {
        signal().throwIfAborted()
        return GOOD
      },
      { signal: () => hungUp },
    )
    expect(answered).toMatchObject({ output: GOOD })
    expect(ledger.entries).toEqual(['-2 gateway.priced req_1', 'rcp_1'])
  })

  it('that the account does not have run nothing', async () => {
    const { call, ledger } = setUp({ balance: 1 })
    let ran = false
    const refused = await call(credits(2), async () => ((ran = true), GOOD))
    expect(refused).toMatchObject({ code: 'credits_required', message: 'Priced work costs 2 credits' })
    expect([ran, ledger.entries]).toEqual([false, []])
  })
})

describe('credits within an attempt', () => {
  const within = credits(1, { within: 'attempt' })
  it.each<[string, Price, Run, string]>([
    ['is never taken', within, async () => GOOD, 'the run took no charge'],
    [
      'is taken twice',
      within,
      async ({ charge }) => (charge?.taken(1, 'att_1'), charge?.taken(1, 'att_2'), GOOD),
      'taken once',
    ],
    [
      'is another than the price says',
      within,
      async ({ charge }) => (charge?.taken(3, 'att_1'), GOOD),
      'the price is 1',
    ],
    [
      'is waived without an allowance',
      within,
      async ({ charge }) => (charge?.waived('I felt like it'), GOOD),
      'allowance',
    ],
    [
      'is waived after it was taken',
      credits(1, { after: 'allowance' }),
      async ({ charge }) => (charge?.taken(1, 'clm_1'), charge?.waived('free'), GOOD),
      'after it was taken',
    ],
  ])('are internal where the charge %s', async (_, price, work, reason) => {
    const { call } = setUp()
    expect(await call(price, work)).toMatchObject({
      code: 'internal',
      reason: expect.stringContaining(reason) as string,
    })
  })

  it('are no business of the call path once taken, nor under an allowance', async () => {
    const { call, ledger } = setUp()
    expect(await call(within, async ({ charge }) => (charge?.taken(1, 'att_1'), GOOD))).toEqual({
      output: GOOD,
    })
    const waived = await call(
      credits(1, { after: 'allowance' }),
      async ({ charge }) => (charge?.waived('one of 10'), GOOD),
    )
    expect(waived).toEqual({ output: GOOD })
    expect(ledger.entries).toEqual([])
  })

  it('that were taken before the run threw keep its own error', async () => {
    const { call } = setUp()
    const work: Run = async ({ charge }) => {
      charge?.taken(1, 'att_1')
      throw new GatewayError('outcome_ambiguous', 'who knows')
    }
    expect(await call(within, work)).toMatchObject({ code: 'outcome_ambiguous' })
  })
})

describe('a price in x402', () => {
  it('makes its own terms, bound to tool and input', async () => {
    const { call, asked } = setUp()
    const answered = await call(paid, async () => GOOD, { input: { a: 1, b: 2 } })
    expect(answered).toEqual({ output: { ...GOOD, receipt: null } })
    await call(paid, async () => GOOD, { input: { b: 2, a: 1 } })
    await call(paid, async () => GOOD, { input: { a: 1, b: 3 } })
    const digests = asked.map(({ terms }) => terms.requestDigest)
    expect(digests[0]).toMatch(/^[\w-]{43}$/)
    expect(digests[1]).toBe(digests[0])
    expect(digests[2]).not.toBe(digests[0])
    expect(asked[0]?.terms).toMatchObject({ amountAtomic: 1000n, networks: ['eip155:84532'] })
  })

  it('is of an input that the run cannot change any more', async () => {
    const { call, ledger } = setUp()
    const input = { list: ['a'] }
    const changing = call(paid, async () => (input.list.push('b'), GOOD), { input })
    await expect(changing).rejects.toThrow(TypeError)
    expect([input, ledger.entries]).toEqual([{ list: ['a'] }, []])
  })

  it.each([
    ['half a surrogate pair', { text: '\ud800' }],
    ['a member named by one', { texts: { '\udc00': 1 } }],
    ['a number that JSON has and a double has not', JSON.parse('{"size":1e400}') as object],
  ])('refuses an input that no payment can be bound to: %s', async (_, input) => {
    const { call, asked } = setUp()
    expect(await call(paid, async () => GOOD, { input })).toMatchObject({ code: 'input_invalid' })
    expect(asked).toEqual([])
  })

  it.each<[string, Price, Partial<Plan>, string]>([
    ['free, where none is announced', paid, { charge: null }, 'mayBeFree'],
    ['dearer than announced', paid, { charge: { amountAtomic: 2000n } }, 'write `upTo`'],
    ['cheaper than announced', paid, { charge: { amountAtomic: 1n } }, 'write `upTo`'],
    [
      'dearer than the dearest',
      x402({ amount: '0.001', upTo: '0.002' }),
      { charge: { amountAtomic: 2001n, networks: ['eip155:84532'] } },
      'write `upTo`',
    ],
    ['on no network', x402({ amount: '0.001' }), { charge: {} }, 'names no network'],
    [
      'of nothing',
      x402({ amount: '0.001' }),
      { charge: { amountAtomic: 0n, networks: ['eip155:84532'] } },
      'upTo',
    ],
    ['of a free tool', free, { charge: { amountAtomic: 1n } }, 'write `price: x402'],
  ])('refuses a plan %s', async (_, price, plan, reason) => {
    const { call, asked } = setUp()
    let ran = false
    const refused = await call(price, async () => ((ran = true), GOOD), { plan })
    expect(refused).toMatchObject({ code: 'internal', reason: expect.stringContaining(reason) as string })
    expect([ran, asked]).toEqual([false, []])
  })

  it('runs on when its buyer has gone, under the claim that pays', async () => {
    const { call } = setUp()
    let seen: Partial<CallContext> = {}
    await call(paid, async (context) => ((seen = context), GOOD))
    expect(seen.claimId).toBe('clm_1')
    expect(seen.signal?.().aborted).toBe(false)
  })

  it('lets the jobs go that are announced as free', async () => {
    const { call, asked } = setUp()
    const some = x402({ amount: '0.001', mayBeFree: 'demos' })
    expect(await call(some, async () => GOOD, { plan: { charge: null } })).toEqual({
      output: { ...GOOD, receipt: null },
    })
    expect(asked).toEqual([])
  })
})
