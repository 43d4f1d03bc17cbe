// A file as the answer to a form, written no faster than it is taken; what goes wrong in the middle ends the download instead of cutting it
// short unseen.
import { once } from 'node:events'
import type { SignedInRequest } from '../ports.ts'

interface Download {
  readonly request: SignedInRequest
  /** Of the file, of letters that need no quoting. */
  readonly name: string
  readonly type: string
  /** In bytes, where it is known: the browser then shows how far it is. */
  readonly length?: number
}

/** Sends the file. @returns the result of an action, though nobody goes anywhere */
export async function sendDownload(
  { request, name, type, length }: Download,
  chunks: AsyncIterable<string | Uint8Array>,
): Promise<{ goTo: string }> {
  const { res } = request.exchange
  const iterator = chunks[Symbol.asyncIterator]()
  // What cannot be read at all is a refusal that the page shows.
  let chunk = await iterator.next()
  res.writeHead(200, {
    'content-type': type,
    'content-disposition': `attachment; filename="${name}"`,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'x-request-id': request.visitor.requestId,
    ...(length !== undefined && { 'content-length': length }),
  })
  try {
    while (!chunk.done && !res.destroyed) {
      if (!res.write(chunk.value)) await drained(res)
      chunk = await iterator.next()
    }
    res.end()
  } catch (thrown) {
    request.console.log.error({ err: thrown, request_id: request.visitor.requestId }, 'a file was cut')
    res.destroy()
  } finally {
    await iterator.return?.(undefined)
  }
  return { goTo: '' }
}

/** Until the client has taken what was written, or is gone. */
export async function drained(res: SignedInRequest['exchange']['res']): Promise<void> {
  const gone = new AbortController()
  await Promise.race([once(res, 'drain', gone), once(res, 'close', gone)]).finally(() => gone.abort())
}
