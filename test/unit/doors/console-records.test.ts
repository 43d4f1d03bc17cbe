// How the console reads its tables: a page from as many looks as it takes and no longer, and a file no faster than it is taken.
import { EventEmitter } from 'node:events'
import { describe, expect, it } from 'vitest'
import { sendFile } from '../../../src/doors/console/records/export.ts'
import { fill, pages } from '../../../src/doors/console/records/fill.ts'
import * as read from '../../../src/doors/console/records/query.ts'
import type { SignedInRequest } from '../../../src/doors/console/ports.ts'
import type { SearchRequest } from '../../../src/store/ports.ts'

/** Rows 1 to `count`, newest first, of which those fit that `fits`; at most `lookAt` are looked at. */
const tableOf =
  (count: number, fits: (row: number) => boolean, asked: number[] = []) =>
  async ({ limit, before, lookAt = 20_000 }: SearchRequest) => {
    const from = before === undefined ? count + 1 : Number(before)
    const floor = Math.max(from - lookAt, 1)
    asked.push(from - floor)
    const items: number[] = []
    for (let row = from - 1; row >= floor; row--) {
      if (fits(row)) items.push(row)
      if (items.length === limit) return { items, next: row > 1 ? String(row) : null }
    }
    return { items, next: floor > 1 ? String(floor) : null }
  }

describe('a page', () => {
  it('is filled from one short look where most rows fit', async () => {
    const asked: number[] = []
    const page = await fill(
      tableOf(100_000, () => true, asked),
      { before: undefined, now: () => 0, limit: 50 },
    )
    expect([page.items.length, page.next, page.looked, asked.length]).toEqual([50, '99951', null, 1])
  })

  it('finds one row in 100,000, and says where nothing more is', async () => {
    const found = await fill(
      tableOf(100_000, (row) => row === 7),
      { before: undefined, now: () => 0 },
    )
    expect(found).toEqual({ items: [7], next: null, looked: null })
  })

  it('says how far it came where there is more, and goes on from there', async () => {
    const search = tableOf(150_000, (row) => row === 7)
    const first = await fill(search, { before: undefined, now: () => 0 })
    expect(first).toEqual({ items: [], next: '50001', looked: 100_000 })
    expect(await fill(search, { before: first.next ?? '', now: () => 0 })).toMatchObject({
      items: [7],
      looked: null,
    })
  })

  it('begins no further look once it took its time', async () => {
    let clock = 0
    const page = await fill(
      tableOf(150_000, () => false),
      { before: undefined, now: () => (clock += 20) },
    )
    expect(page.looked).toBe(20_000)
  })
})

describe('an address', () => {
  it.each([
    ['state=ambiguous', 'ambiguous'],
    ['state=AMBIGUOUS', undefined],
    ['state=', undefined],
    ['', undefined],
    ['state=__proto__', undefined],
  ])('with %j names the state %s', (query, state) => {
    expect(read.oneOf(new URLSearchParams(query), 'state', ['settled', 'ambiguous'])).toBe(state)
  })

  it('bounds by whole days, and leaves out what is no day', () => {
    const days = (query: string) => read.days(new URLSearchParams(query))
    expect(days('since=2026-11-22&until=2026-11-22')).toEqual({
      since: Date.UTC(2026, 10, 22),
      until: Date.UTC(2026, 10, 23),
    })
    expect(days('since=2026-13-01&until=now')).toEqual({ since: undefined, until: undefined })
  })

  it('begins a page at what a page named as its next, and at nothing else', () => {
    const cursor = (before: string) => read.cursor(new URLSearchParams({ before }))
    expect([cursor('att_1m7abc'), cursor('1700000000000~task_1'), cursor("x' OR 1"), cursor('')]).toEqual([
      'att_1m7abc',
      '1700000000000~task_1',
      undefined,
      undefined,
    ])
  })
})

/** An answer whose client takes one write at a time, when it is told to. */
class SlowClient extends EventEmitter {
  headers: Record<string, string> = {}
  written: string[] = []
  destroyed = false
  isEnded = false
  writeHead(_status: number, headers: Record<string, string>) {
    this.headers = headers
  }
  write(text: string) {
    this.written.push(text)
    return false
  }
  end() {
    this.isEnded = true
  }
  destroy() {
    this.destroyed = true
    this.emit('close')
  }
}

