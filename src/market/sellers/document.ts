// A listing's document made of what a seller sent: cleaned, bounded, and refused with the place and the reason where it cannot be
// kept. What comes out of here is what buyers are shown and what their calls are judged by.
import type { ListingEdit, RouteInput } from '../../../schemas/market-seller.ts'
import { GatewayError } from '../../core/errors.ts'
import { parseTarget, type TargetOptions } from '../../egress/target.ts'
import { createSchemaChecker } from '../../lib/json-schema.ts'
import { isObject } from '../../lib/json.ts'
import type { FeeTerms, ListingDocument, ListingRoute } from '../../store/ports.ts'
import { checkShownName } from './names.ts'
import { findSchemaProblem } from './schema-rules.ts'
import { cleanJson, cleanLine, cleanText } from './words.ts'

const MAX_DOCUMENT_BYTES = 160 * 1024
const MAX_EXAMPLE_BYTES = 16 * 1024
/** A segment of a route: literal, or one parameter. Nothing that a proxy reads differently. */
const SEGMENT = /^(?:[A-Za-z0-9._~-]+|\{(?!__)[A-Za-z_][A-Za-z0-9_]{0,39}\})$/
const MAX_SEGMENTS = 12
const MAX_PATH_CHARS = 256
const BODY_METHODS = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

export interface DocumentRules {
  readonly target: TargetOptions
  readonly fee: FeeTerms
  readonly maxPriceAtomic: bigint
}

export const BLANK: Omit<ListingDocument, 'origin' | 'routes' | 'name'> = {
  description: '',
  tags: [],
  basePath: '',
  maxRequestsPerMinute: 60,
  credentialId: null,
  refundPolicy: null,
  termsUrl: null,
}

const refuse = (pointer: string, message: string): GatewayError =>
  new GatewayError('input_invalid', `${pointer}: ${message}`, { extras: { fields: [{ pointer, message }] } })

/**
 * The document with these changes.
 * @param before undefined for a new listing, which then has to name everything that has no default
 * @throws {GatewayError} input_invalid, target_blocked
 */
export function applyEdit(
  before: ListingDocument | undefined,
  edit: ListingEdit,
  rules: DocumentRules,
): ListingDocument {
  const base = before ?? BLANK
  const document: ListingDocument = {
    name: edit.name === undefined ? demand(before?.name, '/name') : readName(edit.name),
    description: edit.description === undefined ? base.description : cleanText(edit.description, 4000),
    tags: edit.tags === undefined ? base.tags : readTags(edit.tags),
    origin:
      edit.origin === undefined ? demand(before?.origin, '/origin') : readOrigin(edit.origin, rules.target),
    basePath: edit.base_path === undefined ? base.basePath : readBasePath(edit.base_path),
    routes: edit.routes === undefined ? demand(before?.routes, '/routes') : readRoutes(edit.routes),
    maxRequestsPerMinute: edit.max_requests_per_minute ?? base.maxRequestsPerMinute,
    credentialId: base.credentialId,
    refundPolicy:
      edit.refund_policy === undefined ? base.refundPolicy : cleanOrNull(edit.refund_policy, 1000),
    termsUrl: edit.terms_url === undefined ? base.termsUrl : readUrl(edit.terms_url, '/terms_url'),
    takesTestMoney: edit.takes_test_money ?? base.takesTestMoney ?? false,
  }
  for (const [i, { priceAtomic }] of document.routes.entries())
    checkPrice(priceAtomic, `/routes/${i}/price_atomic`, rules)
  if (Buffer.byteLength(JSON.stringify(document)) > MAX_DOCUMENT_BYTES)
    throw refuse('/routes', `the listing is larger than ${MAX_DOCUMENT_BYTES} bytes`)
  return document
}

function demand<T>(value: T | undefined, pointer: string): T {
  if (value === undefined) throw refuse(pointer, 'is required for a new service')
  return value
}

function readName(text: string): string {
  const name = cleanLine(text, 80)
  if (name === '') throw refuse('/name', 'has no character that can be seen')
  const verdict = checkShownName(name)
  if (!verdict.ok) throw refuse('/name', verdict.why)
  return name
}

const cleanOrNull = (text: string | null, max: number) =>
  text === null ? null : cleanText(text, max) || null

const readTags = (tags: readonly string[]) =>
  [...new Set(tags.map((tag) => cleanLine(tag.toLowerCase(), 40)))].filter((tag) => tag !== '')

