// A tool tried from its page without a script: the form is sent to the page, which makes the call in the visitor's name.
import { parseHTML } from 'linkedom'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAddressPolicy } from '../../src/egress/address.ts'
import { startTestGateway, type TestGateway, UPSTREAM_HOST } from '../support/gateway.ts'

/** Calls a minute that one address may make of one tool. */
const LIMIT = 40

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway({
    publicAddresses: createAddressPolicy([]),
    env: { GATEWAY_RATE_LIMIT: String(LIMIT) },
  })
})
afterAll(() => gateway?.close())

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const send = (path: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
  fetch(gateway.baseUrl + path, {
    method: 'POST',
    headers: { ...browser, ...headers },
    body: new URLSearchParams(form),
    redirect: 'manual',
  })

/** What the page answers to a form, as its reader sees it. */
async function answerTo(path: string, form: Record<string, string>) {
  const response = await send(path, form)
  const html = await response.text()
  const { document } = parseHTML(html)
  const answer = document.querySelector('.try-answer.sent')
  return {
    status: response.status,
    html,
    document,
    text: answer?.textContent ?? '',
    code: answer?.querySelector('[data-code]')?.getAttribute('data-code'),
    headers: response.headers,
  }
}

const TOOL = '/tools/gateway.capabilities.get'

describe('a form of the site', () => {
  it.each<[string, Record<string, string>]>([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another origin of this host', { 'sec-fetch-site': 'same-site' }],
    ['another origin, in a browser that says no more', { origin: 'http://localhost:1' }],
  ])('is refused where %s sends it', async (_who, headers) => {
    const response = await send(TOOL, { '/id': 'extract-preview' }, headers)
    expect(response.status).toBe(403)
    expect(await response.text()).toContain('origin_denied')
  })

  it.each<[string, Record<string, string>]>([
    ['a page of this site', { 'sec-fetch-site': 'same-origin' }],
    ['a page of this site, in a browser that says no more', { origin: 'self' }],
    ['a program', {}],
  ])('is taken from %s', async (_who, headers) => {
    const origin = headers['origin'] === 'self' ? { origin: gateway.baseUrl } : {}
    const response = await send(TOOL, { '/id': 'extract-preview' }, { ...headers, ...origin })
    expect(response.status).toBe(200)
  })

  it('names its origin: with the policy `no-referrer` a browser would send `null`, which the guard refuses', async () => {
    const response = await fetch(gateway.baseUrl + TOOL, { headers: browser })
    expect(response.headers.get('referrer-policy')).toBe('same-origin')
  })

  it('is refused where it is huge', async () => {
    expect((await send(TOOL, { '/id': 'x'.repeat(70_000) })).status).toBe(413)
  })
})

describe('a tool tried without a script', () => {
  it('answers on its page, which nobody keeps, in the language of the page', async () => {
    const { status, text, headers, html } = await answerTo('/ar/tools/gateway_execute', { '/intent': 'demo' })
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(html).toContain('lang="ar"')
    expect(text).toContain('Sencha, first harvest')
    expect(text).toContain('النتيجة')
  })

  it('keeps what was filled in, and shows a fault at its field', async () => {
    const { code, document } = await answerTo('/tools/gateway.discovery.search', {
      '/query': 'tea',
      '/limit': '900',
    })
    expect(code).toBe('input_invalid')
    const limit = document.getElementById('try/limit')
    expect(limit?.getAttribute('aria-invalid')).toBe('true')
    expect(limit?.getAttribute('value')).toBe('900')
    expect(document.getElementById('try/limit-fault')?.textContent).not.toBe('')
    expect(document.getElementById('try/query')?.getAttribute('value')).toBe('tea')
  })

  it('says where an area holds no JSON, and calls nothing', async () => {
    const { document, text } = await answerTo('/tools/gateway.facilitator.verify', {
      'json:/paymentPayload': '{"a',
    })
    expect(text).toContain('This is not valid JSON.')
    expect(document.getElementById('try/paymentPayload')?.getAttribute('aria-invalid')).toBe('true')
  })

  it('says once what is wrong in a field that came a thousand times', async () => {
    const body = 'json:/paymentPayload=%7B&'.repeat(2000)
    const headers = { ...browser, 'content-type': 'application/x-www-form-urlencoded' }
    const path = `${gateway.baseUrl}/tools/gateway.facilitator.verify`
    const html = await (await fetch(path, { method: 'POST', headers, body })).text()
    expect(html.split('This is not valid JSON.').length).toBeLessThan(10)
  })

  it('draws no permit that was sent into the page, in any form of it', async () => {
    const path = '/tools/gateway.actions.execute'
    for (const confirm of ['', 'yes'])
      for (const accept of ['text/html', 'application/json', 'text/markdown']) {
        const answer = await send(path, { '/permit': 'a-permit-to-act', confirm }, { accept })
        expect([answer.status, await answer.text()].join(' ')).not.toContain('a-permit-to-act')
      }
  })

  it('fills in an example without a call', async () => {
    const { text, document } = await answerTo('/tools/gateway_execute', { example: '2', '/intent': 'x' })
    expect(text).toBe('')
    expect(document.getElementById('try/capability')?.textContent).toContain('web-extraction')
  })

  it('says the price and charges nothing', async () => {
    const { code, text } = await answerTo('/tools/gateway.web.fetch', {
      '/url': 'https://sandbox.agent-gateway.test/article',
    })
    expect(code).toBe('payment_required')
    expect(text).toContain('This call costs 0.001 USDC.')
  })

  it('shows a request that works where the job was not understood', async () => {
    const { code, html } = await answerTo('/tools/gateway_execute', { '/intent': 'what is love' })
    expect(code).toBe('intent_unknown')
    expect(html).toContain('/problems/intent_unknown')
  })

  it.each([
    ['needs a token', '/tools/gateway.keys.list', { '/limit': '5' }],
    [
      'needs a capability',
      '/tools/gateway.egress.fetch',
      { '/url': 'https://example.com/', '/method': 'GET' },
    ],
    ['answers a secret', '/tools/gateway.keys.free', { submit: '1' }],
  ])('does not call what %s', async (_what, path, form) => {
    const { text, html } = await answerTo(path, form)
    expect(text).toContain('curl')
    expect(html).not.toMatch(/agw_[a-z]+_\w{20}/)
  })

  it('has no field for a token in any form that can be sent', async () => {
    for (const name of ['gateway.egress.fetch', 'gateway.email.verify', 'gateway.credits.balance']) {
      const html = await (await fetch(`${gateway.baseUrl}/tools/${name}`, { headers: browser })).text()
      const { document } = parseHTML(html)
      const form = document.querySelector('.try-form')
      expect(form?.getAttribute('method')).toBe('dialog')
      expect(form?.getAttribute('action')).toBeNull()
      expect(
        [...form!.querySelectorAll('[type=password]')].map((field) => field.getAttribute('name')),
      ).toEqual([null])
    }
  })

  it('is asked for a yes before it moves money', async () => {
    const form = { 'json:/paymentPayload': '{"x402Version":2}', 'json:/paymentRequirements': '{}' }
    const first = await answerTo('/tools/gateway.facilitator.settle', form)
    expect(first.code).toBeUndefined()
    expect(first.text).toContain('Do this for real?')
    const second = await answerTo('/tools/gateway.facilitator.settle', { ...form, confirm: 'yes' })
    expect(second.text).not.toContain('Do this for real?')
  })

  it('takes no member that its schema does not know, by whatever name', async () => {
    const { code, text } = await answerTo('/tools/gateway.capabilities.get', {
      '/id': 'extract-preview',
      'rest:': '{"__proto__":{"id":"feed-digest"},"constructor":1}',
    })
    expect(code).toBe('input_unknown_property')
    expect(text).toContain('__proto__')
  })

  it('has no form for what passes HTTP messages on', async () => {
    const html = await (
      await fetch(`${gateway.baseUrl}/tools/gateway.edge.forward`, { headers: browser })
    ).text()
    expect(html).not.toContain('class="try-form')
  })
})

describe('a private target', () => {
  const PRIVATE = [
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://169.254.169.254/latest/meta-data/',
    'https://10.0.0.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://localhost/',
  ]
  // A public name that leads to loopback.
  const NAMED = () => `https://${UPSTREAM_HOST}:${gateway.upstream.port}/`
  const TOOLS: readonly (readonly [
    tool: string,
    route: string,
    form: (url: string) => Record<string, string>,
  ])[] = [
    ['gateway.preflight', '/v1/preflight', (url) => ({ '/url': url })],
    ['gateway.web.fetch', '/v1/tools/web.fetch', (url) => ({ '/url': url })],
    ['gateway_execute', '/v1/execute', (url) => ({ '/capability': 'web-extraction', 'lines:/urls': url })],
  ]
  const REFUSED =
    /target_blocked|target_invalid|upstream_unreachable|sources_unusable|payment_required|input_invalid/

  it.each(TOOLS)('is not reached by a form of %s', async (tool, route, form) => {
    const before = gateway.upstream.connections
    for (const url of [...PRIVATE, NAMED()]) {
      const { text, code } = await answerTo(`/tools/${tool}`, form(url))
      // A check beforehand answers that it may not be reached; what is paid for is refused, or asks for its price first.
      expect(code ?? text, `${tool} ${url}`).toMatch(REFUSED)
      // A script sends the same to the tool's route.
      const body = Object.fromEntries(
        Object.entries(form(url)).map(([name, text]) => [
          name.slice(name.indexOf('/') + 1),
          name.startsWith('lines:') ? [text] : text,
        ]),
      )
      const direct = await gateway.rest('POST', route, body, '')
      expect(direct.text, `${route} ${url}`).toMatch(REFUSED)
    }
    expect(gateway.upstream.connections).toBe(before)
  })
})

describe('the limit of an address', () => {
  it('counts forms like every other call', async () => {
    const form = { '/receipt_id': 'rcp_0000000000000000000000000000000000' }
    const first = await answerTo('/tools/gateway.receipts.get', form)
    expect(first.code).toBe('receipt_not_found')
    for (let call = 1; call < LIMIT; call++) await (await send('/tools/gateway.receipts.get', form)).text()
    const last = await answerTo('/tools/gateway.receipts.get', form)
    expect(last.code).toBe('rate_limited')
    expect(last.text).toMatch(/Try again in \d+ s/)
  })
})
