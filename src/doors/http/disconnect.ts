// Whether whoever asked is still there. Listening costs something, and most calls are answered before anybody wants to know.
import type { ServerResponse } from 'node:http'

export interface Departure {
  /** Aborts when the client closes the response before it was sent whole, or somebody calls the work off. */
  readonly signal: () => AbortSignal
  readonly callOff: () => void
}

export function watchDeparture(res: ServerResponse): Departure {
  let controller: AbortController | undefined
  let isCalledOff = false
  const leave = () => {
    if (!res.writableFinished) controller!.abort()
  }
  return {
    signal() {
      if (!controller) {
        controller = new AbortController()
        if (isCalledOff) controller.abort()
        else if (res.destroyed) leave()
        else res.once('close', leave)
      }
      return controller.signal
    },
    callOff() {
      isCalledOff = true
      controller?.abort()
    },
  }
}
