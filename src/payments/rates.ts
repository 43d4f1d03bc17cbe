// Limits how often one address may pay or be paid: each verification costs a chain a question, and a settlement costs gas.
export interface Rate {
  /** Whether one more is allowed; nothing is counted. */
  allows(key: string): boolean
  count(key: string): void
}

const WINDOW_MS = 60_000
/** Addresses are free to make: what is remembered of them is bounded. */
const MAX_KEYS = 100_000

/** @param perMinute 0: no limit */
export function createRate(perMinute: number, now: () => number): Rate {
  let counts = new Map<string, number>()
  let startedAt = now()
  const current = () => {
    const at = now()
    if (at - startedAt >= WINDOW_MS || at < startedAt) {
      counts = new Map()
      startedAt = at
    }
    return counts
  }
  return {
    allows: (key) => perMinute === 0 || (current().get(key) ?? 0) < perMinute,
    count(key) {
      if (perMinute === 0) return
      const counted = current()
      const before = counted.get(key)
      if (before === undefined && counted.size >= MAX_KEYS) return
      counted.set(key, (before ?? 0) + 1)
    },
  }
}
