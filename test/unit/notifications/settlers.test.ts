import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Alert } from '../../../src/core/alerts.ts'
import { watchSettlers } from '../../../src/notifications/settlers.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('accounts that settle payments', () => {
  it('are told of while they have little gas, none, or are stuck, and not before', () => {
    const told: Alert[] = []
    let state = 'ok'
    const stop = watchSettlers(() => [{}, { settlers: [{ address: '0xabc', state }] }], {
      tell: (alert) => void told.push(alert),
    })
    vi.advanceTimersByTime(300_000)
    expect(told).toEqual([])
    for (state of ['low_on_gas', 'out_of_gas', 'stuck']) vi.advanceTimersByTime(300_000)
    expect(told.map(({ kind, accountId, data }) => [kind, accountId, data])).toEqual(
      ['low_on_gas', 'out_of_gas', 'stuck'].map((is) => [
        'settler_low',
        undefined,
        { settler: '0xabc', state: is },
      ]),
    )
    stop()
    vi.advanceTimersByTime(900_000)
    expect(told).toHaveLength(3)
  })
})
