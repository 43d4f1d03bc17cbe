// The capability catalogue (5.1.0), to the field tables of the specification. Data in, plain JSON out.
import { CATALOGUE_VERSION } from '../core/config.ts'
import type { Addresses } from '../core/config.ts'
import type { CapabilityFacts } from '../outcomes/descriptors.ts'
import type { RegisteredTool } from '../core/registry.ts'
import { priceOf } from './price.ts'
import { describeWebFetch } from './web-fetch.ts'

type Json = Record<string, unknown>

const EXECUTE_PATH = '/v1/execute'
/** The page where a person tries a capability at once, free or with test money. */
const TRY_PATH = '/tools/gateway_execute'

export interface CatalogueParts {
  /** `gateway_execute`; without it nothing can be executed and the catalogue is empty. */
  readonly execute: RegisteredTool | undefined
  readonly capabilities: readonly CapabilityFacts[]
  /** `gateway.web.fetch`, which is a tool beside the capabilities. */
  readonly webFetch?: RegisteredTool | undefined
  /** Whether somebody is paid here; what is alive right now is in the pricing document. */
  readonly isPayable: boolean
  readonly addresses: Addresses
}

/** `GET /v1/capabilities`: what can be bought, at which price, and whether it is available now. */
export function catalogueOf(parts: CatalogueParts): Json {
  const { webFetch, addresses } = parts
  const { baseUrl, siteUrl, mcpUrl } = addresses
  const capabilities = describeCapabilities(parts)
  const facts = parts.execute ? parts.capabilities : []
  return {
    name: 'Agent Gateway',
    version: CATALOGUE_VERSION,
    product: 'agent-gateway',
    capabilities,
    tools: [
      ...capabilities.map((descriptor, at) => ({
        ...descriptor,
        available: facts[at]!.amountAtomic === 0n || parts.isPayable,
        paid: facts[at]!.amountAtomic > 0n,
        endpoint: baseUrl + EXECUTE_PATH,
      })),
      ...(webFetch
        ? [
            {
              ...describeWebFetch(webFetch, addresses),
              available: parts.isPayable,
              paid: true,
              endpoint: baseUrl + webFetch.tool.rest[0].path,
            },
          ]
        : []),
    ],
    execute_url: baseUrl + EXECUTE_PATH,
    first_result: {
      method: 'POST',
      url: baseUrl + EXECUTE_PATH,
      body: { intent: 'demo' },
      expected_status: 200,
      price: 'free',
    },
    discovery: {
      capabilities: `${baseUrl}/v1/capabilities`,
      agent_instructions: `${baseUrl}/agent.txt`,
      mcp: mcpUrl,
      a2a: `${baseUrl}/.well-known/agent-card.json`,
      openapi: `${baseUrl}/openapi.json`,
      interactive_try: `${siteUrl}${TRY_PATH}`,
      skills: `${baseUrl}/skills`,
    },
    compatibility: {
      paid_web_fetch: webFetch ? baseUrl + webFetch.tool.rest[0].path : null,
      scoped_vendor_actions: `${baseUrl}/v1/actions`,
      operator_pricing: `${baseUrl}/v1/egress/pricing`,
    },
    no_account: true,
    payment_requires_funded_payer: true,
  }
}

/** One descriptor for each live capability, in the catalogue's order. */
export function describeCapabilities({ execute, capabilities, addresses }: CatalogueParts): Json[] {
  return execute ? capabilities.map((facts) => describe(facts, execute, addresses)) : []
}

function describe(
  facts: CapabilityFacts,
  execute: RegisteredTool,
  { baseUrl, siteUrl, mcpUrl }: Addresses,
): Json {
  return {
    id: facts.id,
    name: facts.name,
    description: facts.description,
    when_to_use: facts.when_to_use,
    input_schema: execute.inputSchema,
    output_schema: answerOf(execute.outputSchema, facts),
    pricing: priceOf(facts.amountAtomic, facts.delivered),
    availability: 'live',
    execute_url: baseUrl + EXECUTE_PATH,
    protocols: ['http', 'mcp', 'a2a'],
    expected_latency_ms: null,
    latency_note: facts.latency_note,
    limitations: facts.limitations,
    example: facts.example,
    url: `${siteUrl}/capabilities/${facts.id}`,
    schema_url: `${baseUrl}/v1/capabilities/${facts.id}`,
    mappings: {
      mcp: { endpoint: mcpUrl, tool: execute.tool.name },
      a2a: { endpoint: `${baseUrl}/a2a`, skill: facts.id },
      openapi: { url: `${baseUrl}/openapi.json`, operationId: execute.tool.rest[0].operationId },
    },
  }
}

/** The execute envelope as this capability fills it: its own name and its own `result`. */
function answerOf(envelope: Readonly<Json>, { id, output_schema: result }: CapabilityFacts): Json {
  const capability = { type: 'string', const: id }
  const { ok, intent, ...properties } = (envelope['properties'] ?? {}) as Record<string, Json>
  const understood = { ...intent, properties: { ...(intent?.['properties'] as Json), capability } }
  return { ...envelope, properties: { ok, intent: understood, ...properties, capability, result } }
}
