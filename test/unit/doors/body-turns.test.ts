// Large bodies share the event loop with everybody else.
import { expect, it } from 'vitest'
import { createParseTurns, createPieceTurns } from '../../../src/doors/http/body-turns.ts'

const burn = (ms: number) => {
  for (const end = performance.now() + ms; performance.now() < end;);
}

it('leaves the loop to others for as long as each one took', async () => {
  const turns = createParseTurns()
  let rounds = 0
  const ticking = setInterval(() => rounds++, 1)
  const started = performance.now()
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      await turns.turn('a')
      burn(10)
    }),
  )
  clearInterval(ticking)
  expect(performance.now() - started).toBeGreaterThan(65)
  expect(rounds).toBeGreaterThan(6)
})

it('lets the first one through at once, and senders in turns', async () => {
  const turns = createParseTurns(() => 0)
  const order: string[] = []
  const take = async (sender: string, name: string) => {
    await turns.turn(sender)
    order.push(name)
  }
  await take('storm', 'first')
  expect(order).toEqual(['first'])
  await Promise.all([take('storm', 's1'), take('storm', 's2'), take('storm', 's3'), take('other', 'o1')])
  expect(order).toEqual(['first', 's1', 'o1', 's2', 's3'])
})

it('lets so many pieces through between two rounds, senders in turns', async () => {
  const turns = createPieceTurns(2)
  const order: string[] = []
  let round = 0
  const count = () => {
    round++
    if (order.length < 5) setImmediate(count)
  }
  setImmediate(count)
  const take = async (sender: string, name: string) => {
    await turns.turn(sender)
    order.push(`${name} in ${round}`)
  }
  await Promise.all(['s1', 's2', 's3', 's4'].map((name) => take('storm', name)).concat(take('other', 'o1')))
  const rounds = order.map((entry) => Number(entry.split(' in ')[1]))
  expect(order.map((entry) => entry.split(' ')[0])).toEqual(['s1', 'o1', 's2', 's3', 's4'])
  expect(new Set(rounds).size).toBe(3)
})
