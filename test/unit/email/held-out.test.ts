// Cases that were written from the standards by somebody who had not seen the rules: what each is, and where the rules part
// from it on purpose. An exception that is none any more fails, so the list says no more than is true.
import { describe, expect, it } from 'vitest'
import type { EmailDecision } from '../../../schemas/email.ts'
import { HELD_OUT } from '../../data/email-held-out.ts'
import { HELD_OUT_EXCEPTIONS, judgeSpelling } from '../../support/email-spelling.ts'

/** Unusual is at least not refused: a name in front of an address is no reason to look. */
const ALLOWED: Readonly<Record<(typeof HELD_OUT)[number]['want'], readonly EmailDecision[]>> = {
  plain: ['accept'],
  unusual: ['accept', 'review'],
  invalid: ['reject'],
}
const exceptions = new Map(HELD_OUT_EXCEPTIONS.flatMap((one) => one.texts.map((text) => [text, one])))
const rows = HELD_OUT.map(({ text, want, why }): [string, string, string] => [text, want, why])

describe('a case of the standards', () => {
  it.each(rows.filter(([text]) => !exceptions.has(text)))('%j is %s: %s', (text, want) => {
    expect(ALLOWED[want as keyof typeof ALLOWED]).toContain(judgeSpelling(text).decision)
  })

  it('that is unusual is accepted only as an address behind a name', () => {
    const accepted = HELD_OUT.filter(
      ({ text, want }) => want === 'unusual' && judgeSpelling(text).decision === 'accept',
    )
    expect(accepted.length).toBeGreaterThan(0)
    for (const { text } of accepted) expect(judgeSpelling(text).why, text).toBe('display_name')
  })
})

describe.each(HELD_OUT_EXCEPTIONS)('an exception: $because', ({ decision, texts }) => {
  it.each(texts)('%j is one still', (text) => {
    const found = HELD_OUT.filter((one) => one.text === text)
    expect(found).toHaveLength(1)
    expect(ALLOWED[found[0]!.want]).not.toContain(decision)
    expect(judgeSpelling(text).decision).toBe(decision)
  })
})

describe('the cases', () => {
  it('stand once each, and are as many as were written', () => {
    expect(new Set(HELD_OUT.map(({ text }) => text)).size).toBe(HELD_OUT.length)
    const count = (want: string) => HELD_OUT.filter((one) => one.want === want).length
    expect([count('plain'), count('unusual'), count('invalid')]).toEqual([142, 81, 361])
  })

  it('are few that are excepted', () => {
    expect(exceptions.size).toBeLessThanOrEqual(HELD_OUT.length * 0.03)
  })
})
