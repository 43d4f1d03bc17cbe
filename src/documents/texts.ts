// Documents in plain text for agents, and the two machine-readable maps of the others.
import type { Addresses } from '../core/config.ts'
import type { Registry } from '../core/registry.ts'
import { priceWords, WHO } from './protocols.ts'
import { SHELVES } from './shelves.ts'
import { TOOLSET_WORDS, toolsetPath, toolsetsIn } from './toolset-texts.ts'

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

/** `/llms.txt`, in the layout of llmstxt.org. */
export function llmsText(
  registry: Registry,
  addresses: Addresses,
  capabilities: readonly Readonly<Record<string, unknown>>[],
): string {
  const { baseUrl, siteUrl, mcpUrl } = addresses
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
  link('Reference', `${siteUrl}/reference.md`, 'every tool over HTTP, MCP and A2A, headers and errors'),
  link('Catalogue', `${siteUrl}/catalogue`, 'where a person tries a tool in the browser'),
  link('Agent card', `${baseUrl}/.well-known/agent-card.json`, 'A2A skills'),
  link('Ways in', `${baseUrl}/v1/protocols`, 'each tool over each protocol'),
  link('Skills', `${baseUrl}/skills`, 'goals that are reached with several tools, as Agent Skills'),
  link('Egress manifest', `${baseUrl}/v1/egress`, 'credentials, capabilities and what is guaranteed'),
  link('Action manifest', `${baseUrl}/v1/actions`, 'permits for one exact request, mandates, approval'),
  link('Facilitator', `${baseUrl}/facilitator`, 'verifies and settles x402 payments of others'),
  link('Paid resources', `${baseUrl}/discovery/resources`, 'x402 resources of this gateway and its sources'),
].join('\n')}

## Tools

${[
  ...toolsetsIn(registry).map((toolset) =>
    link(toolset, baseUrl + toolsetPath(toolset), TOOLSET_WORDS[toolset]),
  ),
  link(
    'Every tool',
    `${baseUrl}/llms-full.txt`,
    'with its name over HTTP, MCP and A2A, price, input and an example',
  ),
].join('\n')}

## Guides

Every page of ${siteUrl} is Markdown with \`.md\` behind its address or with \`Accept: text/markdown\`, and JSON with \`.json\`.

${Object.entries(SHELVES)
  .map(
    ([shelf, slugs]) =>
      `- ${shelf}: ${slugs.map((slug) => `[${slug}](${siteUrl}/docs/${slug}.md)`).join(', ')}`,
  )
  .join('\n')}

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
export function apiCatalog({ baseUrl, siteUrl, mcpUrl }: Addresses): Record<string, unknown> {
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
          { href: `${siteUrl}/docs`, type: 'text/html' },
          { href: `${siteUrl}/reference`, type: 'text/html' },
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

/**
 * Documents may be read by any crawler; what acts may not be tried by one.
 * @param isIndexed false: nobody should find the test money of a sandbox
 */
export const robotsText = (
  { siteUrl }: Pick<Addresses, 'siteUrl'>,
  isIndexed: boolean,
): string => `User-agent: *
Disallow: /v1/
Disallow: /mcp
Disallow: /a2a
Allow: /v1/capabilities
Allow: /
${isIndexed ? `\nSitemap: ${siteUrl}/sitemap.xml\n` : ''}`

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