/** A link that is shown, never followed by the gateway. */
export function readUrl(text: string | null, pointer: string): string | null {
  if (text === null) return null
  const url = URL.parse(text)
  if (
    !url ||
    url.protocol !== 'https:' ||
    url.username !== '' ||
    url.password !== '' ||
    !/^[!-~]+$/.test(text)
  )
    throw refuse(pointer, 'must be an https:// URL in printable ASCII without user name or password')
  return url.href
}

/**
 * `https://api.example.com`, with a port where the operator allows it.
 * @throws {GatewayError} input_invalid, target_blocked
 */
export function readOrigin(text: string, target: TargetOptions): string {
  const verdict = parseTarget(text.replace(/\/$/, ''), target)
  if (!verdict.ok)
    throw new GatewayError(
      verdict.code === 'target_blocked' ? 'target_blocked' : 'input_invalid',
      `/origin: ${verdict.detail}`,
    )
  if (verdict.path !== '/' || verdict.url.search !== '')
    throw refuse('/origin', 'is scheme and host alone: put a path into base_path')
  return verdict.url.origin
}

/** `api.example.com`, or `api.example.com:8443`: what is proven, and what listings are paused by. */
export const hostOf = (origin: string): string => new URL(origin).host

function readBasePath(text: string): string {
  const path = text.replace(/\/+$/, '')
  if (path === '') return ''
  const segments = path.slice(1).split('/')
  if (
    !path.startsWith('/') ||
    segments.some((segment) => !/^[A-Za-z0-9._~-]+$/.test(segment) || /^\.+$/.test(segment))
  )
    throw refuse('/base_path', 'must be a plain path such as /v2, without dot segments and escapes')
  return path
}

function readRoutes(given: readonly RouteInput[]): readonly ListingRoute[] {
  const routes = given.map((route, i) => readRoute(route, `/routes/${i}`))
  const seen = new Set<string>()
  for (const [i, { method, path }] of routes.entries()) {
    // Two routes that differ in the name of a parameter take the same calls.
    const place = `${method} ${path.replaceAll(/\{[^}]*\}/g, '{}')}`
    if (seen.has(place)) throw refuse(`/routes/${i}`, `there is another route for ${place}`)
    seen.add(place)
  }
  return routes
}

function readRoute(given: RouteInput, at: string): ListingRoute {
  const { method, example } = given
  const path = readPath(given.path, `${at}/path`)
  const schemas = {
    inputSchema: readSchema(given.input_schema, `${at}/input_schema`),
    bodySchema: readSchema(given.body_schema, `${at}/body_schema`),
    outputSchema: readSchema(given.output_schema, `${at}/output_schema`),
  }
  if (schemas.bodySchema !== null && !BODY_METHODS.has(method))
    throw refuse(`${at}/body_schema`, `a ${method} request has no body`)
  checkInputSchema(schemas.inputSchema, path, `${at}/input_schema`)
  return {
    path,
    method,
    summary: cleanLine(given.summary, 300),
    priceAtomic: given.price_atomic,
    ...schemas,
    example: readExample(example, schemas, at),
    timeoutMs: given.timeout_ms,
    maxResponseBytes: given.max_response_bytes,
  }
}

function readPath(text: string, at: string): string {
  if (text === '/') return text
  if (text.length > MAX_PATH_CHARS) throw refuse(at, `is longer than ${MAX_PATH_CHARS} characters`)
  const segments = text.slice(1).replace(/\/$/, '').split('/')
  if (segments.length > MAX_SEGMENTS || segments.some((one) => !SEGMENT.test(one) || /^\.+$/.test(one)))
    throw refuse(at, 'must be segments of A-Z a-z 0-9 . _ ~ - or {name}, without dot segments and escapes')
  const names = parametersOf(`/${segments.join('/')}`)
  if (new Set(names).size < names.length) throw refuse(at, 'names a parameter twice')
  return `/${segments.join('/')}`
}

/** The names of the path's parameters, in their order. */
export const parametersOf = (path: string): readonly string[] =>
  [...path.matchAll(/\{([^}]*)\}/g)].map(([, name = '']) => name)

