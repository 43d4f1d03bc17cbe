// HTTP to a running gateway, derived from the registry: a command names a tool, the tool knows its route and its types.
import { readFile } from 'node:fs/promises'
import { must } from '../lib/must.ts'
import type { z } from 'zod'
import { operatorKeyFile } from '../app/bootstrap.ts'
import { isLoopbackHost } from '../app/addresses.ts'
import { loadConfig } from '../app/config.ts'
import type { Config } from '../core/config.ts'
import type { Tool } from '../core/registry.ts'
import { Secret } from '../lib/secret.ts'
import { parseToken } from '../lib/tokens.ts'
import { CommandFailure, Exit } from './exit.ts'
import { loginToken } from './login-token.ts'
import type { ConnectionOptions } from './options.ts'
import { describeProblem, type Row } from './output.ts'
import { findRunning, localUrl } from '../app/running.ts'

const TIMEOUT_MS = 60_000
const MAX_ANSWER_BYTES = 8 * 1024 * 1024

export interface Client {
  readonly url: string
  /**
   * @param token other than the service key; null sends none
   * @param signal gives the call up
   * @throws {CommandFailure} with the problem document in words, or that nothing answered
   */
  call<I extends z.ZodType, O extends z.ZodType>(
    tool: Tool<I, O>,
    input: z.input<I>,
    token?: Secret<string> | null,
    signal?: AbortSignal,
  ): Promise<z.output<O>>
  /** A public document, as JSON. */
  get(path: string): Promise<unknown>
}

/** @throws {ConfigError} and {CommandFailure} */
export async function connect(options: ConnectionOptions): Promise<Client> {
  const config = loadConfig(process.env)
  const url = await findUrl(options, config)
  refusePlainHttp(url, options)
  // Read when first needed: public documents take no key.
  let key: Promise<Secret<string>> | undefined
  const serviceKey = () => (key ??= readKey(url, options, config))

  return {
    url,
    async call(tool, input, token, signal) {
      const bearer = token === null ? undefined : (token ?? (await serviceKey()))
      const { method, path, body } = toRequest(must(tool.rest[0], `a route of ${tool.name}`), input as Row)
      return (await send(url, { method, path, body, bearer, signal })) as never
    },
    get: (path) => send(url, { method: 'GET', path }),
  }
}

/** @returns the client, whose calls are given up with the signal */
export const givenUpWith = (client: Client, signal: AbortSignal): Client => ({
  ...client,
  call: (tool, input, token) => client.call(tool, input, token, signal),
})

/** Finds the gateway: named by an option, configured, noted in the data directory, or at the default address. */
export async function findUrl(options: Pick<ConnectionOptions, 'url'>, config: Config): Promise<string> {
  const known = options.url ?? config.baseUrl ?? (await findRunning(config.dataDir))?.url
  const url = known ?? localUrl(config, config.port)
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new CommandFailure(Exit.usage, `--url: ${url} is not an http or https address.`)
  return url.replace(/\/+$/, '')
}

/** @throws {CommandFailure} when a token would leave this machine unencrypted */
export function refusePlainHttp(url: string, options: Pick<ConnectionOptions, 'allowPlainHttp'>): void {
  const { protocol, hostname } = new URL(url)
  if (protocol === 'https:' || options.allowPlainHttp || isLoopbackHost(hostname.replace(/^\[|\]$/g, '')))
    return
  throw new CommandFailure(
    Exit.usage,
    `${url} would carry your token in the clear. Use https, or --allow-plain-http on a network you trust.`,
  )
}

/** What was named counts first, then the sign-in of the person who runs the command, then the key of the data directory. */
async function readKey(url: string, options: ConnectionOptions, config: Config): Promise<Secret<string>> {
  const isNamed = options.keyFile !== undefined || config.operatorKey !== undefined
  const login = isNamed ? undefined : await loginToken(url)
  return login === undefined ? readServiceKey(options, config) : new Secret(login)
}

