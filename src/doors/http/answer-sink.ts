// The way of an answer that is written while it arrives, over the response of Node.
import type { ServerResponse } from 'node:http'
import type { AnswerSink } from '../../core/message.ts'
import { writeChunk } from './reply.ts'

/** @param added lower-case headers that stand over those of the answer */
export function createAnswerSink(
  res: ServerResponse,
  added: Readonly<Record<string, string>> = {},
): AnswerSink {
  return {
    get isGone() {
      return res.destroyed
    },
    begin(status, headers) {
      if (res.headersSent || res.destroyed) return
      const raw: string[] = []
      for (const [name, value] of headers) if (!Object.hasOwn(added, name)) raw.push(name, value)
      for (const [name, value] of Object.entries(added)) raw.push(name, value)
      res.writeHead(status, raw)
      res.flushHeaders()
    },
    write: (bytes) => (bytes.length === 0 ? undefined : writeChunk(res, bytes)),
    end(trailers) {
      if (res.destroyed) return
      if (trailers) res.addTrailers(trailers)
      res.end()
    },
    abort: () => void res.destroy(),
  }
}
