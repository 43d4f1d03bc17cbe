import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { descriptors } from '../../../src/outcomes/descriptors.ts'
import { requestedSources } from '../../../src/outcomes/sources/requested.ts'
import { resolve } from '../../support/uses.ts'

const rows = readFileSync(new URL('../../data/intents.tsv', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => line.split('\t') as [string, string, string, string, string])

/** A resolution as a row of the table says it. */
function describeJob(input: unknown): string[] {
  const resolution = resolve(input)
  if (resolution.ok) {
    const { claims, kind, capability } = resolution
    return [
      kind === 'demo' ? `demo ${capability}` : capability,
      requestedSources(claims)
        .map(({ url }) => url)
        .join(' '),
      String(claims.get('limit') ?? ''),
      String(claims.get('query') ?? ''),
    ]
  }
  switch (resolution.reason) {
    case 'missing':
      return [`needs ${resolution.capability}`, '', '', '']
    case 'unknown':
      return [resolution.between.length > 1 ? 'unclear' : 'unknown', '', '', '']
    default:
      return [resolution.reason, '', '', '']
  }
}

describe('a sentence', () => {
  it('stands in the table in at least 150 wordings, every one another', () => {
    const phrases = rows.map((row) => row[4])
    expect(rows.length).toBeGreaterThanOrEqual(150)
    expect(new Set(phrases).size).toBe(rows.length)
    expect(phrases.filter((phrase) => /[\u0600-\u06FF]/.test(phrase)).length).toBeGreaterThan(75)
  })

  it.each(rows.map(([...expected]) => [expected.pop()!, expected] as const))('"%s"', (phrase, expected) => {
    expect(describeJob({ intent: phrase })).toEqual(expected)
  })

  it.each(rows.map((row) => row[4]))('"%s" says the same under every name', (intent) => {
    const said = describeJob({ intent })
    for (const input of [
      { action: intent },
      { desired_action: intent },
      { intent: { goal: intent } },
      { task: { description: intent } },
      { input: { arguments: { intent } } },
    ])
      expect(describeJob(input)).toEqual(said)
  })

  it('is understood as every descriptor says that it is', () => {
    for (const { id, phrases } of descriptors)
      for (const intent of phrases)
        expect([id, `needs ${id}`, `demo ${id}`]).toContain(describeJob({ intent })[0])
  })
})
