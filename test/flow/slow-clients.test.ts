// Clients that dribble, stall or never leave hold nothing for long, and calls that take their time are not cut off.
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

let gw: TestGateway
let capability: string
const sockets: Socket[] = []
beforeAll(async () => {
  // Requests that do not dribble have this time, too, on a machine that stands still for a moment.
  gw = await startTestGateway({
    timeouts: {
      headersTimeout: 2_000,
      requestTimeout: 3_000,
      connectionsCheckingInterval: 20,
      silence: 60_000,
    },
  })
  ;({ capability } = await gw.grant())
})
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await gw.close()
})

/** @returns what the gateway said until it closed its end; this end stays open */
function say(bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port: gw.gateway.port, host: '127.0.0.1', allowHalfOpen: true })
    sockets.push(socket)
    const chunks: Buffer[] = []
    socket.on('data', (chunk) => chunks.push(chunk)).on('error', () => {})
    for (const event of ['end', 'close'])
      socket.once(event, () => resolve(Buffer.concat(chunks).toString('latin1')))
    socket.write(bytes)
  })
}

const HEAD = `POST /v1/execute HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n`

// Side by side: each waits for times of the gateway.
describe.concurrent('a gateway with slow clients', () => {
  it.each([
    ['headers that never end', HEAD],
    ['a body that never ends', `${HEAD}Content-Length: 100\r\n\r\n{"intent"`],
    ['chunks that never end', `${HEAD}Transfer-Encoding: chunked\r\n\r\n3\r\n{"i\r\n`],
  ])('%s are refused when their time is over', async (_what, bytes) => {
    const answer = await say(bytes)
    expect(answer).toMatch(/^HTTP\/1.1 400 /)
    expect(answer).toContain('"code":"request_invalid"')
  })

  it('a connection that says nothing at all is closed', async () => {
    expect(await say('')).not.toMatch(/^HTTP\/1\.1 2/)
  })

  it('a call may take longer than its request took to arrive', async () => {
    const slow = say(`${HEAD}Content-Length: 100\r\n\r\n`)
    // The upstream answers only after the dribbling client was given up.
    gw.upstream.respond((_request, res) => void slow.then(() => res.end('late')))
    const answer = await gw.fetch(capability, { url: gw.url('/slow') })
    expect(answer.body.upstream.body).toBe('late')
  })
})
