// Reads an OpenAPI document (3.0 or 3.1) that a seller brings: its operations as routes of a listing. Local references are put in
// place within bounds; what cannot be sold is left out, with the reason. Never throws for what the document holds.
import type { RouteInput } from '../../../schemas/market-seller.ts'
import { isObject } from '../../lib/json.ts'
import { createResolver, type Resolver } from './openapi-schema.ts'
import { readPrice } from './price-info.ts'

const METHODS = {
  get: 'GET',
  head: 'HEAD',
  post: 'POST',
  put: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
} as const
const MAX_OPERATIONS = 200
const MAX_ROUTES = 32

export interface ReadApi {
  readonly title: string
  readonly description: string
  readonly servers: readonly string[]
  readonly routes: readonly RouteInput[]
  readonly skipped: readonly { readonly operation: string; readonly reason: string }[]
  readonly notes: readonly string[]
  /** x402scan's: signatures of the origin by the payout account. */
  readonly ownershipProofs: readonly string[]
}

type Json = Readonly<Record<string, unknown>>
class Skip extends Error {}
const skip = (reason: string): never => {
  throw new Skip(reason)
}
const textOf = (value: unknown) => (typeof value === 'string' ? value : '')

/** @returns why it cannot be read at all, or what is in it */
export function readOpenApi(
  document: unknown,
  defaultPriceAtomic: string | undefined,
): { readonly ok: false; readonly why: string } | { readonly ok: true; readonly api: ReadApi } {
  if (!isObject(document)) return { ok: false, why: 'is no object' }
  const version = textOf(document['openapi'])
  if (!/^3\.[01]\.\d+$/.test(version))
    return { ok: false, why: 'is not OpenAPI 3.0 or 3.1 (`openapi: 3.x.y`)' }
  const { paths, info } = document
  if (!isObject(paths)) return { ok: false, why: 'has no paths' }
  const isOld = version.startsWith('3.0.')
  const resolver = createResolver(document, isOld)

  const routes: RouteInput[] = []
  const skipped: { operation: string; reason: string }[] = []
  const notes: string[] = []
  let seen = 0
  for (const [path, given] of Object.entries(paths)) {
    if (path.startsWith('x-')) continue
    for (const [name, method] of Object.entries(METHODS)) {
      const item = resolver.follow(given)
      if (!isObject(item) || !Object.hasOwn(item, name)) continue
      const operation = `${method} ${path.slice(0, 200)}`
      try {
        if (++seen > MAX_OPERATIONS) skip(`the document has more than ${MAX_OPERATIONS} operations`)
        if (routes.length === MAX_ROUTES)
          skip(`a service has at most ${MAX_ROUTES} routes: import the rest as another one`)
        routes.push(
          readOperation({ path, method, item, operation: item[name] }, resolver, defaultPriceAtomic),
        )
      } catch (thrown) {
        if (!(thrown instanceof Skip)) throw thrown
        if (skipped.length < MAX_OPERATIONS) skipped.push({ operation, reason: thrown.message })
      }
    }
  }
  if (defaultPriceAtomic !== undefined)
    notes.push('Operations without x-payment-info got default_price_atomic.')
  const servers = Array.isArray(document['servers'])
    ? document['servers'].flatMap((server) => (isObject(server) ? [textOf(server['url'])] : []))
    : []
  const { title, description } = isObject(info) ? info : {}
  return {
    ok: true,
    api: {
      title: textOf(title),
      description: textOf(description),
      servers,
      routes,
      skipped,
      notes,
      ownershipProofs: proofsOf(document),
    },
  }
}

function proofsOf(document: Json): readonly string[] {
  const discovery = document['x-discovery']
  const proofs = isObject(discovery) ? discovery['ownershipProofs'] : undefined
  return Array.isArray(proofs) ? proofs.filter((proof) => typeof proof === 'string').slice(0, 16) : []
}

interface Operation {
  readonly path: string
  readonly method: RouteInput['method']
  readonly item: Json
  readonly operation: unknown
}

