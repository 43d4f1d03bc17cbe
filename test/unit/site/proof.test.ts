// The verifier of the pages beside the one of the command line: the same documents, the same verdicts. Both fail closed.
import { createHmac, createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { fetchKeys, readKeys, verifyProof } from '../../../src/doors/site/browser/lib/proof.ts'
import { toCanonicalJson } from '../../../src/lib/canonical-json.ts'
import { JWS_TYPES, type KeyDocument, verifyJws } from '../../../src/receipts/types.ts'

const NOW = Date.parse('2026-11-23T12:00:00Z')
const baseUrl = 'https://gateway.example'
const { privateKey } = generateKeyPairSync('ed25519')
const { privateKey: strange } = generateKeyPairSync('ed25519')
const jwkOf = (key: typeof privateKey) => createPublicKey(key).export({ format: 'jwk' })
const key = { ...jwkOf(privateKey), kid: 'k1', use: 'sig', alg: 'EdDSA', purpose: 'receipt-signature' }
const published: KeyDocument = {
  keys: [{ kid: 'w', kty: 'OKP', crv: 'X25519', use: 'enc' }, key],
  revoked_keys: [],
}

const encode = (text: string) => Buffer.from(text).toString('base64url')
function jwsOf(header: string, payload: string, by = privateKey): string {
  const signed = `${encode(header)}.${encode(payload)}`
  return `${signed}.${sign(null, Buffer.from(signed), by).toString('base64url')}`
}
const header = { alg: 'EdDSA', kid: 'k1', typ: JWS_TYPES.receipt }
const payload = {
  environment: 'production',
  iat: NOW / 1000 - 60,
  iss: baseUrl,
  jti: 'rcp_1',
  kind: 'payment',
}
const made = (head: object = {}, body: object = {}, by = privateKey) =>
  jwsOf(toCanonicalJson({ ...header, ...head }), toCanonicalJson({ ...payload, ...body }), by)
const good = made()
const [goodHead = '', goodBody = '', goodEnd = ''] = good.split('.')

const verify = (
  jws: string,
  document: KeyDocument | undefined = published,
  from: string | undefined = baseUrl,
) => verifyProof(jws, { keys: { document, baseUrl: from }, now: NOW, expected: 'receipt' })

/** The reason in the words of `verifyJws`, from the checks; in its order, since it stops at the first. */
function reasonOf({ checks, verdict }: Awaited<ReturnType<typeof verify>>): string {
  if (verdict === 'genuine' || verdict === 'expired') return 'ok'
  const codes = new Set(checks.map(({ code }) => code))
  const first = (...wanted: string[]) => wanted.some((code) => codes.has(code))
  if (first('header_not_json', 'not_three_parts')) return 'malformed'
  if (first('other_type', 'unknown_type')) return 'wrong_type'
  if (first('wrong_algorithm')) return 'wrong_algorithm'
  if (first('key_revoked')) return 'key_revoked'
  if (first('unknown_key')) return 'unknown_key'
  if (first('bad_signature', 'bad_key', 'critical_extension')) return 'bad_signature'
  if (first('payload_not_json')) return 'malformed'
  if (first('not_canonical', 'not_base64url')) return 'not_canonical'
  return [...codes].find((code) => code === 'issued_after_retirement') ?? `open: ${[...codes].join()}`
}

const hmac = (head: object) => {
  const signed = `${encode(toCanonicalJson({ ...header, ...head }))}.${goodBody}`
  return `${signed}.${createHmac('sha256', String(key.x)).update(signed).digest('base64url')}`
}
const retired = { keys: [{ ...key, retired_at: '2026-11-23T11:00:00Z' }] }
const isoAt = (at: number) => new Date(at).toISOString()

const VECTORS: readonly (readonly [what: string, jws: string, keys: KeyDocument, reason: string])[] = [
  ['a good one', good, published, 'ok'],
  ['a key that does not say what it is used for', good, { keys: [{ ...key, use: undefined }] }, 'ok'],
  ['one of a key retired later', good, { keys: [{ ...key, retired_at: isoAt(NOW) }] }, 'ok'],
  ['one younger than the retirement of its key', good, retired, 'issued_after_retirement'],
  [
    'a retirement that cannot be read',
    good,
    { keys: [{ ...key, retired_at: 'soon' }] },
    'issued_after_retirement',
  ],
  [
    'a revoked key beside the set',
    good,
    { keys: [], revoked_keys: [{ kid: 'k1', revoked_at: isoAt(NOW) }] },
    'key_revoked',
  ],
  ['a revoked key in the set, too', good, { keys: [key], revoked_keys: [{ kid: 'k1' }] }, 'key_revoked'],
  ['a key marked as revoked', good, { keys: [{ ...key, revoked_at: isoAt(NOW) }] }, 'key_revoked'],
  ['an unknown key id', made({ kid: 'k2' }), published, 'unknown_key'],
  ['no key id', made({ kid: undefined }), published, 'unknown_key'],
  ['a wrapping key of that id', good, { keys: [{ ...key, use: 'enc' }] }, 'unknown_key'],
  ['a key of another curve', good, { keys: [{ ...key, crv: 'X25519' }] }, 'unknown_key'],
  ['a key of another type', good, { keys: [{ ...key, kty: 'EC' }] }, 'unknown_key'],
  ['a public half of the wrong length', good, { keys: [{ ...key, x: 'AAAA' }] }, 'bad_signature'],
  ['another private key', made({}, {}, strange), published, 'bad_signature'],
  [
    'alg none',
    `${encode(toCanonicalJson({ ...header, alg: 'none' }))}.${goodBody}.`,
    published,
    'wrong_algorithm',
  ],
  ['the public key as an HMAC secret', hmac({ alg: 'HS256' }), published, 'wrong_algorithm'],
  ['an HMAC that says EdDSA', hmac({}), published, 'bad_signature'],
  ['a critical extension', made({ crit: ['exp'], exp: 1 }), published, 'bad_signature'],
  ['another kind', made({ typ: JWS_TYPES.quote }), published, 'wrong_type'],
  ['no kind', made({ typ: undefined }), published, 'wrong_type'],
  ['padding', `${good}==`, published, 'not_canonical'],
  [
    'white space inside',
    `${goodHead}.${goodBody}.${goodEnd.slice(0, 40)} ${goodEnd.slice(40)}`,
    published,
    'not_canonical',
  ],
  ['a repeated member', jwsOf(toCanonicalJson(header), '{"iat":1,"iat":2}'), published, 'not_canonical'],
  ['a payload with spaces', jwsOf(toCanonicalJson(header), '{"iat": 1}'), published, 'not_canonical'],
  [
    'a payload in another order',
    jwsOf(toCanonicalJson(header), '{"jti":"1","iat":1}'),
    published,
    'not_canonical',
  ],
  [
    'a repeated member in the head',
    jwsOf(JSON.stringify(header).replace('{', '{"alg":"none",'), '{}'),
    published,
    'not_canonical',
  ],
  [
    'a head in another order',
    jwsOf(JSON.stringify({ typ: header.typ, alg: 'EdDSA', kid: 'k1' }), '{}'),
    published,
    'not_canonical',
  ],
  ['a payload that is a list', jwsOf(toCanonicalJson(header), '[1]'), published, 'malformed'],
  ['a payload that is no JSON', jwsOf(toCanonicalJson(header), 'hello'), published, 'malformed'],
  ['one part', goodHead, published, 'malformed'],
  ['nonsense', 'nonsense', published, 'malformed'],
]

describe('a document at both verifiers', () => {
  it.each(VECTORS)('%s', async (_what, jws, keys, reason) => {
    const known = await verifyJws(jws, keys, JWS_TYPES.receipt)
    const there = known.ok ? 'ok' : known.reason
    expect({ here: reasonOf(await verify(jws, keys)), there }).toEqual({ here: reason, there: reason })
  })

  it('is refused by both with a part too many', async () => {
    expect((await verifyJws(`${good}.AAAA`, published, JWS_TYPES.receipt)).ok).toBe(false)
    expect((await verify(`${good}.AAAA`)).verdict).toBe('false')
  })

  it('is refused by both after a change of any of its characters', async () => {
    for (let at = 0; at < good.length; at++) {
      const other = good[at] === 'A' ? 'B' : 'A'
      const changed = good.slice(0, at) + other + good.slice(at + 1)
      expect((await verifyJws(changed, published, JWS_TYPES.receipt)).ok, `at ${at}`).toBe(false)
      expect((await verify(changed)).verdict, `at ${at}`).not.toBe('genuine')
    }
  })

  it('is refused by both in every other spelling of its last character', async () => {
    const others = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'.replace(
      good.at(-1) ?? '',
      '',
    )
    for (const other of others) {
      const changed = good.slice(0, -1) + other
      expect((await verifyJws(changed, published, JWS_TYPES.receipt)).ok, other).toBe(false)
      expect((await verify(changed)).verdict, other).toBe('false')
    }
  })
})

