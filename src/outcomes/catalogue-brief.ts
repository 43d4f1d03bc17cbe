// The catalogue as MCP and A2A give it. The whole is 42,600 tokens, more than clients let a model read of one answer: an agent gets an
// index, and an entry by its id, without the schemas that its list of tools or skills holds already.
import type { Capability, Catalogue } from '../../schemas/catalogue.ts'
import type { CapabilityEntry, CapabilityInBrief, CapabilityIndex } from '../../schemas/catalogue-brief.ts'
import { isObject } from '../lib/json.ts'
import { portableName } from '../core/registry.ts'

const entryOf = ({ id, name, pricing, when_to_use }: Capability): CapabilityEntry => ({
  id,
  name,
  price: pricing.amount_atomic === '0' ? 'free' : `${pricing.amount} ${pricing.currency}`,
  when_to_use,
})

/** The catalogue without what each entry holds besides its price and purpose. */
export const indexOf = ({ tools, first_result, discovery }: Catalogue): CapabilityIndex => ({
  capabilities: tools.map(entryOf),
  details: 'Call gateway.capabilities.get with {"id": …}: limits, an example, and what the answer holds.',
  first_call: { tool: 'gateway_execute', arguments: first_result.body },
  catalogue_url: discovery.capabilities,
})

/** One entry without its schemas; of the answer there are the names of its members. */
export function briefOf(capability: Capability): CapabilityInBrief {
  const { description, pricing, limitations, latency_note, mappings, example, schema_url } = capability
  return {
    ...entryOf(capability),
    description,
    delivered: pricing.delivered,
    limitations,
    latency_note,
    tool: portableName(mappings.mcp.tool),
    skill: mappings.a2a.skill,
    example,
    answer: outlineOf(capability.output_schema),
    schema_url,
  }
}

/** The members of an answer, or of its `result`, where that is the delivery: each with its description, else with its type. */
function outlineOf(schema: Readonly<Record<string, unknown>>): Record<string, string> {
  const members = propertiesOf(schema)
  const prefix = isObject(members['result']) ? 'result.' : ''
  const shown = prefix === '' ? members : propertiesOf(members['result'])
  return Object.fromEntries(Object.entries(shown).map(([name, member]) => [prefix + name, wordsOf(member)]))
}

const propertiesOf = (schema: unknown): Record<string, unknown> =>
  isObject(schema) && isObject(schema['properties']) ? schema['properties'] : {}

function wordsOf(schema: unknown): string {
  if (!isObject(schema)) return 'any'
  const { description, type, items } = schema
  if (typeof description === 'string') return description
  if (type === 'array') return `list of {${Object.keys(propertiesOf(items)).join(', ')}}`
  const names = Object.keys(propertiesOf(schema))
  return names.length > 0 ? `{${names.join(', ')}}` : typeof type === 'string' ? type : 'any'
}
