import { describe, expect, it } from 'vitest'
import type { Decision } from '../../../src/core/live-events.ts'
import {
  filterIn,
  fits,
  keep,
  KEPT,
  queryOf,
  type Row,
  shown,
  SHOWN,
} from '../../../src/doors/console/components/live/kept.ts'

const row = (n: number, part: Partial<Decision> = {}): Row => ({
  n,
  at: n,
  request: `req_${n}`,
  door: 'mcp',
  tool: 'gateway.egress.fetch',
  by: 'capability',
  caller: 'cap_abc123',
  host: 'api.example.com',
  code: 'ok',
  ms: 1,
  attempt: null,
  ...part,
})

describe('the live log', () => {
  it('keeps the newest and shows the newest of those first', () => {
    let entries: ReturnType<typeof keep> = []
    for (let n = 0; n < 5000; n += 100)
      entries = keep(
        entries,
        Array.from({ length: 100 }, (_, i) => row(n + i)),
      )
    expect([entries.length, entries[0]?.n]).toEqual([KEPT, 4000])
    const all = shown(entries, { tool: '', code: '', caller: '' })
    expect([all.length, all[0]?.n]).toEqual([SHOWN, 4999])
  })

  it.each([
    [{ tool: 'gateway.egress.fetch' }, true],
    [{ tool: 'gateway.egress' }, false],
    [{ code: 'ok' }, true],
    [{ code: 'refused' }, false],
    [{ code: 'scope_denied' }, false],
    [{ caller: 'ABC' }, true],
    [{ caller: 'example.com' }, true],
    [{ caller: 'mcp' }, true],
    [{ caller: 'rest' }, false],
  ])('shows by %o what fits', (part, isThere) => {
    expect(fits(row(1), { tool: '', code: '', caller: '', ...part })).toBe(isThere)
  })

  it('shows every refusal by one word, and where something is missing whatever is asked for', () => {
    const entries = [row(1), row(2, { code: 'scope_denied' }), { n: 3, missed: 7 }]
    const filter = { tool: '', code: 'refused', caller: '' }
    expect(shown(entries, filter).map(({ n }) => n)).toEqual([3, 2])
  })

  it('has its filter in the address, and takes it from there', () => {
    const filter = { tool: 'gateway.egress.fetch', code: 'ok', caller: 'a b&c' }
    expect(filterIn(new URLSearchParams(queryOf(filter)))).toEqual(filter)
    expect(queryOf({ tool: '', code: '', caller: '' })).toBe('')
  })
})
