import { expect, it } from 'vitest'
import { createRepetitions } from '../../../src/audit/repetitions.ts'
import { GatewayError } from '../../../src/core/errors.ts'
import type { NewAuditEvent } from '../../../src/store/ports.ts'

const event = (at: number, address = '192.0.2.1', more: Partial<NewAuditEvent> = {}): NewAuditEvent => ({
  chain: 'acct_1',
  at,
  event: 'sign_in.failed',
  actor: { kind: 'anonymous', address, request_id: `req_${at}` },
  ...more,
})

/** Name of events that the store never takes. */
const REFUSED = 'poisoned'

function record() {
  const written: NewAuditEvent[] = []
  /** What happens before the store takes something. */
  const store = { before: async () => {} }
  const dropped: NewAuditEvent[] = []
  const log = createRepetitions(
    async (events) => {
      await store.before()
      if (events.some(({ event }) => event === REFUSED))
        throw new GatewayError('input_invalid', 'The store refused this.')
      written.push(...events)
    },
    (event) => void dropped.push(event),
  )
  /** Of refusals that came again: their chain and time, and how often. */
  const counts = () =>
    written
      .filter(({ detail }) => detail?.['repeated'])
      .map(({ chain, at, detail }) => [chain, at, detail?.['repeated']])
  return { written, dropped, store, counts, ...log }
}
const away = () => Promise.reject(new GatewayError('store_unavailable', 'The store is away.'))

it('writes the first at once and its repetitions as a number', async () => {
  const { written, note, flush } = record()
  for (let at = 0; at < 500; at++) await note(event(at))
  expect(written).toEqual([event(0)])
  await flush(59_999)
  expect(written).toHaveLength(1)
  await flush(60_000)
  expect(written.at(-1)).toMatchObject({
    at: 499,
    event: 'sign_in.failed',
    detail: { repeated: 499, since: new Date(0).toISOString() },
  })
})

it('says no number where nothing came again', async () => {
  const { written, note, flush } = record()
  await note(event(0))
  await note(event(1, '192.0.2.2'))
  await note(event(2, '192.0.2.1', { event: 'scope.denied' }))
  await flush(Infinity)
  expect(written).toHaveLength(3)
})

it('writes a minute later what comes again then', async () => {
  const { written, note } = record()
  await note(event(0))
  await note(event(59_999))
  await note(event(60_000))
  expect(written.map(({ at, detail }) => [at, detail?.['repeated']])).toEqual([
    [0, undefined],
    [59_999, 1],
    [60_000, undefined],
  ])
})

it('writes what came again a minute after it began, though nothing comes any more', async () => {
  const { written, note, flush } = record()
  for (let i = 0; i < 62; i++) await note(event(i, `192.0.2.${i}`))
  await note(event(100))
  await flush(60_000)
  expect(
    written.slice(60).map(({ at, event, detail }) => [at, event, detail?.['repeated'] ?? detail?.['count']]),
  ).toEqual([
    [100, 'sign_in.failed', 1],
    [100, 'refusals.suppressed', 2],
  ])
  await flush(120_000)
  expect(written).toHaveLength(62)
})

it('keeps counts that the store does not take until it does', async () => {
  const { store, counts, note, flush } = record()
  for (const chain of ['acct_1', 'acct_2'])
    for (let at = 0; at < 3; at++) await note(event(at, 'x', { chain }))
  const was = store.before
  store.before = away
  await expect(flush(60_000)).rejects.toThrow('away')
  await expect(flush(60_000)).rejects.toThrow('away')
  store.before = was
  await flush(60_000)
  await flush(Infinity)
  expect(counts()).toEqual([
    ['acct_1', 2, 2],
    ['acct_2', 2, 2],
  ])
})

it('keeps the first of a kind that the store does not take, and writes it with its time once it does', async () => {
  const { store, written, note, flush } = record()
  const was = store.before
  store.before = away
  await expect(note(event(0))).rejects.toThrow('away')
  await expect(note(event(60_000))).rejects.toThrow('away')
  store.before = was
  await flush(60_001)
  await flush(Infinity)
  expect(written).toEqual([event(0), event(60_000)])
})

it('does not keep one that the store refuses: it would refuse all that is written with it', async () => {
  const { store, written, note, flush } = record()
  const was = store.before
  store.before = () => Promise.reject(new GatewayError('internal', 'The store refused this.'))
  await expect(note(event(0))).rejects.toThrow('refused')
  store.before = was
  await flush(Infinity)
  expect(written).toEqual([])
})

