// Parts of answers: a program gets the bytes that it asked for, and no choice of them brings a secret out in pieces.
import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTestGateway, type TestGateway, UPSTREAM_HOST } from '../support/gateway.ts'
import { type Ranged, serveRanges } from '../support/ranges.ts'

const SECRET = 'sk-proj-b7Qx4LmR9vTz2KpW8nYcEu5J'
const MIB = 1024 * 1024

describe('a part of an answer', () => {
  let gw: TestGateway
  let capability: string
  const long = randomBytes(5 * MIB + 4321)
  beforeAll(async () => {
    gw = await startTestGateway({ env: { GATEWAY_SERVICE_KEY_CREDITS: '1000' } })
    const hosts = [`${UPSTREAM_HOST}:${gw.upstream.port}`]
    ;({ capability } = await gw.grant({ secret: SECRET, credential: { label: 'files', hosts } }))
  })
  afterAll(() => gw.close())
  const serve = (object: Buffer, ranged: Ranged = {}) =>
    gw.upstream.respond(serveRanges(() => object, ranged))
  beforeEach(() => serve(long))
  const get = (
    range: string,
    { headers, ...init }: RequestInit & { headers?: Record<string, string> } = {},
  ) =>
    fetch(`${gw.baseUrl}/via/files/object`, {
      ...init,
      headers: { authorization: `Bearer ${capability}`, 'accept-encoding': 'identity', range, ...headers },
    })
  const bytes = async (answer: Response) => Buffer.from(await answer.arrayBuffer())
  /** What came of it, also of one that broke off. */
  async function cameBefore(answer: Response): Promise<Buffer> {
    const pieces: Uint8Array[] = []
    try {
      for await (const piece of answer.body!) pieces.push(piece)
    } catch {
      // It broke off.
    }
    return Buffer.concat(pieces)
  }
  const sent = (name: string) => Object.fromEntries(gw.upstream.requests.at(-1)!.headers)[name]

  it.each([
    ['from the beginning', 0, 99],
    ['of one byte', 3 * MIB, 3 * MIB],
    ['in the middle', 2 * MIB + 17, 4 * MIB + 16],
    ['longer than the whole', 5 * MIB, 99 * MIB],
  ])('is the bytes that were asked for: %s', async (_what, first, last) => {
    const answer = await get(`bytes=${first}-${last}`)
    const to = Math.min(last, long.length - 1)
    expect(answer.status).toBe(206)
    expect(answer.headers.get('content-range')).toBe(`bytes ${first}-${to}/${long.length}`)
    expect(answer.headers.get('content-length')).toBe(String(to - first + 1))
    expect((await bytes(answer)).equals(long.subarray(first, to + 1))).toBe(true)
    const id = answer.headers.get('x-gateway-attempt')
    const attempt = (await gw.rest('GET', `/v1/egress/attempts/${id}`)).body
    expect(attempt).toMatchObject({ state: 'settled', outcome: 'delivered', credits_charged: 1 })
  })

  it.each([
    ['bytes=5242890-', 5 * MIB + 10],
    ['bytes=-1000', 5 * MIB + 3321],
  ])('is what is left of it: %s', async (range, from) => {
    const answer = await get(range)
    expect(answer.status).toBe(206)
    expect((await bytes(answer)).equals(long.subarray(from))).toBe(true)
  })

  it('costs the upstream two mebibytes more at most', async () => {
    await bytes(await get(`bytes=${2 * MIB}-${3 * MIB}`))
    expect(sent('range')).toBe(`bytes=${MIB}-${4 * MIB}`)
  })

  it('has its length at a HEAD, too', async () => {
    const { status, headers } = await get('bytes=10-19', { method: 'HEAD' })
    expect([status, headers.get('content-range'), headers.get('content-length')]).toEqual([
      206,
      `bytes 10-19/${long.length}`,
      '10',
    ])
  })

  it('behind the end is a 416 that says where that is', async () => {
    for (const first of [long.length, long.length + 3 * MIB]) {
      const answer = await get(`bytes=${first}-`)
      expect([answer.status, answer.headers.get('content-range')]).toEqual([416, `bytes */${long.length}`])
      expect(await answer.text()).toBe('')
    }
  })

  it('is the whole where the upstream knows no parts, or its condition does not hold', async () => {
    serve(long, { isIgnored: true })
    const whole = await get('bytes=1-2')
    expect([whole.status, (await bytes(whole)).equals(long)]).toEqual([200, true])
    serve(long, { etag: '"v2"' })
    const changed = await get('bytes=1-2', { headers: { 'if-range': '"v1"' } })
    expect([changed.status, (await bytes(changed)).equals(long)]).toEqual([200, true])
    const same = await get('bytes=1-2', { headers: { 'if-range': '"v2"' } })
    expect([same.status, (await bytes(same)).equals(long.subarray(1, 3))]).toEqual([206, true])
  })

  it('that cannot be cut out is refused before anything is sent or charged', async () => {
    const [before, balance] = [gw.upstream.requests.length, await gw.balance()]
    const answer = await get('bytes=0-1,5-6')
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ code: 'header_forbidden', header: 'range' })
    expect([gw.upstream.requests.length, await gw.balance()]).toEqual([before, balance])
  })

  it('is none in another unit, and none of a request that writes: the header stays here', async () => {
    const whole = await get('id ..; max=1000')
    expect([whole.status, (await bytes(whole)).equals(long)]).toEqual([200, true])
    expect((await get('bytes=0-1,5-6', { method: 'POST', body: 'x' })).status).toBe(200)
    expect(sent('range')).toBeUndefined()
  })

  it('passes unchanged where Azure is told a place with it, and what comes for it is refused', async () => {
    const at = { 'x-ms-range': 'bytes=0-511' }
    const ask = (method: string, query: string, body?: string) =>
      fetch(`${gw.baseUrl}/via/files/object${query}`, {
        method,
        headers: { authorization: `Bearer ${capability}`, ...at },
        ...(body !== undefined && { body }),
      })
    gw.upstream.respond((_request, res) => res.writeHead(201).end())
    expect((await ask('PUT', '?comp=page', 'x')).status).toBe(201)
    expect(sent('x-ms-range')).toBe('bytes=0-511')
    gw.upstream.respond((_request, res) =>
      res.writeHead(206, { 'content-range': 'bytes 0-511/1024' }).end(long.subarray(0, 512)),
    )
    expect((await ask('GET', '?comp=pagelist')).status).toBe(502)
    expect(sent('x-ms-range')).toBe('bytes=0-511')
  })

  it.each<[string, Ranged]>([
    ['is another than was asked for', { shift: 1 }],
    ['does not say which it is', { says: '' }],
  ])('is refused where what comes %s', async (_what, ranged) => {
    serve(long, ranged)
    const answer = await get('bytes=5-9')
    expect(answer.status).toBe(502)
    expect(await answer.json()).toMatchObject({ code: 'response_unacceptable' })
  })

  it('is refused where what comes is packed', async () => {
    serve(gzipSync(long), { encoding: 'gzip' })
    expect(await (await get('bytes=5-9')).json()).toMatchObject({ code: 'response_unacceptable' })
  })

  it('is told from another one under the same key, though both are asked for in the same words', async () => {
    const headers = { 'idempotency-key': 'one' }
    serve(Buffer.from('0123456789'))
    expect(await (await get('bytes=3-', { headers })).text()).toBe('3456789')
    expect(await (await get('bytes=3-', { headers })).text()).toBe('3456789')
    expect((await get('bytes=4-', { headers })).status).toBe(422)
  })

  it.each([
    ['a short answer', Buffer.from(`{"before":"${'x'.repeat(200)}","key":"${SECRET}","behind":"y"}`)],
    [
      'a long answer',
      Buffer.concat([long.subarray(0, 2 * MIB), Buffer.from(SECRET), long.subarray(0, 3 * MIB)]),
    ],
  ])('never brings the secret out in pieces that are too short to be found: of %s', async (_what, object) => {
    serve(object)
    const at = object.indexOf(SECRET)
    for (const [first, last] of [
      [at, at + 7],
      [at + 8, at + 15],
      [at - 3, at + 5],
      [at + 25, at + 40],
    ]) {
      const answer = await get(`bytes=${first}-${last}`)
      const got = await cameBefore(answer)
      if (answer.status === 206) expect(got.length).toBe(0)
      else expect(JSON.parse(String(got))).toMatchObject({ code: 'secret_reflected' })
    }
  })

  it('is searched unpacked, with the whole of a short file', async () => {
    const file = gzipSync(Buffer.concat([randomBytes(30_000), Buffer.from(`key=${SECRET}`)]))
    serve(file)
    for (const range of ['bytes=0-99', `bytes=20000-20099`]) {
      const answer = await get(range)
      expect(await answer.json()).toMatchObject({ code: 'secret_reflected' })
    }
  })
})
