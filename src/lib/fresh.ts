// How old something is that this process remembers, by a clock that may be set back: then nobody knows, and it is not fresh. A comparison alone
// would take it for fresh until the clock is where it was.

/**
 * @param since when it was made, and `now`: milliseconds of one clock
 * @param forMs how long it serves
 */
export function isFresh(since: number, now: number, forMs: number): boolean {
  const age = now - since
  return age >= 0 && age < forMs
}
