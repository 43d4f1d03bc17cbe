// A tool tried from its page without a script: the form is sent to the page, which makes the call in the visitor's name.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Harness, startRestHarness } from '../support/door-harness.ts'

let gateway: Harness
beforeAll(async () => {
  gateway = await startRestHarness()
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
const TOOL = '/tools/gateway.email.verify'

describe('a form of the site', () => {
  it.each<[string, Record<string, string>]>([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another origin of this host', { 'sec-fetch-site': 'same-site' }],
    ['another origin, in a browser that says no more', { origin: 'http://localhost:1' }],
  ])('is refused where %s sends it', async (_who, headers) => {
    const response = await send(TOOL, { '/email': 'ada@example.com' }, headers)
    expect(response.status).toBe(403)
    expect(await response.text()).toContain('origin_denied')
  })

  it.each<[string, Record<string, string>]>([
    ['a page of this site', { 'sec-fetch-site': 'same-origin' }],
    ['a page of this site, in a browser that says no more', { origin: 'self' }],
    ['a program', {}],
  ])('is taken from %s', async (_who, headers) => {
    const origin = headers['origin'] === 'self' ? { origin: gateway.baseUrl } : {}
    expect((await send(TOOL, { '/email': 'ada@example.com' }, { ...headers, ...origin })).status).not.toBe(
      403,
    )
  })

  it('names its origin: with the policy `no-referrer` a browser would send `null`, which the guard refuses', async () => {
    const response = await fetch(gateway.baseUrl + TOOL, { headers: browser })
    expect(response.headers.get('referrer-policy')).toBe('same-origin')
  })

  it('is refused where it is huge', async () => {
    const response = await send(TOOL, { '/email': 'x'.repeat(70_000) })
    expect(response.status).toBe(413)
  })
})
