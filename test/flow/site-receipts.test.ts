// The page of a receipt over services that the test chooses: what it says without a script, in every form, and of every standing.
import { createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { GatewayError } from '../../src/core/errors.ts'
import { toCanonicalJson } from '../../src/lib/canonical-json.ts'
import { type Harness, startRestHarness } from '../support/door-harness.ts'

const { privateKey } = generateKeyPairSync('ed25519')
const kid = String(createPublicKey(privateKey).export({ format: 'jwk' }).x)
const encode = (value: object) => Buffer.from(toCanonicalJson(value)).toString('base64url')
function made(claims: object): string {
  const signed = `${encode({ alg: 'EdDSA', kid, typ: 'gw-receipt+jws' })}.${encode(claims)}`
  return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`
}

const HOSTILE = `<script>alert(1)</script>"><img src=x onerror=alert(1)>\u202Egpj.exe ${'w'.repeat(10_000)}`
const payment = {
  amount: '1000',
  asset: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
  environment: 'production',
  iat: 1_795_000_000,
  iss: 'https://g.example',
  kind: 'payment',
  network: 'eip155:8453',
  payer: '0xpayer',
  resource: 'g.example/v1/tools/web.fetch',
  tool: 'gateway.web.fetch',
  transaction: `0x${'ab'.repeat(32)}`,
}
interface Stored {
  readonly claims: object
  readonly standing?: { readonly withdrawnAt: number; readonly replacedBy: string | null }
  readonly revokedKey?: { readonly kid: string; readonly revokedAt: number; readonly reason: string }
}
const RECEIPTS: Readonly<Record<string, Stored>> = {
  rcp_good: { claims: payment },
  rcp_sandbox: { claims: { ...payment, environment: 'sandbox' } },
  rcp_withdrawn: { claims: payment, standing: { withdrawnAt: 1, replacedBy: null } },
  rcp_superseded: { claims: payment, standing: { withdrawnAt: 1, replacedBy: 'rcp_good' } },
  rcp_renewed: { claims: payment, revokedKey: { kid: 'old', revokedAt: 1, reason: 'lost' } },
  rcp_hostile: {
    claims: {
      ...Object.fromEntries(Object.keys(payment).map((name) => [name, HOSTILE])),
      kind: 'payment',
      iss: 'javascript:alert(1)',
    },
  },
  rcp_odd: { claims: { kind: 'refund', amount: null, times: [], request: 'x' } },
}

let gateway: Harness
beforeAll(async () => {
  const get = async (id: string) => {
    const stored = RECEIPTS[id]
    if (!stored) throw new GatewayError('receipt_not_found', 'Check the id.')
    const { claims, standing, revokedKey = null } = stored
    return { id, accountId: 'a', jws: made(claims), createdAt: 1, standing, revokedKey }
  }
  gateway = await startRestHarness({ services: { receipts: { get } as never } })
})
afterAll(() => gateway?.close())

const read = async (path: string, accept = 'text/html') => {
  const response = await fetch(gateway.baseUrl + path, { headers: { accept } })
  return { response, text: await response.text() }
}

describe('the page of a receipt', () => {
  it('tells what happened without a script, with the commands that verify it', async () => {
    const { response, text } = await read('/receipts/rcp_good')
    expect(response.status).toBe(200)
    expect(text).toContain('0.001 USDC')
    expect(text).toContain(`href="https://basescan.org/tx/${payment.transaction}"`)
    expect(text).toContain('npx agent-gateway receipts show rcp_good')
    expect(text).toContain('Base (eip155:8453)')
  })

  it('is listed by no search engine, in no form', async () => {
    for (const accept of ['text/html', 'text/markdown', 'application/json'])
      expect((await read('/receipts/rcp_good', accept)).response.headers.get('x-robots-tag')).toBe('noindex')
    expect((await read('/verify')).response.headers.get('x-robots-tag')).toBeNull()
  })

  it('is data for a program', async () => {
    const { text } = await read('/receipts/rcp_good', 'application/json')
    expect(JSON.parse(text)).toMatchObject({
      receipt_id: 'rcp_good',
      claims: { kind: 'payment' },
      status: 'valid',
      transaction_url: `https://basescan.org/tx/${payment.transaction}`,
      story: { about: 'payment', amount: '0.001', unit: 'USDC' },
    })
  })

  it('links no transaction of a sandbox', async () => {
    const { text } = await read('/receipts/rcp_sandbox')
    expect(text).not.toContain('basescan')
    expect(text).toContain('which no explorer shows')
  })

  it.each([
    ['rcp_withdrawn', 'Its chain took the transaction back'],
    ['rcp_superseded', 'href="/receipts/rcp_good"'],
    ['rcp_renewed', 'signed the same claims again'],
  ])('says of %s what became of it', async (id, words) => {
    expect((await read(`/receipts/${id}`)).text).toContain(words)
  })

  it('shows hostile claims as text', async () => {
    for (const path of ['/receipts/rcp_hostile', '/ar/receipts/rcp_hostile', '/receipts/rcp_odd']) {
      const { response, text } = await read(path)
      expect(response.status).toBe(200)
      expect(text).not.toContain('<script>alert')
      expect(text).not.toContain('<img')
      expect(text).not.toContain('href="javascript:')
      // What is copied is the text itself; what is read shows each control that it holds.
      expect(text.replaceAll(/="[^"]*"/g, '')).not.toContain('\u202E')
    }
  })

  it.each([
    ['rcp_unknown', 'There is no receipt with this id'],
    ['clm_1', '/v1/payments/clm_1'],
    ['qte_1', 'Receipts begin with rcp_'],
    [`rcp_${'x'.repeat(100)}`, 'There is no receipt with this id'],
    [encodeURIComponent('"><script>alert(1)</script>'), 'There is no receipt with this id'],
  ])('helps who asks for %s', async (id, words) => {
    const { response, text } = await read(`/receipts/${id}`)
    expect(response.status).toBe(404)
    expect(text).toContain(words)
    expect(text).not.toContain('<script>alert')
  })
})

describe('/verify', () => {
  it('says without a script how to verify elsewhere, and what each document proves', async () => {
    const { text } = await read('/verify')
    expect(text).toContain('receipts verify receipt.json --keys keys.json')
    expect(text).toContain('gw-evidence+jws')
    const { kinds } = JSON.parse((await read('/verify', 'application/json')).text) as {
      kinds: { typ: string }[]
    }
    expect(kinds.map(({ typ }) => typ)).toContain('gw-permit+jws')
  })
})
