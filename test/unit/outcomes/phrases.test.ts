import { describe, expect, it } from 'vitest'
import { ExecuteRequest } from '../../../schemas/execute-request.ts'
import { GatewayError } from '../../../src/core/errors.ts'
import { descriptors } from '../../../src/outcomes/descriptors.ts'
import { JOBS } from '../../../src/outcomes/intents/jobs.ts'
import {
  type IntentRow,
  isArabic,
  isHeldOut,
  mistakesIn,
  readIntents,
  understand,
} from '../../support/intents.ts'
import { createTestOutcomes } from '../../support/outcomes.ts'

const rows = readIntents()
const heldOut = rows.filter(isHeldOut)
const known = rows.filter((row) => !isHeldOut(row))
const outcomes = createTestOutcomes()

/** Null where nothing is to be paid, because it is free or because it is refused. */
function priceOf({ phrase }: IntentRow): bigint | null {
  try {
    return outcomes.plan(ExecuteRequest.parse({ intent: phrase })).charge?.amountAtomic ?? null
  } catch (thrown) {
    if (thrown instanceof GatewayError) return null
    throw thrown
  }
}

describe('the table of sentences', () => {
  it('holds at least 600, every one another, English and Arabic, a third of them held out', () => {
    expect(rows.length).toBeGreaterThanOrEqual(600)
    expect(new Set(rows.map(({ phrase }) => phrase)).size).toBe(rows.length)
    expect(rows.filter(isArabic).length).toBeGreaterThan(rows.length / 3)
    expect(heldOut.length / rows.length).toBeCloseTo(1 / 3, 1)
  })

  it('names only jobs that there are, and every one of them', () => {
    const named = new Set(rows.flatMap(({ leftOut }) => leftOut))
    expect([...named].sort()).toEqual(Object.keys(JOBS).sort())
  })
})

// Of what is held out only counts are told: a test that showed the sentences would have them tuned for.
describe('sentences understood', () => {
  it.each([
    ['all', rows],
    ['held out', heldOut],
    ['English', rows.filter((row) => !isArabic(row))],
    ['Arabic', rows.filter(isArabic)],
  ])('at least 95 of 100 of %s entirely, and the capability of 98', (_, some) => {
    const mistakes = some.map((row) => mistakesIn(row))
    const right = mistakes.filter((each) => each.length === 0).length
    const capability = mistakes.filter((each) => !each.includes('capability')).length
    expect(right / some.length).toBeGreaterThanOrEqual(0.95)
    expect(capability / some.length).toBeGreaterThanOrEqual(0.98)
  })

  it('say the same under every name', () => {
    for (const { phrase: intent } of known) {
      const said = understand({ intent })
      for (const input of [
        { action: intent },
        { desired_action: intent },
        { intent: { goal: intent } },
        { task: { description: intent } },
        { input: { arguments: { intent } } },
      ])
        expect(understand(input), intent).toEqual(said)
    }
  })

  it('as every descriptor says that they are', () => {
    for (const { id, phrases } of descriptors)
      for (const intent of phrases) {
        const { expected, leftOut } = understand({ intent })
        expect([id, `needs ${id}`, `demo ${id}`], intent).toContain(expected)
        expect(leftOut, intent).toEqual([])
      }
  })
})

describe('a job that is not done here', () => {
  const refused = known.filter(({ expected }) => expected === 'refused')

  it.each(Object.keys(JOBS))('is refused before a price, and named: %s', (job) => {
    const asked = refused.filter(({ leftOut }) => leftOut.includes(job))
    expect(asked.length).toBeGreaterThan(0)
    for (const row of asked) {
      expect(priceOf(row), row.phrase).toBeNull()
      expect(mistakesIn(row), row.phrase).toEqual([])
    }
  })

  it('is offered at a price in no more than 3 of 100 sentences that nobody tuned for', () => {
    const asked = heldOut.filter(({ expected }) => expected === 'refused')
    expect(asked.filter((row) => priceOf(row) !== null).length / asked.length).toBeLessThanOrEqual(0.03)
  })
})
