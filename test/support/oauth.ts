// The authorization server behind its door alone, with a store in memory and a page of consent that says yes. What the whole gateway makes
// of it is in test/flow.
import { createHash, createSecretKey, hkdfSync, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { GatewayError } from '../../src/core/errors.ts'
import { httpContext } from '../../src/doors/http/request.ts'
import { createOauthDoor } from '../../src/doors/oauth/index.ts'
import { createOauth, type Oauth, type OauthParts } from '../../src/identity/oauth/index.ts'
import type { ConnectionChoice, Connections } from '../../src/identity/ports.ts'
import type { DocumentReader } from '../../src/outbound/document.ts'
import type { Connection, FoundAccess, OauthRow, SignedIn, Store } from '../../src/store/ports.ts'
import { createLogger } from '../../src/lib/log.ts'

/** Of the tests' person. */
export const PERSON: SignedIn = {
  sessionId: 'ses_1',
  personId: 'per_1',
  name: 'Test Person',
  accountId: 'acct_1',
  role: 'owner',
  admin: true,
  method: 'passkey',
  freshAt: 0,
  expiresAt: 0,
}

export const choice = (over: Partial<ConnectionChoice> = {}): ConnectionChoice => ({
  parts: [],
  budgets: [],
  maxUses: null,
  expiresAt: Date.now() + 90 * 24 * 3600_000,
  mayPay: false,
  mayOperate: false,
  showsBalance: false,
  ...over,
})

interface Kept extends OauthRow {
  model: string
  grantId: string | undefined
  lookupHash: Buffer | undefined
}

/** What several replicas share. */
export function createMemory() {
  const rows = new Map<string, Kept>()
  const connections: (Connection & { expiresAt: number })[] = []
  const tokens = new Map<string, { connectionId: string; expiresAt: number }>()
  const isLive = (id: string) =>
    connections.some((connection) => connection.id === id && connection.revokedAt === null)
  const hex = (bytes: Buffer) => bytes.toString('hex')

  const store = {
    async putOauthRow(input: Parameters<Store['putOauthRow']>[0]) {
      const key = hex(input.rowHash)
      const last = rows.get(key)
      const { rowHash, payload, expiresAt, model, grantId, lookupHash } = input
      const ends = { consumedAt: last?.consumedAt ?? null, answeredAt: last?.answeredAt ?? null }
      rows.set(key, { rowHash, payload, expiresAt, model, grantId, lookupHash, ...ends })
    },
    getOauthRow: async (rowHash: Buffer) => rows.get(hex(rowHash)),
    findOauthRow: async (lookup: Buffer) =>
      [...rows.values()].find(({ lookupHash }) => lookupHash?.equals(lookup)),
    async consumeOauthRow({ rowHash, now }: { rowHash: Buffer; now: number }) {
      const row = rows.get(hex(rowHash))
      if (!row || row.consumedAt !== null) return false
      rows.set(hex(rowHash), { ...row, consumedAt: now })
      return true
    },
    async answerOauthRow(input: Parameters<Store['answerOauthRow']>[0]) {
      const key = hex(input.rowHash)
      const row = rows.get(key)
      if (!row || row.answeredAt !== null) return false
      rows.set(key, { ...row, payload: input.payload, grantId: input.grantId, answeredAt: input.now })
      return true
    },
    dropOauthRow: async (rowHash: Buffer) => void rows.delete(hex(rowHash)),
    async dropOauthGrant(grantId: string) {
      for (const [key, row] of rows) if (row.grantId === grantId) rows.delete(key)
    },
    async findGrantedConnection(grantId: string) {
      const found = connections.find((connection) => connection.grantId === grantId)
      return found && { ...found, isLive: found.revokedAt === null }
    },
    async findAccessToken(hash: Buffer) {
      const token = tokens.get(hex(hash))
      if (!token) return undefined
      const revokedAt = isLive(token.connectionId) ? null : 1
      return { expiresAt: token.expiresAt, capability: { revokedAt } } as FoundAccess
    },
  }

  const doors: Partial<Connections> = {
    async open({ by, client, grantId, choice: { expiresAt, mayPay, mayOperate } }) {
      const connection = {
        id: `con_${connections.length + 1}`,
        accountId: by.accountId,
        personId: by.personId,
        capabilityId: 'cap_1',
        clientId: client.id,
        clientName: client.name,
        clientHost: client.host,
        redirectHost: client.redirectHost,
        grantId,
        mayPay,
        mayOperate,
        createdAt: Date.now(),
        changedAt: Date.now(),
        usedAt: null,
        revokedAt: null,
        expiresAt,
      }
      connections.push(connection)
      return connection
    },
    async revoke(_accountId, id) {
      const at = connections.findIndex((connection) => connection.id === id)
      const found = connections[at]
      if (!found) throw new GatewayError('not_found', 'no such connection')
      return (connections[at] = { ...found, revokedAt: Date.now() })
    },
    list: async () => ({ items: connections, next: null }) as never,
    async addToken({ connectionId, tokenHash, expiresAt }) {
      tokens.set(hex(tokenHash), { connectionId, expiresAt })
    },
    dropToken: async (hash) => void tokens.delete(hex(hash)),
  }
  return { rows, connections, tokens, store: store as unknown as Store, doors: doors as Connections }
}
export type Memory = ReturnType<typeof createMemory>

export interface TestServer {
  readonly baseUrl: string
  readonly memory: Memory
  readonly oauth: Oauth
  readonly log: () => string
  /** Moves the clock of the gateway, not of the library. */
  advance(ms: number): void
  close(): Promise<void>
}

export interface ServerOptions {
  readonly memory?: Memory
  readonly readDocument?: DocumentReader
  /** As it is written in the configuration, where that is not where the server listens. */
  readonly baseUrl?: string
  readonly rateLimit?: number
  readonly choice?: Partial<ConnectionChoice>
}

const NO_DOCUMENTS: DocumentReader = async () => ({ ok: false, reason: 'not_found' })

/** Listens on localhost; `POST /console/connect/{uid}` is the person who says yes, with `?no` the one who does not. */
export async function startOauth(options: ServerOptions = {}): Promise<TestServer> {
  const memory = options.memory ?? createMemory()
  let ahead = 0
  const now = () => Date.now() + ahead
  const lines: string[] = []
  const log = createLogger('info', { write: (line: string) => void lines.push(line) })
  let handle: (req: IncomingMessage, res: ServerResponse) => Promise<void>
  const server = createServer((req, res) => {
    handle(req, res).catch((thrown: unknown) => {
      const error = thrown instanceof GatewayError ? thrown : new GatewayError('internal', String(thrown))
      res.writeHead(error.status, { 'content-type': 'application/json' }).end(JSON.stringify(error.code))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const baseUrl = options.baseUrl ?? `http://127.0.0.1:${port}`
  const addresses = { baseUrl, siteUrl: baseUrl, mcpUrl: `${baseUrl}/mcp` }
  const parts: OauthParts = {
    store: memory.store,
    connections: memory.doors,
    addresses,
    deriveKey: (purpose) => createSecretKey(Buffer.from(hkdfSync('sha256', 'test', '', purpose, 32))),
    readDocument: options.readDocument ?? NO_DOCUMENTS,
    log,
    now,
  }
  const oauth = createOauth(parts)
  const door = createOauthDoor({
    identity: { oauth: oauth.server } as never,
    addresses,
    config: { rateLimit: options.rateLimit ?? 0 } as never,
    now,
    site: { refuse: async () => false },
  })
  handle = async (req, res) => {
    const context = httpContext(req, 0)
    if (door.isAt(context.path)) return door.http(req, res, context)
    if (context.path === '/console/device') {
      const uid = await oauth.interactions.begin(req, res, {
        by: PERSON,
        typed: new URLSearchParams(context.query).get('user_code') ?? '',
      })
      res.end(uid)
      return
    }
    if (req.method === 'GET') {
      const asked = await oauth.interactions.read(req, res, PERSON)
      res.writeHead(asked ? 200 : 404, { 'content-type': 'application/json' })
      res.end(JSON.stringify(asked ?? null))
      return
    }
    const to =
      context.query === 'no'
        ? await oauth.interactions.refuse(req, res)
        : await oauth.interactions.grant(req, res, { by: PERSON, choice: choice(options.choice) })
    res.end(to)
  }
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    memory,
    oauth,
    log: () => lines.join(''),
    advance: (ms) => (ahead += ms),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

/** A browser as far as this goes: it keeps cookies and follows nothing by itself. */
export function createBrowser(origin: string) {
  const cookies = new Map<string, { value: string; path: string }>()
  return {
    cookies,
    async go(url: string, init: RequestInit = {}): Promise<Response> {
      const target = new URL(url, origin)
      const held = [...cookies]
        .filter(([, { path }]) => target.pathname.startsWith(path))
        .map(([name, { value }]) => `${name}=${value}`)
      const answer = await fetch(target, {
        redirect: 'manual',
        ...init,
        headers: { cookie: held.join('; '), ...(init.headers as Record<string, string> | undefined) },
      })
      for (const line of answer.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
        const path = /; ?path=([^;]+)/i.exec(line)?.[1] ?? '/'
        if (value === '') cookies.delete(name)
        else cookies.set(name, { value, path })
      }
      return answer
    },
  }
}
export type Browser = ReturnType<typeof createBrowser>

export const verifierPair = () => {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}

export const form = (values: Record<string, string>) => ({
  method: 'POST',
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams(values),
})

export interface Registered {
  readonly client_id: string
  readonly client_secret?: string
  readonly application_type?: string
}

/** Registers as an assistant on the person's machine does, unless told otherwise. */
export async function register(origin: string, over: Record<string, unknown> = {}): Promise<Registered> {
  const answer = await fetch(`${origin}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_name: 'Test Assistant',
      redirect_uris: ['http://localhost:7777/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      ...over,
    }),
  })
  const said = (await answer.json()) as Registered
  if (answer.status !== 201) throw new Error(`${answer.status} ${JSON.stringify(said)}`)
  return said
}

export interface AskOptions {
  readonly clientId: string
  readonly redirectUri?: string
  readonly params?: Record<string, string>
  /** Left out of the request. */
  readonly without?: readonly string[]
  readonly browser?: Browser
}

/** Sends a browser to the authorization endpoint. */
export async function ask(origin: string, { clientId, redirectUri, params, without, browser }: AskOptions) {
  const pair = verifierPair()
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri ?? 'http://localhost:7777/callback',
    code_challenge: pair.challenge,
    code_challenge_method: 'S256',
    state: 'state-1',
    resource: `${origin}/mcp`,
    ...params,
  })
  for (const name of without ?? []) query.delete(name)
  const used = browser ?? createBrowser(origin)
  const answer = await used.go(`/oauth/authorize?${query.toString()}`, { headers: { accept: 'text/html' } })
  return { ...pair, browser: used, answer, location: answer.headers.get('location') ?? '' }
}

/** Asks, consents, and comes back with a code. */
export async function consent(origin: string, options: AskOptions) {
  const asked = await ask(origin, options)
  const { browser } = asked
  const to = await browser.go(new URL(asked.location).pathname, { method: 'POST' })
  const returnTo = await to.text()
  const back = await browser.go(new URL(returnTo).pathname)
  const callback = new URL(back.headers.get('location') ?? 'about:blank')
  return { ...asked, returnTo, back, callback, code: callback.searchParams.get('code') ?? '' }
}

export interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
  readonly expires_in: number
  readonly scope: string
  readonly error?: string
}

/** Exchanges a code, or whatever the form says. */
export async function exchange(origin: string, values: Record<string, string>) {
  const answer = await fetch(`${origin}/oauth/token`, form(values))
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Tokens }
}

/** From nothing to tokens. */
export async function connect(origin: string, options: AskOptions) {
  const done = await consent(origin, options)
  const redirect_uri = options.redirectUri ?? 'http://localhost:7777/callback'
  const answer = await exchange(origin, {
    grant_type: 'authorization_code',
    code: done.code,
    redirect_uri,
    client_id: options.clientId,
    code_verifier: done.verifier,
  })
  return { ...done, ...answer }
}
