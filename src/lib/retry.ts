// Tries a write again that must be stored and could not be, a few times while the process lives. Whoever recovers every minute does the rest.

const PAUSES_MS = [1_000, 5_000, 30_000]

/** Keeps no process alive. @throws what the last try threw */
export async function retryLater(action: () => Promise<unknown>, pausesMs = PAUSES_MS): Promise<void> {
  for (const [at, ms] of pausesMs.entries()) {
    await new Promise((resolve) => setTimeout(resolve, ms).unref())
    try {
      await action()
      return
    } catch (thrown) {
      if (at === pausesMs.length - 1) throw thrown
    }
  }
}
