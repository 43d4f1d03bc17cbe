// The protocol-neutral manifest: which tools there are and how each door calls them.
import { creditWords, type Price, type X402Price } from '../core/price.ts'
import { formatAtomic } from '../../schemas/money.ts'
import { API_VERSION } from '../core/config.ts'
import type { Addresses } from '../core/config.ts'
import type { AnyTool, RegisteredTool, Registry } from '../core/registry.ts'

type Json = Record<string, unknown>

/** `GET /v1/protocols`: the doors with their addresses, and every tool as each of them calls it. */
export function protocolManifest(registry: Registry, addresses: Addresses): Json {
  const { baseUrl, siteUrl, mcpUrl } = addresses
  return {
    name: 'Agent Gateway',
    version: API_VERSION,
    protocols: {
      http: {
        base_url: baseUrl,
        description: `${baseUrl}/openapi.json`,
        interactive: `${siteUrl}/catalogue`,
      },
      mcp: { endpoint: mcpUrl, transport: 'streamable-http', stateless: true },
      a2a: { endpoint: `${baseUrl}/a2a`, card: `${baseUrl}/.well-known/agent-card.json` },
    },
    tools: registry.tools.map((entry) => describeTool(entry, baseUrl)),
  }
}

function describeTool({ tool, portableName }: RegisteredTool, baseUrl: string): Json {
  const on = (door: 'rest' | 'mcp' | 'a2a') => tool.doors.includes(door)
  return {
    name: tool.name,
    portable_name: portableName,
    title: tool.title,
    caller: tool.caller,
    price: priceWords(tool.price),
    schema: `${baseUrl}/schemas/${portableName}.json`,
    http: on('rest')
      ? tool.rest.map(({ method, path, operationId }) => ({ method, path, operation_id: operationId }))
      : [],
    mcp: on('mcp') ? { tool: tool.name } : null,
    a2a: on('a2a') ? { skills: tool.skills.map(({ id }) => id) } : null,
  }
}

/** Who may call a tool, in words. */
export const WHO: Readonly<Record<AnyTool['caller'], string>> = {
  anyone: 'no token',
  capability: 'capability',
  operator: 'service key',
  admin: 'administrator key',
  account: 'service key or capability',
  email: 'email key (free) or service key',
  seller: "seller's key",
}

/** `free`, `1 credit`, `0.003000 USDC`, `free up to an allowance, then 1 credit`. */
export function priceWords(price: Price): string {
  switch (price.kind) {
    case 'free':
      return 'free'
    case 'credits':
      return price.taken === 'allowance'
        ? `free up to an allowance, then ${creditWords(price.credits)}`
        : creditWords(price.credits)
    case 'x402':
      if (price.setBy !== undefined) return `${price.setBy}, in USDC`
      return `${price.mayBeFree === undefined ? '' : 'free, or '}${amountWords(price)} USDC`
  }
}

/** Prices of a tool whose skills cost differently: `extract-preview free, web-extraction 0.003000 USDC`. */
export function jobPrices({ skills }: Pick<AnyTool, 'skills'>): string | undefined {
  const priced = skills.flatMap(({ id, price }) => (price ? `${id} ${priceWords(price)}` : []))
  return priced.length === 0 ? undefined : priced.join(', ')
}

/** `0.003000`, or `0.002000 to 0.006000` where calls cost differently. */
export const amountWords = ({ amountAtomic, upToAtomic }: X402Price): string =>
  upToAtomic === undefined
    ? formatAtomic(amountAtomic)
    : `${formatAtomic(amountAtomic)} to ${formatAtomic(upToAtomic)}`
