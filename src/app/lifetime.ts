// Closes everything that the gateway opened, the last first, also where the start itself fails half-way.

export interface Lifetime {
  /** Runs when the gateway ends. What was registered later ends earlier. */
  onClose(close: () => void | Promise<void>): void
  /** Closes everything, once; every closer runs, and the first failure is thrown when all have. */
  close(): Promise<void>
}

/** Closes what was opened, last first. Every closer runs, whatever the others throw. */
export function createLifetime(): Lifetime {
  const closers: (() => void | Promise<void>)[] = []
  let closing: Promise<void> | undefined

  async function closeAll(): Promise<void> {
    const failures: unknown[] = []
    for (let close = closers.pop(); close; close = closers.pop())
      try {
        await close()
      } catch (thrown) {
        failures.push(thrown)
      }
    if (failures.length > 0) throw failures[0]
  }

  return {
    onClose(close) {
      closers.push(close)
    },
    close: () => (closing ??= closeAll()),
  }
}
