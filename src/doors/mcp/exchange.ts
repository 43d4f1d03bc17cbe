// One HTTP exchange: a JSON answer, or a stream of events once there is something to say before the answer.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { watchDisconnect } from '../http/disconnect.ts'
import { type Headers, openEventStream, sendJsonText } from '../http/reply.ts'
import { type JsonObject, notificationText } from './wire.ts'

export interface Exchange {
  /** Aborts when the client closes the response: on Streamable HTTP that is how a call is cancelled. */
  readonly signal: () => AbortSignal
  readonly headers: Headers
  /** Sends a notification ahead of the answer; dropped when the client takes no events or does not read them. */
  notify(method: string, params: JsonObject): void
  /** Sends a message ahead of the answer. False, and nothing sent, when the client takes no events. */
  send(message: JsonObject): boolean
  answer(status: number, text: string): void
  abort(): void
}

/** One request and its answer: JSON, or a stream of events once something has to be said before the end. */
export function createExchange(req: IncomingMessage, res: ServerResponse, headers: Headers): Exchange {
  const disconnect = watchDisconnect(res)
  const takesEvents = () => req.headers.accept?.includes('text/event-stream') ?? false

  function upgrade(): boolean {
    if (res.destroyed || !takesEvents()) return false
    if (!res.headersSent) openEventStream(res, headers)
    return true
  }
  const writeEvent = (text: string) => res.write(`event: message\ndata: ${text}\n\n`)

  return {
    signal: disconnect.signal,
    headers,
    notify(method, params) {
      // A client that does not read gets no more of it: progress is not worth memory.
      if (res.writableNeedDrain || !upgrade()) return
      writeEvent(notificationText(method, params))
    },
    send(message) {
      if (!upgrade()) return false
      writeEvent(JSON.stringify(message))
      return true
    },
    answer(status, text) {
      if (!res.headersSent) {
        sendJsonText(res, status, text, headers)
        return
      }
      if (res.destroyed || res.writableEnded) return
      writeEvent(text)
      res.end()
    },
    abort: disconnect.cancel,
  }
}
