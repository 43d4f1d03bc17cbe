// Keeps what was learned of a name for as long as it holds, under a digest with a salt of this process: who reads the
// memory, or a dump of it, finds no list of the names that were asked about.
import { hash, randomBytes } from 'node:crypto'
import { keepNewest } from '../lib/keep-newest.ts'

export interface Remembered<T> {
  readonly value: T
  /** Whole seconds that it still holds; never 0. */
  readonly secondsLeft: number
}

export interface Memory<T> {
  recall(name: string): Remembered<T> | undefined
  /** @param seconds of life; 0 keeps nothing */
  keep(name: string, value: T, seconds: number): void
  readonly size: number
}

/** @param options.maxEntries beyond which the oldest entry goes */
export function createMemory<T>(options: { maxEntries: number; now: () => number }): Memory<T> {
  const { maxEntries, now } = options
  const salt = randomBytes(16).toString('base64')
  const entries = new Map<string, { value: T; until: number }>()
  const keyOf = (name: string) => hash('sha256', salt + name, 'base64')
  return {
    get size() {
      return entries.size
    },
    recall(name) {
      const key = keyOf(name)
      const entry = entries.get(key)
      if (!entry) return undefined
      const leftMs = entry.until - now()
      if (leftMs > 0) return { value: entry.value, secondsLeft: Math.ceil(leftMs / 1000) }
      entries.delete(key)
      return undefined
    },
    keep(name, value, seconds) {
      if (seconds <= 0) return
      const key = keyOf(name)
      entries.delete(key)
      entries.set(key, { value, until: now() + seconds * 1000 })
      // The oldest entry goes: a name that is asked for often comes back with one question.
      keepNewest(entries, maxEntries)
    },
  }
}
