import { expect, it } from 'vitest'
import { createQuestions } from '../../../src/actions/questions.ts'

it('lets a lineage ask eight at once and twenty a minute, and an account thirty-two at once', () => {
  let now = 0
  const questions = createQuestions(() => now)
  const held = Array.from({ length: 8 }, () => questions.enter('cap_a', 'acc'))
  expect(() => questions.enter('cap_a', 'acc')).toThrow('8 requests of this capability wait')
  for (const leave of held) leave()
  // Ending one twice gives no second place.
  held[0]?.()
  for (let n = 0; n < 12; n++) questions.enter('cap_a', 'acc')()
  expect(() => questions.enter('cap_a', 'acc')).toThrow(
    '20 requests of this capability asked a person within a minute',
  )
  now = 60_001
  const all = ['a', 'b', 'c', 'd'].flatMap((name) =>
    Array.from({ length: 8 }, () => questions.enter(`cap_${name}`, 'acc')),
  )
  expect(() => questions.enter('cap_e', 'acc')).toThrow('32 requests of this account wait')
  questions.enter('cap_e', 'other')
  all[0]?.()
  expect(questions.enter('cap_e', 'acc')).toBeTypeOf('function')
})
