// Every check by itself, at the boundary and just outside it.
import { describe, expect, it } from 'vitest'
import { testTransaction } from '../../../src/commerce/rubric/report.ts'
import { PROTOCOLS } from '../../../src/commerce/protocols.ts'
import { POINTS, type Points } from '../../data/commerce/points.ts'
import { SAMPLES } from '../../data/commerce/samples.ts'
import { change, wire } from '../../support/commerce.ts'

const wordsOf = ([check, base, changes, points]: Points) =>
  `${check} gives ${points} to ${base}${changes.map(({ op, at, value }) => ` ${op} ${at} ${JSON.stringify(value) ?? ''}`.slice(0, 120)).join('')}`

describe('points', () => {
  it.each<[string, Points]>(POINTS.map((row) => [wordsOf(row), row]))(
    '%s',
    (_, [id, base, changes, points]) => {
      const { checks } = testTransaction(wire(change(SAMPLES[base]!, changes)))
      const check = checks.find((each) => each.id === id)
      expect(check?.result === 'not_applicable' ? 'n/a' : check?.points).toBe(points)
    },
  )

  it('no two checks share an id, and each says what it asks for and what to do', () => {
    const checks = PROTOCOLS.flatMap(({ score }) => score.rubrics).flatMap((rubric) => rubric.checks)
    expect(new Set(checks.map(({ id }) => id)).size).toBe(checks.length)
    for (const { id, max, asks, remediation } of checks) {
      expect(id).toMatch(/^(?:X402|MPP|AP2|UCP|ACP|MCP)-(?:BIND|REPLAY|IDEM|FRESH|RETRY|AUDIT)-\d\d$/)
      expect([id, max > 0, asks.length > 10, remediation.length > 10]).toEqual([id, true, true, true])
    }
  })
})
