// Interim answers are read past at any cut of the stream, within bounds; nothing else is touched.
import { PassThrough } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { expectAnswer, skipInterimAnswers } from '../../../src/egress/adapters/interim.ts'

const FINAL = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'
const HINTS = 'HTTP/1.1 103 Early Hints\r\nlink: </x>; rel=preload\r\nx-y:\r\n\r\n'

/** Everything that a reader gets of the pieces, and the error that ended it. */
async function receive(pieces: readonly Buffer[], expects = true) {
  const stream = new PassThrough()
  let error: Error | undefined
  stream.on('error', (thrown) => (error = thrown))
  // As much of a TLS socket as the filter uses.
  const socket = stream as unknown as TLSSocket
  skipInterimAnswers(socket)
  if (expects) expectAnswer(socket)
  const got: Buffer[] = []
  socket.on('readable', () => {
    for (let chunk = socket.read() as Buffer | null; chunk; chunk = socket.read() as Buffer | null)
      got.push(chunk)
  })
  for (const piece of pieces) {
    stream.write(piece)
    await new Promise(setImmediate)
  }
  return { text: Buffer.concat(got).toString('latin1'), error: error?.message }
}
const whole = (text: string) => receive([Buffer.from(text, 'latin1')])

it.each<[string, string]>([
  ['one', CONTINUE],
  ['several kinds', CONTINUE + HINTS + 'HTTP/1.1 102 Processing\r\n\r\n'],
  ['one without words', 'HTTP/1.1 100\r\n\r\n'],
  ['fifty', CONTINUE.repeat(50)],
])('reads past %s', async (_, interim) => {
  expect(await whole(interim + FINAL)).toEqual({ text: FINAL, error: undefined })
})

it('does so wherever the stream is cut', async () => {
  const bytes = Buffer.from(CONTINUE + HINTS + FINAL)
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(fc.nat(bytes.length), { maxLength: 12 }), async (cuts) => {
      const at = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
      const pieces = at.slice(1).map((end, i) => bytes.subarray(at[i], end))
      expect(await receive(pieces.filter(({ length }) => length > 0))).toEqual({
        text: FINAL,
        error: undefined,
      })
    }),
    { numRuns: 60 },
  )
  expect((await receive(Array.from(bytes, (byte) => Buffer.from([byte])))).text).toBe(FINAL)
})

it.each<[string, string]>([
  ['a final answer', FINAL],
  ['a switch of protocols', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n'],
  ['an answer of HTTP/1.0', 'HTTP/1.0 100 Continue\r\n\r\n'],
  ['garbage', 'SSH-2.0-OpenSSH'],
  ['interim answers within a body', `HTTP/1.1 200 OK\r\ncontent-length: 25\r\n\r\n${CONTINUE}`],
])('leaves %s alone', async (_, text) => {
  expect(await whole(text)).toEqual({ text, error: undefined })
})

it('leaves alone what comes without a request', async () => {
  expect((await receive([Buffer.from(CONTINUE)], false)).text).toBe(CONTINUE)
})

it.each<[string, string]>([
  ['more than a hundred', CONTINUE.repeat(101) + FINAL],
  ['more than 64 KiB of them', `HTTP/1.1 103 Early Hints\r\nx: ${'a'.repeat(70_000)}\r\n\r\n${FINAL}`],
  ['a head without an end', `HTTP/1.1 103 Early Hints\r\nx: ${'a'.repeat(70_000)}`],
  ['one that announces a body', `HTTP/1.1 100 Continue\r\nContent-Length: ${FINAL.length}\r\n\r\n${FINAL}`],
  ['one in chunks', `HTTP/1.1 103 x\r\ntransfer-encoding: chunked\r\n\r\n${FINAL}`],
  ['lines that end with a bare LF', `HTTP/1.1 100 Continue\n\n${FINAL}`],
  ['a folded line', `HTTP/1.1 103 x\r\na: b\r\n c\r\n\r\n${FINAL}`],
  ['a zero byte', `HTTP/1.1 103 x\r\na: \0\r\n\r\n${FINAL}`],
])('ends the connection over %s', async (_, text) => {
  expect(await whole(text)).toEqual({ text: '', error: 'bad response: interim answers' })
})
