import { createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { toCanonicalJson } from '../../../src/lib/canonical-json.ts'
import { JWS_TYPES, verifyJws } from '../../../src/receipts/types.ts'

const { privateKey } = generateKeyPairSync('ed25519')
const publicJwk = { ...createPublicKey(privateKey).export({ format: 'jwk' }), kid: 'k1', use: 'sig' }
const jwks = { keys: [publicJwk] }
const encode = (text: string) => Buffer.from(text).toString('base64url')

function jwsOf(header: Record<string, unknown>, payload: string): string {
  const signed = `${encode(JSON.stringify(header))}.${encode(payload)}`
  return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`
}
const header = { alg: 'EdDSA', kid: 'k1', typ: JWS_TYPES.receipt }
const payload = { iss: 'https://gateway.example', n: 1 }
const good = jwsOf(header, toCanonicalJson(payload))

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
/** Four bits of the last letter are those of no byte. */
const nextOf = (letter: string) => LETTERS.charAt(LETTERS.indexOf(letter) + 1)

describe('verifyJws', () => {
  it('accepts a receipt under a published key', async () => {
    expect(await verifyJws(good, jwks, JWS_TYPES.receipt)).toEqual({ ok: true, kid: 'k1', payload })
  })

  it.each(Object.values(JWS_TYPES).filter((typ) => typ !== JWS_TYPES.receipt))(
    'does not take a receipt for a %s',
    async (typ) => {
      expect(await verifyJws(good, jwks, typ)).toEqual({ ok: false, reason: 'wrong_type' })
    },
  )

  it.each([
    ['nonsense', 'nonsense', 'malformed'],
    ['no type', jwsOf({ alg: 'EdDSA', kid: 'k1' }, '{}'), 'wrong_type'],
    ['alg none', `${encode(JSON.stringify({ ...header, alg: 'none' }))}.${encode('{}')}.`, 'wrong_algorithm'],
    ['a symmetric algorithm', jwsOf({ ...header, alg: 'HS256' }, '{}'), 'wrong_algorithm'],
    ['a key that is not published', jwsOf({ ...header, kid: 'k2' }, '{}'), 'unknown_key'],
    ['a critical extension', jwsOf({ ...header, crit: ['x'], x: 1 }, '{}'), 'bad_signature'],
    ['a changed payload', good.replace(/\.[^.]+\./, `.${encode('{"n":2}')}.`), 'bad_signature'],
    ['a payload with spaces', jwsOf(header, '{"n": 1}'), 'not_canonical'],
    ['a payload in another order', jwsOf(header, '{"n":1,"iss":"x"}'), 'not_canonical'],
    ['a payload that is no object', jwsOf(header, '[1]'), 'malformed'],
    ['a payload that is no JSON', jwsOf(header, 'hello'), 'malformed'],
  ])('refuses %s', async (_name, jws, reason) => {
    expect(await verifyJws(jws, jwks, JWS_TYPES.receipt)).toEqual({ ok: false, reason })
  })

  it('does not verify with a wrapping key', async () => {
    const wrapping = { keys: [{ ...publicJwk, use: 'enc' }] }
    expect(await verifyJws(good, wrapping, JWS_TYPES.receipt)).toEqual({ ok: false, reason: 'unknown_key' })
  })

  it('verifies with a key that does not say what it is used for', async () => {
    const { use: _use, ...unlabelled } = publicJwk
    expect(await verifyJws(good, { keys: [unlabelled] }, JWS_TYPES.receipt)).toMatchObject({ ok: true })
  })

  it.each([
    ['another type', { kty: 'EC' }],
    ['another curve', { crv: 'X25519' }],
    ['no type', { kty: undefined }],
  ])('does not know a key of %s, whatever its id', async (_what, change) => {
    const keys = [{ ...publicJwk, ...change }]
    expect(await verifyJws(good, { keys }, JWS_TYPES.receipt)).toEqual({ ok: false, reason: 'unknown_key' })
    // The right one behind it is found.
    const both = { keys: [...keys, publicJwk] }
    expect(await verifyJws(good, both, JWS_TYPES.receipt)).toMatchObject({ ok: true })
  })

  it.each([
    ['padding', `${good}==`],
    ['white space', `${good.slice(0, -5)} ${good.slice(-5)}`],
    ['other bits at the end, which no byte holds', good.slice(0, -1) + nextOf(good.at(-1) ?? '')],
    ['a head in another order', jwsOf({ typ: JWS_TYPES.receipt, kid: 'k1', alg: 'EdDSA' }, '{"n":1}')],
  ])('takes one spelling of a receipt alone: not %s', async (_what, jws) => {
    expect(await verifyJws(jws, jwks, JWS_TYPES.receipt)).toEqual({ ok: false, reason: 'not_canonical' })
  })

  it('refuses every receipt of which one character was changed', async () => {
    for (let at = 0; at < good.length; at += 7) {
      const other = good[at] === 'A' ? 'B' : 'A'
      const changed = good.slice(0, at) + other + good.slice(at + 1)
      expect((await verifyJws(changed, jwks, JWS_TYPES.receipt)).ok, `at ${at}`).toBe(false)
    }
  })
})
