// Places for work that holds something scarce, such as a socket: who finds none waits, on its own time.

/** At most `count` at a time, in the order of arrival; who waits longer than it may gets nothing. */
export function createPlaces(count: number) {
  const waiting = new Set<() => void>()
  let free = count
  function leave(): void {
    const [next] = waiting
    if (next) next()
    else free++
  }
  return {
    /** @returns what gives the place back */
    enter(timeoutMs: number): Promise<(() => void) | undefined> {
      if (free > 0) {
        free--
        return Promise.resolve(leave)
      }
      return new Promise((resolve) => {
        const timer = setTimeout(() => {
          waiting.delete(take)
          resolve(undefined)
        }, timeoutMs)
        const take = () => {
          clearTimeout(timer)
          waiting.delete(take)
          resolve(leave)
        }
        waiting.add(take)
      })
    },
  }
}
