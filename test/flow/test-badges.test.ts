// The badge of a pasted sample, at the doors of a gateway: what it says, and what somebody would do who wants a better one.
import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestBadge, TestReport } from '../../schemas/commerce.ts'
import { createCommerce } from '../../src/commerce/index.ts'
import { createSign } from '../../src/receipts/ed25519.ts'
import { createLogger } from '../../src/lib/log.ts'
import { generateSigningKey } from '../../src/receipts/adapters/signing-key-file.ts'
import { createKeyRing, encode } from '../../src/receipts/key-ring.ts'
import { JWS_TYPES } from '../../src/receipts/types.ts'
import { createTestBadges } from '../../src/receipts/test-badges.ts'
import { SAMPLES } from '../data/commerce/samples.ts'
import { wire } from '../support/commerce.ts'
import { type Harness, startRestHarness } from '../support/door-harness.ts'
import { awayFromMidnight } from '../support/midnight.ts'

const DAY_MS = 86_400_000
const good = wire(SAMPLES['x402-http']!)
const key = generateSigningKey()
const sign = createSign(key.jwk)
const published = {
  kid: key.kid,
  purpose: 'sign',
  jwk: JSON.stringify(key.jwk),
  notBefore: 0,
  retiredAt: null,
  revokedAt: null,
  revocationReason: null,
} as const
const ring = createKeyRing()
const signed = (typ: string, payload: object, head: object = {}, by = sign) => {
  const text = `${encode({ alg: 'EdDSA', kid: key.kid, typ, ...head })}.${encode(payload)}`
  return `${text}.${by(text)}`
}

let gateway: Harness
let skew = 0
const now = () => Date.now() + skew
beforeAll(async () => {
  ring.load([published])
  const addresses = { baseUrl: 'https://gateway.example', siteUrl: 'https://gateway.example' }
  const signer = {
    kid: key.kid,
    environment: 'production' as const,
    sign: (typ: string, payload: object) => signed(typ, payload),
    verifyOwn: ring.verifyOwn,
  }
  gateway = await startRestHarness({
    now,
    services: {
      commerce: createCommerce({
        documents: { read: async ({ initial }) => ({ value: initial }) },
        log: createLogger('silent'),
        now,
      }),
      testBadges: createTestBadges({ signer, addresses, now }),
    },
  })
})
afterAll(() => gateway?.close())

const test = (input: object) =>
  fetch(`${gateway.baseUrl}/v1/test`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(input),
  })
const badgeOf = async (input: object): Promise<TestReport & { badge: TestBadge }> =>
  (await test({ ...input, badge: true })).json() as Promise<TestReport & { badge: TestBadge }>
const statementOf = ({ url }: TestBadge) => url.slice('https://gateway.example/badges/'.length)
const show = (statement: string) => fetch(`${gateway.baseUrl}/badges/${statement}`)

