import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  createLiveEvents,
  type Decision,
  LIVE_TOPICS,
  type LiveTopic,
  MOST_WAITING,
  REMEMBERED,
} from '../../../src/core/live-events.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const ALL = new Set(LIVE_TOPICS)

/** A page, and what it was sent. */
function pageOf({ admin = false, accountId = 'acct_1', topics = ALL as ReadonlySet<LiveTopic> } = {}) {
  const sink = {
    waiting: 0,
    texts: [] as string[],
    write: (text: string) => void sink.texts.push(text),
    events: (name: string) =>
      sink.texts
        .flatMap((text) => text.split('\n\n'))
        .map((text) => Object.fromEntries(text.split('\n').map((line) => line.split(/: (.*)/s))))
        .filter(({ event }) => event === name)
        .map(({ id, data }) => ({ id: id as string, data: JSON.parse(data as string) })),
    news: () => sink.events('news').flatMap(({ data }) => data as [LiveTopic, Record<string, unknown>][]),
    lastId: () => [...sink.events('begin'), ...sink.events('news')].at(-1)?.id,
  }
  return { who: { accountId, admin, topics }, sink }
}

const decision = (request: string) => ({ request }) as unknown as Decision
const flush = () => vi.advanceTimersByTime(250)

describe('news of an account', () => {
  it('reach the pages of that account alone, in one text for many', () => {
    const live = createLiveEvents()
    const [own, other] = [pageOf(), pageOf({ accountId: 'acct_2' })]
    live.subscribe(own.who, undefined, own.sink)
    live.subscribe(other.who, undefined, other.sink)
    for (let n = 0; n < 100; n++) live.decided('acct_1', decision(`req_${n}`))
    flush()
    expect(own.sink.news()).toHaveLength(100)
    expect(own.sink.texts).toHaveLength(2)
    expect(other.sink.news()).toEqual([])
  })

  it('of nobody and of the installation are for those who look after it', () => {
    const live = createLiveEvents()
    const [member, admin] = [pageOf(), pageOf({ admin: true })]
    live.subscribe(member.who, undefined, member.sink)
    expect(live.isWatched(undefined)).toBe(false)
    live.subscribe(admin.who, undefined, admin.sink)
    expect(live.isWatched(undefined)).toBe(true)
    live.decided(undefined, decision('of nobody'))
    live.publish({ accountId: 'acct_1', admin: true }, 'job', { job: 'backup' })
    flush()
    expect(member.sink.news()).toEqual([])
    expect(admin.sink.news().map(([topic]) => topic)).toEqual(['decision', 'job'])
  })

  it('are not asked for where nobody looks, and nothing is kept', () => {
    const live = createLiveEvents()
    expect([live.isWatched('acct_1'), live.isWatched(undefined)]).toEqual([false, false])
    const approvals = pageOf({ topics: new Set<LiveTopic>(['approval']) })
    const { end } = live.subscribe(approvals.who, undefined, approvals.sink)
    expect(live.isWatched('acct_1')).toBe(false)
    live.decided('acct_1', decision('unwanted'))
    live.publish({ accountId: 'acct_1' }, 'approval', { permit: 'pmt_1' })
    flush()
    expect(approvals.sink.news()).toEqual([['approval', { permit: 'pmt_1' }]])
    end()
    vi.advanceTimersByTime(31_000)
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('a page that lost the line', () => {
  it('is sent what came since, as far as it is remembered', () => {
    const live = createLiveEvents()
    const [before, stays] = [pageOf(), pageOf()]
    const { end } = live.subscribe(before.who, undefined, before.sink)
    live.decided('acct_1', decision('a'))
    flush()
    const last = before.sink.lastId()
    end()
    vi.advanceTimersByTime(5000)
    live.decided('acct_1', decision('b'))
    const back = pageOf()
    live.subscribe(back.who, last, back.sink)
    expect(back.sink.news()).toEqual([['decision', { request: 'b' }]])
    expect(back.sink.events('gap')).toEqual([])

    live.subscribe(stays.who, undefined, stays.sink)
    for (let n = 0; n < REMEMBERED + 10; n++) live.decided('acct_1', decision(`${n}`))
    const late = pageOf()
    live.subscribe(late.who, last, late.sink)
    expect(late.sink.events('gap').map(({ data }) => data)).toEqual([{ missed: 11 }])
    expect(late.sink.news()).toHaveLength(REMEMBERED)
  })

  it('is told that it missed something where the ids are of another process', () => {
    for (const after of ['0011223344-7', 'nonsense', '-1', '']) {
      const live = createLiveEvents()
      const page = pageOf()
      live.subscribe(page.who, after, page.sink)
      expect([after, page.sink.events('gap').map(({ data }) => data)]).toEqual([after, [{ missed: null }]])
    }
  })
})

describe('a page that reads slowly', () => {
  it('is sent nothing more until it took what it has, then how much is missing and the newest', () => {
    const live = createLiveEvents()
    const { who, sink } = pageOf()
    const { more } = live.subscribe(who, undefined, sink)
    sink.waiting = MOST_WAITING + 1
    const before = sink.texts.length
    for (let n = 0; n < 3 * REMEMBERED; n++) {
      live.decided('acct_1', decision(`${n}`))
      if (n % 500 === 0) flush()
    }
    flush()
    expect(sink.texts).toHaveLength(before)
    sink.waiting = 0
    more()
    expect(sink.events('gap').map(({ data }) => data)).toEqual([{ missed: 2 * REMEMBERED }])
    expect(sink.news()).toHaveLength(REMEMBERED)
    expect(sink.news().at(-1)).toEqual(['decision', { request: `${3 * REMEMBERED - 1}` }])
  })
})