async function readServiceKey(options: ConnectionOptions, config: Config): Promise<Secret<string>> {
  const file = options.keyFile ?? operatorKeyFile(config.dataDir)
  if (options.keyFile === undefined && config.operatorKey !== undefined) return new Secret(config.operatorKey)
  let text: string
  try {
    text = (await readFile(file, 'utf8')).trim()
  } catch {
    throw new CommandFailure(
      Exit.failed,
      `No service key: ${file} cannot be read. Set GATEWAY_OPERATOR_KEY, name a file with --key-file, ` +
        'or set GATEWAY_DATA_DIR to the data directory of the gateway. Or sign in as yourself: `agent-gateway login`.',
    )
  }
  if (parseToken(text)?.kind !== 'sk')
    throw new CommandFailure(
      Exit.failed,
      `${file} holds no service key (agw_sk_… with its checksum intact). Name its file with --key-file, or sign in with \`agent-gateway login\`.`,
    )
  return new Secret(text)
}

type Route = Tool['rest'][number]

/** Path parameters from the input, the rest as query (GET) or JSON body (POST). */
export function toRequest(route: Route, input: Row): { method: string; path: string; body?: string } {
  const rest = new Map(Object.entries(input).filter(([, value]) => value !== undefined))
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest.get(name)
    rest.delete(name)
    return encodeURIComponent(String(value))
  })
  if (route.method === 'POST') return { method: 'POST', path, body: JSON.stringify(Object.fromEntries(rest)) }
  const query = new URLSearchParams()
  for (const [name, value] of rest)
    for (const item of Array.isArray(value) ? value : [value]) query.append(name, String(item))
  return { method: route.method, path: query.size > 0 ? `${path}?${query}` : path }
}

interface Sent {
  readonly method: string
  readonly path: string
  readonly body?: string | undefined
  readonly bearer?: Secret<string> | undefined
  readonly signal?: AbortSignal | undefined
}

async function send(url: string, { method, path, body, bearer, signal }: Sent): Promise<unknown> {
  const headers: Record<string, string> = { accept: 'application/json' }
  if (body !== undefined) headers['content-type'] = 'application/json'
  let response: Response
  let text: string
  try {
    response = await fetch(url + path, {
      method,
      headers: bearer ? bearer.use((token) => ({ ...headers, authorization: `Bearer ${token}` })) : headers,
      ...(body === undefined ? {} : { body }),
      // A redirect would take the key to another address.
      redirect: 'manual',
      signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ...(signal ? [signal] : [])]),
    })
    text = await response.text()
  } catch (thrown) {
    throw new CommandFailure(Exit.unreachable, unreachable(url, thrown))
  }
  const document = text.length > MAX_ANSWER_BYTES ? undefined : parse(text)
  if (response.ok && document !== undefined) return document
  if (isProblem(document)) throw new CommandFailure(Exit.failed, describeProblem(document), document)
  throw new CommandFailure(
    Exit.unreachable,
    `${url} answers, but not like an Agent Gateway (status ${response.status}). Check the address.`,
  )
}

function unreachable(url: string, thrown: unknown): string {
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  const start = 'Start it with `agent-gateway serve`, or name another address with --url or GATEWAY_BASE_URL.'
  if (code === 'ECONNREFUSED') return `No gateway answers at ${url}. ${start}`
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `The name in ${url} does not resolve. ${start}`
  if (thrown instanceof Error && thrown.name === 'TimeoutError')
    return `${url} did not answer within ${TIMEOUT_MS / 1000} s. Try again; \`agent-gateway doctor\` says what it waits for.`
  if (/CERT|SELF_SIGNED|TLS|SSL|ISSUER/.test(code))
    return `The certificate of ${url} is not trusted (${code}). Name its authority with NODE_EXTRA_CA_CERTS.`
  return `The connection to ${url} failed${code ? ` (${code})` : ''}. ${start}`
}

const isProblem = (document: unknown): document is Row =>
  typeof document === 'object' && document !== null && 'code' in document && 'title' in document

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
