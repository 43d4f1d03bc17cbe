// This tells whether the client still waits for its answer. Most calls are answered before anybody asks, so nothing listens until then.
import type { ServerResponse } from 'node:http'

export interface Disconnect {
  /** Aborts when the client closes the response before it was sent whole, or when `cancel` is called. */
  readonly signal: () => AbortSignal
  /** Calls the work off while the client is still there. */
  readonly cancel: () => void
}

/** Tells when the client goes away before its answer was written. */
export function watchDisconnect(res: ServerResponse): Disconnect {
  let controller: AbortController | undefined
  let isCancelled = false
  return {
    signal() {
      if (controller) return controller.signal
      const watching = new AbortController()
      controller = watching
      const onClose = () => {
        if (!res.writableFinished) watching.abort()
      }
      if (isCancelled) watching.abort()
      else if (res.destroyed) onClose()
      else res.once('close', onClose)
      return watching.signal
    },
    cancel() {
      isCancelled = true
      controller?.abort()
    },
  }
}
