// Documents in plain text for agents, and the two machine-readable maps of the others.
import { API_VERSION } from '../core/config.ts'
import type { Addresses } from '../core/config.ts'
import { ERRORS } from '../core/errors.ts'
import { type AnyTool, portableName, type Registry } from '../core/registry.ts'
import { isPaid } from '../core/price.ts'
import { jobPrices, priceWords } from './protocols.ts'

const WHO: Readonly<Record<AnyTool['caller'], string>> = {
  anyone: 'no token',
  capability: 'capability',
  operator: 'service key',
  admin: 'administrator key',
  account: 'service key or capability',
  email: 'email key (free) or service key',
  seller: "seller's key",
}

/** The table in README.md. */
export function toolTable(registry: Registry): string {
  const rows = registry.tools.map(({ tool }) => {
    const [route] = tool.doors.includes('rest') ? tool.rest : []
    const address = route ? `\`${route.method} ${route.path}\`` : ''
    const skills = tool.skills.map(({ id }) => `\`${id}\``).join(', ')
    const mcp = tool.doors.includes('mcp') ? `\`${tool.name}\`` : ''
    return `| ${tool.title} | ${mcp} | ${skills} | ${address} | ${WHO[tool.caller]} | ${priceWords(tool.price)} |`
  })
  return [
    '| what | MCP tool | A2A skill | REST | who may call | price |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n')
}

/** A size that can be pasted into a prompt without a second thought. */
const MAX_AGENT_BYTES = 8 * 1024

/** `/agent.txt`: short enough to paste into a prompt, however many tools there are; the more, the less it says of each. */
export function agentText(registry: Registry, addresses: Addresses): string {
  const texts = DETAILS.map((detail) => agentTextIn(registry, addresses, detail))
  return texts.find((text) => Buffer.byteLength(text) < MAX_AGENT_BYTES) ?? texts.at(-1) ?? ''
}

type Detail = (theirs: Registry['tools']) => readonly string[]

/** Operators read the documentation: their tools are here for completeness, and give up room before those of agents do. */
const isForOperators = (tool: AnyTool) =>
  tool.caller === 'operator' || tool.caller === 'admin' || tool.caller === 'seller'
const namesOf: Detail = (theirs) => [theirs.map(({ tool }) => tool.name).join(' ')]

const areForOperators = (theirs: Registry['tools']) => theirs.some(({ tool }) => isForOperators(tool))
const countOf: Detail = (theirs) => [
  `${theirs.length} tools, each with its address and price: GET /v1/protocols`,
]

const DETAILS: readonly Detail[] = [
  (theirs) => theirs.map(toolLine),
  (theirs) => theirs.map((entry) => (isForOperators(entry.tool) ? methodLine(entry) : toolLine(entry))),
  (theirs) => theirs.map((entry) => (isForOperators(entry.tool) ? methodLine(entry) : pricedLine(entry))),
  (theirs) => (areForOperators(theirs) ? namesOf(theirs) : theirs.map(toolLine)),
  (theirs) => (areForOperators(theirs) ? namesOf(theirs) : theirs.map(pricedLine)),
  (theirs) => (areForOperators(theirs) ? countOf(theirs) : theirs.map(pricedLine)),
  (theirs) => theirs.map(({ tool }) => [addressOf(tool), ...pricedWords(tool)].join(' | ')),
  namesOf,
  countOf,
]

