// Every requirement has a test that cites it, and every citation has its requirement.
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { REQUIREMENTS } from '../requirements.ts'

/** Ids that tests cite in a call of `verifies` or `cites`. */
function citedIds(): Set<string> {
  const cited = new Set<string>()
  const root = new URL('../', import.meta.url)
  for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.test.ts')) continue
    const text = readFileSync(new URL(name, root), 'utf8')
    for (const [, ids = ''] of text.matchAll(/\b(?:verifies|cites)\(\s*(\[[^\]]*\]|'[^']*')/g))
      for (const [, id = ''] of ids.matchAll(/'([^']+)'/g)) cited.add(id)
  }
  return cited
}

describe('the requirements', () => {
  const cited = citedIds()

  for (const [id, { level, behaviour, outside }] of Object.entries(REQUIREMENTS)) {
    if (level === 'MUST' && outside === undefined)
      test(`${id} has a test: ${behaviour}`, () => expect(cited).toContain(id))
    // A reason that a test has overtaken is stale.
    if (outside !== undefined)
      test(`${id} has none, because ${outside}`, () => expect(cited).not.toContain(id))
  }

  test('are all known that tests cite', () => {
    expect([...cited].filter((id) => !(id in REQUIREMENTS))).toEqual([])
  })
})
