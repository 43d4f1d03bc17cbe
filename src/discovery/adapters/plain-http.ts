// GET over plain http to an address that was vetted: for catalogues that the operator configured with http://.
import { request as httpRequest } from 'node:http'
import { isIP } from 'node:net'
import type { OutboundRequest, Sender, SendResult } from '../../egress/ports.ts'

const MAX_HEADER_BYTES = 16 * 1024

/** A sender of single GETs over plain http; every exchange has a connection of its own. */
export function createPlainSender(): Sender {
  return {
    send: (request) => new Promise((resolve) => exchange(request, resolve)),
    // Every exchange has a connection of its own, which ends with it.
    close: async () => {},
  }
}

function exchange(request: OutboundRequest, resolve: (result: SendResult) => void): void {
  const { url, addresses, maxResponseBytes } = request
  const deadline = AbortSignal.timeout(request.timeoutMs)
  const signal = request.signal ? AbortSignal.any([deadline, request.signal]) : deadline
  const [address] = addresses
  if (address === undefined) return resolve({ ok: false, phase: 'before_send', reason: 'connect_failed' })
  let isConnected = false
  const fail = () => {
    if (signal.aborted) return resolve({ ok: false, phase: 'after_send', reason: 'timeout' })
    if (!isConnected) return resolve({ ok: false, phase: 'before_send', reason: 'connect_failed' })
    return resolve({ ok: false, phase: 'after_send', reason: 'reset' })
  }
  const req = httpRequest({
    // The vetted address is dialled, whatever the name says by now.
    host: address,
    family: isIP(address),
    port: url.port === '' ? 80 : Number(url.port),
    path: url.pathname + url.search,
    method: request.method,
    headers: { ...request.headers.use((headers) => Object.fromEntries(headers)), host: url.host },
    agent: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    signal,
  })
  req.on('socket', (socket) => socket.once('connect', () => (isConnected = true)))
  req.on('error', fail)
  req.on('response', (res) => {
    const status = res.statusCode ?? 0
    const refuse = (reason: 'too_large' | 'encoded' | 'bad_status') => {
      resolve({ ok: false, phase: 'response', status, reason })
      req.destroy()
    }
    if (status < 200 || status > 599 || status === 206) return refuse('bad_status')
    if ((res.headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') return refuse('encoded')
    const chunks: Buffer[] = []
    let size = 0
    res.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > maxResponseBytes) return refuse('too_large')
      chunks.push(chunk)
    })
    res.on('error', fail)
    res.on('end', () => {
      if (!res.complete) return fail()
      // Names and values take turns.
      const headers = res.rawHeaders.flatMap((name, i, raw) =>
        i % 2 === 0 ? [{ name: name.toLowerCase(), value: raw[i + 1] ?? '' }] : [],
      )
      resolve({
        ok: true,
        response: { status, statusText: res.statusMessage ?? '', headers, body: Buffer.concat(chunks, size) },
      })
    })
    res.on('close', fail)
  })
  req.end()
}