function agentTextIn(registry: Registry, { baseUrl, mcpUrl }: Addresses, detail: Detail): string {
  const paid = registry.tools.filter(({ tool }) => isPaid(tool)).map(({ tool }) => tool.name)
  const shownPaid =
    paid.length <= MAX_PAID_NAMES ? paid.join(', ') : `${paid.length} tools with a price at /v1/protocols`
  const tools = CALLERS.flatMap((caller) => {
    const theirs = registry.tools.filter(({ tool }) => tool.caller === caller)
    return theirs.length === 0 ? [] : [`${HOLDERS[caller]}:`, ...detail(theirs)]
  })
  const jobs = registry.tools.flatMap(({ tool }) => {
    const prices = jobPrices(tool)
    return prices === undefined ? [] : `${tool.name} capabilities: ${prices}`
  })
  return `# Agent Gateway ${API_VERSION}
An agent gets things done on the internet without ever holding a secret.

Base URL: ${baseUrl}
HTTP: every path below; described by /openapi.json, tried at /docs
MCP (Streamable HTTP): ${mcpUrl}
A2A: /a2a, card at /.well-known/agent-card.json
Catalogue with schemas and prices: /v1/capabilities; every tool: /v1/protocols

## First result, free, no account
POST ${baseUrl}/v1/execute
Content-Type: application/json
{"intent":"demo"}

## Tokens
Authorization: Bearer <token> carries an operator's service key (agw_sk_...), an agent's capability (agw_cap_...) or an
email key (agw_ek_...): free, POST /v1/keys/free {}, for POST /v1/verify.
Capabilities also go in X-Gateway-Capability or, over MCP and A2A, the argument "capability". They name hosts, paths and
methods, and expire.
Permit (a JWS, in the body): one exact request, once: POST /v1/actions/execute {"permit", "request"}.
The upstream secret stays in the gateway. Never ask for it, never send it.

## Paying
USDC, with x402 v2, no account, the payer must be funded: ${shownPaid}.
1. Send the request: 402 with Payment-Required, base64 of {x402Version, resource, accepts}. Nothing is charged.
2. Sign one of accepts; send the identical request with Payment-Signature. X-Gateway-Quote may go along; it must match.
3. 200 has Payment-Response and a receipt. A failed call is not charged. On settlement_unknown or payment_claimed
   do not pay again: first GET payment_url with the same Payment-Signature, or sign its sign_in. "testnet":true pays with
   test money only.
v1 buyers: accepts is in the 402 body, send X-PAYMENT. MCP: _meta["x402/payment"]. A2A: metadata x402.payment.*.
Prices and rails now: /v1/pricing. Check first, free: POST /v1/preflight.
Credits pay for outbound requests: 1 an attempt, taken first. Balance: GET /v1/credits.
A 402 for credits carries offer: POST its request.body to /v1/credits/purchase, pay that, send again.

## Tools, by who may call: name and HTTP | price unless free | what
${[...tools, ...jobs].join('\n')}

## Errors
application/problem+json with code, detail (what to do next) and request_id; /problems/<code> explains each.
${errorLines().join('\n')}
`
}

/** Groups instead of a column: the page has to stay short. */
const HOLDERS: Readonly<Record<AnyTool['caller'], string>> = {
  anyone: 'Anybody',
  capability: 'Capability',
  account: 'Service key or capability',
  email: 'Email key or service key',
  operator: 'Service key (POST, paths below /v1)',
  admin: 'Administrator key (same)',
  seller: "Seller's key",
}
const CALLERS = Object.keys(HOLDERS) as AnyTool['caller'][]

const MAX_PAID_NAMES = 12

function toolLine({ tool }: Registry['tools'][number]): string {
  const address = addressOf(tool)
  // The names of operators' tools say what they do.
  return isForOperators(tool)
    ? [`${tool.name} ${shorten(address)}`, ...pricedWords(tool)].join(' | ')
    : [`${tool.name} ${address}`, ...pricedWords(tool), tool.title].join(' | ')
}

/** What is free and has a name and an address needs no more words; what costs something has them. */
const pricedLine = (entry: Registry['tools'][number]): string => {
  const { tool } = entry
  return pricedWords(tool).length === 0 ? `${tool.name} ${addressOf(tool)}` : toolLine(entry)
}

/** The path of an operator's tool is made of its name; the method and the price are not. */
const methodLine = ({ tool }: Registry['tools'][number]): string =>
  [`${tool.name} ${addressOf(tool).split(' ', 1).join('')}`, ...pricedWords(tool)].join(' | ')

