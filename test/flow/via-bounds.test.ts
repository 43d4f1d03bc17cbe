import { createRequire } from 'node:module'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTestGateway, type TestGateway, UPSTREAM_HOST } from '../support/gateway.ts'

const FORM = 'application/x-www-form-urlencoded'
const SECRET = 'sk-proj-b7Qx4LmR9vTz2KpW8nYcEu5J'

interface Aws4 {
  sign(request: Record<string, unknown>, keys: Record<string, string>): { headers: Record<string, string> }
}
// The package has no types.
const aws4 = createRequire(import.meta.url)('aws4') as Aws4

describe('bounds and places of a base URL behind the gateway', () => {
  let gw: TestGateway
  beforeAll(async () => {
    gw = await startTestGateway({ env: { GATEWAY_SERVICE_KEY_CREDITS: '1000' } })
  })
  afterAll(() => gw.close())
  beforeEach(() => gw.upstream.respond((_request, res) => res.end('{"ok":true}')))

  let count = 0
  /** A credential with these settings, and how it is asked. */
  async function door(more: Record<string, unknown> = {}, secret = SECRET) {
    const label = `door-${++count}`
    const { capability } = await gw.grant({
      secret,
      credential: { label, hosts: [`${UPSTREAM_HOST}:${gw.upstream.port}`], ...more },
    })
    return {
      capability,
      url: `${gw.baseUrl}/via/${label}`,
      ask: (path: string, init: RequestInit & { duplex?: 'half' } = {}) =>
        fetch(`${gw.baseUrl}/via/${label}${path}`, {
          ...init,
          headers: { authorization: `Bearer ${capability}`, ...(init.headers as Record<string, string>) },
        }),
    }
  }
  const last = () => gw.upstream.requests.at(-1)!
  async function ended(id: string | null) {
    for (;;) {
      const record = (await gw.rest('GET', `/v1/egress/attempts/${id}`)).body
      if (record.state !== 'sending') return record
      await sleep(10)
    }
  }
  const relay = (relay: Record<string, unknown>) => ({ settings: { relay } })

  it('refuses a body that is announced as too large before anything is sent or charged', async () => {
    const { url, capability } = await door()
    const before = [gw.upstream.requests.length, gw.upstream.connections, await gw.balance()]
    const status = await new Promise((resolve, reject) => {
      const asked = request(`${url}/v1/files`, {
        method: 'POST',
        headers: { authorization: `Bearer ${capability}`, 'content-length': String(64 * 1024 * 1024 + 1) },
      })
      asked.on('response', (res) => resolve(res.resume().statusCode)).on('error', reject)
      asked.flushHeaders()
    })
    expect(status).toBe(413)
    expect([gw.upstream.requests.length, gw.upstream.connections, await gw.balance()]).toEqual(before)
  })

  it('leaves open what became of a body that turned out too large in the middle of it', async () => {
    const { ask } = await door(relay({ max_request_bytes: 300_000 }))
    const pieces = async function* () {
      for (let sent = 0; sent < 1_000_000; sent += 50_000) yield Buffer.alloc(50_000, 'a')
    }
    const body = Readable.toWeb(Readable.from(pieces())) as ReadableStream
    const answer = await ask('/v1/files', { method: 'POST', body, duplex: 'half' })
    expect(answer.status).toBe(503)
    expect(answer.headers.get('x-should-retry')).toBe('false')
    const { code, attempt_id } = (await answer.json()) as { code: string; attempt_id: string }
    expect(code).toBe('outcome_ambiguous')
    expect(await ended(attempt_id)).toMatchObject({ state: 'ambiguous', credits_charged: 1 })
  })

  // The clock of the whole answer runs before its head is there.
  it.each([
    ['falls silent', { idle_ms: 150 }, 'idle', 'ambiguous'],
    ['takes too long', { total_ms: 3_000 }, 'limit', 'settled'],
  ] as const)('ends an answer that %s', async (_what, bounds, end, state) => {
    const { ask } = await door(relay(bounds))
    gw.upstream.respond((_request, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      const drip = setInterval(() => res.write('data: one\n\n'), 'total_ms' in bounds ? 30 : 10_000)
      res.write('data: one\n\n')
      res.on('close', () => clearInterval(drip))
    })
    const answer = await ask('/v1/stream')
    expect(await textUntilBreak(answer)).toContain(`"code":"${end}"`)
    expect(await ended(answer.headers.get('x-gateway-attempt'))).toMatchObject({ state })
  })

  it('gives up on an answer that does not begin', async () => {
    const { ask } = await door(relay({ first_byte_ms: 150 }))
    gw.upstream.respond(() => {})
    const answer = await ask('/v1/things')
    expect(answer.status).toBe(503)
    expect(await answer.json()).toMatchObject({ code: 'outcome_ambiguous', credits: { charged: 1 } })
  })

  it('ends an answer that is longer than the credential allows', async () => {
    const { ask } = await door(relay({ max_response_bytes: 100_000 }))
    gw.upstream.respond((_request, res) => res.end(Buffer.alloc(3_000_000, 'x ')))
    const answer = await ask('/v1/file')
    const { length } = await textUntilBreak(answer)
    expect(length).toBeLessThanOrEqual(100_000)
    expect(await ended(answer.headers.get('x-gateway-attempt'))).toMatchObject({
      state: 'settled',
      outcome: 'response_too_large',
    })
  })

  it('refuses a short answer that is longer than the credential allows, in words that say what to do', async () => {
    const { ask } = await door(relay({ max_response_bytes: 100_000 }))
    const answers = (length: number) => {
      gw.upstream.respond((_request, res) => res.end(Buffer.alloc(length, 'x ')))
      return ask('/v1/file')
    }
    expect((await (await answers(100_000)).arrayBuffer()).byteLength).toBe(100_000)
    const answer = await answers(500_000)
    expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([502, 'false'])
    const refusal = (await answer.json()) as { attempt_id: string }
    expect(refusal).toMatchObject({
      code: 'response_too_large',
      detail: expect.stringContaining('max_response_bytes'),
      upstream_status: 200,
      credits: { charged: 1 },
    })
    expect(await ended(refusal.attempt_id)).toMatchObject({
      state: 'settled',
      outcome: 'response_too_large',
      credits_charged: 1,
    })
  })

  it('keeps to the limits of a credential that were set below the usual ones', async () => {
    const limits = { max_request_bytes: 1000, max_response_bytes: 1000 }
    const { ask } = await door({ settings: { limits } })
    const before = gw.upstream.requests.length
    const large = await ask('/v1/file', { method: 'POST', body: 'x'.repeat(1001) })
    expect([large.status, gw.upstream.requests.length]).toEqual([413, before])
    gw.upstream.respond((_request, res) => res.end('x'.repeat(1001)))
    const answer = await ask('/v1/file', { method: 'POST', body: 'x'.repeat(1000) })
    expect(await answer.json()).toMatchObject({ code: 'response_too_large', upstream_status: 200 })
  })

  it('lets no more than that through of a short answer of no known length', async () => {
    const { ask } = await door(relay({ max_response_bytes: 100 }))
    gw.upstream.respond((_request, res) => {
      res.writeHead(200, { 'transfer-encoding': 'chunked' }).end('x '.repeat(100))
    })
    const answer = await ask('/v1/file')
    const id = answer.ok
      ? answer.headers.get('x-gateway-attempt')
      : ((await answer.json()) as { attempt_id: string }).attempt_id
    if (answer.ok) expect((await textUntilBreak(answer)).length).toBeLessThanOrEqual(100)
    expect(await ended(id)).toMatchObject({ outcome: 'response_too_large' })
  })

  it('passes slow drops one by one', async () => {
    const { ask } = await door()
    gw.upstream.respond(async (_request, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const char of 'data: one\n\ndata: two\n\n') {
        res.write(char)
        await sleep(2)
      }
      res.end()
    })
    expect(await (await ask('/v1/stream')).text()).toBe('data: one\n\ndata: two\n\n')
  })

  it('puts the secret in the place of the program’s own: in the path, as of a Telegram bot', async () => {
    const { url, capability } = await door({
      settings: { placements: [{ in: 'path', at: 0, prefix: 'bot' }] },
    })
    const answer = await fetch(`${url}/bot${capability}/sendMessage`, {
      method: 'POST',
      headers: { 'x-api-key': capability },
    })
    expect(answer.status).toBe(200)
    expect(last().target).toBe(`/bot${SECRET}/sendMessage`)
    expect(JSON.stringify(last().headers)).not.toContain('agw_')
  })

  it('… in the query', async () => {
    const { url, capability } = await door({ settings: { placements: [{ in: 'query', name: 'key' }] } })
    await fetch(`${url}/v1/models?a=1&key=${capability}`)
    expect(last().target).toBe(`/v1/models?a=1&key=${SECRET}`)
  })

  it.each([
    [
      'JSON',
      { in: 'json', pointer: '/auth/key' },
      'application/json',
      '{"a":1,"auth":{"key":"mine"}}',
      `{"a":1,"auth":{"key":"${SECRET}"}}`,
    ],
    [
      'a form',
      { in: 'form', name: 'key' },
      'application/x-www-form-urlencoded',
      'key=mine&a=1',
      `a=1&key=${SECRET}`,
    ],
  ])('… and in a body of %s', async (_kind, placement, type, body, sent) => {
    const { ask } = await door({ settings: { placements: [placement] } })
    await ask('/v1/things', { method: 'POST', body, headers: { 'content-type': type } })
    expect(last().body.toString()).toBe(sent)
  })

  /** What was sent and charged so far. */
  const soFar = async () => [gw.upstream.requests.length, await gw.balance()]

  it.each([
    ['of Latin-1', FORM, Buffer.from('name=J\u00fcrgen&amount=100', 'latin1')],
    ['that is packed', FORM, gzipSync('name=x&amount=100')],
    ['of another type', 'multipart/form-data; boundary=b', Buffer.from('--b\r\n\u00ff', 'latin1')],
    ['of bytes that are no JSON', 'application/json', Buffer.from('{"a":"\u00ff"}', 'latin1')],
  ])('refuses a body %s where the secret goes into a form', async (_which, type, body) => {
    const { ask } = await door({ settings: { placements: [{ in: 'form', name: 'token' }] } })
    const before = await soFar()
    const headers = { 'content-type': type, 'idempotency-key': 'k' }
    const answer = await ask('/v1/transfer', { method: 'POST', body: new Uint8Array(body), headers })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ code: 'input_invalid' })
    expect(await soFar()).toEqual(before)
  })

  it.each([
    ['a form of three megabytes', { in: 'form', name: 'token' }, FORM, '%&'.repeat(1.5 * 1024 * 1024)],
    ['a form of too many fields', { in: 'form', name: 'token' }, FORM, '%&'.repeat(30_000)],
    [
      'JSON of too many members',
      { in: 'json', pointer: '/key' },
      'application/json',
      JSON.stringify(Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [i, 1]))),
    ],
  ])('refuses %s before it is charged', async (_what, placement, type, body) => {
    const { ask } = await door({ settings: { placements: [placement] } })
    const before = await soFar()
    const answer = await ask('/v1/x', { method: 'POST', body, headers: { 'content-type': type } })
    expect(answer.status).toBe(413)
    expect(await answer.json()).toMatchObject({ code: 'body_too_large' })
    expect(await soFar()).toEqual(before)
  })

  it('refuses a member that is no text in the place of the secret', async () => {
    const { ask } = await door({ settings: { placements: [{ in: 'json', pointer: '/key' }] } })
    const before = await soFar()
    const headers = { 'content-type': 'application/json' }
    const answer = await ask('/v1/x', { method: 'POST', body: '{"key":{"id":7},"op":"put"}', headers })
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain('leave /key out')
    expect(await soFar()).toEqual(before)
  })

  it('refuses a segment of the program’s own in the place of the secret', async () => {
    const { ask, capability } = await door({ settings: { placements: [{ in: 'path', at: 0 }] } })
    const before = await soFar()
    const answer = await ask('/v1/admin/users')
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ code: 'target_invalid' })
    expect(await soFar()).toEqual(before)
    await ask(`/${capability}/v1/admin/users`)
    expect(last().target).toBe(`/${SECRET}/v1/admin/users`)
  })

  it('says that a path ends before the segment of the secret', async () => {
    const { ask } = await door({ settings: { placements: [{ in: 'path', at: 2 }] } })
    const before = await soFar()
    const answer = await ask('/v1/')
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ code: 'target_invalid' })
    expect(await soFar()).toEqual(before)
  })

  it('signs again what a program signed with its placeholder', async () => {
    const { capability, url } = await door({
      secret: undefined,
      parts: {
        access_key_id: 'AKIAIOSFODNN7EXAMPLE',
        secret_access_key: 'b7Qx4LmR9vTz2KpW8nYcEu5Jb7Qx4LmR9vTz2KpW',
      },
      settings: { kind: { type: 'aws_sigv4', region: 'us-east-1', service: 's3' } },
    })
    const asked = {
      method: 'PUT',
      body: 'all is well',
      headers: {
        'x-api-key': capability,
        authorization:
          'AWS4-HMAC-SHA256 Credential=AKIAPLACEHOLDER/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=00',
        'x-amz-date': '20260101T000000Z',
        'x-amz-security-token': 'placeholder',
      },
    }
    expect((await fetch(`${url}/bucket/key`, asked)).status).toBe(200)
    const sent = new Map(last().headers)
    expect(sent.get('authorization')).toContain('Credential=AKIAIOSFODNN7EXAMPLE/')
    expect(sent.get('x-amz-security-token')).toBeUndefined()
    expect(sent.get('x-amz-date')).not.toBe('20260101T000000Z')
    const chunksSignedAs = (value: string) =>
      fetch(`${url}/bucket/key`, { ...asked, headers: { ...asked.headers, 'x-amz-content-sha256': value } })
    for (const algorithm of ['AWS4-HMAC-SHA256', 'AWS4-ECDSA-P256-SHA256'])
      for (const end of ['', '-TRAILER']) {
        const refused = await chunksSignedAs(`STREAMING-${algorithm}-PAYLOAD${end}`)
        expect(refused.status).toBe(400)
        expect(await refused.text()).toContain('Set AWS_REQUEST_CHECKSUM_CALCULATION=when_required')
      }
    for (const value of ['STREAMING-UNSIGNED-PAYLOAD', 'STREAMING-UNSIGNED-PAYLOAD-TRAILER,x'])
      expect((await chunksSignedAs(value)).status).toBe(400)
  })

  it('signs an address again that a program signed with its placeholder, and refuses one of another key', async () => {
    const { capability, url } = await door({
      secret: undefined,
      parts: {
        access_key_id: 'AKIAIOSFODNN7EXAMPLE',
        secret_access_key: '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',
      },
      settings: { kind: { type: 'aws_sigv4', region: 'us-east-1', service: 's3' } },
    })
    const get = (query: string) =>
      fetch(`${url}/bucket/key?${query}`, { headers: { 'x-api-key': capability } })
    const signed = (key: string) =>
      `versionId=3&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${key}%2F20260101%2Fus-east-1%2Fs3%2Faws4_request&` +
      'X-Amz-Date=20260101T000000Z&X-Amz-Expires=3600&X-Amz-SignedHeaders=host&X-Amz-Signature=00'
    expect((await get(signed('placeholder'))).status).toBe(200)
    expect(last().target).toMatch(/\/bucket\/key\?versionId=3$/)
    expect(new Map(last().headers).get('authorization')).toContain('Credential=AKIAIOSFODNN7EXAMPLE/')
    const [before, balance] = [gw.upstream.requests.length, await gw.balance()]
    const refused = await get(signed('AKIAOFSOMEBODYELSE0'))
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({
      code: 'target_invalid',
      detail: expect.stringContaining('signed with a key'),
    })
    expect([gw.upstream.requests.length, await gw.balance()]).toEqual([before, balance])
  })

  it('passes chunks without signatures as they are, and signs the word that stands for them', async () => {
    const parts = {
      access_key_id: 'AKIAIOSFODNN7EXAMPLE',
      secret_access_key: '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',
    }
    const { capability, url } = await door({
      secret: undefined,
      parts,
      settings: { kind: { type: 'aws_sigv4', region: 'us-east-1', service: 's3' } },
    })
    const body = 'b\r\nall is well\r\n0\r\nx-amz-checksum-crc32:8ek1Ng==\r\n\r\n'
    const answer = await fetch(`${url}/bucket/key`, {
      method: 'PUT',
      body,
      headers: {
        'x-api-key': capability,
        'content-encoding': 'aws-chunked',
        'x-amz-content-sha256': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
        'x-amz-decoded-content-length': '11',
        'x-amz-trailer': 'x-amz-checksum-crc32',
      },
    })
    expect(answer.status).toBe(200)
    expect(last().body.toString()).toBe(body)
    const sent = Object.fromEntries(last().headers)
    expect(sent).toMatchObject({
      'content-encoding': 'aws-chunked',
      'x-amz-content-sha256': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
      'x-amz-trailer': 'x-amz-checksum-crc32',
    })
    const names = /SignedHeaders=([^,]+)/.exec(sent['authorization'] ?? '')?.[1]?.split(';') ?? []
    expect(names).toEqual([
      'content-type',
      'host',
      'x-amz-content-sha256',
      'x-amz-date',
      'x-amz-decoded-content-length',
      'x-amz-trailer',
    ])
    // Another implementation than ours.
    const { headers: again } = aws4.sign(
      {
        method: 'PUT',
        path: '/bucket/key',
        host: sent['host'],
        headers: Object.fromEntries(names.map((name) => [name, sent[name]])),
        service: 's3',
        region: 'us-east-1',
      },
      { accessKeyId: parts.access_key_id, secretAccessKey: parts.secret_access_key },
    )
    expect(again['Authorization']).toBe(sent['authorization'])
  })

  it('bounds what bodies that are read whole take of memory, by what was declared of them', async () => {
    const label = `whole-${++count}`
    const { credentialId, capability } = await gw.grant({
      credential: {
        label,
        secret: undefined,
        parts: { access_key_id: 'AKIAIOSFODNN7EXAMPLE', secret_access_key: SECRET },
        hosts: [`${UPSTREAM_HOST}:${gw.upstream.port}`],
        settings: { kind: { type: 'aws_sigv4', region: 'us-east-1', service: 's3' } },
      },
    })
    const issued = await gw.rest('POST', '/v1/egress/capabilities', { credential_id: credentialId })
    const before = [gw.upstream.requests.length, await gw.balance()]
    const put = (bytes: number) =>
      fetch(`${gw.baseUrl}/via/${label}/bucket/key`, {
        method: 'PUT',
        body: new Uint8Array(bytes),
        headers: { authorization: `Bearer ${capability}` },
      })
    // 512 MiB of one account are 51 bodies of 10 MiB. Nobody sends a byte of them.
    const refusal = Promise.withResolvers<{ status: number | undefined; text: string }>()
    const announced = Array.from({ length: 52 }, (_, at) => {
      const asked = request(`${gw.baseUrl}/via/${label}/bucket/key`, {
        method: 'PUT',
        headers: {
          authorization: `Bearer ${at < 26 ? capability : issued.body.capability}`,
          'content-length': String(10 * 1024 * 1024),
        },
      })
      asked.on('error', () => {})
      asked.on('response', async (res) => {
        let text = ''
        for await (const piece of res.setEncoding('utf8')) text += piece
        refusal.resolve({ status: res.statusCode, text })
      })
      asked.flushHeaders()
      return asked
    })
    const { status, text } = await refusal.promise
    expect([status, JSON.parse(text)]).toMatchObject([503, { code: 'overloaded', retry_after_seconds: 1 }])
    expect([gw.upstream.requests.length, await gw.balance()]).toEqual(before)
    expect((await put(256 * 1024)).status).toBe(200)
    for (const asked of announced) asked.destroy()
    // A refusal may end the connection before all of the body is there.
    while ((await put(10 * 1024 * 1024).catch(() => undefined))?.status !== 200) await sleep(10)
  })

  it('refuses a key of the program’s own where the credential says so, and replaces it else', async () => {
    for (const [settings, status] of [
      [{}, 200],
      [relay({ own_keys: 'refuse' }), 400],
    ] as const) {
      const { ask } = await door(settings)
      const [before, sent] = [await gw.balance(), gw.upstream.requests.length]
      const answer = await ask('/v1/things', { headers: { 'x-api-key': 'sk-of-the-program' } })
      expect(answer.status).toBe(status)
      expect(await answer.text()).not.toContain('sk-of-the-program')
      expect([before - (await gw.balance()), gw.upstream.requests.length - sent]).toEqual(
        status === 200 ? [1, 1] : [0, 0],
      )
      expect(
        (await ask('/v1/things', { headers: { 'x-api-key': 'sk-AgentGatewayPlaceholder' } })).status,
      ).toBe(200)
      expect(last().headers.some(([name]) => name === 'x-api-key')).toBe(false)
    }
  })

  it('passes cookies where the credential says so, and not else', async () => {
    gw.upstream.respond((_request, res) => res.setHeader('set-cookie', 's=1').end('ok'))
    for (const [settings, passed] of [
      [{}, false],
      [relay({ cookies: true }), true],
    ] as const) {
      const { ask } = await door(settings)
      const answer = await ask('/v1/things', { headers: { cookie: 'a=b' } })
      expect(answer.headers.has('set-cookie')).toBe(passed)
      expect(last().headers.some(([name]) => name === 'cookie')).toBe(passed)
    }
  })

  it('keeps the session of a credential that is a cookie from its program, whose other cookies pass', async () => {
    gw.upstream.respond((_request, res) =>
      res.setHeader('set-cookie', ['sid=rotated-session; Path=/', 'theme=dark']).end('ok'),
    )
    const settings = { relay: { cookies: true }, placements: [{ in: 'cookie', name: 'sid' }] }
    const { ask } = await door({ settings })
    const answer = await ask('/v1/things', { headers: { cookie: 'lang=en; sid=own-session; a="b' } })
    expect(answer.headers.getSetCookie()).toEqual(['theme=dark'])
    expect(last().headers.filter(([name]) => name === 'cookie')).toEqual([
      ['cookie', `sid=${SECRET}; lang=en; a="b`],
    ])
  })

  it('ends an answer whose program does not read, and says that it was the program', async () => {
    const { url, capability } = await door(relay({ idle_ms: 3_000 }))
    gw.upstream.respond((_request, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      const more = () => void (res.destroyed || res.write(`data: ${'x '.repeat(50_000)}\n\n`, more))
      more()
    })
    const answer = await stalled(`${url}/v1/stream`, capability)
    const record = await ended(answer)
    expect(record).toMatchObject({ state: 'settled', outcome: 'client_stalled' })
  })

  it('does not take an upstream for silent while its answer waits for a program that reads slowly', async () => {
    const { ask } = await door(relay({ idle_ms: 8_000 }))
    gw.upstream.respond((_request, res) => {
      res.writeHead(200, { 'content-type': 'application/octet-stream' })
      res.end(Buffer.alloc(24 * 1024 * 1024, 'x '))
    })
    const answer = await ask('/v1/file')
    let size = 0
    let pauses = 0
    for await (const piece of answer.body!) {
      size += (piece as Uint8Array).length
      // Each wait is shorter than what ends it, all of them together are longer.
      if (size > (pauses + 1) * 4 * 1024 * 1024) {
        pauses++
        await sleep(2_200)
      }
    }
    expect([size, pauses]).toEqual([24 * 1024 * 1024, 5])
    expect(await ended(answer.headers.get('x-gateway-attempt'))).toMatchObject({ outcome: 'delivered' })
  })
})

/** What came before the connection broke off. */
async function textUntilBreak(answer: Response): Promise<string> {
  let received = ''
  try {
    for await (const chunk of answer.body!) received += Buffer.from(chunk as Uint8Array).toString()
  } catch {
    return received
  }
  throw new Error('the answer ended well')
}

/** Asks, and reads nothing but the head. @returns the attempt */
const stalled = (url: string, capability: string) =>
  new Promise<string>((resolve, reject) => {
    request(url, { headers: { authorization: `Bearer ${capability}` } })
      .on('response', (res) => {
        res.pause().on('error', () => {})
        resolve(String(res.headers['x-gateway-attempt']))
      })
      .on('error', reject)
      .end()
  })
