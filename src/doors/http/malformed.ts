// Bytes that Node's HTTP parser refuses never become a request. Their sender gets a problem document all the same.
import type { Socket } from 'node:net'
import { GatewayError, toProblem } from '../../core/errors.ts'
import { newId } from '../../lib/ids.ts'

/** A refused sender has this long to read why. It may go on sending, or never close its end, and must not hold the gateway. */
const LINGER_MS = 1_000

/** Handler of the server's `clientError`: answers when the socket still takes an answer, then closes it. */
export function refuseMalformed(baseUrl: string): (error: NodeJS.ErrnoException, socket: Socket) => void {
  return (error, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    const linger = setTimeout(() => socket.destroy(), LINGER_MS)
    socket.once('close', () => clearTimeout(linger))
    const refusal = refusalOf(error.code)
    const requestId = newId('req')
    const body = JSON.stringify(toProblem(refusal, { requestId, baseUrl }))
    socket.end(
      `HTTP/1.1 ${refusal.status} Refused\r\n` +
        'content-type: application/problem+json\r\n' +
        'cache-control: no-store\r\n' +
        `x-request-id: ${requestId}\r\n` +
        'connection: close\r\n' +
        `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    )
  }
}

function refusalOf(code: string | undefined): GatewayError {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new GatewayError(
      'headers_too_large',
      'Send at most 16 KiB of request line and headers together; long input belongs into a POST body.',
    )
  return new GatewayError(
    'request_invalid',
    'The request could not be read as HTTP/1.1, or it took too long to arrive.',
  )
}
