// Work that somebody waits for, though not for ever.

/**
 * Waits for the work, at most so long. What the work brings later, an error too, is dropped; the work itself goes on.
 * @returns undefined when the time was over first; rejects with the work
 */
export async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => resolve(undefined), timeoutMs)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
    // Nobody is left to hear of a failure that comes after the deadline.
    work.catch(() => {})
  }
}