describe('a genuine document', () => {
  it('says who signed it, when, and with which key', async () => {
    expect((await verify(good)).checks).toEqual([
      { name: 'form', is: 'done', code: 'canonical' },
      { name: 'kind', is: 'done', code: 'known_type', detail: { typ: JWS_TYPES.receipt } },
      { name: 'algorithm', is: 'done', code: 'eddsa', detail: { alg: 'EdDSA' } },
      { name: 'key', is: 'done', code: 'published_key', detail: { kid: 'k1' } },
      { name: 'signature', is: 'done', code: 'good_signature' },
      { name: 'time', is: 'done', code: 'issued', detail: { at: isoAt(NOW - 60_000) } },
      { name: 'issuer', is: 'done', code: 'this_gateway', detail: { issuer: baseUrl, keys: baseUrl } },
      { name: 'environment', is: 'done', code: 'production' },
    ])
  })

  it.each([
    ['exp', { exp: NOW / 1000 }, 'expired'],
    ['exp that is still to come', { exp: NOW / 1000 + 1 }, 'genuine'],
    ['validUntil of an offer', { validUntil: NOW / 1000 - 1 }, 'expired'],
  ])('is over by its %s', async (_what, body, verdict) => {
    expect((await verify(made({}, body))).verdict).toBe(verdict)
  })

  it.each([
    ['another issuer than the one whose keys these are', good, 'https://other.example', 'other_issuer'],
    ['an issuer that pasted keys cannot prove', good, undefined, 'pasted_keys'],
    [
      'an issuer that only begins alike',
      made({}, { iss: `${baseUrl}.evil.example` }),
      baseUrl,
      'other_issuer',
    ],
  ])('is not said to be from %s', async (_what, jws, from, code) => {
    const proof = await verifyProof(jws, { keys: { document: published, baseUrl: from }, now: NOW })
    expect(proof.checks).toContainEqual(expect.objectContaining({ name: 'issuer', is: 'unknown', code }))
  })

  it('names the key of an offer by the DID of its gateway', async () => {
    const offer = (did: string) =>
      jwsOf(
        toCanonicalJson({ alg: 'EdDSA', kid: `${did}#k1`, typ: JWS_TYPES.offer }),
        '{"validUntil":9999999999}',
      )
    const keys = { document: published, baseUrl }
    const own = await verifyProof(offer('did:web:gateway.example'), { keys, now: NOW })
    expect(own).toMatchObject({ verdict: 'genuine', kind: 'offer' })
    expect(own.checks).toContainEqual(expect.objectContaining({ name: 'issuer', code: 'this_gateway' }))
    const other = await verifyProof(offer('did:web:other.example'), { keys, now: NOW })
    expect(other.checks).toContainEqual(expect.objectContaining({ name: 'issuer', code: 'other_issuer' }))
  })
})

