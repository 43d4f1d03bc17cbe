// A query string as tool input: text is turned into the type the tool's schema asks for, and nothing is guessed.
// Text that cannot be turned stays text, so that the schema refuses it in its own words.
import { GatewayError } from './errors.ts'
import type { JsonSchema } from './registry.ts'

/**
 * @param query raw, without `?`
 * @throws {GatewayError} input_invalid when a key that holds one value comes twice
 */
export function readQuery(query: string, schema: JsonSchema): Record<string, unknown> {
  const texts = new Map<string, [string, ...string[]]>()
  for (const [key, text] of new URLSearchParams(query)) {
    const known = texts.get(key)
    if (known) known.push(text)
    else texts.set(key, [text])
  }
  return Object.fromEntries([...texts].map(([key, values]) => [key, readValues(key, values, schema)]))
}

function readValues(key: string, values: readonly [string, ...string[]], schema: JsonSchema): unknown {
  const property = propertyOf(schema, key)
  if (typesOf(property).has('array')) {
    const items = property?.['items']
    return values.map((text) => coerceText(text, isSchema(items) ? items : undefined))
  }
  if (values.length > 1)
    throw new GatewayError('input_invalid', `Send the query parameter ${printable(key)} once.`, {
      extras: { fields: [{ pointer: `/${printable(key)}`, message: 'is given more than once' }] },
    })
  return coerceText(values[0], property)
}

/** `"10"` -> 10 where the schema says integer or number; `"true"` -> true where it says boolean. */
export function coerceText(text: string, schema: JsonSchema | undefined): unknown {
  const types = typesOf(schema)
  if ((types.has('integer') || types.has('number')) && /^-?\d{1,15}(\.\d{1,15})?$/.test(text))
    return Number(text)
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

/** The schema of a property that the schema itself lists; undefined where it lists none. */
export function propertyOf(schema: JsonSchema, key: string): JsonSchema | undefined {
  const properties = schema['properties']
  if (!isSchema(properties) || !Object.hasOwn(properties, key)) return undefined
  const property = properties[key]
  return isSchema(property) ? property : undefined
}

function typesOf(schema: JsonSchema | undefined): ReadonlySet<unknown> {
  if (!schema) return new Set()
  const branches = [schema['anyOf'], schema['oneOf']].flatMap((value) => (Array.isArray(value) ? value : []))
  const nested = branches.filter(isSchema).flatMap((branch) => [...typesOf(branch)])
  return new Set([schema['type']].flat().concat(nested))
}

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null

const printable = (key: string) => key.slice(0, 64)