it('writes all that was kept but what the store refuses, which is dropped and said', async () => {
  const { store, written, dropped, note, flush } = record()
  const poisoned = event(1, 'x', { event: REFUSED })
  const was = store.before
  store.before = away
  for (const kept of [event(0), poisoned, event(2, 'x', { chain: 'acct_2' })])
    await expect(note(kept)).rejects.toThrow('away')
  store.before = was
  await expect(flush(3)).rejects.toThrow('refused')
  expect([written, dropped]).toEqual([[event(0), event(2, 'x', { chain: 'acct_2' })], [poisoned]])
  await flush(Infinity)
  expect([written.length, dropped.length]).toEqual([2, 1])
})

it('keeps what is behind a refused one where the store goes away before its turn', async () => {
  const { store, written, dropped, note, flush } = record()
  const poisoned = event(1, 'x', { event: REFUSED })
  const was = store.before
  store.before = away
  for (const kept of [event(0), poisoned, event(2, 'x', { chain: 'acct_2' })])
    await expect(note(kept)).rejects.toThrow('away')
  let writes = 0
  store.before = () => (++writes > 3 ? away() : Promise.resolve())
  await expect(flush(3)).rejects.toThrow('away')
  expect([written, dropped]).toEqual([[event(0)], [poisoned]])
  store.before = was
  await flush(4)
  expect(written).toEqual([event(0), event(2, 'x', { chain: 'acct_2' })])
})

it('writes a new refusal also where the store refuses the count that goes before it', async () => {
  const { written, dropped, store, note, flush } = record()
  const refusal = new GatewayError('internal', 'The store refused this.')
  await note(event(0))
  await note(event(1))
  const was = store.before
  let writes = 0
  // Both together, then the count by itself.
  store.before = () => (++writes < 3 ? Promise.reject(refusal) : Promise.resolve())
  await expect(note(event(60_000))).rejects.toThrow('refused')
  store.before = was
  await flush(Infinity)
  expect(written).toEqual([event(0), event(60_000)])
  expect(dropped.map(({ detail }) => detail?.['repeated'])).toEqual([1])
})

it('keeps two thousand of them and no more', async () => {
  const { store, written, note, flush } = record()
  const was = store.before
  store.before = away
  for (let i = 0; i < 2_100; i++)
    await expect(note(event(i, 'x', { chain: `acct_${i}` }))).rejects.toThrow('away')
  store.before = was
  await flush(Infinity)
  expect(written).toHaveLength(2_000)
})

it('keeps them where the next refusal finds that their minute is over, too', async () => {
  const { store, counts, note, flush } = record()
  for (let at = 0; at < 3; at++) await note(event(at))
  const was = store.before
  store.before = away
  await expect(note(event(60_000))).rejects.toThrow('away')
  store.before = was
  await note(event(60_001))
  await flush(60_002)
  expect(counts()).toEqual([['acct_1', 2, 2]])
  await flush(Infinity)
  expect(counts()).toEqual([
    ['acct_1', 2, 2],
    ['acct_1', 60_001, 1],
  ])
})

it('counts once what comes while the store is asked, whatever it answers', async () => {
  for (const takes of [true, false]) {
    const { store, counts, note, flush } = record()
    await note(event(0))
    await note(event(1))
    const answer = Promise.withResolvers<void>()
    const was = store.before
    store.before = () => answer.promise
    const [flushing, meanwhile] = [flush(60_000), note(event(60_001))]
    await note(event(60_002))
    if (takes) answer.resolve()
    else answer.reject(new Error('The store is away.'))
    await Promise.allSettled([flushing, meanwhile])
    store.before = was
    await flush(Infinity)
    expect(counts()).toEqual([
      ['acct_1', 1, 1],
      ['acct_1', 60_002, 1],
    ])
  }
})

it('lets nobody write more than sixty different ones of a name a minute into a chain, and hides nothing else by that', async () => {
  const { written, note, flush } = record()
  for (let i = 0; i < 1000; i++) await note(event(i, `192.0.2.${i}`))
  expect(written).toHaveLength(60)
  await note(event(1000, 'x', { chain: 'acct_2' }))
  expect(written).toHaveLength(61)
  await note(event(1001, 'x', { event: 'secret.reflected' }))
  expect(written.at(-1)).toMatchObject({ chain: 'acct_1', event: 'secret.reflected' })
  await flush(Infinity)
  expect(written.at(-1)).toMatchObject({
    chain: 'acct_1',
    event: 'refusals.suppressed',
    detail: { event: 'sign_in.failed', count: 940 },
  })
})
