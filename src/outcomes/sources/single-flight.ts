// Simultaneous equal reads as one. Only reads that started almost together: the one that joins has its own deadline, and
// must not lose more than a moment of it to another's.

export interface Flights<T> {
  /** A read of the same thing whose deadline is mine, or a moment before. */
  find(key: string, deadline: number): Promise<T | undefined> | undefined
  /** @param run gives undefined for what says nothing to others */
  start(key: string, deadline: number, run: () => Promise<T | undefined>): void
}

const MOMENT_MS = 250

export function createFlights<T>(): Flights<T> {
  const flights = new Map<string, { readonly deadline: number; readonly result: Promise<T | undefined> }>()
  return {
    find(key, deadline) {
      const flight = flights.get(key)
      const lost = deadline - (flight?.deadline ?? Infinity)
      return lost >= 0 && lost <= MOMENT_MS ? flight!.result : undefined
    },
    start(key, deadline, run) {
      const result = run().catch(() => undefined)
      const flight = { deadline, result }
      flights.set(key, flight)
      void result.then(() => {
        if (flights.get(key) === flight) flights.delete(key)
      })
    },
  }
}
