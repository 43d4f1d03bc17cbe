// Long answers are read, searched, digested and written in turns: whatever the order of those, each caller gets its own, whole.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

let gw: TestGateway
beforeAll(async () => void (gw = await startTestGateway()))
afterAll(() => gw.close())

const textOf = (number: number) =>
  `{"n":${number},"é😀":"\\n\\"${'abcdefgh'.repeat(1 + number * 30)}"},`.repeat(40)

it.each(['with a length', 'in chunks', 'until the connection ends'])(
  'twelve long answers at once arrive as they were sent, %s',
  async (framing) => {
    const { capability } = await gw.grant({ secret: 'Zk9Wm2Rt5Yp8VxB3nL-upstream' })
    gw.upstream.respond((request, res) => {
      const body = Buffer.from(textOf(Number(new URL(request.target, 'https://a').searchParams.get('n'))))
      if (framing === 'with a length') res.setHeader('content-length', body.length)
      if (framing === 'until the connection ends') {
        res.useChunkedEncodingByDefault = false
        res.setHeader('connection', 'close')
      }
      res.writeHead(200, { 'content-type': 'application/json' })
      for (let at = 0; at < body.length; at += 30_000) res.write(body.subarray(at, at + 30_000))
      res.end()
    })
    const numbers = Array.from({ length: 12 }, (_, number) => number * 7)
    const answers = await Promise.all(
      numbers.map((number) => gw.fetch(capability, { url: gw.url(`/v1/things?n=${number}`), method: 'GET' })),
    )
    for (const [i, { status, body }] of answers.entries()) {
      const text = textOf(numbers[i] ?? 0)
      expect(status).toBe(200)
      expect(body.upstream.body === text).toBe(true)
    }
    const [last] = answers.slice(-1)
    const { body: receipt } = await gw.rest('GET', `/v1/egress/attempts/${last?.body.attempt_id}`)
    expect(receipt).toMatchObject({ state: 'settled', outcome: 'delivered' })
  },
)
