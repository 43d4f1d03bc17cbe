// The tools in plain text, a page a toolset: each with its name at every door, price, input and an example. `/llms/{toolset}.txt`
// is one page, `/llms-full.txt` all of them.
import { API_VERSION } from '../core/config.ts'
import type { Addresses } from '../core/config.ts'
import type { RegisteredTool, Registry } from '../core/registry.ts'
import { TOOLSETS, type Toolset } from '../core/tool.ts'
import { createSpeller, routeName, type Speller } from '../core/tool-words.ts'
import { isObject } from '../lib/json.ts'
import { jobPrices, priceWords, WHO } from './protocols.ts'

/** What a toolset is for, as agents decide by it. */
export const TOOLSET_WORDS: Readonly<Record<Toolset, string>> = {
  web: 'results from public pages, shops and feeds; what is offered here, and checks before a call',
  payments: 'prices, credits, payments, receipts, and a facilitator for your own x402 payments',
  egress: 'calls of APIs with a credential that stays here, and permits for one exact request',
  commerce: 'inspection and tests of purchases, mandates and payment requests',
  email: 'verification of email addresses, with a free key',
  market: 'services that others sell for USDC: find, call and rate them, or sell your own',
  operator: 'credentials, capabilities, mandates, keys and accounts, for holders of a service key',
}

/** An example that is longer is read in OpenAPI. */
const MAX_EXAMPLE_CHARACTERS = 600

/** `/llms/web.txt` */
export const toolsetPath = (toolset: Toolset): string => `/llms/${toolset}.txt`

/** Those that have tools, in the order of the documents. */
export const toolsetsIn = (registry: Registry): readonly Toolset[] =>
  TOOLSETS.filter((toolset) => registry.tools.some(({ tool }) => tool.toolset === toolset))

/** `/llms/{toolset}.txt` */
export const toolsetText = (registry: Registry, addresses: Addresses, toolset: Toolset): string =>
  `# Agent Gateway ${API_VERSION}: ${toolset}\n\n${beginning(addresses, `?toolsets=${toolset}`)}\n\n${section(registry, toolset)}`

/** `/llms-full.txt` */
export const llmsFullText = (registry: Registry, addresses: Addresses): string =>
  `# Agent Gateway ${API_VERSION}: every tool\n\n${beginning(addresses, '?toolsets=web,egress')}\n\n${toolsetsIn(
    registry,
  )
    .map((toolset) => section(registry, toolset))
    .join('\n')}`

const beginning = ({ baseUrl, mcpUrl }: Addresses, query: string) =>
  `Base URL: ${baseUrl}. MCP: ${mcpUrl} (with ${query} a part of the list). A2A: ${baseUrl}/a2a.\n` +
  `Tokens, payments and errors: ${baseUrl}/agent.txt. Schemas: ${baseUrl}/schemas/<name over MCP>.json`

function section(registry: Registry, toolset: Toolset): string {
  const spell = createSpeller(registry, routeName)
  const theirs = registry.tools.filter(({ tool }) => tool.toolset === toolset)
  return `## ${toolset}: ${TOOLSET_WORDS[toolset]}\n\n${theirs.map((entry) => described(entry, spell)).join('\n')}`
}

function described({ tool, portableName, inputSchema }: RegisteredTool, spell: Speller): string {
  const on = (door: 'rest' | 'mcp' | 'a2a') => tool.doors.includes(door)
  const names = [
    on('rest') && `HTTP: ${tool.rest.map(({ method, path }) => `${method} ${path}`).join(', ')}`,
    on('mcp') && `MCP: ${portableName}`,
    on('a2a') && `A2A: ${tool.skills.map(({ id }) => id).join(', ')}`,
  ].filter((name) => name !== false)
  const [example] = tool.examples
  const input = example && JSON.stringify(example.input)
  return [
    `### ${tool.title}`,
    names.join(' | '),
    `For: ${WHO[tool.caller]}. Price: ${jobPrices(tool) ?? priceWords(tool.price)}.`,
    spell(tool.summary),
    ...membersOf(inputSchema).map((member) => spell(member)),
    ...(input === undefined || input.length > MAX_EXAMPLE_CHARACTERS ? [] : [`Example: ${input}`]),
    '',
  ].join('\n')
}

function membersOf(schema: RegisteredTool['inputSchema']): readonly string[] {
  const { properties, required } = schema
  if (!isObject(properties)) return []
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name)
  return Object.entries(properties).map(([name, member]) => {
    const words =
      isObject(member) && typeof member['description'] === 'string' ? `: ${member['description']}` : ''
    return `- ${name}${isRequired(name) ? ' (required)' : ''}${words}`
  })
}
