// Progress of long work: drawn on a terminal, said now and then elsewhere, silent with --json.
import { expect, it } from 'vitest'
import { startProgress } from '../../../src/cli/progress.ts'

function world(isTTY: boolean, columns = 30) {
  let at = 1_000_000
  const written: string[] = []
  const out = { isTTY, columns, write: (text: string) => written.push(text) }
  const start = (json = false) => startProgress('payments written', { json }, { out, now: () => at })
  return { start, written, wait: (ms: number) => (at += ms) }
}

it('draws one line anew on a terminal, no more often than is seen, no wider than it, and leaves nothing', () => {
  const { start, written, wait } = world(true)
  const progress = start()
  for (let i = 1; i <= 100; i++) {
    progress.at(i, 1_000_000_000_000)
    wait(10)
  }
  progress.end()
  expect(written).toHaveLength(11)
  for (const text of written.slice(0, -1)) {
    expect(text.startsWith('\r') && text.endsWith('\u001b[K')).toBe(true)
    expect(text.slice(1, -3)).toMatch(/^payments wr[\w :]*…[\w :]*$/)
    expect(text.slice(1, -3).length).toBeLessThan(30)
  }
  expect(written.at(-1)).toBe('\r\u001b[K')
})

it('prints a line every ten seconds where there is no terminal, and none of work that is over sooner', () => {
  const { start, written, wait } = world(false)
  const progress = start()
  for (let i = 1; i <= 25; i++) {
    wait(1000)
    progress.at(i, i < 20 ? null : 25)
  }
  progress.end()
  expect(written).toEqual(['payments written: 10\n', 'payments written: 20 of 25\n'])
})

it('is silent with --json', () => {
  const { start, written, wait } = world(true)
  const progress = start(true)
  wait(60_000)
  progress.at(5, 5)
  progress.end()
  expect(written).toEqual([])
})
