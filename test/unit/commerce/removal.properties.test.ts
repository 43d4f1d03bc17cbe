// Whoever says less gains nothing by it: no member of a transaction lowers its score by being there.
import { describe, expect, it } from 'vitest'
import type { TransactionInput } from '../../../src/commerce/ports.ts'
import { testTransaction } from '../../../src/commerce/rubric/report.ts'
import { KINDS } from '../../data/commerce/kinds.ts'
import { SAMPLES } from '../../data/commerce/samples.ts'
import { change, membersOf, type Plain, type SampleSource, wire } from '../../support/commerce.ts'

const SOURCES: ReadonlyMap<SampleSource, string> = new Map([
  ...Object.entries(KINDS).map(([name, { source }]) => [source, name] as const),
  ...Object.entries(SAMPLES).map(([name, source]) => [source, name] as const),
])

const look = (source: SampleSource) => {
  const { protocol, stage, score, applicable } = testTransaction(wire(source) as TransactionInput)
  return { what: `${protocol} ${stage}`, score, applicable }
}

describe('a transaction of any protocol that loses a member', () => {
  // What becomes another message by it, such as a complete checkout that no longer says what it completes, is judged as that one.
  it('scores no more than before while it stays the same kind of message', () => {
    const better: string[] = []
    let seen = 0
    for (const [source, name] of SOURCES) {
      const before = look(source)
      if (!before.applicable) continue
      for (const at of membersOf(source as unknown as Plain)) {
        // Marks of the encoding are no members.
        if (!/^\/(?:headers|body)\/./.test(at) || /\/\$[^/]*$/.test(at)) continue
        seen++
        const after = look(change(source, [{ op: 'remove', at }]))
        if (after.what === before.what && after.score > before.score)
          better.push(`${name} without ${at}: ${before.score} -> ${after.score}`)
      }
    }
    expect(seen).toBeGreaterThan(1000)
    expect(better).toEqual([])
  })
})
