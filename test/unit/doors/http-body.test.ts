import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { CallPath } from '../../../src/core/call.ts'
import type { Registry } from '../../../src/core/registry.ts'
import { createBodyRoom } from '../../../src/doors/http/body-room.ts'
import { readBytes, readJson } from '../../../src/doors/http/body.ts'
import { announcedBytes } from '../../../src/doors/http/request.ts'
import { createMessageReading, messageLimit, oversized } from '../../../src/doors/http/body-limit.ts'

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
    const waiting = readBytes(slow, 4096 * KIB, { room })
    await new Promise(setImmediate)
    const refused = requestOf({}, Buffer.alloc(70 * KIB))
    await expect(readBytes(refused, 4096 * KIB, { room })).rejects.toMatchObject({
      code: 'overloaded',
      extras: { retry_after_seconds: 1 },
    })
    expect(await readBytes(whole({}, Buffer.alloc(60 * KIB)), 4096 * KIB, { room })).toHaveLength(60 * KIB)
    slow.end()
    expect(await waiting).toHaveLength(150 * KIB)
    expect(await readBytes(whole({}, part), 4096 * KIB, { room })).toHaveLength(150 * KIB)
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
    const reading = readJson(whole(headers as Record<string, string>, body), { maxBytes: 100 })
    if (code === undefined) expect(await reading).toEqual({ a: 1 })
    else await expect(reading).rejects.toMatchObject({ code })
  })

  it('counts the depth that its caller asks for', async () => {
    expect(await readJson(whole(json, '[[1]]'), { maxBytes: 100, maxDepth: 2 })).toEqual([[1]])
    await expect(readJson(whole(json, '[[[1]]]'), { maxBytes: 100, maxDepth: 2 })).rejects.toMatchObject({
      code: 'json_too_deep',
    })
  })
})

it('limits a message by the tool that takes most, and never below 256 KiB', () => {
  const tools = (...bytes: number[]) => bytes.map((maxBodyBytes) => ({ maxBodyBytes }))
  expect(messageLimit(tools())).toBe(256 * 1024)
  expect(messageLimit(tools(64 * 1024))).toBe(256 * 1024)
  expect(messageLimit(tools(64 * 1024, 4 * 1024 * 1024))).toBe(4 * 1024 * 1024)
})

