// The bound of a cache that forgets what was set first.

/** Maps and sets keep the order of insertion, so what goes is the oldest. */
export function keepNewest<Key>(
  entries: { readonly size: number; keys(): Iterable<Key>; delete(key: Key): boolean },
  max: number,
): void {
  for (const key of entries.keys()) {
    if (entries.size <= max) return
    entries.delete(key)
  }
}
