// How long answers are written.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { sendJsonInTurns } from '../../../src/doors/http/reply.ts'
import { PIECE_CHARS } from '../../../src/lib/json-pieces.ts'

/** @returns what a client reads, and how often the event loop came round while it was written */
async function answerWith(value: unknown) {
  let rounds = 0
  const server = createServer((_req, res) => {
    let isWriting = true
    const count = () => {
      if (!isWriting) return
      rounds++
      setImmediate(count)
    }
    setImmediate(count)
    void sendJsonInTurns(res, 200, value, { 'content-type': 'application/json' }).then(
      () => (isWriting = false),
    )
  })
  server.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  return { text: await response.text(), length: response.headers.get('content-length'), rounds }
}

it('writes a long answer in many rounds of the event loop, and says how long it is', async () => {
  const value = { upstream: { status: 200, body: '\0"é'.repeat(PIECE_CHARS * 4) } }
  const { text, length, rounds } = await answerWith(value)
  expect(text === JSON.stringify(value)).toBe(true)
  expect(Number(length)).toBe(Buffer.byteLength(text))
  expect(rounds).toBeGreaterThanOrEqual(5)
})

it('writes a short answer at once', async () => {
  const { text, rounds } = await answerWith({ a: 'é'.repeat(1000) })
  expect(text).toBe(JSON.stringify({ a: 'é'.repeat(1000) }))
  expect(rounds).toBeLessThanOrEqual(1)
})
