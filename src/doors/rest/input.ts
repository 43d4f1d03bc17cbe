// Where a tool's input is in an HTTP request: path, then query (GET) or JSON body (POST). One value, one place.
import { GatewayError } from '../../errors.ts'
import { type JsonSchema, type RegisteredTool, takesCapabilityArgument } from '../../registry.ts'
import { readJson } from '../http.ts'
import type { Exchange } from './exchange.ts'
import { coerceText, propertyOf, readQuery } from './query.ts'

/**
 * @returns what the tool's schema will judge: nothing is validated here but the envelope
 * @throws {GatewayError} json_invalid, json_too_deep, body_too_large, content_type_unsupported, input_invalid
 */
export async function collectInput(entry: RegisteredTool, exchange: Exchange): Promise<unknown> {
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
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body)
  return isObject ? merge(body as Record<string, unknown>, params) : body
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

function isBodyless({ req }: Exchange): boolean {
  return req.headers['transfer-encoding'] === undefined && Number(req.headers['content-length'] ?? 0) === 0
}

const requiredOf = (schema: JsonSchema) =>
  (Array.isArray(schema['required']) ? schema['required'] : []) as string[]
