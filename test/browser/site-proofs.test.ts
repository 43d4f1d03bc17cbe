// Receipts and proofs of a real sandbox in a real browser: what is genuine is shown so, and what was altered is not.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser } from '../support/browser.ts'
import { type DefaultGateway, startDefaultGateway } from '../support/default-gateway.ts'
import { finish } from '../support/process.ts'
import { accessibilityFaults, arabicFonts, overflow, visit } from '../support/site-browser.ts'

let gateway: DefaultGateway
let browser: Browser
let bought: Bought
let permit: string
beforeAll(async () => {
  gateway = await startDefaultGateway()
  browser = await launchBrowser([], arabicFonts())
  ;[bought, permit] = await Promise.all([buy(), preparePermit()])
})
afterAll(async () => {
  await browser?.close()
  await gateway?.close()
})

interface Bought {
  /** The answer, byte for byte. */
  readonly text: string
  readonly receiptId: string
  readonly receipt: string
  readonly evidence: string
  readonly quote: string
  readonly required: string
  readonly settled: string
}

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

async function buy(): Promise<Bought> {
  const sign = await gateway.wallet()
  const request = { url: 'https://sandbox.agent-gateway.test/article', mode: 'text' }
  const challenge = await post('/v1/tools/web.fetch', request)
  const required = challenge.headers.get('payment-required') ?? ''
  const quote = challenge.headers.get('x-gateway-quote') ?? ''
  const payment = btoa(JSON.stringify(await sign(JSON.parse(atob(required)))))
  const answer = await post('/v1/tools/web.fetch', request, { 'payment-signature': payment })
  const text = await answer.text()
  const { receipt, evidence } = JSON.parse(text) as {
    receipt: { receipt_id: string; jws: string }
    evidence: { jws: string }
  }
  const settled = answer.headers.get('payment-response') ?? ''
  return {
    text,
    receiptId: receipt.receipt_id,
    receipt: receipt.jws,
    evidence: evidence.jws,
    quote,
    required,
    settled,
  }
}

/** A permit for one request under the credential of the example. */
async function preparePermit(): Promise<string> {
  const headers = { authorization: `Bearer ${gateway.operatorKey}` }
  const host = 'sandbox.agent-gateway.test'
  const stored = await post(
    '/v1/egress/credentials',
    {
      provider: 'custom',
      label: 'x',
      secret: 'a-secret-of-a-test',
      hosts: [host],
      path_prefixes: ['/api'],
      methods: ['GET'],
    },
    headers,
  )
  const { credential_id } = (await stored.json()) as { credential_id: string }
  const answer = await post(
    '/v1/actions/permits',
    {
      credential_id,
      request: { method: 'GET', url: `https://${host}/api/whoami` },
      mandate: {
        purpose: 'A test',
        credential_id,
        host,
        path_prefix: '/api',
        methods: ['GET'],
        max_calls: 1,
        expires_at: new Date(Date.now() + 3_600_000).toISOString(),
      },
    },
    headers,
  )
  const text = await answer.text()
  const [jws] = /eyJ[\w-]+\.[\w-]+\.[\w-]+/.exec(text) ?? []
  if (jws === undefined) throw new Error(`no permit: ${text}`)
  return jws
}

const view = { language: 'en', theme: 'light', width: 1280 } as const
async function open(path: string): Promise<Page> {
  const { page } = await visit(browser, gateway.url + path, view)
  return page
}

/** Pastes, presses, and tells what was found of each document. */
async function verify(page: Page, text: string, more: { body?: string; keys?: string } = {}) {
  await page.fill('#proof', text)
  if (more.body !== undefined || more.keys !== undefined) {
    await page.locator('form details').evaluate((details) => details.setAttribute('open', ''))
    await page.fill('#proof-body', more.body ?? '')
    await page.fill('#proof-keys', more.keys ?? '')
  }
  await page.locator('button[type=submit]').click()
  await page.locator('#proof-result').waitFor()
  await page.waitForFunction(() => document.activeElement?.id === 'proof-result')
  return page.locator('.proof').evaluateAll((cards) =>
    cards.map((card) => ({
      kind: card.getAttribute('data-kind'),
      verdict: card.getAttribute('data-verdict'),
      failed: [...card.querySelectorAll('[data-is=failed]')].map((check) => check.getAttribute('data-code')),
    })),
  )
}

