import { describe, expect, it } from 'vitest'
import { capabilityGone } from '../../../src/egress/refusals.ts'
import { findLateWithdrawal } from '../../../src/egress/withdrawal.ts'

function asking(find: () => Promise<ReturnType<typeof capabilityGone> | undefined>) {
  const clock = { now: 1_000 }
  let asked = 0
  const ask = findLateWithdrawal(
    () => clock.now,
    () => {
      asked++
      return find()
    },
  )
  return { ask, clock, asked: () => asked }
}

describe('what a request stands on, right before its first byte', () => {
  it('is not asked for again where no time has passed: a call on an open connection costs nothing more', async () => {
    const { ask, clock, asked } = asking(async () => capabilityGone('capability_gone'))
    clock.now += 49
    expect(await ask()).toBeUndefined()
    expect(asked()).toBe(0)
  })

  it('is asked for once something took its time', async () => {
    const { ask, clock, asked } = asking(async () => capabilityGone('capability_gone'))
    clock.now += 50
    expect(await ask()).toMatchObject({ code: 'capability_invalid' })
    expect(asked()).toBe(1)
  })

  it('refuses where it cannot be asked for, and does not reject', async () => {
    const { ask, clock } = asking(() => Promise.reject(new Error('no store')))
    clock.now += 50
    expect(await ask()).toMatchObject({ code: 'store_unavailable' })
  })

  it('is nothing where nothing can be withdrawn', async () => {
    let now = 0
    const ask = findLateWithdrawal(() => now, undefined)
    now = 60_000
    expect(await ask()).toBeUndefined()
  })
})
