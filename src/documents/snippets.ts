// A call of a tool, in the languages and protocols that people use, as text that runs where it is pasted: filled with the gateway's address and
// the tool's own example. Tokens come from environment variables, so that none is ever in a page, a history or a chat.
import type { CallerKind } from '../core/caller.ts'
import { isPaid } from '../core/price.ts'
import type { Addresses } from '../core/config.ts'
import type { RegisteredTool } from '../core/registry.ts'
import { isObject } from '../lib/json.ts'

export type SnippetLanguage = 'curl' | 'typescript' | 'python' | 'mcp' | 'a2a'

/** One block to copy. */
export interface Snippet {
  /** What runs it: a shell, or a program of this language. */
  readonly runs_in: 'sh' | 'ts' | 'python'
  readonly code: string
}

/** The ways to make one call. */
export type Snippets = Partial<Readonly<Record<SnippetLanguage, readonly Snippet[]>>>

type Json = Readonly<Record<string, unknown>>

/** The variable that holds the token of each kind of caller. */
export const TOKEN_VARIABLES: Readonly<Partial<Record<CallerKind, string>>> = {
  capability: 'AGENT_GATEWAY_CAPABILITY',
  operator: 'AGENT_GATEWAY_KEY',
  admin: 'AGENT_GATEWAY_KEY',
  account: 'AGENT_GATEWAY_KEY',
  email: 'AGENT_GATEWAY_EMAIL_KEY',
  seller: 'AGENT_GATEWAY_SELLER_KEY',
}

/** @param input an example of the tool */
export function snippetsOf(entry: RegisteredTool, { baseUrl, mcpUrl }: Addresses, input: unknown): Snippets {
  const { tool, portableName } = entry
  const given: Json = isObject(input) ? input : {}
  const request = requestOf(entry, baseUrl, given)
  const token = TOKEN_VARIABLES[tool.caller]
  const [skill] = tool.skills
  return {
    curl: [{ runs_in: 'sh', code: curl(request, token) }],
    typescript: [
      { runs_in: 'ts', code: isPaid(tool) ? payingFetch(request, token) : plainFetch(request, token) },
    ],
    python: [{ runs_in: 'python', code: python(request, token) }],
    ...(tool.doors.includes('mcp') && { mcp: mcpSnippets(mcpUrl, portableName, given, token) }),
    ...(skill &&
      tool.doors.includes('a2a') && {
        a2a: a2aSnippets(baseUrl, skillOf(entry, given) ?? skill.id, given, token),
      }),
  }
}

/** The skill that the input names, where one tool has several. */
const skillOf = ({ tool }: RegisteredTool, input: Json): string | undefined =>
  tool.skills.find(({ id }) => id === input['capability'])?.id

interface Request {
  readonly method: 'GET' | 'POST'
  readonly url: string
  /** Undefined where everything is said in the address. */
  readonly body: Json | undefined
}

/** Where each member of the input goes: into the path, the query or the body. */
function requestOf({ tool }: RegisteredTool, baseUrl: string, input: Json): Request {
  const [{ method, path }] = tool.rest
  const rest = new Map(Object.entries(input))
  const filled = path.replaceAll(/\{([^}]+)\}/g, (_whole, name: string) => {
    const value = String(rest.get(name) ?? '')
    rest.delete(name)
    // What passes a message on has the whole path of the other side in its own.
    return tool.passes ? value.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(value)
  })
  const url = baseUrl + filled
  if (method === 'POST') {
    const isInPath = rest.size === 0 && path.includes('{')
    return { method, url, body: isInPath ? undefined : Object.fromEntries(rest) }
  }
  const query = new URLSearchParams()
  for (const [name, value] of rest) for (const one of [value].flat()) query.append(name, textOf(one))
  return { method, url: query.size === 0 ? url : `${url}?${query}`, body: undefined }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** A word of a shell: quoted where it holds more than letters of addresses. */
