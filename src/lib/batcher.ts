// What costs as much for one as for twenty (a commit, a message, a request) waits for company: while every turn of the event
// loop brings more, what came waits for the rest, though not for long. Who is alone waits one turn.

export interface Gathering {
  /** Something has come. `go` is called once for all that came until then. */
  add(): void
}

export function createGathering(parts: {
  /** How many have come since `go` was called last. */
  count: () => number
  /** No longer than this after the first. */
  maxMs: number
  /** Milliseconds of a clock that never goes back. */
  now: () => number
  go: () => void
}): Gathering {
  const { count, maxMs, now, go } = parts
  let isGathering = false
  let until = 0
  let seen = 0

  function look(): void {
    const come = count()
    if (come > seen && now() < until) {
      seen = come
      setImmediate(look)
      return
    }
    isGathering = false
    go()
  }

  return {
    add() {
      if (isGathering) return
      isGathering = true
      until = now() + maxMs
      seen = 0
      setImmediate(look)
    },
  }
}
