// A process stands still for a while (a busy machine, a laptop that slept): the time of a question is over, and its answer lies
// in the socket. The server is in a thread of its own, which goes on meanwhile.
import { once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createResolver } from '../../../src/egress/adapters/dns.ts'
import { createMailDns } from '../../../src/email/adapters/dns.ts'

const TIMEOUT_MS = 2_000
// What the two threads tell each other.
const [ASKED, ANSWERED] = [0, 1]

/** Answers each question with 192.0.2.1 or with nothing, once it may. */
const SERVER = `
  const { parentPort, workerData: told } = require('node:worker_threads')
  const socket = require('node:dgram').createSocket('udp4')
  socket.on('message', (query, from) => {
    const asked = Atomics.add(told, ${ASKED}, 1) + 1
    const question = query.subarray(0, query.indexOf(0, 12) + 5)
    const isA = question.readUInt16BE(question.length - 4) === 1
    const answer = isA ? Buffer.from('c00c000100010000003c0004c0000201', 'hex') : Buffer.alloc(0)
    const reply = Buffer.concat([question, answer])
    reply.writeUInt16BE(0x8580, 2)
    reply.writeUInt16BE(isA ? 1 : 0, 6)
    reply.fill(0, 8, 12)
    Atomics.wait(told, ${ANSWERED}, 0)
    socket.send(reply, from.port, from.address, () => {
      Atomics.add(told, ${ANSWERED}, 1)
      Atomics.notify(told, ${ANSWERED})
    })
  })
  socket.bind(0, '127.0.0.1', () => parentPort.postMessage(socket.address().port))
`

const told = new Int32Array(new SharedArrayBuffer(8))
let server: Worker
let address: string
beforeAll(async () => {
  server = new Worker(SERVER, { eval: true, workerData: told })
  const [port] = (await once(server, 'message')) as [number]
  address = `127.0.0.1:${port}`
})
afterAll(async () => {
  await server.terminate()
})

/** Lets the server answer while this thread stands still, until the time of the questions is over. */
async function standStill(questions: number): Promise<void> {
  // The others were sent with the first one, which the server holds.
  while (Atomics.load(told, ASKED) === 0) await turn()
  // By now the time of each runs.
  const started = performance.now()
  Atomics.store(told, ANSWERED, 1)
  Atomics.notify(told, ANSWERED)
  for (let answered = 1; answered <= questions; answered = Atomics.load(told, ANSWERED))
    Atomics.wait(told, ANSWERED, answered)
  Atomics.wait(
    new Int32Array(new SharedArrayBuffer(4)),
    0,
    0,
    TIMEOUT_MS - (performance.now() - started) + 100,
  )
}

describe('an answer that came in time is read after a pause', () => {
  it.each([
    ['of mail', 1, () => createMailDns([address], TIMEOUT_MS).addresses('good.com', 4, 4 * TIMEOUT_MS)],
    [
      'of egress',
      2,
      () => createResolver([address], Date.now, 4 * TIMEOUT_MS).resolve('good.com', TIMEOUT_MS),
    ],
  ])('by the resolver %s', async (_whose, questions, ask) => {
    told.fill(0)
    const answer = ask()
    await standStill(questions)
    expect(JSON.stringify(await answer)).toContain('192.0.2.1')
    expect(Atomics.load(told, ASKED)).toBe(questions)
  })
})
