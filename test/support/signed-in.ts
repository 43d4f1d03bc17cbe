// A browser in which a person is signed in to the console, and what they press there.
import { type Browser, createBrowser, form } from './oauth.ts'
import type { TestPerson } from './people.ts'

/** As a page of the console asks for another one. */
export const SAME = { 'sec-fetch-site': 'same-origin', accept: 'text/html' }

export function browserOf(origin: string, person: Pick<TestPerson, 'cookie'>): Browser {
  const browser = createBrowser(origin)
  const [name = '', value = ''] = person.cookie.split('=')
  browser.cookies.set(name, { value, path: '/' })
  return browser
}

/** Sends a form of a page of the console. */
export async function submit(
  browser: Browser,
  path: string,
  values: Record<string, string>,
): Promise<Response> {
  const page = await (await browser.go(path, { headers: SAME })).text()
  const [, csrf = ''] = /name="_csrf" value="([^"]+)"/.exec(page) ?? []
  const body = form({ _csrf: csrf, ...values })
  return browser.go(path, { ...body, headers: { ...body.headers, ...SAME } })
}

/**
 * Says yes on the page of consent.
 * @param credentialId read with GET, all of it; none where it is undefined
 * @returns where the browser is sent on to
 */
export async function allow(
  browser: Browser,
  path: string,
  credentialId: string | undefined,
  more: Record<string, string> = {},
): Promise<string> {
  const done = await submit(browser, path, {
    _action: 'allow',
    ...(credentialId !== undefined && {
      use: credentialId,
      [`hosts.${credentialId}`]: 'api.example.com',
      [`paths.${credentialId}`]: '/',
      [`methods.${credentialId}`]: 'GET',
    }),
    expires: new Date(Date.now() + 24 * 3600_000).toISOString().slice(0, 10),
    ...more,
  })
  const to = /url=(.+)$/.exec(done.headers.get('refresh') ?? '')?.[1]
  if (to === undefined) throw new Error(`not allowed: ${done.status} ${await done.text()}`)
  return to
}