describe('a file', () => {
  const requestTo = (res: SlowClient, accountId = 'acct_1') =>
    ({
      signedIn: { accountId },
      console: { now: () => Date.UTC(2026, 10, 23), log: { error: () => {} } },
      exchange: { res },
      visitor: { requestId: 'req_1' },
    }) as unknown as SignedInRequest
  const form = new URLSearchParams({ format: 'jsonl' })
  const turns = () => new Promise((resolve) => setTimeout(resolve, 5))

  it('is read no further than it was taken, and read on when it was', async () => {
    const res = new SlowClient()
    let reads = 0
    const rows = (async function* () {
      for (let page = 0; page < 4; page++) {
        reads++
        yield [{ id: page }]
      }
    })()
    const sent = sendFile({ form, request: requestTo(res), name: 'things', columns: ['id'] }, rows)
    await turns()
    expect([reads, res.written]).toEqual([1, ['{"id":0}\n']])
    for (let page = 1; page <= 4; page++) {
      res.emit('drain')
      await turns()
    }
    await sent
    expect([reads, res.written.length, res.isEnded]).toEqual([4, 4, true])
    expect(res.headers['content-disposition']).toBe('attachment; filename="things-2026-11-23.jsonl"')
  })

  it('stops being read when its client is gone, and leaves nothing behind', async () => {
    const res = new SlowClient()
    let isClosed = false
    const rows = (async function* () {
      try {
        for (;;) yield [{ id: 1 }]
      } finally {
        isClosed = true
      }
    })()
    const sent = sendFile({ form, request: requestTo(res), name: 'things', columns: ['id'] }, rows)
    await turns()
    res.destroy()
    await sent
    expect([isClosed, res.written.length, res.listenerCount('drain')]).toEqual([true, 1, 0])
  })

  it('is broken off, not cut short unseen, where reading fails', async () => {
    const res = new SlowClient()
    const rows = (async function* () {
      yield [{ id: 1 }]
      throw new Error('the store is gone')
    })()
    const sent = sendFile({ form, request: requestTo(res), name: 'things', columns: ['id'] }, rows)
    await turns()
    res.emit('drain')
    await sent
    expect([res.isEnded, res.destroyed]).toEqual([false, true])
  })

  it('is one of four at once', async () => {
    const clients = Array.from({ length: 4 }, () => new SlowClient())
    const endless = async function* () {
      for (;;) yield [{ id: 1 }]
    }
    const send = (res: SlowClient, accountId: string) =>
      sendFile({ form, request: requestTo(res, accountId), name: 'things', columns: ['id'] }, endless())
    const sent = clients.map((client, at) => send(client, `acct_${at % 2}`))
    await turns()
    await expect(send(new SlowClient(), 'acct_2')).rejects.toMatchObject({ code: 'rate_limited' })
    for (const client of clients) client.destroy()
    await Promise.all(sent)
  })

  it('is one of two of an account, so that a neighbour who takes theirs slowly leaves two for others', async () => {
    const endless = async function* () {
      for (;;) yield [{ id: 1 }]
    }
    const send = (res: SlowClient, accountId: string) =>
      sendFile({ form, request: requestTo(res, accountId), name: 'things', columns: ['id'] }, endless())
    const clients = Array.from({ length: 3 }, () => new SlowClient())
    const [first, second, other] = clients
    const sent = [first, second].map((client) => client && send(client, 'acct_slow'))
    const third = new SlowClient()
    const refused = send(third, 'acct_slow').catch((error: unknown) => error)
    await turns()
    third.destroy()
    expect(await refused).toMatchObject({ code: 'rate_limited' })
    sent.push(other && send(other, 'acct_other'))
    await turns()
    expect(other?.written).toHaveLength(1)
    for (const client of clients) client.destroy()
    await Promise.all(sent)
  })

  it('reads every page once', async () => {
    const rows: number[] = []
    for await (const page of pages(
      tableOf(1050, () => true),
      500,
    ))
      rows.push(...page)
    expect([rows.length, new Set(rows).size]).toEqual([1050, 1050])
  })
})
