// The operator's documents, as rules read them at every call.
import { describe, expect, it } from 'vitest'
import { createDocumentReader } from '../../../src/core/document-reader.ts'
import type { DocumentKind, DocumentStore } from '../../../src/store/ports.ts'

const kind: DocumentKind<number> = { name: 'egress-policy', parse: Number, initial: 0 }

function scene(answers: (number | Error | { value: number; problem: string })[]) {
  let at = 1_000
  let reads = 0
  const problems: string[] = []
  const read: DocumentStore['read'] = async () => {
    const answer = answers[Math.min(reads++, answers.length - 1)]
    if (answer instanceof Error) throw answer
    return (typeof answer === 'object' ? answer : { value: answer }) as never
  }
  return {
    problems,
    reads: () => reads,
    wait: (ms: number) => void (at += ms),
    ask: createDocumentReader({
      documents: { read },
      kind,
      toValue: (value) => value * 10,
      report: (problem) => problems.push(problem),
      now: () => at,
    }),
  }
}

describe('a document reader', () => {
  it('reads once for all who ask within a quarter of a second, and again after it', async () => {
    const { ask, wait, reads } = scene([1, 2])
    expect(await Promise.all([ask(), ask()])).toEqual([10, 10])
    wait(249)
    expect(await ask()).toBe(10)
    expect(reads()).toBe(1)
    wait(1)
    expect(await ask()).toBe(20)
    expect(reads()).toBe(2)
  })

  it('reads again where the clock was set back: an operator who pauses all is obeyed', async () => {
    const { ask, wait, reads } = scene([1, 2])
    expect(await ask()).toBe(10)
    wait(-24 * 60 * 60_000)
    expect(await ask()).toBe(20)
    wait(249)
    expect(await ask()).toBe(20)
    expect(reads()).toBe(2)
  })

  it('keeps no failure: the next call reads again', async () => {
    const { ask, reads } = scene([new Error('no disk'), 3])
    await expect(ask()).rejects.toThrow('no disk')
    expect(await ask()).toBe(30)
    expect(reads()).toBe(2)
  })

  it('reports a problem once, and once more when it came back', async () => {
    const broken = { value: 4, problem: 'line 3' }
    const { ask, wait, problems } = scene([broken, broken, 5, broken])
    for (const expected of [40, 40, 50, 40]) {
      expect(await ask()).toBe(expected)
      wait(250)
    }
    expect(problems).toEqual(['line 3', 'line 3'])
  })
})
