import { describe, expect, it } from 'vitest'
import { asksNoLess, droppedBy } from '../../../../src/egress/rules/kept.ts'

const ASK = 'ask POST api.example.com/**'
const ALLOW = 'allow * *'

describe('rules that ask a person ask no less after an edit', () => {
  it.each([
    [
      [ASK, ALLOW],
      [ASK, ALLOW],
    ],
    [[ASK, ALLOW], [ASK]],
    [
      [ASK, ALLOW],
      ['deny POST api.example.com/**', ALLOW],
    ],
    [
      [ASK, ALLOW],
      ['deny * *', ASK],
    ],
    [
      ['allow GET *', ASK],
      ['allow GET *', ASK, 'allow PUT *'],
    ],
    [['deny * *'], undefined],
    [undefined, undefined],
  ])('%j, then %j', (before, after) => {
    expect(asksNoLess({ rules: before }, { rules: after })).toBe(true)
  })

  it.each([
    [[ASK, ALLOW], undefined],
    [[ASK, ALLOW], [ALLOW]],
    [
      [ASK, ALLOW],
      [ALLOW, ASK],
    ],
    [
      [ASK, ALLOW],
      ['allow POST api.example.com/v1', ASK],
    ],
    [[ASK, 'ask PUT *'], [ASK]],
  ])('but %j, then %j do', (before, after) => {
    expect(asksNoLess({ rules: before }, { rules: after })).toBe(false)
    // Then every request is asked about.
    const approval = { by: 'anyone', people: 1, fresh_sign_in: false } as const
    expect(asksNoLess({ rules: before }, { rules: after, approval })).toBe(true)
  })
})

it('names the settings and the lines that an edit left out', () => {
  const before = { rules: [ASK, ALLOW], limits: { timeout_ms: 1 }, ask_ms: 5 }
  expect(droppedBy(before, { rules: [ALLOW], ask_ms: 5 })).toEqual({ settings: ['limits'], rules: [ASK] })
  expect(droppedBy(before, before)).toEqual({ settings: [], rules: [] })
  expect(droppedBy(before, {})).toEqual({ settings: ['rules', 'limits', 'ask_ms'], rules: [ASK, ALLOW] })
})
