// How the body of a program's request is read before anything is sent.
import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { readBody } from '../../../../src/egress/relay/request-body.ts'

interface Rules {
  readonly isWhole?: boolean
  readonly readMs?: number
  readonly hold?: (bytes: number) => void
}
const read = (body: PassThrough, more: Rules = {}, bodyBytes?: number) =>
  readBody(
    { body: body as never, bodyBytes },
    { maxBytes: 1024 * 1024, isWhole: false, hold: () => {}, ...more },
  )

it.each([
  ['that never goes on', 0],
  ['that drips', 5],
])('gives up on a body %s', async (_how, everyMs) => {
  const body = new PassThrough()
  body.write('x')
  const drip = everyMs === 0 ? undefined : setInterval(() => body.write('x'), everyMs)
  await expect(read(body, { readMs: 50 })).rejects.toMatchObject({
    code: 'request_invalid',
    reason: 'body_slow',
  })
  clearInterval(drip)
  // Whoever reads on, so that the connection can end, is not in anybody's way.
  body.destroy(new Error('gone'))
})

it('waits for the first bytes alone where a long body is sent while it comes', async () => {
  const body = new PassThrough({ highWaterMark: 1024 * 1024 })
  body.write(Buffer.alloc(300 * 1024, 'a'))
  const { whole, streamed } = await read(body, { readMs: 10_000 })
  expect(whole).toBeUndefined()
  body.end('the end')
  let size = 0
  for await (const piece of streamed!) size += (piece as Buffer).length
  expect(size).toBe(300 * 1024 + 'the end'.length)
})

it('reads a short one whole', async () => {
  const body = new PassThrough()
  body.end('short')
  expect(String((await read(body)).whole)).toBe('short')
})

it('takes room for a body that is read whole, as it was declared before a byte of it came', async () => {
  const busy = new Error('no room')
  const hold = (bytes: number) => {
    if (bytes === 300_000) throw busy
  }
  const body = new PassThrough()
  await expect(read(body, { isWhole: true, hold }, 300_000)).rejects.toBe(busy)
  expect(body.readableFlowing).toBeNull()
})

it('takes room as it comes where nobody said how long it is, and none for one that is sent while it comes', async () => {
  const [whole, streamed]: [number[], number[]] = [[], []]
  for (const [isWhole, held] of [
    [true, whole],
    [false, streamed],
  ] as const) {
    const body = new PassThrough()
    body.write('one')
    const reading = read(body, { isWhole, hold: (bytes) => held.push(bytes) })
    body.end('two')
    expect(String((await reading).whole)).toBe('onetwo')
  }
  expect([whole[0], whole.at(-1)]).toEqual([0, 6])
  expect(streamed).toEqual([])
})
