// The site as resources of the door: forms, languages, files, refusals. What a browser makes of it is test/browser's.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Harness, startRestHarness } from '../support/door-harness.ts'

let gateway: Harness
beforeAll(async () => {
  gateway = await startRestHarness()
})
afterAll(() => gateway?.close())

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(gateway.baseUrl + path, { headers, redirect: 'manual' })
const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

describe('a page', () => {
  it('is HTML for people and JSON for programs, at one address', async () => {
    const [page, json] = await Promise.all([get('/', browser), get('/', { accept: 'application/json' })])
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(json.headers.get('content-type')).toBe('application/json')
    expect(page.headers.get('vary')).toContain('accept')
    expect(await json.json()).toMatchObject({ base_url: gateway.baseUrl })
  })

  it('is Arabic from right to left under /ar, and links to pages in the same language', async () => {
    const html = await (await get('/ar', browser)).text()
    expect(html).toContain('<html lang="ar" dir="rtl">')
    expect(html).toContain('href="/ar/catalogue"')
    expect(html).toContain('href="/openapi.json"')
    expect(html).toContain('href="/"')
  })

  it('forbids whatever is inline or elsewhere', async () => {
    const response = await get('/', browser)
    const html = await response.text()
    expect(response.headers.get('content-security-policy')).toContain("script-src 'self'; style-src 'self'")
    expect(response.headers.get('content-security-policy')).toContain("require-trusted-types-for 'script'")
    expect(html).not.toMatch(/<script(?![^>]* src="\/)[^>]*>|<style|style="|\son\w+="/)
    expect(response.headers.get('set-cookie')).toBeNull()
  })

  it('loads only files that are there, kept for a year', async () => {
    const html = await (await get('/', browser)).text()
    const files = [...html.matchAll(/(?:src|href)="(\/site\/[^"]+)"/g)].map(([, path]) => path!)
    expect(files.length).toBeGreaterThan(2)
    for (const path of files) {
      const file = await get(path, { 'accept-encoding': 'br' })
      expect([path, file.status]).toEqual([path, 200])
      expect(file.headers.get('cache-control')).toContain('immutable')
    }
  })

  it.each(['/site/manifest.json', '/site/..%2fserve.ts', '/site/site.css'])('serves no %s', async (path) => {
    expect((await get(path)).status).toBe(404)
  })
})

describe('a refusal', () => {
  it('is a page for a browser and a problem document for a program', async () => {
    const [page, problem] = await Promise.all([get('/nowhere', browser), get('/nowhere')])
    expect([page.status, problem.status]).toEqual([404, 404])
    expect(await page.text()).toContain('<h1>There is nothing here</h1>')
    expect(problem.headers.get('content-type')).toBe('application/problem+json')
  })

  it('is in the language of the address', async () => {
    expect(await (await get('/ar/nowhere', browser)).text()).toContain('lang="ar"')
  })
})
