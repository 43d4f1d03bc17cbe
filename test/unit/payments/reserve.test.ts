import { describe, expect, it } from 'vitest'
import { claimVerified } from '../../../src/payments/reserve.ts'
import type { Verdict } from '../../../src/payments/ports.ts'
import type { Claimed } from '../../../src/store/commands/claims.ts'
import type { PaymentClaim } from '../../../src/store/ports.ts'

const payer = '0x00000000000000000000000000000000000000aa'
const passed = (balance: string) => ({ ok: true, payer, funds: { balance, settled: '0' } }) as const
const bound: Verdict = { ok: false, check: 'balance', reason: 'bound', message: 'm', isRetryable: false }
const claim = { id: 'clm_1' } as PaymentClaim

/** @param answers of the store, one after the other; the last one stays */
function arrange(answers: readonly Claimed[], looks: readonly Verdict[] = [passed('9')]) {
  const asked: unknown[] = []
  const next = <T>(list: readonly T[], at: number) => list[Math.min(at, list.length - 1)]!
  let [claims, verified] = [0, 0]
  const run = () =>
    claimVerified(passed('1'), {
      verify: async () => next(looks, verified++),
      async claim(limits) {
        asked.push(limits)
        return next(answers, claims++)
      },
      maxOpen: 5,
    })
  return { run, asked }
}

describe('a payment that was verified', () => {
  it('is claimed with what its payer was seen to hold', async () => {
    const { run, asked } = arrange([{ ok: true, claim }])
    expect(await run()).toEqual({ state: 'claimed', claim })
    expect(asked).toEqual([{ funds: { balance: '1', settled: '0' }, maxOpen: 5 }])
  })

  it('is claimed with how many of its payer may be under way', async () => {
    const { run, asked } = arrange(
      [
        { ok: false, reason: 'open_claims' },
        { ok: true, claim },
      ],
      [{ ...passed('9'), maxWorking: 2 }],
    )
    await run()
    expect(asked[1]).toMatchObject({ maxOpen: 5, maxWorking: 2 })
  })

  it.each(['funds', 'open_claims'] as const)(
    'is looked at again where others took its room (%s)',
    async (reason) => {
      const { run, asked } = arrange([
        { ok: false, reason },
        { ok: true, claim },
      ])
      expect(await run()).toEqual({ state: 'claimed', claim })
      expect(asked[1]).toMatchObject({ funds: { balance: '9' } })
    },
  )

  it('is refused in the words of that look', async () => {
    const { run } = arrange([{ ok: false, reason: 'funds' }], [bound])
    expect(await run()).toEqual({ state: 'refused', verdict: bound })
  })

  it('is another claim where its copy was faster', async () => {
    const { run } = arrange([
      { ok: false, reason: 'funds' },
      { ok: false, reason: 'payment', claim },
    ])
    expect(await run()).toEqual({ state: 'taken', claim })
  })

  it('gives way when others are faster again and again, and is not used up', async () => {
    const { run, asked } = arrange([{ ok: false, reason: 'funds' }])
    expect(await run()).toMatchObject({
      state: 'refused',
      verdict: {
        check: 'balance',
        reason: 'insufficient_funds',
        message: expect.stringMatching(/Send it again/),
      },
    })
    expect(asked).toHaveLength(4)
  })
})