function readSchema(given: unknown, at: string): Readonly<Record<string, unknown>> | null {
  if (given === null || given === undefined) return null
  const problem = findSchemaProblem(given)
  if (problem !== undefined) throw refuse(at, problem)
  const cleaned = cleanJson(given)
  if (!isObject(cleaned)) throw refuse(at, 'has a name or a value with characters that cannot be seen')
  return cleaned
}

/** Parameters come as texts by name: the schema has to be of an object, and to ask for what the path needs. */
function checkInputSchema(schema: ListingRoute['inputSchema'], path: string, at: string): void {
  const needed = parametersOf(path)
  if (schema === null) {
    if (needed.length > 0)
      throw refuse(at, `has to describe the parameters of the path: ${needed.join(', ')}`)
    return
  }
  const { type, properties, required } = schema
  if (type !== 'object') throw refuse(at, 'has to be of type object: its properties are the parameters')
  const names = isObject(properties) ? Object.keys(properties) : []
  const odd = names.find((name) => !/^[A-Za-z0-9_.[\]-]{1,64}$/.test(name))
  if (odd !== undefined) throw refuse(at, 'has a property whose name cannot be a parameter')
  const demanded: readonly unknown[] = Array.isArray(required) ? required : []
  for (const name of needed)
    if (!names.includes(name) || !demanded.includes(name))
      throw refuse(at, `has to require the parameter ${name} of the path`)
}

function readExample(
  given: RouteInput['example'],
  { inputSchema, bodySchema }: Pick<ListingRoute, 'inputSchema' | 'bodySchema'>,
  at: string,
): ListingRoute['example'] {
  const wantsSome = bodySchema !== null || isDemanding(inputSchema)
  if (given === null) {
    if (wantsSome) throw refuse(`${at}/example`, 'is needed: the service is tried with it before it is sold')
    return null
  }
  if (Buffer.byteLength(JSON.stringify(given)) > MAX_EXAMPLE_BYTES)
    throw refuse(`${at}/example`, `is larger than ${MAX_EXAMPLE_BYTES} bytes`)
  const example = cleanJson({ ...given })
  if (!isObject(example)) throw refuse(`${at}/example`, 'has characters that cannot be seen')
  const { query, body } = example
  const hasQuery = isObject(query) && Object.keys(query).length > 0
  if (inputSchema === null ? hasQuery : !fits(inputSchema, isObject(query) ? query : {}))
    throw refuse(`${at}/example/query`, 'does not fit the input_schema of its own route')
  if (bodySchema === null ? body !== undefined : !fits(bodySchema, body))
    throw refuse(`${at}/example/body`, 'does not fit the body_schema of its own route')
  return { ...(isObject(query) && { query }), ...(body !== undefined && { body }) }
}

const fits = (schema: unknown, value: unknown) =>
  value !== undefined && createSchemaChecker(schema).check(value).ok

const isDemanding = (schema: ListingRoute['inputSchema']) =>
  schema !== null && !createSchemaChecker(schema).check({}).ok

/** @throws {GatewayError} input_invalid for a price below its own fee, or above what may be asked */
function checkPrice(priceAtomic: string, at: string, { fee, maxPriceAtomic }: DocumentRules): void {
  const price = BigInt(priceAtomic)
  if (price > maxPriceAtomic)
    throw refuse(at, `is more than ${maxPriceAtomic} atomic units, the most that is sold here`)
  if (isCut(price, fee))
    throw refuse(at, `is less than the fee: gateway.marketplace.fee explains it for amount_atomic=${price}`)
}

/** Whether the terms ask for more than the price. */
function isCut(price: bigint, { bps, fixedAtomic, minimumAtomic }: FeeTerms): boolean {
  const share = (price * BigInt(bps) + 9_999n) / 10_000n + BigInt(fixedAtomic)
  const least = BigInt(minimumAtomic)
  return (share > least ? share : least) > price
}

/** Whether the change asks something else of the upstream: then it is tried again before it is sold. */
export const needsCheck = (before: ListingDocument, after: ListingDocument): boolean =>
  facts(before) !== facts(after)

const facts = ({ origin, basePath, routes, credentialId }: ListingDocument) =>
  JSON.stringify([
    origin,
    basePath,
    credentialId,
    routes.map(({ path, method, inputSchema, bodySchema, outputSchema, example }) => [
      path,
      method,
      inputSchema,
      bodySchema,
      outputSchema,
      example,
    ]),
  ])

/** A sentence of an operator or a seller, as the other is shown it. */
export const readReason = (text: string): string => cleanLine(text, 500)
