// A timer for what is waited for from a socket.

/**
 * Calls `end` after so many milliseconds, once the sockets were read one more time. After a pause of the process both the time may
 * be over and the answer lie in the socket; Node calls timers first, and who answered in time would have been silent.
 * @returns stops it
 */
export function startTimerAfterReading(end: () => void, ms: number): () => void {
  let afterReading: NodeJS.Immediate | undefined
  const timer = setTimeout(() => {
    afterReading = setImmediate(end)
  }, ms)
  return () => {
    clearTimeout(timer)
    clearImmediate(afterReading)
  }
}