describe('/verify', () => {
  it('finds every proof of a paid call genuine, in the forms in which they come', async () => {
    const page = await open('/verify')
    const sent: string[] = []
    page.on('request', (request) => sent.push(`${request.method()} ${new URL(request.url()).pathname}`))
    const genuine = (kind: string) => ({ kind, verdict: 'genuine', failed: [] })
    expect(await verify(page, bought.text)).toEqual([genuine('evidence'), genuine('receipt')])
    expect(await page.locator('[data-code=answer_matches]').count()).toBe(1)
    expect(await verify(page, `Agent-Gateway-Receipt: ${bought.receipt}`)).toEqual([genuine('receipt')])
    expect(await verify(page, `x-gateway-quote: ${bought.quote}`)).toEqual([genuine('quote')])
    expect(await page.locator('[data-code=request_matches]').count()).toBe(1)
    expect(await verify(page, bought.evidence)).toEqual([genuine('evidence')])
    expect(await verify(page, permit)).toEqual([genuine('permit')])
    expect(await page.locator('.proof [data-copy]').count()).toBe(0)
    const offers = await verify(page, `payment-required: ${bought.required}`)
    expect(offers.length).toBeGreaterThan(0)
    expect(new Set(offers.map(({ kind, verdict }) => `${kind} ${verdict}`))).toEqual(
      new Set(['offer genuine']),
    )
    expect(await verify(page, bought.settled)).toEqual([genuine('x402Receipt')])
    // Nothing but the keys was asked for, and nothing was sent.
    expect(new Set(sent)).toEqual(new Set(['GET /.well-known/gateway-egress-key.json']))
    await page.context().close()
  })

  it('takes the agent card of this gateway as a sample', async () => {
    const page = await open('/verify')
    await page.getByRole('button', { name: 'agent card' }).click()
    await page.locator('.proof[data-kind=card][data-verdict=genuine]').waitFor()
    await page.context().close()
  })

  it('shows what was altered, and which check says so', async () => {
    const page = await open('/verify')
    const [head = '', payload = '', signature = ''] = bought.receipt.split('.')
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const forged = { alg: 'none', kid: 'x', typ: 'gw-receipt+jws' }
    const codes = async (text: string) =>
      (await verify(page, text)).map(({ verdict, failed }) => [verdict, ...failed])
    expect(await codes(`${head}.${encode({ ...claims, amount: '1' })}.${signature}`)).toEqual([
      ['false', 'bad_signature'],
    ])
    expect(await codes(`${encode(forged)}.${payload}.`)).toEqual([['false', 'wrong_algorithm']])
    expect(await codes(`${head}.${payload}.${signature}A`)).toEqual([['false', 'bad_signature']])
    expect(await codes(bought.text.replace('"ok":true', '"ok":false'))).toEqual([
      ['genuine'],
      ['differs', 'answer_differs'],
    ])
    await page.context().close()
  })

  it('compares a body, takes the keys of another gateway, and says what is missing', async () => {
    const page = await open('/verify')
    const other = await (await fetch(`${gateway.url}/.well-known/jwks.json`)).text()
    const asPasted = await verify(page, bought.receipt, { body: bought.text, keys: other })
    expect(asPasted).toEqual([{ kind: 'receipt', verdict: 'genuine', failed: [] }])
    expect(await page.locator('[data-code=body_without_receipt], [data-code=pasted_keys]').count()).toBe(2)
    expect(await verify(page, bought.receipt, { body: 'another', keys: '' })).toMatchObject([
      { verdict: 'differs', failed: ['body_differs'] },
    ])
    expect(await verify(page, bought.receipt, { keys: '{"keys":[]}' })).toMatchObject([
      { verdict: 'unknown' },
    ])
    expect(await verify(page, bought.receipt, { keys: 'no keys' })).toEqual([])
    expect(await page.locator('#proof-keys[aria-invalid=true]').count()).toBe(1)
    expect(await verify(page, 'hello', {})).toEqual([])
    expect(await page.locator('.notice.warns:visible').innerText()).toContain('eyJ')
    await page.context().close()
  })

  it('works with the keyboard alone, and opens what a link carries without sending it', async () => {
    const page = await open('/verify')
    await page.evaluate((text) => navigator.clipboard.writeText(text), bought.receipt)
    await page.locator('#proof').focus()
    await page.keyboard.press('Control+V')
    await page.locator('.proof[data-verdict=genuine]').waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Verify')
    await page.keyboard.press('Enter')
    await page.waitForFunction(() => document.activeElement?.id === 'proof-result')
    expect(await accessibilityFaults(page)).toEqual([])
    const link = (await page.locator('.proof [data-copy]').getAttribute('data-copy')) ?? ''
    await page.context().close()

    const linked = await open(link.slice(gateway.url.length))
    await linked.locator('.proof[data-kind=receipt][data-verdict=genuine]').waitFor()
    await linked.context().close()

    // What its holder could act with does not stay in the address.
    const secret = await open(`/verify#jws=${permit}`)
    await secret.locator('.proof[data-kind=permit][data-verdict=genuine]').waitFor()
    await secret.waitForFunction(() => location.hash === '')
    expect(await secret.locator('.proof [data-copy]').count()).toBe(0)
    await secret.context().close()
  })

  it('runs nothing and breaks nothing, whatever a document says', async () => {
    const { page, complaints } = await visit(browser, `${gateway.url}/verify`, { ...view, width: 390 })
    const hostile = '<img src=x onerror=alert(1)>"\'>\u202Egpj.exe' + 'x'.repeat(10_000)
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const jws = `${encode({ alg: hostile, kid: hostile, typ: 'gw-receipt+jws', [hostile]: hostile })}.${encode(
      {
        iss: 'javascript:alert(1)',
        jti: 'rcp_"><script>',
        [hostile]: [hostile, { a: hostile }],
        __proto__: null,
      },
    )}.AAAA`
    await verify(page, jws)
    for (const summary of await page.locator('.proof summary').all()) await summary.click()
    expect(await page.locator('.proof img, .proof script, .proof a').count()).toBe(0)
    expect(await page.locator('.proof .chip').count()).toBeGreaterThan(0)
    expect(await overflow(page)).toBe(0)
    expect(complaints).toEqual([])
    await page.context().close()
  })
})

