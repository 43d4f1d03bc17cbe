// `/agent.txt`: what an agent needs to begin, to pay and to understand a refusal, short enough to paste into a prompt.
import { API_VERSION } from '../core/config.ts'
import type { Addresses } from '../core/config.ts'
import { ERRORS } from '../core/errors.ts'
import { isPaid } from '../core/price.ts'
import type { AnyTool, Registry, RegisteredTool } from '../core/registry.ts'
import type { Toolset } from '../core/tool.ts'
import { routeName } from '../core/tool-words.ts'
import { jobPrices, priceWords } from './protocols.ts'
import { TOOLSET_WORDS, toolsetPath, toolsetsIn } from './toolset-texts.ts'

/** A size that can be pasted into a prompt without a second thought. */
const MAX_AGENT_BYTES = 8 * 1024
const MAX_PAID_NAMES = 12

/** `/agent.txt`: however many tools there are; the more, the less it says of each, and the pages of the toolsets say it all. */
export function agentText(registry: Registry, addresses: Addresses): string {
  const texts = DETAILS.map((detail) => agentTextIn(registry, addresses, detail))
  return texts.find((text) => Buffer.byteLength(text) < MAX_AGENT_BYTES) ?? texts.at(-1) ?? ''
}

/** Whether a toolset's line names the tool. */
type Detail = (tool: AnyTool) => boolean

/** Operators and sellers read the documentation. */
const isForAgents: Detail = ({ caller }) => caller !== 'operator' && caller !== 'admin' && caller !== 'seller'

const DETAILS: readonly Detail[] = [
  isForAgents,
  (tool) => isForAgents(tool) && priceWords(tool.price) !== 'free',
  () => false,
]

/** `web /llms/web.txt | results from public pages … | POST /v1/execute free, or 0.002000 USDC; GET /v1/capabilities` */
function toolsetLine(registry: Registry, toolset: Toolset, isNamed: Detail): string {
  const theirs = registry.tools.filter(({ tool }) => tool.toolset === toolset)
  const named = theirs.filter(({ tool }) => isNamed(tool))
  const left = theirs.length - named.length
  const more = left === 0 ? [] : [named.length === 0 ? `${left} tools` : `${left} more`]
  return `${toolset} ${toolsetPath(toolset)} | ${TOOLSET_WORDS[toolset]} | ${[...named.map(toolWords), ...more].join('; ')}`
}

function toolWords(entry: RegisteredTool): string {
  const { tool } = entry
  const price = priceWords(tool.price)
  return `${routeName(entry)}${price === 'free' ? '' : ` ${price}`}${TOKENS[tool.caller]}`
}

const TOKENS: Readonly<Record<AnyTool['caller'], string>> = {
  anyone: '',
  capability: ' (capability)',
  account: ' (capability or service key)',
  email: ' (email key)',
  operator: ' (service key)',
  admin: " (administrator's key)",
  seller: " (seller's key)",
}

function agentTextIn(registry: Registry, { baseUrl, mcpUrl }: Addresses, detail: Detail): string {
  const paid = registry.tools.filter(({ tool }) => isPaid(tool)).map(routeName)
  const shownPaid =
    paid.length <= MAX_PAID_NAMES ? paid.join(', ') : `${paid.length} tools with a price at /v1/protocols`
  const toolsets = toolsetsIn(registry).map((toolset) => toolsetLine(registry, toolset, detail))
  const jobs = registry.tools.flatMap((entry) => {
    const prices = jobPrices(entry.tool)
    return prices === undefined ? [] : `${routeName(entry)} capabilities: ${prices}`
  })
  return `# Agent Gateway ${API_VERSION}
An agent gets things done on the internet without ever holding a secret.

Base URL: ${baseUrl}
HTTP: every path below; described by /openapi.json, tried at /catalogue; guides at /docs.md
MCP (Streamable HTTP): ${mcpUrl}
A2A: /a2a, card at /.well-known/agent-card.json
Catalogue with schemas and prices: /v1/capabilities; every tool: /v1/protocols, /llms-full.txt

## First result, free, no account
POST ${baseUrl}/v1/execute
Content-Type: application/json
{"intent":"demo"}

## Tokens
Authorization: Bearer <token> carries an operator's service key (agw_sk_...), an agent's capability (agw_cap_...) or an
email key (agw_ek_...): free, POST /v1/keys/free {}, for POST /v1/verify.
Capabilities also go in X-Gateway-Capability or, over MCP and A2A, the argument "capability" (email keys: "email_key"). They name hosts, paths and
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

## Tools
A line a toolset: page | what it is for | its tools as HTTP knows them, with the price unless free, and whose token unless anybody's.
A page has each tool's name over MCP and A2A too, its input and an example. Names over MCP look like gateway_web_fetch, and
${mcpUrl}?toolsets=web lists one toolset; skills over A2A look like web-fetch.
${[...toolsets, ...jobs].join('\n')}

## Errors
application/problem+json with code, detail (what to do next) and request_id; /problems/<code> explains each.
${errorLines().join('\n')}
`
}

function errorLines(): string[] {
  const byStatus = new Map<number, string[]>()
  for (const [code, { status }] of Object.entries(ERRORS))
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  return [...byStatus].map(([status, codes]) => `${status}: ${codes.join(' ')}`)
}