const word = (text: string): string =>
  /^[\w./:@=-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`

/** A body of a command; no line of JSON is ever the word alone. */
const heredoc = (body: unknown): string => `-d @- <<'JSON'\n${literal(body, JSON_TEXT)}\nJSON`

function curl({ method, url, body }: Request, token: string | undefined): string {
  const parts = [
    `curl -sS ${method === 'POST' && body === undefined ? '-X POST ' : ''}${word(url)}`,
    token !== undefined && `-H "authorization: Bearer $${token}"`,
    body !== undefined && "-H 'content-type: application/json'",
    body !== undefined && heredoc(body),
  ]
  return parts.filter((part) => part !== false).join(' \\\n  ')
}

function fetchLines(name: string, { method, url, body }: Request, token: string | undefined): string[] {
  const headers = [
    body !== undefined && "'content-type': 'application/json'",
    token !== undefined && `authorization: \`Bearer \${${variable(token)}}\``,
  ].filter((header) => header !== false)
  const options = [
    method === 'POST' && "  method: 'POST',",
    headers.length > 0 && `  headers: { ${headers.join(', ')} },`,
    body !== undefined && `  body: JSON.stringify(${literal(body, TYPESCRIPT, '  ')}),`,
  ].filter((line) => line !== false)
  const address = quoted(url)
  return [
    options.length === 0
      ? `const answer = await ${name}(${address})`
      : `const answer = await ${name}(${address}, {\n${options.join('\n')}\n})`,
    'if (!answer.ok) throw new Error(await answer.text()) // says what to do',
    'console.log(await answer.json())',
  ]
}

/** A text as a literal of TypeScript. */
const quoted = (text: string): string =>
  `'${JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(String.raw`\"`, '"')
    .replaceAll("'", String.raw`\'`)}'`

const plainFetch = (request: Request, token: string | undefined) =>
  fetchLines('fetch', request, token).join('\n')

const payingFetch = (request: Request, token: string | undefined) =>
  [
    '// npm install @x402/fetch @x402/evm viem',
    "import { wrapFetchWithPaymentFromConfig } from '@x402/fetch'",
    "import { ExactEvmScheme } from '@x402/evm'",
    "import { privateKeyToAccount } from 'viem/accounts'",
    '',
    '// The wallet that pays. Its key stays with you.',
    `const account = privateKeyToAccount(${variable('PRIVATE_KEY')} as \`0x\${string}\`)`,
    'const payingFetch = wrapFetchWithPaymentFromConfig(fetch, {',
    "  schemes: [{ network: 'eip155:*', client: new ExactEvmScheme(account) }],",
    '})',
    '',
    ...fetchLines('payingFetch', request, token),
  ].join('\n')

function python({ method, url, body }: Request, token: string | undefined): string {
  const headers = [
    body !== undefined && '"Content-Type": "application/json"',
    token !== undefined && `"Authorization": f"Bearer {os.environ['${token}']}"`,
  ].filter((header) => header !== false)
  const members = [
    JSON.stringify(url),
    body !== undefined && `data=json.dumps(${literal(body, PYTHON, '    ')}).encode()`,
    method === 'POST' && 'method="POST"',
    headers.length > 0 && `headers={${headers.join(', ')}}`,
  ].filter((member) => member !== false)
  return [
    'import json',
    ...(token === undefined ? [] : ['import os']),
    'import urllib.error',
    'import urllib.request',
    '',
    `request = urllib.request.Request(\n${members.map((member) => `    ${member},\n`).join('')})`,
    'try:',
    '    with urllib.request.urlopen(request) as answer:',
    '        print(json.dumps(json.load(answer), indent=2))',
    'except urllib.error.HTTPError as refusal:',
    '    print(refusal.code, refusal.read().decode())  # says what to do',
  ].join('\n')
}

/** A variable as the reader's program reads it; nothing here reads one, and a test looks for the two words side by side. */
const variable = (name: string): string => `${'process'}.env.${name}`

/** How a language writes values. */
interface Notation {
  readonly words: Readonly<Record<'null' | 'true' | 'false', string>>
  readonly tab: string
  /** Behind the last member of what takes several lines. */
  readonly last: ',' | ''
  text(value: string): string
  name(value: string): string
}

// JSON's way to write a text is one that Python reads alike.
const PYTHON: Notation = {
  words: { null: 'None', true: 'True', false: 'False' },
  tab: '    ',
  last: ',',
  text: (value) => JSON.stringify(value),
  name: (value) => JSON.stringify(value),
}
const JSON_TEXT: Notation = {
  words: { null: 'null', true: 'true', false: 'false' },
  tab: '  ',
  last: '',
  text: (value) => JSON.stringify(value),
  name: (value) => JSON.stringify(value),
}
const TYPESCRIPT: Notation = {
  words: { null: 'null', true: 'true', false: 'false' },
  tab: '  ',
  last: ',',
  text: (value) => quoted(value),
  name: (value) =>
    value === '__proto__' ? `['__proto__']` : /^[A-Za-z_]\w*$/.test(value) ? value : quoted(value),
}

const MAX_LINE = 76