/** `POST /v1/keys/{key_id}/revoke` -> `/keys/{id}/revoke`: the heading says what is left out. */
const shorten = (address: string) =>
  address.replace(/^(?:POST )?(GET )?\/v1\//, '$1/').replaceAll(/\{(?:[a-z]+_id|kid)\}/g, '{id}')

function addressOf(tool: AnyTool): string {
  const [route] = tool.doors.includes('rest') ? tool.rest : []
  return route ? `${route.method} ${route.path}` : portableName(tool.name)
}

function pricedWords(tool: AnyTool): readonly string[] {
  const price = priceWords(tool.price)
  return price === 'free' ? [] : [price]
}

function errorLines(): string[] {
  const byStatus = new Map<number, string[]>()
  for (const [code, { status }] of Object.entries(ERRORS))
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  return [...byStatus].map(([status, codes]) => `${status}: ${codes.join(' ')}`)
}

/** `/llms.txt`, in the layout of llmstxt.org. */
export function llmsText(
  addresses: Addresses,
  capabilities: readonly Readonly<Record<string, unknown>>[],
): string {
  const { baseUrl, mcpUrl } = addresses
  const link = (title: string, url: string, words: string) => `- [${title}](${url}): ${words}`
  return `# Agent Gateway

> The gateway through which AI agents act on the internet without ever holding a secret: one set of tools over MCP (${mcpUrl}), A2A and HTTP.

## Start here

${[
  link(
    'Instructions for agents',
    `${baseUrl}/agent.txt`,
    'addresses, tokens, prices and error codes on one page',
  ),
  link(
    'Capability catalogue',
    `${baseUrl}/v1/capabilities`,
    'schemas, exact prices and examples that work unchanged',
  ),
  link(
    'Prices and how to pay',
    `${baseUrl}/v1/pricing`,
    'what is paid with x402, the request shapes, and the payment rails as they are now',
  ),
].join('\n')}

## Interfaces

${[
  link('OpenAPI description', `${baseUrl}/openapi.json`, 'every HTTP operation, OpenAPI 3.1'),
  link('Interactive API page', `${baseUrl}/docs`, 'try an operation in the browser'),
  link('Agent card', `${baseUrl}/.well-known/agent-card.json`, 'A2A skills'),
  link('Ways in', `${baseUrl}/v1/protocols`, 'each tool over each protocol'),
  link('Skills', `${baseUrl}/skills`, 'goals that are reached with several tools, as Agent Skills'),
  link('Egress manifest', `${baseUrl}/v1/egress`, 'credentials, capabilities and what is guaranteed'),
  link('Action manifest', `${baseUrl}/v1/actions`, 'permits for one exact request, mandates, approval'),
  link('Facilitator', `${baseUrl}/facilitator`, 'verifies and settles x402 payments of others'),
  link('Paid resources', `${baseUrl}/discovery/resources`, 'x402 resources of this gateway and its sources'),
].join('\n')}

## Capabilities

${capabilities.map((entry) => link(String(entry['name']), String(entry['url']), String(entry['description']))).join('\n')}

## Optional

${[
  link('API catalog', `${baseUrl}/.well-known/api-catalog`, 'RFC 9727 linkset'),
  link(
    'Published keys',
    `${baseUrl}/.well-known/gateway-egress-key.json`,
    'JWKS that receipts verify against',
  ),
  link('Verification keys', `${baseUrl}/.well-known/jwks.json`, 'the same as a plain JWKS'),
  link('x402 resources', `${baseUrl}/.well-known/x402`, 'what is sold here, with prices and input schemas'),
].join('\n')}
`
}

/** RFC 9727: `application/linkset+json`. */
export function apiCatalog({ baseUrl, mcpUrl }: Addresses): Record<string, unknown> {
  return {
    linkset: [
      {
        anchor: `${baseUrl}/.well-known/api-catalog`,
        item: [{ href: `${baseUrl}/` }, { href: mcpUrl }, { href: `${baseUrl}/a2a` }],
      },
      {
        anchor: `${baseUrl}/`,
        'service-desc': [
          { href: `${baseUrl}/openapi.json`, type: 'application/json' },
          { href: `${baseUrl}/.well-known/agent-card.json`, type: 'application/json' },
        ],
        'service-doc': [
          { href: `${baseUrl}/docs`, type: 'text/html' },
          { href: `${baseUrl}/agent.txt`, type: 'text/plain' },
        ],
        'service-meta': [
          { href: `${baseUrl}/v1/capabilities`, type: 'application/json' },
          { href: `${baseUrl}/.well-known/agent-skills/index.json`, type: 'application/json' },
        ],
        status: [{ href: `${baseUrl}/healthz`, type: 'application/json' }],
      },
    ],
  }
}

/** Documents may be read by any crawler; what acts may not be tried by one. */
export const robotsText = `User-agent: *
Disallow: /v1/
Disallow: /mcp
Disallow: /a2a
Allow: /v1/capabilities
Allow: /
`

/** `/schemas/<tool>.json` and `schemas/json/`. */
export function schemaDocument(entry: Registry['tools'][number]): Record<string, unknown> {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: entry.tool.name,
    description: entry.tool.title,
    type: 'object',
    properties: { input: entry.inputSchema, output: entry.outputSchema },
    required: ['input', 'output'],
  }
}
