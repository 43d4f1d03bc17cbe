// A browser in which a person is signed in and says yes: from the address that a client sends it to, to the one that it is sent back to.
import type { TestGateway } from './gateway.ts'
import { createBrowser } from './oauth.ts'
import { signIn, type TestPerson } from './people.ts'

export interface ConsentOptions {
  /** Credentials that are ticked; hosts, paths and methods stay as the page offers them. */
  readonly use: readonly string[]
  readonly mayPay?: boolean
  readonly mayOperate?: boolean
}

export interface Consenter {
  readonly person: TestPerson
  /** What was asked of the person last, as the page says it. */
  readonly page: () => string
  /**
   * Opens the address, allows it, and does what the answer says.
   * @returns where the client waits for its code
   */
  allow(authorizationUrl: URL | string, options?: Partial<ConsentOptions>): Promise<URL>
}

const SAME = { 'sec-fetch-site': 'same-origin', accept: 'text/html' }

export async function createConsenter(
  gateway: Pick<TestGateway, 'store' | 'services' | 'baseUrl'>,
  usual: ConsentOptions,
): Promise<Consenter> {
  const person = await signIn(gateway)
  const browser = createBrowser(gateway.baseUrl)
  const [name = '', value = ''] = person.cookie.split('=')
  browser.cookies.set(name, { value, path: '/' })
  let shown = ''
  return {
    person,
    page: () => shown,
    async allow(authorizationUrl, over = {}) {
      const { use, mayPay = false, mayOperate = false } = { ...usual, ...over }
      const asked = await browser.go(String(authorizationUrl), { headers: { accept: 'text/html' } })
      const consent = asked.headers.get('location') ?? ''
      if (!consent.includes('/console/connect/'))
        throw new Error(`not asked for consent: ${asked.status} ${consent} ${await asked.text()}`)
      const page = new URL(consent, gateway.baseUrl)
      shown = await (await browser.go(page.href, { headers: SAME })).text()
      const ticked = new Set(['use', ...(mayPay ? ['may_pay'] : []), ...(mayOperate ? ['may_operate'] : [])])
      const answer = await browser.go(page.href, {
        method: 'POST',
        headers: { ...SAME, 'content-type': 'application/x-www-form-urlencoded' },
        body: fieldsOf(shown, (name, value) => ticked.has(name) && (name !== 'use' || use.includes(value))),
      })
      const [, resume] = /url=(\S+)/.exec(answer.headers.get('refresh') ?? '') ?? []
      if (answer.status !== 200 || resume === undefined)
        throw new Error(`consent was not taken: ${answer.status} ${await answer.text()}`)
      const back = await browser.go(resume, { headers: { accept: 'text/html' } })
      const to = back.headers.get('location')
      if (to === null) throw new Error(`not sent back: ${back.status} ${await back.text()}`)
      return new URL(to)
    },
  }
}

/** The form of consent as a browser sends it: what is filled in, what is checked, and what the person ticks besides. */
function fieldsOf(html: string, isTicked: (name: string, value: string) => boolean): URLSearchParams {
  const [, form = ''] = /(<form[^>]*id="consent"[\s\S]*?<\/form>)/.exec(html) ?? []
  const fields = new URLSearchParams()
  const attribute = (tag: string, name: string) => new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1]
  for (const [, input = ''] of form.matchAll(/(<input[^>]*>)/g)) {
    const name = attribute(input, 'name') ?? ''
    const value = attribute(input, 'value') ?? ''
    const isBox = attribute(input, 'type') === 'checkbox'
    const isWish = name === 'use' || name === 'may_pay' || name === 'may_operate'
    const isChecked = isWish ? isTicked(name, value) : / checked/.test(input)
    if (name !== '' && (!isBox || isChecked)) fields.append(name, isBox && value === '' ? 'on' : value)
  }
  for (const [, tag = '', text = ''] of form.matchAll(/(<textarea[^>]*>)([^<]*)<\/textarea>/g))
    fields.append(attribute(tag, 'name') ?? '', text)
  for (const [, tag = '', inner = ''] of form.matchAll(/(<select[^>]*>)([\s\S]*?)<\/select>/g)) {
    const chosen = /<option[^>]* selected[^>]*>/.exec(inner)?.[0] ?? /<option[^>]*>/.exec(inner)?.[0] ?? ''
    fields.append(attribute(tag, 'name') ?? '', attribute(chosen, 'value') ?? '')
  }
  return fields
}
