// A process that starts while another looks for dead ones is not taken for dead.
import { describe, expect, it } from 'vitest'
import type { Command, Row } from '../../../src/store/command.ts'
import { advisoryLocks } from '../../../src/store/postgres/coordination/advisory-locks.ts'
import { recoveryOf } from '../../../src/store/postgres/recovery.ts'

const { recoverAttempts, recoverClaims, recoverDebits } = recoveryOf(advisoryLocks)

/** Answers every statement from a table of boots and one of unfinished work; `between` runs after the first. */
function drive<T>(
  command: Command<T>,
  world: { alive: Set<string>; working: Set<string> },
  between: () => void,
) {
  const changed: unknown[] = []
  let step = command.next()
  for (let count = 0; !step.done; count++) {
    const { text, values } = step.value
    let rows: Row[] = []
    if (text.includes('FROM boots WHERE'))
      rows = [...world.alive].map((bootId) => ({ bootId, isDead: false }))
    else if (text.includes('DISTINCT boot_id')) rows = [...world.working].map((bootId) => ({ bootId }))
    else changed.push(values)
    if (count === 0) between()
    step = command.next(rows)
  }
  return { value: step.value, changed }
}

describe.each([
  ['attempts', recoverAttempts, { refunded: [], ambiguous: [] }],
  ['claims', recoverClaims, { canceled: 0, unknown: 0 }],
  ['debits', recoverDebits, { refunded: 0 }],
] as const)('recovery of %s', (_word, recover, nothing) => {
  it('leaves alone who starts and works between its two looks', () => {
    const world = { alive: new Set<string>(), working: new Set<string>() }
    const { value, changed } = drive<unknown>(recover({ bootId: 'boot-mine', now: 1 }), world, () => {
      world.alive.add('boot-new')
      world.working.add('boot-new')
    })
    expect(value).toEqual(nothing)
    expect(changed).toEqual([])
  })

  it('takes up what belongs to a boot that nobody lists', () => {
    const world = { alive: new Set(['boot-other']), working: new Set(['boot-other', 'boot-forgotten']) }
    const { changed } = drive<unknown>(recover({ bootId: 'boot-mine', now: 1 }), world, () => {})
    expect(changed.flat()).toContain('boot-forgotten')
    expect(changed.flat()).not.toContain('boot-other')
  })
})
