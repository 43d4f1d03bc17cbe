// One deadline for everything that a request takes, and the wish of whoever asked to give it up before. It has an
// AbortSignal for those who take nothing else: most requests find an open connection and need none.

export interface Deadline {
  readonly isOver: boolean
  /** Set by the stage that is waiting, and called once. */
  onOver: (() => void) | undefined
  signal(): AbortSignal
  /** It does not pass any more. */
  clear(): void
}

/** @param wish its abort is the end as well */
export function startDeadline(timeoutMs: number, wish: AbortSignal | undefined): Deadline {
  let controller: AbortController | undefined
  const timer = setTimeout(end, timeoutMs)
  const deadline = {
    isOver: false,
    onOver: undefined as Deadline['onOver'],
    signal() {
      if (!controller) {
        controller = new AbortController()
        if (deadline.isOver) controller.abort()
      }
      return controller.signal
    },
    clear() {
      clearTimeout(timer)
      wish?.removeEventListener('abort', end)
    },
  }
  function end(): void {
    if (deadline.isOver) return
    deadline.isOver = true
    controller?.abort()
    deadline.onOver?.()
  }
  wish?.addEventListener('abort', end)
  if (wish?.aborted) end()
  return deadline
}