function readOperation(
  { path, method, item, operation: given }: Operation,
  resolver: Resolver,
  defaultPriceAtomic: string | undefined,
): RouteInput {
  const operation = isObject(given) ? given : skip('is no object')
  if (operation['deprecated'] === true) skip('is deprecated')
  const price = readPrice(operation['x-payment-info'])
  if (!price.ok) skip(price.why)
  const priceAtomic = price.ok ? (price.atomic ?? defaultPriceAtomic) : undefined
  if (priceAtomic === undefined)
    return skip('has no x-payment-info with a price, and no default_price_atomic was given')

  const parameters = readParameters(
    [...listOf(item['parameters']), ...listOf(operation['parameters'])],
    path,
    resolver,
  )
  const body = readBody(operation['requestBody'], method, resolver)
  const summary =
    textOf(operation['summary']) || textOf(operation['operationId']) || textOf(operation['description'])
  const query = parameters.example
  const hasExample = Object.keys(query).length > 0 || body.example !== undefined
  return {
    path,
    method,
    summary: summary.slice(0, 300),
    price_atomic: priceAtomic,
    input_schema: parameters.schema,
    body_schema: body.schema,
    output_schema: readAnswer(operation['responses'], resolver),
    example: hasExample
      ? {
          ...(Object.keys(query).length > 0 && { query }),
          ...(body.example !== undefined && { body: body.example }),
        }
      : null,
    timeout_ms: 10_000,
    max_response_bytes: 262_144,
  }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

function readParameters(given: readonly unknown[], path: string, resolver: Resolver) {
  const properties = new Map<string, unknown>()
  const required = new Set<string>()
  const example: Record<string, unknown> = {}
  for (const one of given) {
    const parameter = resolver.follow(one)
    if (!isObject(parameter)) return skip('has a parameter that cannot be resolved')
    const name = textOf(parameter['name'])
    const place = parameter['in']
    if (place === 'header' || place === 'cookie') {
      if (parameter['required'] === true)
        skip(`needs the ${place} ${name.slice(0, 64)}, which no buyer can send`)
      continue
    }
    if (place !== 'query' && place !== 'path') return skip('has a parameter in an unknown place')
    if (parameter['content'] !== undefined)
      return skip(`has the parameter ${name.slice(0, 64)} with a content of its own`)
    const schema = resolver.schema(parameter['schema'] ?? {})
    if (!schema.ok) return skip(`${schema.why} (parameter ${name.slice(0, 64)})`)
    const description = textOf(parameter['description'])
    properties.set(name, description === '' ? schema.value : { ...schema.value, description })
    if (parameter['required'] === true || place === 'path') required.add(name)
    const value = exampleOf(parameter, schema.value)
    if (value !== undefined) example[name] = value
  }
  for (const [, name = ''] of path.matchAll(/\{([^}]*)\}/g))
    if (!properties.has(name)) return skip(`does not describe the parameter ${name.slice(0, 64)} of its path`)
  // What is not required and has no example is left out of the request that is tried.
  for (const name of required)
    if (!Object.hasOwn(example, name)) return skip(`has no example for the parameter ${name.slice(0, 64)}`)
  const schema =
    properties.size === 0
      ? null
      : {
          type: 'object',
          properties: Object.fromEntries(properties),
          ...(required.size > 0 && { required: [...required] }),
          additionalProperties: false,
        }
  return { schema, example }
}

function readBody(given: unknown, method: RouteInput['method'], resolver: Resolver) {
  const nothing: { schema: Record<string, unknown> | null; example: unknown } = {
    schema: null,
    example: undefined,
  }
  if (given === undefined) return nothing
  const body = resolver.follow(given)
  if (!isObject(body) || !isObject(body['content'])) return skip('has a request body that cannot be resolved')
  const media = jsonOf(body['content'], resolver)
  if (!media) return body['required'] === true ? skip('takes a body that is not JSON') : nothing
  if (method === 'GET' || method === 'HEAD') return skip(`describes a body for ${method}`)
  const schema = resolver.schema(media['schema'] ?? {})
  if (!schema.ok) return skip(`${schema.why} (request body)`)
  const example = exampleOf(media, schema.value)
  if (example === undefined) return skip('has no example of its request body')
  return { schema: schema.value, example }
}

/** The schema of the first JSON answer of a success; null where none is described. */
function readAnswer(given: unknown, resolver: Resolver): Record<string, unknown> | null {
  if (!isObject(given)) return null
  for (const status of ['200', '201', '202', '203', '2XX', 'default']) {
    const answer = resolver.follow(given[status])
    if (!isObject(answer) || !isObject(answer['content'])) continue
    if (status === 'default') return null
    const media = jsonOf(answer['content'], resolver)
    if (!media || media['schema'] === undefined) return null
    const schema = resolver.schema(media['schema'])
    if (!schema.ok) return skip(`${schema.why} (answer ${status})`)
    return schema.value
  }
  return null
}

function jsonOf(content: Json, resolver: Resolver): Json | undefined {
  for (const [type, media] of Object.entries(content))
    if (/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type)) {
      const found = resolver.follow(media)
      return isObject(found) ? found : undefined
    }
  return undefined
}

/** What the document itself shows; made from the schema's own words where it shows nothing else. */
function exampleOf(holder: Json, schema: Json): unknown {
  if (holder['example'] !== undefined) return holder['example']
  const { examples } = holder
  if (isObject(examples))
    for (const one of Object.values(examples))
      if (isObject(one) && one['value'] !== undefined) return one['value']
  return exampleOfSchema(schema)
}

function exampleOfSchema(schema: Json, depth = 0): unknown {
  const { examples, type, properties } = schema
  if (schema['example'] !== undefined) return schema['example']
  if (Array.isArray(examples) && examples.length > 0) return examples[0]
  if (schema['default'] !== undefined) return schema['default']
  if (schema['const'] !== undefined) return schema['const']
  if (Array.isArray(schema['enum'])) return schema['enum'][0]
  if (type !== 'object' || !isObject(properties) || depth > 4) return undefined
  const required: readonly unknown[] = Array.isArray(schema['required']) ? schema['required'] : []
  const made: Record<string, unknown> = {}
  for (const [name, property] of Object.entries(properties)) {
    const value = isObject(property) ? exampleOfSchema(property, depth + 1) : undefined
    if (value !== undefined) made[name] = value
    else if (required.includes(name)) return undefined
  }
  return made
}
