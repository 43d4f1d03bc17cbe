// The x402 extension `bazaar`: how to call what is sold, for catalogues and buyers. It travels in a header that stock
// clients send back, so it is told in as many words as there is room for.
import { advertise } from '../core/advertised-schema.ts'
import type { PaidCall } from '../core/charging.ts'
import { isObject } from '../lib/json.ts'
import { must } from '../lib/must.ts'

type Json = Readonly<Record<string, unknown>>

export interface Discovery {
  readonly info: Json
  readonly schema: Json
}

/** From the most telling to the shortest; the last one is always small. Empty where the door has no bazaar form. */
export function bazaarVariants({
  tool,
  terms,
  resource,
}: Pick<PaidCall, 'tool' | 'resource'> & { readonly terms: Pick<PaidCall['terms'], 'shown'> }): Discovery[] {
  const { schema } = terms.shown ?? {}
  if (tool.input === undefined && schema === undefined) return []
  const example = terms.shown ? { input: terms.shown.example, output: undefined } : tool.examples?.[0]
  const input = isObject(example?.input) ? example.input : {}
  const output = isObject(example?.output) ? example.output : undefined
  const describe = describerOf(tool, resource)
  if (!describe) return []
  const full = schema
    ? embeddable(schema)
    : embeddable(advertise(must(tool.input, 'the input of a tool that a challenge shows')))
  const slim = without(full, ['description', 'title', 'examples', 'default', 'pattern', 'format'])
  const shapes = [full, slim, shallow(slim), { type: 'object' }]
  return [
    ...(output === undefined ? [] : [describe(full, input, output)]),
    ...shapes.map((shape) => describe(shape, input)),
    describe({ type: 'object' }, {}),
  ]
}

/** Forms for a place where every byte counts: the schema has the example's fields, or none, and never more than a few hundred bytes. */
export function bazaarOutlines(call: Parameters<typeof bazaarVariants>[0]): Discovery[] {
  const [shortest] = bazaarVariants(call).slice(-1)
  const example = call.terms.shown ? call.terms.shown.example : call.tool.examples?.[0]?.input
  const { input: shown } = (shortest?.info ?? {}) as { input?: Json }
  if (!shown) return []
  const place = PLACES.find((name) => name in shown)
  if (place === undefined) return []
  const input = isObject(example) ? example : {}
  const typed = mapValues(input, (value) => ({ type: Array.isArray(value) ? 'array' : typeof value }))
  const told = (body: Json, shape: Json): Discovery => ({
    info: { input: { ...shown, [place]: body } },
    schema: {
      type: 'object',
      properties: { input: { type: 'object', properties: { [place]: shape } } },
      required: ['input'],
    },
  })
  return [
    told(input, { type: 'object', properties: typed }),
    told({}, { type: 'object', properties: typed }),
    told({}, { type: 'object' }),
  ]
}

/** Members of `info.input` that hold the caller's input. */
const PLACES = ['body', 'queryParams', 'example']

const mapValues = (object: Json, change: (value: unknown) => unknown): Json =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]))

/** Methods as the extension sorts them (bazaar.md): what they take is in the body, or in the query. */
const WITH_BODY = new Set(['POST', 'PUT', 'PATCH'])
const WITH_QUERY = new Set(['GET', 'HEAD', 'DELETE'])

type Describe = (schema: Json, input: Json, output?: Json) => Discovery

function describerOf(tool: PaidCall['tool'], { url, method }: PaidCall['resource']): Describe | undefined {
  if (url.startsWith('mcp://'))
    return (schema, example, output) =>
      discovery(
        {
          type: 'mcp',
          toolName: tool.name,
          description: tool.title,
          transport: 'streamable-http',
          inputSchema: schema,
          example,
        },
        {
          type: { const: 'mcp' },
          toolName: { type: 'string' },
          description: { type: 'string' },
          transport: { type: 'string' },
          inputSchema: { type: 'object' },
          example: { type: 'object' },
        },
        ['type', 'toolName', 'inputSchema'],
        output,
      )
  if (!/^https?:/.test(url)) return undefined
  if (WITH_BODY.has(method))
    return (schema, body, output) =>
      discovery(
        { type: 'http', method, bodyType: 'json', body },
        { type: { const: 'http' }, method: { enum: [method] }, bodyType: { enum: ['json'] }, body: schema },
        ['type', 'method', 'bodyType', 'body'],
        output,
      )
  if (WITH_QUERY.has(method))
    return (schema, queryParams, output) =>
      discovery(
        { type: 'http', method, queryParams },
        { type: { const: 'http' }, method: { enum: [method] }, queryParams: schema },
        ['type', 'method'],
        output,
      )
  return undefined
}

function discovery(
  input: Json,
  properties: Json,
  required: readonly string[],
  example: Json | undefined,
): Discovery {
  return {
    info: { input, ...(example && { output: { type: 'json', example } }) },
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        input: { type: 'object', properties, required, additionalProperties: false },
        ...(example && { output: { type: 'object' } }),
      },
      required: ['input'],
    },
  }
}

function embeddable({ $schema: _dialect, ...rest }: Json): Json {
  // Inside another schema its own references would point nowhere, and readers must not follow any.
  return /"\$(?:ref|id|defs)"/.test(JSON.stringify(rest)) ? { type: 'object' } : rest
}

function without(schema: Json, keywords: readonly string[]): Json {
  const strip = (value: unknown, isSchema: boolean): unknown => {
    if (Array.isArray(value)) return value.map((item) => strip(item, isSchema))
    if (!isObject(value)) return value
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key]) => !(isSchema && keywords.includes(key)))
        // Below `properties` the keys are names, and a field may be called `title`.
        .map(([key, inner]) => [key, strip(inner, !(isSchema && key === 'properties'))]),
    )
  }
  return strip(schema, true) as Json
}

/** Names and types of the top level only. */
function shallow(schema: Json): Json {
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  return {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [
        name,
        isObject(property) && typeof property['type'] === 'string' ? { type: property['type'] } : {},
      ]),
    ),
    ...(schema['required'] !== undefined && { required: schema['required'] }),
  }
}
