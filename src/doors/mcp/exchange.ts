// One HTTP exchange: a JSON answer, or a stream of events once there is something to say before the answer.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { watchDeparture } from '../http/disconnect.ts'
import { type Headers, type JsonObject, notificationText, sendText } from './wire.ts'

const KEEP_ALIVE_MS = 15_000
const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  // Proxies that buffer would hold progress back until there is none left to make.
  'x-accel-buffering': 'no',
}

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

export function createExchange(req: IncomingMessage, res: ServerResponse, headers: Headers): Exchange {
  const departure = watchDeparture(res)
  const takesEvents = () => req.headers.accept?.includes('text/event-stream') ?? false

  function upgrade(): boolean {
    if (res.destroyed || !takesEvents()) return false
    if (!res.headersSent) {
      res.writeHead(200, { ...STREAM_HEADERS, ...headers })
      const keepAlive = setInterval(() => res.write(': keep-alive\n\n'), KEEP_ALIVE_MS)
      keepAlive.unref()
      res.once('close', () => clearInterval(keepAlive))
    }
    return true
  }
  const writeEvent = (text: string) => res.write(`event: message\ndata: ${text}\n\n`)

  return {
    signal: departure.signal,
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
        sendText(res, status, text, headers)
        return
      }
      if (res.destroyed || res.writableEnded) return
      writeEvent(text)
      res.end()
    },
    abort: departure.callOff,
  }
}
