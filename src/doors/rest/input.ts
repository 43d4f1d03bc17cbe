// Where a tool's input is in an HTTP request: path, then query (GET) or JSON body (POST). One value, one place.
import { GatewayError } from '../../errors.ts'
import {
  type JsonSchema,
  type RegisteredTool,
  type RestRoute,
  takesCapabilityArgument,
} from '../../registry.ts'
import { readJson } from '../http.ts'
import type { Exchange } from './exchange.ts'
import { coerceText, propertyOf, readQuery } from './query.ts'

/**
 * @returns what the tool's schema will judge: nothing is validated here but the envelope
 * @param fixed members that the route sets
 * @throws {GatewayError} json_invalid, json_too_deep, body_too_large, content_type_unsupported, input_invalid, input_conflict
 */
export async function collectInput(
  entry: RegisteredTool,
  exchange: Exchange,
  fixed: RestRoute['fixed'] = {},
): Promise<unknown> {
  const given = await collectGiven(entry, exchange)
  if (Object.keys(fixed).length === 0 || !isObject(given)) return given
  return fix(given, fixed)
}

async function collectGiven(entry: RegisteredTool, exchange: Exchange): Promise<unknown> {
  const { req, context } = exchange
  const schema = entry.inputSchema
  const params = Object.fromEntries(
    Object.entries(exchange.params).map(([name, text]) => [name, coerceText(text, propertyOf(schema, name))]),
  )
  if (req.method !== 'POST') {
    const query = readQuery(context.query, schema)
    if (takesCapabilityArgument(entry.tool) && Object.hasOwn(query, 'capability')) throw tokenInAddress()
    return merge(query, params)
  }
  if (isBodyless(exchange) && requiredOf(schema).every((name) => Object.hasOwn(params, name))) return params
  const body = await readJson(req, entry.tool.maxBodyBytes)
  return isObject(body) ? merge(body, params) : body
}

/** Addresses end in access logs, histories and Referer headers: a token in one is as good as published. */
const tokenInAddress = () =>
  new GatewayError(
    'input_invalid',
    'Send the capability as `Authorization: Bearer` or as `X-Gateway-Capability`, never in the address.',
    { extras: { fields: [{ pointer: '/capability', message: 'is not taken from the address' }] } },
  )

/** The address decides what is acted on, so the same name may not say something else in the body or the query. */
function merge(given: Record<string, unknown>, params: Readonly<Record<string, unknown>>) {
  for (const [name, value] of Object.entries(params))
    if (Object.hasOwn(given, name) && given[name] !== value)
      throw new GatewayError('input_invalid', `Give ${name} in the path only.`, {
        extras: { fields: [{ pointer: `/${name}`, message: 'differs from the path' }] },
      })
  return { ...given, ...params }
}

/** What a route stands for may be repeated in the input, not contradicted. */
function fix(given: Record<string, unknown>, fixed: Readonly<Record<string, unknown>>) {
  for (const [name, value] of Object.entries(fixed))
    if (Object.hasOwn(given, name) && given[name] !== value)
      throw new GatewayError(
        'input_conflict',
        `Here ${name} is always ${JSON.stringify(value)}. Leave it out, or use the other address of this tool.`,
        { extras: { fields: [{ pointer: `/${name}`, message: 'contradicts the address' }] } },
      )
  return { ...given, ...fixed }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function isBodyless({ req }: Exchange): boolean {
  return req.headers['transfer-encoding'] === undefined && Number(req.headers['content-length'] ?? 0) === 0
}

const requiredOf = (schema: JsonSchema) =>
  (Array.isArray(schema['required']) ? schema['required'] : []) as string[]