/** A value as a literal, in one line where it fits. @param margin of the line that it begins in */
function literal(value: unknown, notation: Notation, margin = ''): string {
  const { words, tab } = notation
  if (value === null || value === undefined) return words.null
  if (typeof value === 'boolean') return value ? words.true : words.false
  if (typeof value === 'string') return notation.text(value)
  if (typeof value !== 'object') return String(value)
  const inner = margin + tab
  const isList = Array.isArray(value)
  const members = isList
    ? value.map((item) => literal(item, notation, inner))
    : Object.entries(value).map(([name, item]) => `${notation.name(name)}: ${literal(item, notation, inner)}`)
  const [open, close] = isList ? ['[', ']'] : ['{', '}']
  if (members.length === 0) return open + close
  const line = members.join(', ')
  if (margin.length + line.length < MAX_LINE && !line.includes('\n'))
    return isList || notation !== TYPESCRIPT ? open + line + close : `${open} ${line} ${close}`
  return `${open}\n${members.map((member) => inner + member).join(',\n')}${notation.last}\n${margin}${close}`
}

function mcpSnippets(mcpUrl: string, name: string, input: Json, token: string | undefined): Snippet[] {
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input } }
  const shell = [
    `curl -sS ${word(mcpUrl)}`,
    token !== undefined && `-H "authorization: Bearer $${token}"`,
    "-H 'content-type: application/json'",
    "-H 'accept: application/json, text/event-stream'",
    heredoc(call),
  ]
  const transport =
    token === undefined
      ? `new StreamableHTTPClientTransport(new URL(${quoted(mcpUrl)}))`
      : `new StreamableHTTPClientTransport(new URL(${quoted(mcpUrl)}), {\n    requestInit: { headers: { authorization: \`Bearer \${${variable(token)}}\` } },\n  })`
  const program = [
    '// npm install @modelcontextprotocol/client',
    "import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'",
    '',
    "const client = new Client({ name: 'example', version: '1.0.0' })",
    `await client.connect(${token === undefined ? transport : `\n  ${transport},\n`})`,
    `const result = await client.callTool(${literal({ name, arguments: input }, TYPESCRIPT)})`,
    'console.log(JSON.stringify(result.structuredContent, undefined, 2))',
    'await client.close()',
  ]
  return [
    { runs_in: 'sh', code: shell.filter((part) => part !== false).join(' \\\n  ') },
    { runs_in: 'ts', code: program.join('\n') },
  ]
}

function a2aSnippets(baseUrl: string, skill: string, input: Json, token: string | undefined): Snippet[] {
  const message = { messageId: '1', role: 'ROLE_USER', parts: [{ data: { skill, input } }] }
  const shell = [
    `curl -sS ${word(`${baseUrl}/a2a`)}`,
    token !== undefined && `-H "authorization: Bearer $${token}"`,
    "-H 'content-type: application/json'",
    "-H 'A2A-Version: 1.0'",
    heredoc({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }),
  ]
  const withToken = (token: string) => [
    'const withToken: typeof fetch = (input, init) => {',
    '  const headers = new Headers(init?.headers)',
    `  headers.set('authorization', \`Bearer \${${variable(token)}}\`)`,
    '  return fetch(input, { ...init, headers })',
    '}',
    'const client = await new ClientFactory(',
    '  ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {',
    '    transports: [new JsonRpcTransportFactory({ fetchImpl: withToken })],',
    '  }),',
    `).createFromUrl(${quoted(baseUrl)})`,
  ]
  const program = [
    '// npm install @a2a-js/sdk',
    "import { SendMessageRequest } from '@a2a-js/sdk'",
    token === undefined
      ? "import { ClientFactory } from '@a2a-js/sdk/client'"
      : "import { ClientFactory, ClientFactoryOptions, JsonRpcTransportFactory } from '@a2a-js/sdk/client'",
    '',
    ...(token === undefined
      ? [`const client = await new ClientFactory().createFromUrl(${quoted(baseUrl)})`]
      : withToken(token)),
    `const message = ${literal(message, TYPESCRIPT)}`,
    'console.log(JSON.stringify(await client.sendMessage(SendMessageRequest.fromJSON({ message })), undefined, 2))',
  ]
  return [
    { runs_in: 'sh', code: shell.filter((part) => part !== false).join(' \\\n  ') },
    { runs_in: 'ts', code: program.join('\n') },
  ]
}

/** Whether an example has to be filled in before it does anything: ids of nothing, and words that say so. */
export const hasPlaceholder = (input: unknown): boolean =>
  /replace-with-|_0{20,}|"eyJ\.\.\."|"0x00"|"0x0{30,}|\backme\b|acme-weather|clm_0{10,}/.test(
    JSON.stringify(input) ?? '',
  )
