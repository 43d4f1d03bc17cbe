import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { A2A_REQUIREMENTS, type Requirement, type RequirementId } from '../../requirements.ts'

/** Ids that the tests of the door cite in a call of `verifies`. */
function citedIds(): Set<string> {
  const cited = new Set<string>()
  for (const folder of ['contract', 'e2e', 'flow']) {
    const place = new URL(`../../${folder}/`, import.meta.url)
    for (const name of readdirSync(place).filter((file) => /^a2a.*\.test\.ts$/.test(file))) {
      const text = readFileSync(new URL(name, place), 'utf8')
      for (const [, ids] of text.matchAll(/verifies\(\s*(\[[^\]]*\]|'[^']*')/g))
        for (const [, id] of ids!.matchAll(/'([^']+)'/g)) cited.add(id!)
    }
  }
  return cited
}

describe('the requirements of A2A', () => {
  const cited = citedIds()
  const all = Object.entries(A2A_REQUIREMENTS) as [RequirementId, Requirement][]

  for (const [id, { level, behaviour, outside }] of all) {
    if (level === 'MUST' && outside === undefined)
      test(`${id} has a test: ${behaviour}`, () => expect(cited).toContain(id))
    // A reason that a test has overtaken is stale.
    if (outside !== undefined)
      test(`${id} has none, because ${outside}`, () => expect(cited).not.toContain(id))
  }

  test('are all known that tests cite', () => {
    expect([...cited].filter((id) => !(id in A2A_REQUIREMENTS))).toEqual([])
  })
})
