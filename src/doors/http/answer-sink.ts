// The way of an answer that is written while it arrives, over the response of Node.
import type { ServerResponse } from 'node:http'
import type { AnswerSink } from '../../core/message.ts'
import { endRelayed, writeChunk } from './reply.ts'

/** The last words of an answer that is broken off have so long to go out. */
const LAST_WORDS_MS = 1_000

/**
 * Headers of an answer as they go on, lower-case names, repeated ones apart.
 * @param asked URL at the upstream that answers, where the program knows the base URL alone
 */
export type PassHeaders = (
  headers: readonly (readonly [name: string, value: string])[],
  asked?: string,
) => readonly (readonly [name: string, value: string])[]

/**
 * @param added lower-case headers that stand over those of the answer
 * @param pass what becomes of the others
 */
export function createAnswerSink(
  res: ServerResponse,
  added: Readonly<Record<string, string>> = {},
  pass: PassHeaders = (headers) => headers,
): AnswerSink {
  return {
    get isGone() {
      return res.destroyed
    },
    begin(status, headers, asked) {
      if (res.headersSent || res.destroyed) return
      const raw: string[] = []
      for (const [name, value] of pass(headers, asked)) if (!Object.hasOwn(added, name)) raw.push(name, value)
      for (const [name, value] of Object.entries(added)) raw.push(name, value)
      res.writeHead(status, raw)
      // Together with the first bytes, where they are here already.
      process.nextTick(() => res.flushHeaders())
    },
    write: (bytes) => (bytes.length === 0 ? undefined : writeChunk(res, bytes)),
    end(trailers) {
      if (res.destroyed) return
      if (trailers) res.addTrailers(trailers)
      endRelayed(res)
    },
    abort(last) {
      if (last === undefined || res.destroyed) return void res.destroy()
      // Whoever does not read is not waited for.
      const timer = setTimeout(() => res.destroy(), LAST_WORDS_MS)
      res.write(last, () => {
        clearTimeout(timer)
        res.destroy()
      })
    },
  }
}
