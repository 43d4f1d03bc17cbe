// Where a message ends has to be the same for everybody on its way; what cannot be is refused, and nothing is sent.
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type EdgeGateway, startEdgeGateway } from '../support/edge.ts'

let edge: EdgeGateway
beforeAll(async () => {
  edge = await startEdgeGateway()
})
afterAll(() => edge.close())

/** Everything that is answered until the gateway closes the connection. */
function say(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(edge.gateway.port, '127.0.0.1', () => socket.write(text, 'latin1'))
    let answer = ''
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')))
    socket.on('error', reject)
    socket.on('close', () => resolve(answer))
  })
}

const CHUNKED = '2\r\nhi\r\n0\r\n\r\n'
it.each<[string, string, readonly string[], string]>([
  ['a length beside chunks', '1.1', ['Content-Length: 2', 'Transfer-Encoding: chunked'], CHUNKED],
  ['two lengths', '1.1', ['Content-Length: 2', 'Content-Length: 3'], 'hi'],
  ['the same length twice', '1.1', ['Content-Length: 2', 'Content-Length: 2'], 'hi'],
  ['chunks in HTTP/1.0', '1.0', ['Transfer-Encoding: chunked'], CHUNKED],
  ['another coding below the chunks', '1.1', ['Transfer-Encoding: gzip, chunked'], CHUNKED],
  ['chunks twice', '1.1', ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], CHUNKED],
  ['a header over two lines', '1.1', ['X-A: b\r\n c', 'Content-Length: 2'], 'hi'],
  ['a line that ends in CR alone', '1.1', ['X-A: b\rX-C: d', 'Content-Length: 2'], 'hi'],
])('%s', async (_, version, headers, body) => {
  const before = [edge.upstream.requests.length, await edge.balance()]
  const answer = await say(
    `POST ${edge.merchant}/v1 HTTP/${version}\r\nHost: localhost\r\n${headers.join('\r\n')}\r\n\r\n${body}`,
  )
  expect(answer).toMatch(/^HTTP\/1\.1 400 /)
  expect(answer).toContain('"request_invalid"')
  expect(answer.split('HTTP/1.1 ')).toHaveLength(2)
  expect([edge.upstream.requests.length, await edge.balance()]).toEqual(before)
})

it('chunks in HTTP/1.1 arrive as they were put together', async () => {
  const answer = await say(
    `POST ${edge.merchant}/v1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: Chunked\r\n\r\n${CHUNKED}`,
  )
  expect(answer).toMatch(/^HTTP\/1\.1 200 /)
  expect(edge.upstream.requests.at(-1)?.body.toString()).toBe('hi')
})