describe('what cannot be decided', () => {
  it('is neither genuine nor false without keys', async () => {
    const proof = await verifyProof(good, { keys: undefined, now: NOW })
    expect(proof.verdict).toBe('unknown')
    expect(proof.checks.map(({ code }) => code)).toContain('no_keys')
  })

  it('is so in a browser without Ed25519, and on a page without cryptography', async () => {
    const { subtle } = globalThis.crypto
    const importKey = subtle.importKey
    try {
      subtle.importKey = () => Promise.reject(new DOMException('no', 'NotSupportedError'))
      expect((await verify(good)).checks).toContainEqual({
        name: 'signature',
        is: 'unknown',
        code: 'no_ed25519',
      })
      expect((await verify(good)).verdict).toBe('unknown')
    } finally {
      subtle.importKey = importKey
    }
  })

  it('is a type that nobody here knows, however good its signature', async () => {
    const proof = await verifyProof(made({ typ: 'JWT' }), {
      keys: { document: published, baseUrl },
      now: NOW,
    })
    expect(proof).toMatchObject({ verdict: 'unknown', kind: undefined })
  })
})

describe('a document made to break its reader', () => {
  const odd = { toString: 1, valueOf: 1 }
  it.each([
    ['its type', made({ typ: odd })],
    ['its algorithm', made({ alg: odd })],
    ['its key id', made({ kid: odd })],
    ['its issuer', made({}, { iss: odd })],
    ['its times', made({}, { iat: odd, exp: [], issuedAt: 1e300, validUntil: -1e300 })],
    ['a moment of its key', good, { ...key, retired_at: odd }],
    ['its key', good, { ...key, x: odd }],
    ['a revocation', good, { ...key, revoked_at: odd }],
    ['its length', `${goodHead}.${'A'.repeat(600_000)}.${goodEnd}`],
  ])('is judged all the same: %s', async (_what, jws, other: object = key) => {
    const proof = await verify(jws, {
      keys: [other],
      revoked_keys: [{ kid: 'z', revoked_at: odd, reason: odd }],
    })
    expect(
      proof.checks.every(({ detail = {} }) =>
        Object.values(detail).every((text) => typeof text === 'string'),
      ),
    ).toBe(true)
    expect(typeof proof.verdict).toBe('string')
  })
})

