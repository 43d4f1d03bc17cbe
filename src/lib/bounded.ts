// Maps and sets that may not grow without bound.

/** Removes the entry that was inserted first: both kinds keep the order of insertion. Does nothing to an empty one. */
export function deleteOldest<K>(kept: { keys(): Iterable<K>; delete(key: K): boolean }): void {
  for (const oldest of kept.keys()) {
    kept.delete(oldest)
    return
  }
}
