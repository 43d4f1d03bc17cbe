import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { Registry } from '../../../src/core/registry.ts'
import { createBodyRoom } from '../../../src/doors/http/body-room.ts'
import { messageLimit, readBytes, readJson, readTraceparent } from '../../../src/doors/http/request.ts'

/** What the reader sees of a request: a stream of bytes and headers. */
function requestOf(headers: Record<string, string>, ...chunks: (string | Buffer)[]) {
  const stream = new PassThrough()
  for (const chunk of chunks) stream.write(chunk)
  return Object.assign(stream, { headers }) as unknown as IncomingMessage & PassThrough
}
const json = { 'content-type': 'application/json' }
const whole = (headers: Record<string, string>, ...chunks: (string | Buffer)[]) => {
  const req = requestOf(headers, ...chunks)
  req.end()
  return req
}

describe('the one reader of bodies', () => {
  it('takes a body of exactly the limit, and refuses one byte more', async () => {
    expect((await readBytes(whole({}, 'abc', 'd'), 4)).toString()).toBe('abcd')
    await expect(readBytes(whole({}, 'abc', 'de'), 4)).rejects.toMatchObject({ code: 'body_too_large' })
  })

  it('refuses a body over the limit although its sender never ends it', async () => {
    await expect(readBytes(requestOf({}, 'abcde'), 4)).rejects.toMatchObject({ code: 'body_too_large' })
  })

  it('refuses at once what is declared to be far too large', async () => {
    const req = requestOf({ 'content-length': String(4 + 1024 * 1024 + 1) })
    await expect(readBytes(req, 4)).rejects.toMatchObject({ code: 'body_too_large' })
    expect(req.listenerCount('data')).toBe(0)
  })

  it('says that a body broke off', async () => {
    const req = requestOf({}, 'abc')
    setImmediate(() => req.destroy())
    await expect(readBytes(req, 4)).rejects.toMatchObject({ code: 'request_invalid' })
  })

  it('refuses large bodies where too many are arriving, never small ones, and forgets those that are over', async () => {
    const KIB = 1024
    const room = createBodyRoom(300 * KIB)
    const part = Buffer.alloc(150 * KIB)
    const slow = requestOf({}, part)
    const waiting = readBytes(slow, 4096 * KIB, room)
    await new Promise(setImmediate)
    const refused = requestOf({}, Buffer.alloc(70 * KIB))
    await expect(readBytes(refused, 4096 * KIB, room)).rejects.toMatchObject({
      code: 'overloaded',
      extras: { retry_after_seconds: 1 },
    })
    expect(await readBytes(whole({}, Buffer.alloc(60 * KIB)), 4096 * KIB, room)).toHaveLength(60 * KIB)
    slow.end()
    expect(await waiting).toHaveLength(150 * KIB)
    expect(await readBytes(whole({}, part), 4096 * KIB, room)).toHaveLength(150 * KIB)
  })

  it.each([
    ['JSON', json, '{"a":1}', undefined],
    ['JSON with a byte order mark', json, '\uFEFF{"a":1}', undefined],
    ['JSON of a kind', { 'content-type': 'application/a2a+json; charset=utf-8' }, '{"a":1}', undefined],
    ['nothing', json, '', 'json_invalid'],
    ['bytes that are no UTF-8', json, Buffer.from([0x22, 0xff, 0x22]), 'json_invalid'],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 'a=1', 'content_type_unsupported'],
    ['a body without a type', {}, '{"a":1}', 'content_type_unsupported'],
    ['a packed body', { ...json, 'content-encoding': 'gzip' }, '{"a":1}', 'content_type_unsupported'],
  ])('reads %s as it should', async (_, headers, body, code) => {
    const reading = readJson(whole(headers as Record<string, string>, body), 100)
    if (code === undefined) expect(await reading).toEqual({ a: 1 })
    else await expect(reading).rejects.toMatchObject({ code })
  })

  it('counts the depth that its caller asks for', async () => {
    expect(await readJson(whole(json, '[[1]]'), 100, 2)).toEqual([[1]])
    await expect(readJson(whole(json, '[[[1]]]'), 100, 2)).rejects.toMatchObject({ code: 'json_too_deep' })
  })
})

it('limits a message by the tool that takes most, and never below 256 KiB', () => {
  const registry = (...bytes: number[]) =>
    ({ tools: bytes.map((maxBodyBytes) => ({ tool: { maxBodyBytes } })) }) as unknown as Registry
  expect(messageLimit(registry())).toBe(256 * 1024)
  expect(messageLimit(registry(64 * 1024))).toBe(256 * 1024)
  expect(messageLimit(registry(64 * 1024, 4 * 1024 * 1024))).toBe(4 * 1024 * 1024)
})

it.each([
  ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', true],
  ['00-00000000000000000000000000000000-00f067aa0ba902b7-01', false],
  ['00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01', false],
  ['00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01', false],
  [['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'], false],
  [undefined, false],
])('of traceparent %s: valid is %s', (value, isValid) => {
  expect(readTraceparent(value)).toBe(isValid ? value : undefined)
})
