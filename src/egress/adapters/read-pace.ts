// Long answers that arrive at the same moment are read in turns: what is waiting in the buffers of twenty connections, a mebibyte each,
// would be decrypted and parsed in one turn of the event loop. Short answers are never held up.

/** Reading, decrypting and parsing as much takes a quarter of a millisecond; a call of another client takes about ten rounds. */
const BYTES_PER_ROUND = 64 * 1024
/** An answer counts as long from here on. */
const SHORT_BYTES = 64 * 1024

export interface ReadPace {
  /**
   * Counts what was read of an answer.
   * @param bytes just now
   * @param size of the answer up to now
   * @param stop called where enough was read in this round of the event loop; `go` follows in a later one
   */
  read(bytes: number, size: number, reader: { stop(): void; go(): void }): void
}

export function createReadPace(): ReadPace {
  const waiting: (() => void)[] = []
  let left = BYTES_PER_ROUND
  let isWatching = false

  function nextRound(): void {
    isWatching = false
    left = BYTES_PER_ROUND
    if (waiting.length === 0) return
    watch()
    // Whoever goes on may read at once what has arrived meanwhile, and be stopped again behind the others.
    const next = () => (left > 0 ? waiting.shift() : undefined)
    for (let go = next(); go; go = next()) go()
  }

  function watch(): void {
    if (isWatching) return
    isWatching = true
    setImmediate(nextRound)
  }

  return {
    read(bytes, size, { stop, go }) {
      if (size <= SHORT_BYTES) return
      watch()
      left -= bytes
      if (left > 0) return
      stop()
      waiting.push(go)
    },
  }
}
