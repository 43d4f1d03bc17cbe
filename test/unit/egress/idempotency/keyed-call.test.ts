import { createDecipheriv, createSecretKey, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Answer,
  MAX_KEPT_BYTES,
  openAnswer,
  sealAnswer,
} from '../../../../src/egress/idempotency/answer.ts'
import { type Call, createKeyedCalls } from '../../../../src/egress/idempotency/keyed-call.ts'
import { digestRequest } from '../../../../src/egress/digest.ts'
import { prepareRequest } from '../../../../src/egress/request.ts'
import type { EgressRequest } from '../../../../src/egress/ports.ts'

const ATTEMPT = { id: 'att_1', requestDigest: 'digest' }
const newKey = () => createSecretKey(randomBytes(32))
const installation = newKey()
const prepare = (over: Partial<EgressRequest> = {}, max_response_bytes?: number) =>
  prepareRequest(
    { url: 'https://api.example.com/v1/orders', method: 'POST', headers: {}, body: '{}', ...over },
    { ports: [443], defaultHeaders: {}, limits: { max_response_bytes } },
  )
const call = (over: Partial<Call> = {}, of = installation) =>
  createKeyedCalls(of)({
    scope: 'cap_1',
    key: 'key-1',
    request: prepare(),
    credentialId: 'cred_1',
    credentialVersion: 1,
    ...over,
  })
const answer: Answer = {
  status: 201,
  headers: [['content-type', 'text/plain']],
  dropped: ['x-internal'],
  body: Buffer.from('the answer to be kept'),
}
const sealedBy = (by: ReturnType<typeof call>, given = answer) => {
  const kept = by.seal(ATTEMPT, given)
  if (!kept) throw new Error('the answer was not kept')
  return Buffer.from(kept)
}

describe('the key of a call', () => {
  it('follows from lineage and key under the key of the installation, and from nothing else', () => {
    const { claim, upstreamKey } = call()
    expect(claim).toEqual({ keyHash: upstreamKey, maxBytes: 1_048_576 })
    expect(call({ request: prepare({ body: 'other' }) }).upstreamKey).toBe(upstreamKey)
    for (const other of [call({ scope: 'cap_2' }), call({ key: 'key-2' }), call({}, newKey())])
      expect(other.upstreamKey).not.toBe(upstreamKey)
    expect(upstreamKey).toMatch(/^[\w-]{43}$/)
    expect(JSON.stringify(claim)).not.toContain('key-1')
  })

  it('repeats the same request, whatever the order of its headers or the version of the secret, and none that differs', () => {
    const headers = { accept: 'a/b', 'content-type': 'c/d' }
    type Case = readonly [over: Partial<EgressRequest>, credentialId?: string]
    const repeats = ([first, id = 'cred_1']: Case, [again, credentialId = 'cred_1']: Case, version = 1) => {
      const request = prepare(first)
      const { method, target, headers, body, maxResponseBytes } = request
      const url = target.url.href
      const sent = { method, url, headers, body, credentialId: id, secretVersion: version }
      const attempt = { requestDigest: digestRequest(sent), credentialVersion: version }
      return call({ request: prepare(again), credentialId }).repeats(attempt, maxResponseBytes)
    }
    expect(repeats([{ headers }], [{ headers: { 'content-type': 'c/d', accept: 'a/b' } }])).toBe(true)
    expect(repeats([{}], [{ timeout_ms: 100 }])).toBe(true)
    expect(repeats([{}], [{ body: undefined, body_base64: Buffer.from('{}').toString('base64') }])).toBe(true)
    expect(repeats([{}], [{}], 7)).toBe(true)
    const cases: readonly Case[] = [
      [{}],
      [{ headers }],
      [{ headers: { accept: 'a/b' } }],
      [{ method: 'PUT' }],
      [{ url: 'https://api.example.com/v1/orders?a=1' }],
      [{ body: '{} ' }],
      [{ body: undefined }],
      [{ max_bytes: 5 }],
      [{}, 'cred_2'],
    ]
    for (const one of cases)
      for (const other of cases) expect(repeats(one, other), JSON.stringify([one, other])).toBe(one === other)
  })
})

