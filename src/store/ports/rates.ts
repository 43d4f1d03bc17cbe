// Limits that several processes count together.

/** What one process has counted of a caller in a window of its own. */
export interface RateCount {
  /** A digest: who it is, stays in the process. */
  readonly name: string
  readonly used: number
  /** Milliseconds until the window closes: clocks of processes differ, by minutes where one is set wrong. */
  readonly leftMs: number
}
