// An assistant and the browser of a person, from registration to token, by what goes over the wire alone.
import { createHash, randomBytes } from 'node:crypto'
import type { TestGateway } from './gateway.ts'
import type { TestPerson } from './people.ts'

const REDIRECT = 'http://127.0.0.1:33418/callback'

export interface Asking {
  /** Path of the page of consent. */
  readonly path: string
  readonly clientId: string
  /** Cookies of the request that waits. */
  readonly cookies: string
  readonly verifier: string
}

export interface Tokens {
  readonly access_token: string
  readonly refresh_token?: string
  readonly scope?: string
}

type Gateway = Pick<TestGateway, 'baseUrl'>

const cookiesOf = (answer: Response) =>
  answer.headers
    .getSetCookie()
    .map((line) => line.split(';')[0] ?? '')
    .filter((pair) => !pair.endsWith('='))
    .join('; ')

/** Registers a client that anybody could have named so. */
export async function register({ baseUrl }: Gateway, name = 'Test Assistant'): Promise<string> {
  const answer = await fetch(`${baseUrl}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_name: name,
      redirect_uris: [REDIRECT],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    }),
  })
  const { client_id } = (await answer.json()) as { client_id?: string }
  if (client_id === undefined) throw new Error(`registration answered ${answer.status}`)
  return client_id
}

/** An assistant sends the browser here. */
export async function ask(
  { baseUrl }: Gateway,
  clientId: string,
  scope = 'gateway',
  redirectUri = REDIRECT,
): Promise<Asking> {
  const verifier = randomBytes(32).toString('base64url')
  const query = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    resource: `${baseUrl}/mcp`,
    scope,
    state: 'state-1',
  })
  const answer = await fetch(`${baseUrl}/oauth/authorize?${query}`, { redirect: 'manual' })
  const location = answer.headers.get('location')
  if (location === null) throw new Error(`authorization answered ${answer.status}: ${await answer.text()}`)
  return { path: new URL(location, baseUrl).pathname, clientId, cookies: cookiesOf(answer), verifier }
}

/** The token of the forms in a page. */
export const tokenIn = (html: string): string => /name="_csrf" value="([^"]+)"/.exec(html)?.[1] ?? ''

/** The person's browser with the request that waits. */
export function inBrowser({ baseUrl }: Gateway, person: Pick<TestPerson, 'cookie'>, asking: Asking) {
  const cookie = [person.cookie, asking.cookies].filter(Boolean).join('; ')
  const get = (headers: Record<string, string> = {}) =>
    fetch(baseUrl + asking.path, {
      headers: { accept: 'text/html', 'sec-fetch-site': 'same-origin', cookie, ...headers },
      redirect: 'manual',
    })
  return {
    get,
    async data<T>(): Promise<T> {
      return (await (await get({ accept: 'application/json' })).json()) as T
    },
    /** @param csrf of another page of the session; that of this one unless given */
    async post(
      form: readonly (readonly [string, string])[],
      headers: Record<string, string> = {},
      csrf?: string,
    ) {
      const token = csrf ?? tokenIn(await (await get()).text())
      return fetch(baseUrl + asking.path, {
        method: 'POST',
        headers: {
          accept: 'text/html',
          'sec-fetch-site': 'same-origin',
          'content-type': 'application/x-www-form-urlencoded',
          cookie,
          ...headers,
        },
        body: new URLSearchParams([['_csrf', token], ...form.map(([name, value]) => [name, value])]),
        redirect: 'manual',
      })
    },
  }
}

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

/** The form as a person sends it who ticks these credentials and changes nothing else. */
export const allowing = (
  credentials: readonly {
    readonly credential_id: string
    readonly hosts: readonly string[]
    readonly path_prefixes: readonly string[]
    readonly methods: readonly string[]
  }[],
  more: readonly (readonly [string, string])[] = [],
): (readonly [string, string])[] => [
  ['_action', 'allow'],
  ...credentials.flatMap(({ credential_id: id, hosts, path_prefixes, methods }) => [
    ['use', id] as const,
    ...hosts.map((host) => [`hosts.${id}`, host] as const),
    [`paths.${id}`, path_prefixes.join('\n')] as const,
    ...methods.map((method) => [`methods.${id}`, method] as const),
  ]),
  ['expires', inDays(30)],
  ...more,
]

/** Follows the page that was shown in answer, back to the assistant. */
export async function comeBack({ baseUrl }: Gateway, answer: Response, asking: Asking): Promise<URL> {
  const [, to = ''] = /^0; url=(.+)$/.exec(answer.headers.get('refresh') ?? '') ?? []
  if (to === '') throw new Error(`consent answered ${answer.status}: ${await answer.text()}`)
  const resumed = await fetch(new URL(to, baseUrl), {
    headers: { cookie: asking.cookies },
    redirect: 'manual',
  })
  const location = resumed.headers.get('location')
  if (location === null) throw new Error(`resuming answered ${resumed.status}: ${await resumed.text()}`)
  return new URL(location)
}

/** Changes the code that came back into tokens. */
export async function redeem({ baseUrl }: Gateway, back: URL, asking: Asking): Promise<Tokens> {
  const answer = await fetch(`${baseUrl}/oauth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: asking.clientId,
      code: back.searchParams.get('code') ?? '',
      redirect_uri: REDIRECT,
      code_verifier: asking.verifier,
      resource: `${baseUrl}/mcp`,
    }),
  })
  const tokens = (await answer.json()) as Tokens & { error?: string }
  if (!answer.ok) throw new Error(`the token endpoint answered ${answer.status}: ${JSON.stringify(tokens)}`)
  return tokens
}
