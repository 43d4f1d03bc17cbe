// A refusal where there is no response to write to yet: of a CONNECT, in one piece, and the connection ends with it.
import type { Duplex } from 'node:stream'
import { STATUS_CODES } from 'node:http'
import { type GatewayError, toProblem } from '../../core/errors.ts'

/** Whoever is refused has this long to read why. */
const LINGER_MS = 1_000

export function refuseConnect(
  socket: Duplex,
  error: GatewayError,
  { requestId, baseUrl }: { readonly requestId: string; readonly baseUrl: string },
): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const linger = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(linger))
  const body = JSON.stringify(toProblem(error, { requestId, baseUrl }))
  const { retry_after_seconds: retry } = error.extras
  socket.end(
    [
      `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? 'Refused'}`,
      'content-type: application/problem+json',
      'cache-control: no-store',
      `x-request-id: ${requestId}`,
      // Basic first: it is the one that every program knows.
      ...(error.status === 407
        ? [
            'proxy-authenticate: Basic realm="agent-gateway"',
            'proxy-authenticate: Bearer realm="agent-gateway"',
          ]
        : []),
      ...(retry === undefined ? [] : [`retry-after: ${retry}`]),
      'connection: close',
      `content-length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ].join('\r\n'),
  )
}
