// A commit, a message or a request costs as much for one item as for twenty, so items wait for company: as long as every turn
// of the event loop brings more, the batch waits for the rest, though not for long. An item that is alone waits one turn.

export interface Batcher {
  /** Says that an item has come. `flush` is called once for all that came until then. */
  add(): void
}

/** Waits for company while more keeps coming, up to `maxMs`, and then flushes once for all. */
export function createBatcher(parts: {
  /** @returns how many items have come since `flush` was called last */
  count: () => number
  /** The longest that the first item of a batch waits. */
  maxMs: number
  /** @returns milliseconds of a clock that never goes back */
  now: () => number
  flush: () => void
}): Batcher {
  const { count, maxMs, now, flush } = parts
  let isWaiting = false
  let until = 0
  let seen = 0

  function probe(): void {
    const come = count()
    if (come > seen && now() < until) {
      seen = come
      setImmediate(probe)
      return
    }
    isWaiting = false
    flush()
  }

  return {
    add() {
      if (isWaiting) return
      isWaiting = true
      until = now() + maxMs
      seen = 0
      setImmediate(probe)
    },
  }
}
