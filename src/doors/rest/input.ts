// A tool's input is in the path of an HTTP request, and in its query (GET) or its JSON body (POST). One value has one place.
import { GatewayError } from '../../core/errors.ts'
import type { JsonSchema, RegisteredTool, RestRoute } from '../../core/registry.ts'
import { type TokenArgument, tokenArgument } from '../../core/token-argument.ts'
import type { CallPath } from '../../core/call.ts'
import { isObject } from '../../lib/json.ts'
import { type JsonReading, readJson } from '../http/body.ts'
import { USUAL_LIMIT_BYTES } from '../http/body-limit.ts'
import { announcedBytes, LARGE_BYTES, presentedTokens } from '../http/request.ts'
import type { Exchange } from '../http/resource.ts'
import { coerceText, propertyOf, readQuery } from '../../core/query.ts'

/**
 * Makes the function that collects a route's input. The tool's schema judges it; nothing is validated here but the envelope. It throws
 * {GatewayError} json_invalid, json_too_deep, body_too_large, content_type_unsupported, input_invalid, input_conflict.
 */
export function inputCollector(
  entry: RegisteredTool,
  { path, fixed = {} }: Pick<RestRoute, 'path' | 'fixed'>,
  calls: Pick<CallPath, 'bodyLimit' | 'isKnown' | 'refuseSpent'>,
): (exchange: Exchange) => Promise<unknown> {
  const { tool, inputSchema } = entry
  const required = requiredOf(inputSchema)
  const token = tokenArgument(tool)
  // Most routes have all of their input in the body.
  const isPlain = !path.includes('{') && Object.keys(fixed).length === 0
  const usual: JsonReading = { maxBytes: tool.maxBodyBytes }

  /** How a body is read that is large, or may be: not before it is known who sends it. */
  async function readingOf({ req, context }: Exchange): Promise<JsonReading> {
    const tokens = presentedTokens(req)
    const { address } = context
    if (tool.largestBody && announcedBytes(req) > tool.maxBodyBytes)
      return { maxBytes: await calls.bodyLimit(tool, tokens, address) }
    if (await calls.isKnown(tokens, address)) return { ...usual, address }
    await calls.refuseSpent(tool, address)
    const isPublic = tool.caller === 'anyone'
    return {
      maxBytes: isPublic ? tool.maxBodyBytes : Math.min(tool.maxBodyBytes, USUAL_LIMIT_BYTES),
      address,
    }
  }

  const read = async (exchange: Exchange): Promise<unknown> =>
    readJson(exchange.req, announcedBytes(exchange.req) <= LARGE_BYTES ? usual : await readingOf(exchange))

  return async (exchange) => {
    const { req, context } = exchange
    if (req.method !== 'POST') {
      const query = readQuery(context.query, inputSchema)
      if (token !== undefined && Object.hasOwn(query, token)) throw tokenInAddress(token)
      return fix(merge(query, readParams(exchange, inputSchema)), fixed)
    }
    if (isPlain) return required.length === 0 && isBodyless(exchange) ? {} : await read(exchange)
    const params = readParams(exchange, inputSchema)
    if (isBodyless(exchange) && required.every((name) => Object.hasOwn(params, name)))
      return fix(params, fixed)
    const body = await read(exchange)
    return isObject(body) ? fix(merge(body, params), fixed) : body
  }
}

const readParams = ({ params }: Exchange, schema: JsonSchema) =>
  Object.fromEntries(
    Object.entries(params).map(([name, text]) => [name, coerceText(text, propertyOf(schema, name))]),
  )

/** Addresses end in access logs, histories and Referer headers: a token in one is as good as published. */
const tokenInAddress = (name: TokenArgument) =>
  new GatewayError(
    'input_invalid',
    name === 'capability'
      ? 'Send the capability as `Authorization: Bearer` or as `X-Gateway-Capability`, never in the address.'
      : 'Send the email key as `Authorization: Bearer`, never in the address.',
    { extras: { fields: [{ pointer: `/${name}`, message: 'is not taken from the address' }] } },
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

/** The input may repeat what a route stands for, and may not contradict it. */
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

function isBodyless({ req }: Exchange): boolean {
  return req.headers['transfer-encoding'] === undefined && Number(req.headers['content-length'] ?? 0) === 0
}

const requiredOf = (schema: JsonSchema) =>
  (Array.isArray(schema['required']) ? schema['required'] : []) as string[]
