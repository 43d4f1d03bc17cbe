/** Resolves after `ms`, or when the signal aborts. Keeps no process alive. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    timer.unref()
    if (signal?.aborted) end()
    else signal?.addEventListener('abort', end)
  })
}