describe('the badge of a pasted sample', () => {
  it('says that it is of a sample, its score, its day and its report, and no name that the sample chose', async () => {
    await awayFromMidnight()
    const { badge, report_hash } = await badgeOf({
      ...good,
      headers: { ...good.headers, 'X-Name': 'bank.example' },
    })
    const response = await show(statementOf(badge))
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('image/svg+xml')
    expect(response.headers.get('content-security-policy')).toContain('sandbox')
    const svg = await response.text()
    const day = new Date().toISOString().slice(0, 10)
    expect(svg).toContain(
      `<title>pasted x402 sample: 100/100 ready · ${day} · ${report_hash.slice(0, 8)}</title>`,
    )
    const said = Buffer.from(statementOf(badge).split('.')[1]!, 'base64url').toString()
    for (const text of [svg, said]) {
      expect(text).not.toContain('bank.example')
      expect(text).not.toContain(new URL(good.target).host)
    }
  })

  it('leaves the report as it is, and is not there unless somebody asked', async () => {
    const plain = (await (await test(good)).json()) as TestReport
    const { badge, ...report } = await badgeOf(good)
    expect(report).toEqual(plain)
    expect(plain).not.toHaveProperty('badge')
    expect(badge.url.length).toBeLessThan(1100)
  })

  it('is of one sample: whoever has the sample and the salt can tell, and nobody can guess it without', async () => {
    const { badge } = await badgeOf(good)
    const digest = (sample: object, salt: string) =>
      createHash('sha256').update(canonicalize({ salt, sample })!).digest('base64url')
    expect(badge.sample_digest).toBe(digest(good, badge.salt))
    expect(badge.sample_digest).not.toBe(digest({ ...good, target: 'https://another.example/' }, badge.salt))
    expect((await badgeOf(good)).badge.sample_digest).not.toBe(badge.sample_digest)
    const [, said = ''] = statementOf(badge).split('.')
    expect(Buffer.from(said, 'base64url').toString()).toContain(badge.sample_digest)
    expect(Buffer.from(said, 'base64url').toString()).not.toContain(badge.salt)
  })

  it('is none of what is no transaction, nor of claims beside it', async () => {
    expect(await (await test({ target: 'https://a.example/', badge: true })).json()).toMatchObject({
      badge: null,
    })
    for (const besides of [
      { evaluate_at: '2026-01-01T00:00:00Z' },
      { tool_annotations: { readOnlyHint: true } },
    ]) {
      const response = await test({ ...good, ...besides, badge: true })
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ code: 'invalid_sample' })
    }
    // Half a character has no bytes in UTF-8, so there is nothing to digest.
    const half = await test({ ...good, headers: { ...good.headers, 'X-Half': '\uD800' }, badge: true })
    expect([half.status, await half.json()]).toMatchObject([400, { code: 'invalid_sample' }])
  })

  it('is out of date after 90 days, and says no score then', async () => {
    const { badge } = await badgeOf(wire(SAMPLES['x402-bare']!))
    skew = 89 * DAY_MS
    expect(await (await show(statementOf(badge))).text()).toContain('63/100 at risk')
    skew = 91 * DAY_MS
    const late = await (await show(statementOf(badge))).text()
    skew = 0
    expect(late).toContain('out of date')
    expect(late).not.toContain('63/100')
  })

  it('says that it is out of date once the rules are others, and that it is of a sandbox', async () => {
    const { badge } = await badgeOf(good)
    const said = JSON.parse(Buffer.from(statementOf(badge).split('.')[1]!, 'base64url').toString()) as object
    const older = signed(JWS_TYPES.testReport, { ...said, ruleset_version: 'gateway-test/2020-01-01' })
    expect(await (await show(older)).text()).toContain('out of date')
    const sandbox = signed(JWS_TYPES.testReport, { ...said, environment: 'sandbox' })
    expect(await (await show(sandbox)).text()).toContain('sandbox: pasted x402 sample')
  })

  it('is of nothing that this gateway did not sign as a score', async () => {
    const { badge } = await badgeOf(wire(SAMPLES['x402-bare']!))
    const [head, body, signature] = statementOf(badge).split('.') as [string, string, string]
    const said = JSON.parse(Buffer.from(body, 'base64url').toString()) as object
    const better = { ...said, score: 100, level: 'ready' }
    const thief = createSign(generateSigningKey().jwk)
    const forged = {
      'another score under the signature': `${head}.${encode(better)}.${signature}`,
      'another key': signed(JWS_TYPES.testReport, better, {}, thief),
      'a key that nobody published': signed(JWS_TYPES.testReport, better, { kid: 'other' }),
      'no signature': `${head}.${encode(better)}.`,
      'the algorithm none': `${encode({ alg: 'none', kid: key.kid, typ: JWS_TYPES.testReport })}.${encode(better)}.`,
      'a receipt of ours': signed(JWS_TYPES.receipt, better),
      'a quote of ours': signed(JWS_TYPES.quote, better),
      'a score that is none': signed(JWS_TYPES.testReport, { ...better, score: 1000 }),
      'what is said of a service': signed(JWS_TYPES.testReport, { ...better, subject: 'service' }),
      'markup for a protocol': signed(JWS_TYPES.testReport, { ...better, protocol: '<script>' }),
      'a text': 'good',
      'a long text': 'a.'.repeat(3000),
      'an object that every object has': '__proto__',
    }
    for (const [name, statement] of Object.entries(forged))
      expect([name, (await show(statement)).status]).toEqual([name, 404])
    expect((await show(`${head}.${body}.${signature}?score=100`)).status).toBe(200)
    expect(await (await show(`${head}.${body}.${signature}?score=100`)).text()).toContain('63/100')
  })

  it('ends with the key that signed it, when that is revoked', async () => {
    const { badge } = await badgeOf(good)
    ring.load([{ ...published, revokedAt: Date.now(), revocationReason: 'stolen' }])
    expect((await show(statementOf(badge))).status).toBe(404)
    ring.load([published])
    expect((await show(statementOf(badge))).status).toBe(200)
  })
})
