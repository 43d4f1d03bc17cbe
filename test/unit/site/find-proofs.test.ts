// What people paste: every form in which an answer, a header or a command hands out a proof.
import { createHash, createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { checkContents } from '../../../src/doors/site/browser/lib/contents.ts'
import { findProofs } from '../../../src/doors/site/browser/lib/find-proofs.ts'
import { verifyProof } from '../../../src/doors/site/browser/lib/proof.ts'
import { toCanonicalJson } from '../../../src/lib/canonical-json.ts'
import { JWS_TYPES } from '../../../src/receipts/types.ts'
import { cpuMs } from '../../support/cpu-time.ts'

const { privateKey } = generateKeyPairSync('ed25519')
const key = { ...createPublicKey(privateKey).export({ format: 'jwk' }), kid: 'k1' }
const encode = (text: string) => Buffer.from(text).toString('base64url')
function made(typ: string, payload: object): string {
  const head = toCanonicalJson({ alg: 'EdDSA', kid: 'k1', typ })
  const signed = `${encode(head)}.${encode(toCanonicalJson(payload))}`
  return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`
}
const verify = (jws: string) =>
  verifyProof(jws, { keys: { document: { keys: [key] }, baseUrl: 'https://g.example' }, now: 0 })
const sha256 = (text: string, form: 'hex' | 'base64url' | 'base64') =>
  createHash('sha256').update(text).digest(form)

const jws = made(JWS_TYPES.receipt, { iat: 1 })
const quote = made(JWS_TYPES.quote, { iat: 2 })
const placesOf = (text: string, body?: string) => {
  const found = findProofs(text, body)
  return 'proofs' in found ? found.proofs.map(({ candidates: [first], at }) => [at, first]) : found.nothing
}

describe('findProofs', () => {
  it.each([
    ['a JWS', jws, ''],
    ['one with space around it', `\n  ${jws} \n`, ''],
    ['one as JSON', JSON.stringify(jws), ''],
    ['a header line', `Agent-Gateway-Receipt: ${jws}`, ''],
    ['what a command printed', `receipt_id  rcp_1\n\n${jws}\n`, ''],
    ['a receipt', JSON.stringify({ receipt_id: 'rcp_1', url: 'x', jws }), 'jws'],
    ['an answer', JSON.stringify({ ok: true, receipt: { jws } }), 'receipt.jws'],
    [
      'an answer behind its headers',
      `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{"receipt":{"jws":"${jws}"}}`,
      'receipt.jws',
    ],
    [
      'an answer of MCP',
      JSON.stringify({ content: [{ type: 'text', text: JSON.stringify({ receipt: { jws } }) }] }),
      'content.0.text.receipt.jws',
    ],
    [
      'a header of x402',
      Buffer.from(JSON.stringify({ extensions: { x: [{ signature: jws }] } })).toString('base64'),
      'extensions.x.0.signature',
    ],
    [
      'its line',
      `payment-required: ${Buffer.from(JSON.stringify({ extensions: { x: [{ signature: jws }] } })).toString('base64')}`,
      'extensions.x.0.signature',
    ],
  ])('finds the proof in %s', (_what, text, at) => {
    expect(placesOf(text)).toEqual([[at, jws]])
  })

  it('finds each proof of an answer once', () => {
    expect(placesOf(JSON.stringify({ evidence: { jws: quote }, receipt: { jws }, again: jws }))).toEqual([
      ['evidence.jws', quote],
      ['receipt.jws', jws],
    ])
  })

  it('puts a body to its detached signature', async () => {
    const push = made(JWS_TYPES.push, { task: 1 })
    const detached = push.replace(/\.[^.]*\./, '..')
    expect(placesOf(`A2A-Notification-Signature: ${detached}`)).toBe('needs_body')
    expect(placesOf(detached, '{"task":1}')).toEqual([['', push]])
    expect((await verify(push)).verdict).toBe('genuine')
  })

  it('takes an agent card for a proof, and refuses one of which a member was changed', async () => {
    const card = { name: 'A gateway', skills: [] }
    const [head, , signature] = made('JOSE', card).split('.')
    const signed = { ...card, signatures: [{ protected: head, signature }] }
    for (const [document, verdict] of [
      [signed, 'genuine'],
      [{ ...signed, name: 'Another' }, 'false'],
    ] as const) {
      const found = findProofs(JSON.stringify(document, undefined, 2))
      const [proof] = 'proofs' in found ? found.proofs : []
      expect(await verify(proof?.candidates[0] ?? '')).toMatchObject({ kind: 'card', verdict })
    }
  })

  it.each([
    ['', 'empty'],
    ['hello', 'nothing'],
    ['{}', 'nothing'],
    ['12', 'nothing'],
    ['{"jws": ', 'broken_json'],
    [jws.slice(0, 40), 'half'],
    ['eyJhIjoxfQ.a.b.c.d', 'encrypted'],
    [JSON.stringify({ keys: [key] }), 'keys'],
    ['rcp_0123456789abcdefghjkmnpqrstvwxyz012', 'receipt_id'],
    ['https://g.example/v1/receipts/rcp_0123456789abcdefghjkmnpqrstvwxyz012', 'receipt_id'],
    ['qte_0123456789abcdefghjkmnpqrstvwxyz012', 'other_id'],
    ['x'.repeat(3 * 1024 * 1024), 'too_long'],
  ])('says of %.40s what is missing', (text, nothing) => {
    expect(findProofs(text)).toMatchObject({ nothing })
  })

  it('answers hostile texts at once', () => {
    const hostile = [
      'eyJ'.repeat(100_000),
      `eyJ${'.a'.repeat(200_000)}`,
      '['.repeat(200_000),
      JSON.stringify('{"a":'.repeat(50_000)),
      `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`,
      JSON.stringify(Array.from({ length: 20_000 }, (_, at) => jws + at)),
      '{"__proto__":{"keys":[]}}',
    ]
    expect(cpuMs(() => hostile.map((text) => findProofs(text)))).toBeLessThan(2000)
  })
})

describe('checkContents', () => {
  const answer = { ok: true, n: 1.5, items: ['a'] }
  const result = { result_sha256: sha256(JSON.stringify(answer), 'hex') }
  const codesOf = async (payload: object, beside: unknown, body = '') =>
    (await checkContents(await verify(made(JWS_TYPES.receipt, payload)), beside, body)).map(
      ({ code, is }) => `${is} ${code}`,
    )

  it('sees whether the answer around a receipt is the one that was paid for', async () => {
    expect(await codesOf(result, { ...answer, receipt: {} })).toEqual(['done answer_matches'])
    expect(await codesOf(result, { ...answer, n: 2, receipt: {} })).toEqual(['failed answer_differs'])
  })

  it('sees whether the request in a quote is the one that it prices', async () => {
    const request = { url: 'https://a.example/' }
    const digest = sha256(toCanonicalJson(request), 'base64url')
    expect(await codesOf({ request, request_digest: digest }, undefined)).toEqual(['done request_matches'])
    expect(await codesOf({ request: {}, request_digest: digest }, undefined)).toEqual([
      'unknown request_shortened',
    ])
  })

  it.each([
    ['bytes in hex', { response_digest: sha256('hello', 'hex') }, 'hello', 'done body_bytes'],
    [
      'a file that ends with a line break',
      { body_sha256: sha256('hello', 'base64url') },
      'hello\n',
      'done body_bytes',
    ],
    [
      'content as RFC 9530 has it',
      { request: { content_digest: `sha-256=:${sha256('hello', 'base64')}:` } },
      'hello',
      'done body_bytes',
    ],
    [
      'JSON in RFC 8785',
      { request_digest: sha256('{"a":1,"b":2}', 'base64url') },
      '{ "b": 2, "a": 1 }',
      'done body_canonical',
    ],
    [
      'an answer with its receipt',
      result,
      JSON.stringify({ ...answer, receipt: 1 }, undefined, 1),
      'done body_without_receipt',
    ],
    ['another body', { response_digest: sha256('hello', 'hex') }, 'hallo', 'failed body_differs'],
    [
      'a body of a document without digests',
      { mandate_digest: sha256('hello', 'hex') },
      'hello',
      'unknown no_digests',
    ],
  ])('knows %s', async (_what, payload, body, expected) => {
    expect(await codesOf(payload, undefined, body)).toEqual([expected])
  })
})