describe('/receipts/{receipt_id}', () => {
  it('is verified by the browser, and tells what happened', async () => {
    const page = await open(`/receipts/${bought.receiptId}`)
    await page.locator('.verified[data-verdict=genuine]').waitFor()
    expect(
      await page
        .locator('[data-event]')
        .evaluateAll((all) => all.map((each) => each.getAttribute('data-event'))),
    ).toEqual(['asked', 'paid', 'settled', 'answered', 'signed'])
    expect(await page.locator('h1').innerText()).toContain('0.001 USDC')
    await page.context().close()
  })

  it('is not believed where the server lies about it', async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    const { d: _private, ...stranger } = await crypto.subtle
      .generateKey('Ed25519', true, ['sign', 'verify'])
      .then((pair) => crypto.subtle.exportKey('jwk', (pair as CryptoKeyPair).publicKey))
    const published = (await (await fetch(`${gateway.url}/.well-known/gateway-egress-key.json`)).json()) as {
      keys: { kid: string }[]
    }
    await page.route('**/gateway-egress-key.json', (route) =>
      route.fulfill({ json: { keys: published.keys.map(({ kid }) => ({ ...stranger, kid, use: 'sig' })) } }),
    )
    await page.goto(`${gateway.url}/receipts/${bought.receiptId}`)
    await page.locator('.verified[data-verdict=false]').waitFor()
    await context.close()
  })

  it('verifies with the commands that it shows', async () => {
    const page = await open(`/receipts/${bought.receiptId}`)
    const lines = await page.locator('.code').filter({ hasText: 'Node.js' }).locator('code').innerText()
    const { stdout } = await finish('bash', ['-c', lines], {
      env: { PATH: `${process.execPath.replace(/\/node$/, '')}:${process.env['PATH']}` },
    })
    expect(stdout).toMatch(/^true\n/)
    expect(stdout).toContain(bought.receiptId)
    await page.context().close()
  })

  it('helps who has an id of none', async () => {
    const response = await fetch(`${gateway.url}/receipts/clm_0123456789`, {
      headers: { accept: 'text/html' },
    })
    expect(response.status).toBe(404)
    const page = await open('/receipts/clm_0123456789')
    expect(await page.locator('main').innerText()).toContain('/v1/payments/clm_0123456789')
    await page.context().close()
  })
})
