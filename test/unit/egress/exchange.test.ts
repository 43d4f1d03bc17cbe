// What undici reports, as a result; with a client that reports what a test says. Real connections are in test/flow.
import type { Dispatcher } from 'undici'
import { describe, expect, it } from 'vitest'
import type { Connection } from '../../../src/egress/adapters/connections.ts'
import { startDeadline } from '../../../src/egress/adapters/deadline.ts'
import { exchange } from '../../../src/egress/adapters/exchange.ts'
import { noFault } from '../../../src/lib/fault-points.ts'
import type { OutboundRequest } from '../../../src/egress/ports.ts'
import { Secret } from '../../../src/lib/secret.ts'

const request: OutboundRequest = {
  method: 'GET',
  url: new URL('https://api.example.com/v1?x=1'),
  addresses: ['192.0.2.1'],
  headers: new Secret([
    ['accept', '*/*'],
    ['authorization', 'Bearer secret'],
  ] as const),
  body: undefined,
  partition: 'cred_1',
  timeoutMs: 1_000,
  maxResponseBytes: 10,
}

interface Told {
  readonly status?: number
  readonly headers?: readonly string[]
  readonly trailers?: readonly string[]
  readonly chunks?: readonly string[]
  /** Before the request starts. */
  readonly before?: () => void
}

async function send(told: Told, wish = new AbortController()) {
  const asked: unknown[] = []
  const aborted: string[] = []
  const socket = { bytesWritten: 0 }
  const toBuffers = (pairs: readonly string[] = []) => pairs.map((text) => Buffer.from(text, 'latin1'))
  const controller = {
    rawHeaders: toBuffers(told.headers),
    rawTrailers: toBuffers(told.trailers),
    abort: (reason: Error) => void aborted.push(reason.message),
  } as unknown as Dispatcher.DispatchController
  const client = {
    dispatch(options: unknown, handler: Dispatcher.DispatchHandler) {
      asked.push(options)
      told.before?.()
      handler.onRequestStart!(controller, {})
      if (aborted.length > 0) return
      socket.bytesWritten += 100
      handler.onResponseStart!(controller, told.status ?? 200, {}, 'OK')
      for (const chunk of told.chunks ?? [])
        if (aborted.length === 0) handler.onResponseData!(controller, Buffer.from(chunk))
      if (aborted.length === 0) handler.onResponseEnd!(controller, {})
    },
  }
  const deadline = startDeadline(1_000, wish.signal)
  const connection = { client, socket, key: '' } as unknown as Connection
  const result = await exchange(connection, request, { deadline, fault: noFault })
  deadline.clear()
  return { result, asked, aborted, socket }
}

describe('an exchange', () => {
  it('asks for exactly what it was given', async () => {
    const { asked } = await send({})
    expect(asked).toEqual([
      {
        path: '/v1?x=1',
        method: 'GET',
        headers: ['accept', '*/*', 'authorization', 'Bearer secret'],
        body: null,
      },
    ])
  })

  it.each<[string, readonly string[]]>([
    ['none', []],
    ['one', ['{"a":1}']],
    ['several', ['{"', 'a"', ':1}']],
  ])('gives headers and trailers as they came, and the body whole: of pieces %s', async (_count, chunks) => {
    const headers = ['Content-Type', 'text/plain', 'X-A', 'caf\u00e9', 'x-a', '2']
    const { result } = await send({ headers, trailers: ['X-T', '1'], chunks })
    expect(result).toEqual({
      ok: true,
      response: {
        status: 200,
        statusText: 'OK',
        headers: [
          { name: 'content-type', value: 'text/plain' },
          { name: 'x-a', value: 'caf\u00e9' },
          { name: 'x-a', value: '2' },
          { name: 'x-t', value: '1', trailer: true },
        ],
        body: Buffer.from(chunks.join('')),
      },
    })
  })

  it.each<[string, readonly string[], string]>([
    ['two lengths', ['content-length', '1', 'Content-Length', '1'], 'after_send malformed'],
    ['a length and chunks', ['content-length', '1', 'transfer-encoding', 'chunked'], 'after_send malformed'],
    [
      'chunks twice',
      ['transfer-encoding', 'chunked', 'transfer-encoding', 'chunked'],
      'after_send malformed',
    ],
    ['an encoding below the chunks', ['transfer-encoding', 'gzip, chunked'], 'response encoded'],
    ['an encoded body', ['content-encoding', 'gzip'], 'response encoded'],
    [
      'an encoded body behind one that is not',
      ['content-encoding', 'identity', 'content-encoding', 'br'],
      'response encoded',
    ],
    ['one byte too many, declared', ['content-length', '11'], 'response too_large'],
    ['chunks', ['transfer-encoding', 'Chunked'], 'ok'],
    ['no encoding by name', ['content-encoding', 'Identity'], 'ok'],
    ['as many bytes as allowed, declared', ['content-length', '10'], 'ok'],
  ])('with %s is judged by its head', async (_what, headers, expected) => {
    const { result, aborted } = await send({ headers })
    expect(result.ok ? 'ok' : `${result.phase} ${result.reason}`).toBe(expected)
    expect(aborted.length).toBe(result.ok ? 0 : 1)
  })

  it('takes the length in a 304 for that of the document which does not follow', async () => {
    const { result, aborted } = await send({ status: 304, headers: ['content-length', '11'] })
    expect(result).toMatchObject({ ok: true, response: { status: 304, body: Buffer.alloc(0) } })
    expect(aborted).toEqual([])
  })

  it('refuses the byte that is too many, declared or not', async () => {
    expect((await send({ chunks: ['12345', '67890'] })).result).toMatchObject({ ok: true })
    expect((await send({ chunks: ['12345', '678901'] })).result).toMatchObject({ reason: 'too_large' })
  })

  it('given up while it waits for its turn never starts, and nothing left', async () => {
    const wish = new AbortController()
    const { result, aborted, socket } = await send({ before: () => wish.abort() }, wish)
    expect(result).toEqual({ ok: false, phase: 'before_send', reason: 'timeout' })
    expect(aborted).toEqual(['timeout'])
    expect(socket.bytesWritten).toBe(0)
  })

  it('given up before it began does not ask at all', async () => {
    const wish = new AbortController()
    wish.abort()
    const { result, asked } = await send({}, wish)
    expect(result).toEqual({ ok: false, phase: 'before_send', reason: 'timeout' })
    expect(asked).toEqual([])
  })
})
