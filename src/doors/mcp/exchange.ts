// One HTTP exchange: a JSON answer, or a stream of events once there is something to say before the answer.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { watchDisconnect } from '../http/disconnect.ts'
import { type Headers, openEventStream, sendEmpty, sendJsonText } from '../http/reply.ts'
import { type JsonObject, notificationText } from './wire.ts'

export interface Exchange {
  /** Aborts when the client closes the response: on Streamable HTTP that is how a call is cancelled. */
  readonly signal: () => AbortSignal
  readonly headers: Headers
  /** Sends a notification ahead of the answer; dropped when the client takes no events or does not read them. */
  notify(method: string, params: JsonObject): void
  /** Sends a message ahead of the answer. False, and nothing sent, when the client takes no events. */
  send(message: JsonObject): boolean
  /** @param others headers that are known with the answer; a stream that was begun has none */
  answer(status: number, text: string, others?: Headers): void
  /** Calls the work off and ends the response; from here on nothing is said, the answer included. */
  cancel(): void
}

/** Proxies and clients cut off what is silent for a minute, some sooner. */
const KEEP_ALIVE_MS = 15_000

/**
 * One request and its answer: JSON, or a stream of events once something has to be said before the end.
 * @param keepAliveMs after so long without a word the stream is begun, and kept alive with comments; JSON-only clients get neither
 */
export function createExchange(
  req: IncomingMessage,
  res: ServerResponse,
  headers: Headers,
  keepAliveMs = KEEP_ALIVE_MS,
): Exchange {
  const disconnect = watchDisconnect(res)
  const takesEvents = req.headers.accept?.includes('text/event-stream') ?? false
  const silence = takesEvents ? setTimeout(breakSilence, keepAliveMs).unref() : undefined

  function upgrade(): boolean {
    if (res.destroyed || res.writableEnded || !takesEvents) return false
    if (!res.headersSent) openEventStream(res, headers, keepAliveMs)
    return true
  }

  /** The head alone would wait in a buffer. */
  function breakSilence(): void {
    if (!res.headersSent && upgrade()) res.write(': keep-alive\n\n')
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
    answer(status, text, others) {
      clearTimeout(silence)
      if (!res.headersSent) {
        sendJsonText(res, status, text, others ? { ...headers, ...others } : headers)
        return
      }
      if (res.destroyed || res.writableEnded) return
      writeEvent(text)
      res.end()
    },
    cancel() {
      clearTimeout(silence)
      disconnect.cancel()
      // An answer to a request is JSON or a stream of events, and JSON there is none.
      if (upgrade()) res.end()
      else sendEmpty(res, 202, headers)
    },
  }
}
