// Reads what a buyer sends to a route: query, path parameters and body, judged by the seller's schemas. What is judged is what the
// upstream is asked with: it is written anew from the values, so that no second reader finds something else in it.
import { GatewayError } from '../../core/errors.ts'
import type { HttpMessage } from '../../core/message.ts'
import { readQuery } from '../../core/query.ts'
import { createSchemaChecker, type SchemaChecker } from '../../lib/json-schema.ts'
import { hasRepeatedMember, isObject, parseJson } from '../../lib/json.ts'
import { decodeUtf8Document } from '../../lib/utf8.ts'
import type { ListingRoute } from '../../store/ports.ts'
import { findMisfits } from './misfits.ts'
import type { AskedCall } from './ports.ts'
import type { MatchedRoute } from './routes.ts'

/** Bytes of a request body, as everywhere where requests go out. */
export const MAX_BODY_BYTES = 128 * 1024

/** Query and path parameters as one object, and the body: JSON values, not judged by any schema yet. */
export interface CallInput {
  readonly values: Readonly<Record<string, unknown>>
  /** Undefined where there is none. */
  readonly body: unknown
}

/**
 * @throws {GatewayError} input_invalid, json_invalid, json_too_deep, content_type_unsupported, body_too_large
 */
export function readInput(
  { route, params }: MatchedRoute,
  asked: Pick<AskedCall, 'query' | 'body'>,
  message: HttpMessage | undefined,
): CallInput {
  const schema = route.inputSchema ?? {}
  const query = message ? readQuery(message.query ?? '', schema) : asked.query
  for (const [name, value] of Object.entries(query)) {
    if (Object.hasOwn(params, name))
      throw refuse(`/${name}`, 'is a part of the path: leave it out of the query')
    if (!isWritable(value))
      throw refuse(`/${name}`, 'must be a text, a number, true, false, or a list of them')
  }
  const inPath = readQuery(new URLSearchParams(params).toString(), schema)
  return {
    values: { ...query, ...inPath },
    body: message ? readBody(message) : asked.body,
  }
}

const isScalar = (value: unknown) =>
  (typeof value === 'string' && value.isWellFormed()) ||
  typeof value === 'number' ||
  typeof value === 'boolean'
const isWritable = (value: unknown) => isScalar(value) || (Array.isArray(value) && value.every(isScalar))

function readBody({ body, headers }: HttpMessage): unknown {
  if (body.length === 0) return undefined
  const valueOf = (name: string) =>
    headers
      .find(([key]) => key.toLowerCase() === name)?.[1]
      .trim()
      .toLowerCase()
  const encoding = valueOf('content-encoding')
  if (encoding !== undefined && encoding !== 'identity')
    throw new GatewayError('content_type_unsupported', 'Send the body without Content-Encoding.')
  const [type = ''] = (valueOf('content-type') ?? '').split(';', 1)
  if (!/^application\/(?:json|[\w.-]+\+json)$/.test(type.trim()))
    throw new GatewayError('content_type_unsupported', 'Send `Content-Type: application/json`.')
  const text = decodeUtf8Document(body)
  if (text === undefined) throw new GatewayError('json_invalid', 'Send the body in UTF-8.')
  const value = parseJson(text)
  if (hasRepeatedMember(text, value))
    throw new GatewayError('json_invalid', 'An object of the body has a member twice. Send each once.')
  return value
}

/** Schemas of one route, made ready once for as long as its document lives. */
interface RouteCheckers {
  readonly input: SchemaChecker | null
  readonly body: SchemaChecker | null
  readonly output: SchemaChecker | null
}
const checkers = new WeakMap<ListingRoute, RouteCheckers>()

export function checkersOf(route: ListingRoute): RouteCheckers {
  const known = checkers.get(route)
  if (known) return known
  const made = {
    input: route.inputSchema && createSchemaChecker(route.inputSchema),
    body: route.bodySchema && createSchemaChecker(route.bodySchema),
    output: route.outputSchema && createSchemaChecker(route.outputSchema),
  }
  checkers.set(route, made)
  return made
}

/** @throws {GatewayError} input_invalid with the schema that was not met */
export function judgeInput({ route, params }: MatchedRoute, { values, body }: CallInput): void {
  const { input, body: bodyChecker } = checkersOf(route)
  const extra = Object.keys(values).find((name) => !Object.hasOwn(params, name))
  if (!input && extra !== undefined) throw refuse(`/${extra}`, 'this route takes no query')
  if (!bodyChecker && body !== undefined) throw refuse('/body', 'this route takes no body')
  if (bodyChecker && body === undefined) throw refuse('/body', 'this route takes a JSON body')
  const defaulted = withDefaults(route.inputSchema, values)
  const what = Object.keys(params).length > 0 ? 'The path or the query' : 'The query'
  demand(input, defaulted, { what, schema: route.inputSchema, at: '' })
  demand(bodyChecker, body, { what: 'The body', schema: route.bodySchema, at: '/body' })
}

function demand(
  checker: SchemaChecker | null,
  value: unknown,
  {
    what,
    schema,
    at,
  }: { readonly what: string; readonly schema: ListingRoute['inputSchema']; readonly at: string },
): void {
  const verdict = checker?.check(value)
  if (!verdict || verdict.ok) return
  const why = verdict.reason === 'costly' ? 'is too large to be judged by' : 'does not fit'
  const fields = verdict.reason === 'invalid' ? findMisfits(schema, value, at) : []
  const [first] = fields
  const named = first ? ` (${first.pointer} ${first.message})` : ''
  throw new GatewayError(
    'input_invalid',
    `${what} ${why} the schema of this route, which is in \`schema\`${named}. Nothing was charged, and the payment was not used.`,
    { reason: `schema_${verdict.reason}`, extras: { schema, ...(fields.length > 0 && { fields }) } },
  )
}

/** A required parameter with a default is there without being sent. */
function withDefaults(
  schema: ListingRoute['inputSchema'],
  values: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const properties = schema?.['properties']
  if (!isObject(properties)) return values
  const defaults = Object.entries(properties).flatMap(([name, property]) =>
    isObject(property) && Object.hasOwn(property, 'default') ? [[name, property['default']] as const] : [],
  )
  return defaults.length === 0 ? values : { ...Object.fromEntries(defaults), ...values }
}

/** What our own work is given: the values, with the schema's defaults where none was sent. */
export const filledIn = (route: ListingRoute, { values }: CallInput) =>
  withDefaults(route.inputSchema, values)

/** The query as the upstream gets it: a list is its name, repeated. */
export function writeQuery({ params }: MatchedRoute, { values }: CallInput): string {
  const pairs = Object.entries(values)
    .filter(([name]) => !Object.hasOwn(params, name))
    .flatMap(([name, value]) => [value].flat().map((one) => [name, String(one)] as [string, string]))
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs).toString()}`
}

export const writeBody = ({ body }: CallInput): Buffer | undefined =>
  body === undefined ? undefined : Buffer.from(JSON.stringify(body))

const refuse = (pointer: string, message: string) =>
  new GatewayError(
    'input_invalid',
    `${pointer}: ${message}. Nothing was charged, and the payment was not used.`,
    {
      extras: { fields: [{ pointer, message }] },
    },
  )
