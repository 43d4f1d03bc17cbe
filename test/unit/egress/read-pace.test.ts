// How much of long answers is read between two rounds of the event loop.
import { setImmediate as nextRound } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createReadPace } from '../../../src/egress/adapters/read-pace.ts'

const KIB = 1024
const CHUNK = 16 * KIB

/** An answer whose bytes have all arrived already. */
function createReader(pace: ReturnType<typeof createReadPace>, total: number) {
  const reader = {
    size: 0,
    isStopped: false,
    stop: () => void (reader.isStopped = true),
    go() {
      reader.isStopped = false
      while (reader.size < total && !reader.isStopped) {
        reader.size += CHUNK
        pace.read(CHUNK, reader.size, reader)
      }
    },
  }
  return reader
}

describe('reading at a pace', () => {
  it('reads a bounded part of twenty long answers in a round, and all of them in the end, in turns', async () => {
    const pace = createReadPace()
    const readers = Array.from({ length: 20 }, () => createReader(pace, 1024 * KIB))
    const sum = () => readers.reduce((all, { size }) => all + size, 0)
    for (const reader of readers) reader.go()
    let before = sum()
    // Nobody knows that an answer is long before it is.
    expect(before).toBeLessThanOrEqual(20 * (64 * KIB + CHUNK) + 64 * KIB)
    let rounds = 0
    for (; sum() < 20 * 1024 * KIB && rounds < 400; rounds++) {
      await nextRound()
      expect(sum() - before).toBeLessThanOrEqual(64 * KIB + CHUNK)
      before = sum()
      const sizes = readers.map(({ size }) => size)
      if (sum() < 10 * 1024 * KIB) expect(Math.max(...sizes)).toBeLessThan(1024 * KIB)
    }
    expect(sum()).toBe(20 * 1024 * KIB)
    expect(rounds).toBeGreaterThan(240)
  })

  it('never holds up a short answer', () => {
    const pace = createReadPace()
    const long = createReader(pace, 1024 * KIB)
    long.go()
    expect(long.isStopped).toBe(true)
    const short = createReader(pace, 64 * KIB)
    short.go()
    expect(short).toMatchObject({ isStopped: false, size: 64 * KIB })
  })
})
