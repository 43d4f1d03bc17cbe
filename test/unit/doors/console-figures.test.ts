import { describe, expect, it } from 'vitest'
import { chartsOf, SPANS } from '../../../src/doors/console/figures.ts'
import type { AttemptCount } from '../../../src/store/ports.ts'

const NOW = Date.UTC(2026, 5, 1, 12, 34, 56)
const SLOT = Math.floor(NOW / SPANS.hour.slotMs)

const row = (part: Partial<AttemptCount>): AttemptCount => ({
  slot: SLOT,
  host: 'api.example.com',
  state: 'settled',
  outcome: 'delivered',
  statusClass: 2,
  took: 0,
  count: 1,
  ...part,
})

describe('charts of attempts', () => {
  it('have a bar for every slot, the last of which has not ended', () => {
    const { slots } = chartsOf(
      { rows: [row({ count: 3 }), row({ slot: SLOT - 59, state: 'refunded' })] },
      'hour',
      NOW,
    )
    expect(slots).toHaveLength(60)
    expect(slots.at(-1)).toEqual({ at: SLOT * 60_000, settled: 3, others: 0, p50: 10, p95: 10, p99: 10 })
    expect(slots[0]).toMatchObject({ settled: 0, others: 1, p50: null })
  })

  it('say how each upstream did, busiest first', () => {
    const { hosts, p50, p99, attempts } = chartsOf(
      {
        rows: [
          row({ count: 98 }),
          row({ count: 2, took: 6, statusClass: 5 }),
          row({ host: 'slow.example.com', state: 'ambiguous', outcome: 'reset', took: 9, statusClass: null }),
        ],
      },
      'day',
      NOW,
    )
    expect(attempts).toBe(101)
    expect(hosts).toEqual([
      {
        host: 'api.example.com',
        attempts: 100,
        settled: 100,
        broken: 2,
        ambiguous: 0,
        refunded: 0,
        p50: 10,
        p95: 10,
        p99: 1000,
      },
      {
        host: 'slow.example.com',
        attempts: 1,
        settled: 0,
        broken: 0,
        ambiguous: 1,
        refunded: 0,
        p50: null,
        p95: null,
        p99: null,
      },
    ])
    expect([p50, p99]).toEqual([10, 1000])
  })

  it('say why attempts did not settle, and count none that is under way among those', () => {
    const { reasons, settled, refunded } = chartsOf(
      {
        rows: [
          row({ state: 'refunded', outcome: 'dns_refused', count: 4 }),
          row({ state: 'sending', outcome: null }),
          row({ state: 'ambiguous', outcome: 'reset', count: 5 }),
        ],
      },
      'week',
      NOW,
    )
    expect(reasons).toEqual([
      { outcome: 'reset', count: 5 },
      { outcome: 'dns_refused', count: 4 },
    ])
    expect([settled, refunded]).toEqual([0, 4])
  })
})
