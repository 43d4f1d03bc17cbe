// People who are signed in, for tests of what they may do. How they sign in has tests of its own.
import type { Role } from '../../schemas/role.ts'
import { newId } from '../../src/lib/ids.ts'
import { cookieName } from '../../src/doors/console/cookie.ts'
import type { TestGateway } from './gateway.ts'

export interface TestPerson {
  readonly personId: string
  readonly accountId: string
  readonly sessionId: string
  /** `name=value` of the session's cookie. */
  readonly cookie: string
  /** A page as a browser asks for it, without following redirects. */
  get(path: string, headers?: Record<string, string>): Promise<Response>
  /** The data of a page. */
  data<T>(path: string): Promise<T>
  /** What proves that a form is of this person's own pages, where the page itself has none. */
  csrf(): Promise<string>
  /** A form of a page, as that page's browser sends it. */
  post(path: string, form: TestForm, headers?: Record<string, string>): Promise<Response>
}

/** Fields by name; one that is there several times has several values. */
export type TestForm = Readonly<Record<string, string | readonly string[]>>

const toFields = (form: TestForm): [string, string][] =>
  Object.entries(form).flatMap(([name, value]) =>
    (typeof value === 'string' ? [value] : value).map((one): [string, string] => [name, one]),
  )

interface Wanted {
  readonly role?: Role
  readonly name?: string
  /** Of the first account unless another one is given. */
  readonly accountId?: string
  readonly admin?: boolean
  readonly personId?: string
}

/** Makes a person of the account and signs them in. */
export async function signIn(
  gateway: Pick<TestGateway, 'store' | 'services' | 'baseUrl'>,
  { role = 'owner', name = 'Test Person', accountId, admin = accountId === undefined }: Wanted = {},
): Promise<TestPerson> {
  const { store, services, baseUrl } = gateway
  const account = accountId ?? (await firstAccount(store))
  const now = Date.now()
  const person = { id: newId('per', now), name, createdAt: now, disabledAt: null }
  await store.addPerson({
    person,
    membership: { accountId: account, personId: person.id, role, admin, createdAt: now },
  })
  const { session, token } = await services.identity.sessions.open({
    personId: person.id,
    accountId: account,
    method: 'passkey',
    from: { address: '127.0.0.1', userAgent: 'test' },
  })
  const cookie = `${cookieName(baseUrl, '')}=${token.use((text) => text)}`
  const get: TestPerson['get'] = (path, headers = {}) =>
    fetch(baseUrl + path, {
      headers: { accept: 'text/html', cookie, 'sec-fetch-site': 'same-origin', ...headers },
      redirect: 'manual',
    })
  const csrfIn = async (path: string) => {
    const [, csrf = ''] = /name="_csrf" value="([^"]+)"/.exec(await (await get(path)).text()) ?? []
    return csrf
  }
  return {
    personId: person.id,
    accountId: account,
    sessionId: session.id,
    cookie,
    get,
    csrf: () => csrfIn('/console/tools/gateway.egress.credentials.list'),
    data: async <T>(path: string) => (await (await get(path, { accept: 'application/json' })).json()) as T,
    async post(path, form, headers = {}) {
      const csrf = form['_csrf'] === undefined ? await csrfIn(path) : ''
      return fetch(baseUrl + path, {
        method: 'POST',
        headers: {
          accept: 'text/html',
          cookie,
          'sec-fetch-site': 'same-origin',
          'content-type': 'application/x-www-form-urlencoded',
          ...headers,
        },
        body: new URLSearchParams([
          ...(form['_csrf'] === undefined ? [['_csrf', csrf]] : []),
          ...toFields(form),
        ]),
        redirect: 'manual',
      })
    },
  }
}

async function firstAccount(store: TestGateway['store']): Promise<string> {
  const { items } = await store.listKeys(undefined, { limit: 100 })
  const first = items.findLast(({ admin }) => admin)
  if (!first) throw new Error('the gateway has no first account')
  return first.accountId
}
