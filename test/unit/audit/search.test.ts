import { expect, it } from 'vitest'
import { LOOKED_AT, searchEvents } from '../../../src/audit/search.ts'

const REST = { actor: { kind: 'gateway' }, subject: null, detail: {}, prev: null }
/** A chain of so many events, every thousandth of which is about a key. */
function chainOf(total: number) {
  let read = 0
  const store = {
    getAuditChain: async (chain: string) => ({ chain, seq: total, hash: 'h', signedSeq: total }),
    async listAuditEvents({ after, upTo }: { after: number; upTo: number }) {
      read += upTo - after
      return Array.from({ length: upTo - after }, (_, at) => {
        const seq = after + at + 1
        const event = seq % 1000 === 0 ? 'key.created' : 'scope.denied'
        return {
          seq,
          hash: `h${seq}`,
          body: JSON.stringify({ v: 1, chain: 'c', seq, at: '', event, ...REST }),
        }
      })
    },
  }
  return { store, read: () => read }
}

it('looks at so many events and no more, and goes on from there to the beginning', async () => {
  const { store, read } = chainOf(12_345)
  const found: number[] = []
  let before: number | undefined
  let questions = 0
  do {
    const page = await searchEvents(store, { chain: 'c', event: 'key.' }, { limit: 3, before })
    found.push(...page.events.map(({ seq }) => seq))
    before = page.next ?? undefined
    questions++
    expect(read()).toBeLessThanOrEqual(questions * LOOKED_AT)
  } while (before !== undefined)
  expect(found).toEqual(Array.from({ length: 12 }, (_, at) => (12 - at) * 1000))
})

it('ends at the first event', async () => {
  const { store } = chainOf(3)
  const { events, next, total } = await searchEvents(store, { chain: 'c' }, { limit: 3 })
  expect([events.map(({ seq }) => seq), next, total]).toEqual([[3, 2, 1], null, 3])
})

it('passes over what was changed into something that is no event', async () => {
  const { store } = chainOf(5)
  const changed = {
    ...store,
    listAuditEvents: async (query: { after: number; upTo: number }) =>
      (await store.listAuditEvents(query)).map((row) => ({
        ...row,
        body: ['null', '{}', 'no JSON'][row.seq - 1] ?? row.body,
      })),
  }
  const { events } = await searchEvents(changed, { chain: 'c', id: 'key_1' }, { limit: 5 })
  expect(events).toEqual([])
  const all = await searchEvents(changed, { chain: 'c' }, { limit: 5 })
  expect(all.events.map(({ seq }) => seq)).toEqual([5, 4])
})
