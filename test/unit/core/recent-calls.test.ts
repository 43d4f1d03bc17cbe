import { describe, expect, it } from 'vitest'
import { createRecentCalls } from '../../../src/core/recent-calls.ts'

const MINUTE = 60_000
const START = 1_800_000_000_000

function setUp() {
  let time = START
  const calls = createRecentCalls({ now: () => time })
  return {
    ...calls,
    passMinutes: (minutes: number) => void (time += minutes * MINUTE),
    all: () => calls.lastHour(() => true),
  }
}

describe('the calls of the last hour', () => {
  it('are counted by tool, door and code, with how long those took that delivered', () => {
    const { ended, all } = setUp()
    for (const ms of [3, 3, 3, 90]) ended('a', 'rest', undefined, ms)
    ended('a', 'mcp', 'rate_limited', 50_000)
    ended('b', 'mcp', 'rate_limited', 1)
    ended('b', 'mcp', 'input_invalid', 1)
    expect(all()).toMatchObject({
      delivered: 4,
      refused: 3,
      p50Ms: 5,
      p95Ms: 100,
      p99Ms: 100,
      tools: [
        { tool: 'a', delivered: 4, refused: 1, p50Ms: 5 },
        { tool: 'b', delivered: 0, refused: 2, p50Ms: null },
      ],
      refusals: [
        { code: 'rate_limited', count: 2 },
        { code: 'input_invalid', count: 1 },
      ],
      doors: [
        { door: 'rest', count: 4 },
        { door: 'mcp', count: 3 },
      ],
    })
  })

  it('are in the minute in which they ended, and the first minute is the one in which counting began', () => {
    const { ended, all, passMinutes } = setUp()
    ended('a', 'rest', undefined, 1)
    passMinutes(2)
    ended('a', 'rest', undefined, 1)
    ended('a', 'rest', undefined, 1)
    const { minutes, since } = all()
    expect(minutes.map(({ delivered }) => delivered)).toEqual([1, 0, 2])
    expect(since).toBe(START)
  })

  it('leave after an hour, minute by minute', () => {
    const { ended, all, passMinutes } = setUp()
    ended('a', 'rest', 'internal', 1)
    passMinutes(30)
    ended('a', 'rest', undefined, 1)
    passMinutes(29)
    expect(all()).toMatchObject({ delivered: 1, refused: 1 })
    passMinutes(1)
    expect(all()).toMatchObject({ delivered: 1, refused: 0, refusals: [] })
    expect(all().minutes).toHaveLength(60)
    passMinutes(30)
    expect(all()).toMatchObject({ delivered: 0, tools: [], doors: [] })
  })

  it('are forgotten together where nothing happened for days', () => {
    const { ended, all, passMinutes } = setUp()
    ended('a', 'rest', undefined, 1)
    passMinutes(3 * 24 * 60)
    ended('a', 'rest', undefined, 1)
    expect(all()).toMatchObject({ delivered: 1 })
    expect(all().minutes).toHaveLength(60)
  })

  it('stay where they are when the clock is set back', () => {
    const { ended, all, passMinutes } = setUp()
    passMinutes(5)
    ended('a', 'rest', undefined, 1)
    passMinutes(-20)
    ended('a', 'rest', undefined, 1)
    expect(all().minutes.at(-1)).toMatchObject({ delivered: 2 })
  })

  it('are told of those tools alone that were asked about', () => {
    const { ended, lastHour } = setUp()
    ended('open', 'rest', undefined, 1)
    ended('closed', 'rest', 'scope_denied', 1)
    const { refused, tools, refusals, doors } = lastHour((tool) => tool === 'open')
    expect([refused, tools.length, refusals, doors]).toEqual([0, 1, [], [{ door: 'rest', count: 1 }]])
  })
})
