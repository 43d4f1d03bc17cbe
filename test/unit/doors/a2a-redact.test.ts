import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { redactMessage, redactTokens, redactValue } from '../../../src/doors/a2a/redact.ts'
import { toCanonicalJson } from '../../../src/lib/canonical-json.ts'
import { JWS_TYPES } from '../../../src/receipts/types.ts'
import type { WirePart } from '../../../src/doors/a2a/wire.ts'
import { newToken } from '../../../src/lib/tokens.ts'

const redactPart = (part: WirePart) =>
  redactMessage({ messageId: 'm', role: 'ROLE_USER', parts: [part] }).parts[0]

describe('redaction', () => {
  for (const name of [
    'capability',
    'permit',
    'mandate',
    'payment',
    'x402.payment.payload',
    'credential',
    'secret',
    'client_secret',
    'clientSecret',
    'email',
    'emails',
    'Authorization',
    'X-Gateway-Capability',
    'api_key',
    'x-api-key',
    'password',
    'access_token',
    'idempotency_key',
    'idempotency-key',
    'email_key',
    'x402/sign-in-with-x',
  ])
    test(`takes the value of ${name} out`, () => {
      expect(redactValue({ a: [{ [name]: 'canary' }] })).toEqual({ a: [{ [name]: '[redacted]' }] })
      expect(redactValue({ [name]: { deep: ['canary'] } })).toEqual({ [name]: '[redacted]' })
    })

  for (const name of ['credential_id', 'url', 'html', 'text', 'permits_needed', 'capabilities'])
    test(`leaves ${name} alone`, () => expect(redactValue({ [name]: 'kept' })).toEqual({ [name]: 'kept' }))

  test('reads JSON within text by name, and keeps the words around it', () => {
    expect(redactPart({ text: 'run {"skill":"verify","input":{"email":"jo@example.com"}} now' })).toEqual({
      text: 'run {"skill":"verify","input":{"email":"[redacted]"}} now',
    })
  })

  for (const beside of ['permit', 'mandate', 'mandate_id'])
    test(`takes a request beside a ${beside} out, and no other`, () => {
      expect(redactValue({ [beside]: 'x', request: { body: 'canary' } })).toMatchObject({
        request: '[redacted]',
      })
      expect(redactValue({ request: { body: 'kept' } })).toEqual({ request: { body: 'kept' } })
    })

  test('finds a permit of ours wherever it stands, and leaves other signed documents alone', () => {
    const header = (typ: string) =>
      Buffer.from(toCanonicalJson({ alg: 'EdDSA', kid: 'k'.repeat(43), typ })).toString('base64url')
    const permit = `${header(JWS_TYPES.permit)}.cGF5bG9hZA.c2lnbmF0dXJl`
    const receipt = `${header(JWS_TYPES.receipt)}.cGF5bG9hZA.c2lnbmF0dXJl`
    expect(redactTokens(`use ${permit}, please`)).toBe('use [redacted], please')
    expect(redactPart({ text: `execute ${permit}` })).toEqual({ text: 'execute [redacted]' })
    expect(redactValue({ note: [permit, receipt] })).toEqual({ note: ['[redacted]', receipt] })
  })

  test('drops files', () => {
    expect(redactPart({ raw: 'Y2FuYXJ5' })).toEqual({ text: '[a file of 8 base64 characters]' })
  })

  test('finds a token of ours wherever it stands', () => {
    const kinds = fc.constantFrom('sk' as const, 'cap' as const, 'ek' as const)
    const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 })
    fc.assert(
      fc.property(
        kinds,
        bytes,
        fc.string(),
        fc.string(),
        fc.jsonValue(),
        (kind, random, before, after, around) => {
          const token = newToken(kind, Buffer.from(random))
          const text = `${before} ${token} ${after}`
          expect(redactTokens(text)).not.toContain(token)
          expect(JSON.stringify(redactValue([text, { around, text }]))).not.toContain(token)
          expect(JSON.stringify(redactPart({ text }))).not.toContain(token)
        },
      ),
    )
  })
})
