// Memory that a search writes decoded texts to. It is used again for the next text, and cleared when the search is over: what is
// written there may hold the secret in the plainest form of all.

export interface Memory {
  /** At least one byte more than asked for, in whole words. What is in it is of no meaning; the next call may return the same. */
  take(length: number): Uint8Array
  clear(): void
}

/** A text that is longer gets memory of its own: few are, and a gate is kept for two seconds. */
const LARGEST_KEPT = 1 << 18

export function createMemory(): Memory {
  let held = new Uint8Array(0)
  let used = 0
  return {
    take(length) {
      if (held.length <= length) {
        held.fill(0, 0, used)
        held = new Uint8Array((length * (length < LARGEST_KEPT ? 2 : 1) + 4) & ~3)
        used = 0
      }
      used = held.length
      return held
    },
    clear() {
      held.fill(0, 0, used)
      used = 0
      if (held.length > LARGEST_KEPT * 2) held = new Uint8Array(0)
    },
  }
}
