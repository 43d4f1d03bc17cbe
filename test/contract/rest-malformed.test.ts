// Requests that no HTTP parser accepts still get a problem document, and the gateway goes on.
import { connect } from 'node:net'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { refuseMalformed } from '../../src/doors/http/malformed.ts'

const server = createServer({ maxHeaderSize: 16 * 1024 }, (_req, res) => res.end('fine'))
let port: number
beforeAll(async () => {
  server.on('clientError', refuseMalformed('http://gateway.example'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(() => new Promise((resolve) => server.close(resolve)))

/** @returns everything the server says until it closes */
function send(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes, 'latin1'))
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('close', () => resolve(Buffer.concat(chunks).toString()))
    socket.on('error', reject)
  })
}

const rest = 'host: a\r\nconnection: close\r\n\r\n'

it('holds no connection for a refused sender that never closes its end', async () => {
  const closed = new Promise((resolve) =>
    server.once('connection', (socket) => socket.once('close', resolve)),
  )
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('error', () => {})
  socket.write(`GET / HTTP/1.1\r\na b: c\r\n${rest}`)
  socket.resume()
  await closed
  socket.destroy()
})

describe('a malformed request', () => {
  it.each([
    ['a header of 20 KiB', `GET / HTTP/1.1\r\nx: ${'a'.repeat(20_000)}\r\n${rest}`, 431, 'headers_too_large'],
    [
      'a request target of 20 KiB',
      `GET /?${'a'.repeat(20_000)} HTTP/1.1\r\n${rest}`,
      431,
      'headers_too_large',
    ],
    ['no HTTP at all', '\u0016\u0003\u0001\r\n\r\n', 400, 'request_invalid'],
    [
      'two lengths',
      `POST / HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n${rest}`,
      400,
      'request_invalid',
    ],
    [
      'length and chunks',
      `POST / HTTP/1.1\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n${rest}`,
      400,
      'request_invalid',
    ],
    ['a broken header', `GET / HTTP/1.1\r\na b: c\r\n${rest}`, 400, 'request_invalid'],
  ])('with %s is refused with %i', async (_what, bytes, status, code) => {
    const answer = await send(bytes)
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(answer).toContain('content-type: application/problem+json\r\n')
    const problem = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))) as Record<string, unknown>
    expect(problem).toMatchObject({ status, code, type: `http://gateway.example/problems/${code}` })
  })

  it('of just under 16 KiB is served', async () => {
    expect(await send(`GET /?${'a'.repeat(16_000)} HTTP/1.1\r\n${rest}`)).toMatch(/^HTTP\/1.1 200 /)
  })
})