describe('a repeat after its credential was edited', () => {
  /** Bound of the answer in the settings of that moment, and what the call asks for. */
  type Asked = readonly [allowed: number | undefined, max_bytes?: number | undefined]
  const repeats = ([allowed, max_bytes]: Asked, [allowedNow, asked]: Asked, credentialVersion = 2) => {
    const { method, target, headers, body, maxResponseBytes } = prepare({ max_bytes }, allowed)
    const sent = { method, url: target.url.href, headers, body, credentialId: 'cred_1', secretVersion: 1 }
    const attempt = { requestDigest: digestRequest(sent), credentialVersion: 1 }
    const request = prepare({ max_bytes: asked }, allowedNow)
    return call({ request, credentialVersion }).repeats(attempt, maxResponseBytes)
  }

  it.each<[what: string, first: Asked, again: Asked, isRepeat: boolean]>([
    ['a bound that was lowered', [undefined], [500], true],
    ['a bound that was raised', [500], [5_000_000], true],
    ['the bound that both asked for', [500, 400], [900, 400], true],
    ['a bound that the second asks for', [500], [900, 400], false],
    ['another bound that each asked for', [500, 300], [900, 400], false],
  ])('is told by what callers wrote: %s', (_, first, again, isRepeat) => {
    expect(repeats(first, again)).toBe(isRepeat)
  })

  it('is another request where one asked and the other did not, as long as nothing was edited', () => {
    expect(repeats([undefined, 500], [undefined], 1)).toBe(false)
    expect(repeats([undefined], [undefined], 1)).toBe(true)
  })

  it('asks for no bound where its caller cannot write one', () => {
    const request = { ...prepare(), askedMaxBytes: null }
    const { method, target, headers, body } = request
    const sent = { method, url: target.url.href, headers, body, credentialId: 'cred_1', secretVersion: 1 }
    const attempt = { requestDigest: digestRequest(sent), credentialVersion: 1 }
    expect(call({ request }).repeats(attempt, 7)).toBe(true)
  })
})

describe('a kept answer', () => {
  it('opens as it was sealed, whatever its bytes', () => {
    fc.assert(
      fc.property(
        fc.record({
          status: fc.integer({ min: 200, max: 599 }),
          headers: fc.array(fc.tuple(fc.constantFrom('a', 'b', 'content-length', 'set-cookie'), fc.string())),
          dropped: fc.array(fc.string()),
          body: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
        }),
        (given) => {
          expect(call().open(ATTEMPT, sealedBy(call(), given))).toEqual(given)
        },
      ),
      { numRuns: 100 },
    )
  })

  it.each<[what: string, headers: Answer['headers'], written: unknown]>([
    [
      'an object, as the release before reads it',
      [
        ['a', '1'],
        ['b', '2'],
      ],
      { a: '1', b: '2' },
    ],
    [
      'pairs where a name repeats',
      [
        ['a', '1'],
        ['a', '2'],
      ],
      [
        ['a', '1'],
        ['a', '2'],
      ],
    ],
    ['pairs where a length is said', [['content-length', '9']], [['content-length', '9']]],
  ])('has its headers as %s', (_, headers, written) => {
    const sealing = { key: newKey(), context: 'att_1 digest' }
    const sealed = sealAnswer({ ...answer, headers }, sealing)!
    const decipher = createDecipheriv('aes-256-gcm', sealing.key, sealed.subarray(0, 12))
    decipher.setAAD(Buffer.from(sealing.context)).setAuthTag(sealed.subarray(12, 28))
    const plain = Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()])
    expect(JSON.parse(plain.toString('utf8', 4, 4 + plain.readUInt32BE(0)))).toEqual({
      status: 201,
      headers: written,
      dropped: ['x-internal'],
    })
    expect(openAnswer(sealed, sealing).headers).toEqual(headers)
  })

  it('shows nothing of itself, and is other bytes every time', () => {
    const [one, two] = [sealedBy(call()), sealedBy(call())]
    expect(one.equals(two)).toBe(false)
    for (const part of ['the answer', 'text/plain', 'key-1', 'cap_1']) expect(one.includes(part)).toBe(false)
  })

  it('has memory of its own, so that it goes to another thread alone', () => {
    const kept = call().seal(ATTEMPT, answer)
    expect(kept?.buffer.byteLength).toBe(kept?.byteLength)
  })

  it('opens for the same call and attempt alone: not without the caller’s key, nor for another request', () => {
    const sealed = sealedBy(call())
    for (const other of [call({ key: 'key-2' }), call({ scope: 'cap_2' }), call({}, newKey())])
      expect(() => other.open(ATTEMPT, sealed)).toThrow()
    for (const other of [{ id: 'att_2' }, { requestDigest: 'another' }])
      expect(() => call().open({ ...ATTEMPT, ...other }, sealed)).toThrow()
  })

  it('does not open when a byte of it was changed or left out', () => {
    const sealed = sealedBy(call())
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed)
      changed[at] = (changed[at] ?? 0) ^ 1
      expect(() => call().open(ATTEMPT, changed), `byte ${at}`).toThrow()
    }
    for (const length of [0, 5, 12, 28, sealed.length - 1])
      expect(() => call().open(ATTEMPT, sealed.subarray(0, length)), `${length} bytes`).toThrow()
  })

  it('is kept up to a bound, and not at all beyond it', () => {
    const body = Buffer.alloc(MAX_KEPT_BYTES)
    expect(
      call()
        .open(ATTEMPT, sealedBy(call(), { ...answer, body }))
        .body.equals(body),
    ).toBe(true)
    expect(call().seal(ATTEMPT, { ...answer, body: Buffer.alloc(MAX_KEPT_BYTES + 1) })).toBeUndefined()
  })
})
