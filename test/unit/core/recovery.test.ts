// Rows that nobody works on any more, in as many pages as there are.
import { expect, it } from 'vitest'
import { recoverDead, rowsLeft } from '../../../src/core/recovery.ts'
import { log, times } from '../../support/store.ts'

const idOf = (n: number) => `row_${String(n).padStart(4, '0')}`
const listOf = (rows: readonly { id: string }[]) => {
  const asked: string[] = []
  const list = async ({ after, limit }: { after: string; limit: number }) => {
    asked.push(after)
    return rows.filter(({ id }) => id > after).slice(0, limit)
  }
  return { asked, list }
}

it.each([0, 1, 499, 500, 501, 1300])('finds every one of %i rows, but for those in hand', async (count) => {
  const rows = times(count, (n) => ({ id: idOf(n) }))
  const inHand = new Set(rows.filter((_, n) => n % 3 === 0).map(({ id }) => id))
  const { asked, list } = listOf(rows)
  const left: string[] = []
  for await (const { id } of rowsLeft(list, 'boot', inHand)) left.push(id)
  expect(left).toEqual(rows.map(({ id }) => id).filter((id) => !inHand.has(id)))
  expect(asked).toHaveLength(Math.floor(count / 500) + 1)
})

it('asks what is in hand after it read the row: one that ended by then, or began before, is not taken', async () => {
  const inHand = new Set<string>()
  const list = async () => {
    const rows = [{ id: 'begun' }]
    inHand.add('begun')
    return rows
  }
  const left: string[] = []
  for await (const { id } of rowsLeft(list, 'boot', inHand)) left.push(id)
  expect(left).toEqual([])
})

it('settles all at once where the store takes that, and lists nothing', async () => {
  const asked: (string | undefined)[] = []
  await recoverDead({
    store: { listDeadOwners: () => Promise.reject(new Error('nobody asks')) },
    bootId: 'boot',
    log,
    list: () => Promise.reject(new Error('nobody asks')),
    recover: async (id) => void asked.push(id),
  })
  expect(asked).toEqual([undefined])
})

it('throws where the store is away for the list, too', async () => {
  const away = () => Promise.reject(new Error('away'))
  const store = { listDeadOwners: away }
  await expect(recoverDead({ store, bootId: 'boot', log, list: away, recover: away })).rejects.toThrow('away')
})
