// One HTTP exchange: a JSON answer, or a stream of events once there is something to say before the answer.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isObject } from '../../lib/json.ts'
import { watchDeparture } from '../disconnect.ts'
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
  /** Asks the client something ahead of the answer (2025 era). Rejects when the client goes away. */
  ask(method: string, params: JsonObject): Promise<JsonObject>
  answer(status: number, text: string): void
  abort(): void
}

/** Questions to clients that are waiting for an answer, by their unguessable id. */
export interface Questions {
  open(settle: (answer: JsonObject) => void): string
  close(id: string): void
  /** @returns whether anybody was waiting for it */
  settle(id: unknown, answer: JsonObject): boolean
}

export function createQuestions(): Questions {
  const waiting = new Map<string, (answer: JsonObject) => void>()
  return {
    open(settle) {
      const id = randomUUID()
      waiting.set(id, settle)
      return id
    },
    close: (id) => void waiting.delete(id),
    settle(id, answer) {
      if (typeof id !== 'string') return false
      const settle = waiting.get(id)
      waiting.delete(id)
      settle?.(answer)
      return settle !== undefined
    },
  }
}

export function createExchange(
  req: IncomingMessage,
  res: ServerResponse,
  headers: Headers,
  questions: Questions,
): Exchange {
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
    ask(method, params) {
      return new Promise((resolve, reject) => {
        if (!upgrade()) {
          reject(new Error('the client takes no requests here'))
          return
        }
        const gone = () => {
          questions.close(id)
          reject(new Error('the client went away'))
        }
        const id = questions.open((answer) => {
          departure.signal().removeEventListener('abort', gone)
          if (isObject(answer['result'])) resolve(answer['result'])
          else reject(new Error('the client refused'))
        })
        departure.signal().addEventListener('abort', gone, { once: true })
        writeEvent(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
      })
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