describe('fetchKeys', () => {
  const asked: (RequestInit | undefined)[] = []
  async function answered(answer: () => Response): Promise<unknown> {
    const { fetch } = globalThis
    try {
      globalThis.fetch = async (_url, init) => {
        asked.push(init)
        return answer()
      }
      return await fetchKeys({ api: '', baseUrl })
    } finally {
      globalThis.fetch = fetch
    }
  }

  it('asks anew each time, as nobody', async () => {
    expect(await answered(() => Response.json(published))).toEqual({ document: published, baseUrl })
    expect(asked.at(-1)).toMatchObject({ credentials: 'omit', cache: 'no-cache' })
  })

  it.each([
    ['an error', () => Response.json(published, { status: 503 })],
    ['a page', () => new Response('<html>')],
    [
      'no answer',
      () => {
        throw new TypeError('failed')
      },
    ],
  ])('takes %s for no keys', async (_what, answer) => {
    expect(await answered(answer)).toBeUndefined()
  })
})

describe('readKeys', () => {
  it.each(['', '[]', '{}', '{"keys":{}}', '{"keys":[1]}', '{"keys":[],"revoked_keys":1}', 'null'])(
    'takes no %s',
    (text) => {
      expect(readKeys(text)).toBeUndefined()
    },
  )
  it('takes a JWK Set and a key document', () => {
    expect(readKeys('{"keys":[]}')).toEqual({ keys: [] })
    expect(readKeys(JSON.stringify(published))).toMatchObject({ revoked_keys: [] })
  })
})
