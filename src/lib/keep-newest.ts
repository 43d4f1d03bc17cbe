// The bound of a cache that forgets what was set first.

/** A Map yields its keys in the order in which they were set, so what goes is the oldest. */
export function keepNewest<Key>(entries: Map<Key, unknown>, max: number): void {
  for (const key of entries.keys()) {
    if (entries.size <= max) return
    entries.delete(key)
  }
}