describe('what is made of a body', () => {
  it('is made of a large one after the loop has come round', async () => {
    const order: string[] = []
    const arrived = () => void setTimeout(() => order.push('somebody else'))
    const read = async (body: string) => {
      await readJson(whole(json, body), { maxBytes: 1024 * 1024, arrived })
      order.push('made')
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    await read(JSON.stringify('x'.repeat(500_000)))
    await read('{}')
    expect(order).toEqual(['somebody else', 'made', 'made', 'somebody else'])
  })

  const MANY = 30_000
  const read = (body: string) => readJson(whole(json, body), { maxBytes: 1024 * 1024 })

  it.each([
    ['members', (count: number) => `{${Array.from({ length: count - 1 }, (_, i) => `"k${i}":1`).join()}}`],
    ['lists', (count: number) => `[${'[],'.repeat(count - 2)}[]]`],
    ['objects', (count: number) => `[${'{},'.repeat(count - 2)}{}]`],
  ])('is no more than 30,000 %s', async (_, make) => {
    await expect(read(make(MANY))).resolves.toBeDefined()
    await expect(read(make(MANY + 1))).rejects.toMatchObject({ code: 'body_too_large' })
  })

  it('is as much of everything else as there is room for', async () => {
    const body = JSON.stringify({ text: '[:{"'.repeat(100_000), numbers: Array(100_000).fill(1) })
    expect(await read(body)).toMatchObject({ numbers: { length: 100_000 } })
  })

  it('is nothing where whoever is asked before says no', async () => {
    const refusal = new Error('no')
    const arrived: number[] = []
    const reading = readJson(whole(json, '{broken'), {
      maxBytes: 100,
      arrived: (bytes) => {
        arrived.push(bytes)
        return Promise.reject(refusal)
      },
    })
    await expect(reading).rejects.toBe(refusal)
    expect(arrived).toEqual([7])
  })

  it('leaves rounds of the loop between large ones, and small ones go before', async () => {
    const large = JSON.stringify('x'.repeat(70_000))
    const order: string[] = []
    const rounds: number[] = []
    let round = 0
    let isOver = false
    const count = () => {
      round++
      if (!isOver) setImmediate(count)
    }
    count()
    const reads = Array.from({ length: 4 }, async (_, i) => {
      await read(large)
      order.push(`large ${i}`)
      rounds.push(round)
      if (i === 0) reads.push(read('1').then(() => void order.push('small')))
    })
    await Promise.all(reads)
    await Promise.all(reads)
    isOver = true
    expect(order.slice(0, 2)).toEqual(['large 0', 'small'])
    expect(new Set(rounds).size).toBe(4)
  })
})

describe('a message that may call any tool', () => {
  const tool = (maxBodyBytes: number, caller: string) => ({ tool: { maxBodyBytes, caller, doors: ['mcp'] } })
  const tools = [tool(300_000, 'anyone'), tool(4_000_000, 'email'), tool(1000, 'anyone')]
  const asked: string[] = []
  let isSpent = false
  const readingOf = createMessageReading(
    {
      registry: { tools } as unknown as Registry,
      calls: {
        isKnown: async ({ bearer }: { bearer?: string }) => {
          asked.push(bearer ?? 'nobody')
          return bearer === 'good'
        },
        async refuseSpentMessage() {
          if (isSpent) throw new Error('spent')
        },
        countLargeMessage: async (address: string, isKnown: boolean) =>
          void asked.push(`counted ${address}, known ${isKnown}`),
      } as unknown as CallPath,
    },
    'mcp',
    7,
  )
  const limitOf = async (length: string | undefined, bearer?: string) => {
    const headers = length === undefined ? { 'transfer-encoding': 'chunked' } : { 'content-length': length }
    return readingOf(requestOf(headers), { tokens: { bearer }, address: 'a' })
  }

  it('is as large as the largest tool for everybody, until it is known who sends it', async () => {
    for (const [length, bearer, expected, of] of [
      ['65536', 'good', 300_000, []],
      ['65537', 'good', 4_000_000, ['good']],
      ['65537', 'bad', 300_000, ['bad']],
      ['65537', undefined, 300_000, ['nobody']],
      [undefined, 'good', 4_000_000, ['good']],
    ] as const) {
      asked.length = 0
      expect(await limitOf(length, bearer)).toMatchObject({ maxBytes: expected, maxDepth: 7 })
      expect(asked).toEqual(of)
    }
  })

  it('is counted where it is large and of somebody unknown, before it is parsed', async () => {
    const reading = await limitOf(undefined)
    asked.length = 0
    await reading.arrived?.(65_536)
    expect([asked, reading.size]).toEqual([[], 65_536])
    await reading.arrived?.(65_537)
    expect([asked, reading.size]).toEqual([['counted a, known false'], 65_537])
  })

  it('is not read where it could only be refused', async () => {
    isSpent = true
    await expect(limitOf('65537')).rejects.toThrow('spent')
    // It may be small.
    expect(await limitOf(undefined)).toBeDefined()
    isSpent = false
  })

  it('is no larger than its tool takes, but for what stands around the input', () => {
    expect(oversized({ maxBodyBytes: 200_000 }, undefined)).toBeUndefined()
    expect(oversized({ maxBodyBytes: 200_000 }, 265_536)).toBeUndefined()
    expect(oversized({ maxBodyBytes: 200_000 }, 265_537)).toMatchObject({ code: 'body_too_large' })
    expect(oversized({ maxBodyBytes: 200_000, largestBody: async () => 1 }, 400_000)).toBeUndefined()
  })

  it('announces its length, or none', () => {
    expect(announcedBytes(requestOf({}))).toBe(0)
    expect(announcedBytes(requestOf({ 'content-length': '17' }))).toBe(17)
    expect(announcedBytes(requestOf({ 'transfer-encoding': 'chunked' }))).toBe(Infinity)
  })
})
