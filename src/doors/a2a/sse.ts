// Server-sent events: one `data:` line per event, no faster than the client reads.
import type { ServerResponse } from 'node:http'
import { type Headers, openEventStream, writeChunk } from '../http/reply.ts'

/**
 * The first event decides: if there is none but an error, the caller may still answer with a plain response.
 * @throws what `events` throws before its first event
 */
export async function sendEvents<T>(
  res: ServerResponse,
  events: AsyncGenerator<T, void, undefined>,
  headers: Headers,
  encodeFailure: (thrown: unknown) => unknown,
): Promise<void> {
  const first = await events.next()
  openEventStream(res, headers)
  const write = (event: unknown) => writeChunk(res, `data: ${JSON.stringify(event)}\n\n`)
  try {
    if (!first.done) await write(first.value)
    for await (const event of events) await write(event)
  } catch (thrown) {
    await write(encodeFailure(thrown))
  } finally {
    res.end()
  }
}
