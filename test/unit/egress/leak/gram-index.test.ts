import { expect, it } from 'vitest'
import { createBudget } from '../../../../src/egress/leak/budget.ts'
import { createGramIndex } from '../../../../src/egress/leak/gram-index.ts'
import { createRandom } from '../../../support/ordinary-answers.ts'

it.each([1, 2] as const)('finds the end of a needle of 70,000 characters, %i words at once', (words) => {
  const text = Buffer.from(createRandom('a long needle').bytes(35_000).toString('hex'))
  const index = createGramIndex([{ name: 'hex', text }], words)
  const stretches: [number, number][] = []
  index.scan(
    Buffer.concat([Buffer.from('the end: '), text.subarray(-24)]),
    createBudget(1e6),
    (_, start, end) => {
      stretches.push([start, end])
      return undefined
    },
  )
  expect(stretches).toContainEqual([69_976, 70_000])
})
