/** Counts the turns of the event loop, however short they are, until it is ended. */
export function countTurns(): { now(): number; end(): void } {
  let turns = 0
  let next = setImmediate(function turn() {
    turns++
    next = setImmediate(turn)
  })
  return { now: () => turns, end: () => clearImmediate(next) }
}
