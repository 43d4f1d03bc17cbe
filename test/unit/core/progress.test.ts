// The order of reports, and the row that payment, work and settlement share.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { forwardOnly, paidProgress, type ProgressReport } from '../../../src/core/progress.ts'

describe('forwardOnly', () => {
  it('passes on what moves forward, whatever workers report', () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), (given) => {
        const sent: number[] = []
        const { report } = forwardOnly(({ done }) => void sent.push(done))
        for (const done of given) report({ done })
        expect(sent).toEqual([...new Set(sent)].sort((a, b) => a - b))
        if (given.length > 0) expect(sent.at(-1)).toBe(Math.max(...given))
      }),
    )
  })

  it('says nothing after the end, and nothing that is no number', () => {
    const sent: number[] = []
    const { report, end } = forwardOnly(({ done }) => void sent.push(done))
    report({ done: 1 })
    report({ done: Number.NaN })
    end()
    report({ done: 2 })
    expect(sent).toEqual([1])
  })
})

describe('paidProgress', () => {
  function tell(steps: (progress: ReturnType<typeof paidProgress>) => void): ProgressReport[] {
    const sent: ProgressReport[] = []
    const { report } = forwardOnly((each) => void sent.push(each))
    steps(paidProgress(report))
    return sent
  }

  it('counts the payment, the steps of the work and the settlement in one row', () => {
    const sent = tell(({ verified, work, settling }) => {
      verified()
      work({ done: 0, total: 2, message: 'begun' })
      work({ done: 1, total: 2 })
      work({ done: 2, total: 2 })
      settling('settling')
      settling('sent')
    })
    expect(sent).toEqual([
      { done: 1, message: 'The payment is good and reserved; the work begins', isAcceptance: true },
      { done: 2, total: 5 },
      { done: 3, total: 5 },
      { done: 4, total: 5, message: 'settling' },
      { done: 5, total: 5, message: 'sent' },
    ])
  })

  it('ends where it said it would when work reports nothing, fractions, or less than it announced', () => {
    const quiet = tell(({ verified, settling }) => {
      verified()
      settling('a')
      settling('b')
      settling('one too many')
    })
    expect(quiet.map(({ done, total }) => [done, total])).toEqual([
      [1, undefined],
      [2, 3],
      [3, 3],
    ])
    const partial = tell(({ verified, work, settling }) => {
      verified()
      work({ done: 0.5, total: 9 })
      settling('a')
      settling('b')
    })
    expect(partial.map(({ done }) => done)).toEqual([1, 1.5, 2, 3])
  })
})
