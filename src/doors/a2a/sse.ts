// Server-sent events: one `data:` line per event, no faster than the client reads.
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'

const KEEP_ALIVE_MS = 15_000

/**
 * The first event decides: if there is none but an error, the caller may still answer with a plain response.
 * @throws what `events` throws before its first event
 */
export async function sendEvents<T>(
  res: ServerResponse,
  events: AsyncGenerator<T, void, undefined>,
  headers: Readonly<Record<string, string>>,
  encode: (event: T) => unknown,
  encodeFailure: (thrown: unknown) => unknown,
): Promise<void> {
  const first = await events.next()
  res.writeHead(200, {
    ...headers,
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  })
  // Comments keep proxies from cutting a quiet stream off.
  const keepAlive = setInterval(() => res.write(': \n\n'), KEEP_ALIVE_MS)
  keepAlive.unref()
  try {
    if (!first.done) await write(res, encode(first.value))
    for await (const event of events) await write(res, encode(event))
  } catch (thrown) {
    await write(res, encodeFailure(thrown))
  } finally {
    clearInterval(keepAlive)
    res.end()
  }
}

async function write(res: ServerResponse, event: unknown): Promise<void> {
  if (res.destroyed) return
  if (res.write(`data: ${JSON.stringify(event)}\n\n`)) return
  const closed = new AbortController()
  res.once('close', () => closed.abort())
  try {
    await once(res, 'drain', { signal: closed.signal })
  } catch {
    // The client is gone; the generator ends by the same event.
  }
}
