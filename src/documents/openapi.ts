// OpenAPI 3.1.0, generated from the registry: one operation per route, with examples and every error it can answer.
import { createSpeller, routeName, spellSchema } from '../core/tool-words.ts'
import { API_VERSION } from '../core/config.ts'
import type { Addresses } from '../core/config.ts'
import { ERRORS, type ErrorCode } from '../core/errors.ts'
import {
  type AnyTool,
  type JsonSchema,
  type RegisteredTool,
  type Registry,
  type RestRoute,
} from '../core/registry.ts'
import { isForPeople } from '../core/roles.ts'
import { GATEWAY_SCOPE } from '../core/authenticate.ts'
import { SIGN_IN_SCOPES, signInAddresses } from './sign-in-addresses.ts'
import { tokenArgument } from '../core/token-argument.ts'
import { isPaid } from '../core/price.ts'
import { errorsOf } from '../core/tool-errors.ts'
import {
  paidHeaders,
  PAYMENT_MEMBERS,
  PAYMENT_SCHEMES,
  quoteParameters,
  refusalHeaders,
  securityOf,
} from './payments.ts'
import { sampleProblem } from './problems.ts'
import { jobPrices, priceWords } from './protocols.ts'
import { paymentInfoOf } from './x402.ts'
import { probePaths } from './probes.ts'
import { sampleOf } from './sample.ts'

type Json = Record<string, unknown>

/** `GET /openapi.json`: OpenAPI 3.1.0 of every route of the registry, with the errors that its tool documents. */
export function openApiOf(registry: Registry, { baseUrl, siteUrl }: Addresses): Json {
  const paths: Record<string, Json> = probePaths()
  const schemas: Json = { Problem: PROBLEM }
  const used = new Set<ErrorCode>()
  for (const entry of registry.tools) {
    if (!entry.tool.doors.includes('rest')) continue
    for (const route of entry.tool.rest) {
      paths[route.path] ??= {}
      paths[route.path]![route.method.toLowerCase()] = operationOf(entry, route, schemas)
      for (const code of errorsOf(entry.tool, route)) used.add(code)
    }
  }
  const document = {
    openapi: '3.1.0',
    info: {
      title: 'Agent Gateway',
      version: API_VERSION,
      summary: 'The gateway through which AI agents act on the internet without ever holding a secret',
      description:
        'Every tool of the gateway over HTTP. The same tools are served over MCP and A2A. Errors are RFC 9457 problem ' +
        'documents with a stable `code`; `detail` says what to do next.',
      contact: { url: siteUrl },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl }],
    'x-agentcash-guidance': { llmsTxtUrl: `${baseUrl}/llms.txt` },
    tags: tagsOf(registry),
    paths,
    components: {
      schemas,
      examples: problemExamples(used, baseUrl),
      securitySchemes: securitySchemes(baseUrl),
    },
  }
  return spellSchema(document, createSpeller(registry, routeName))
}

function operationOf(entry: RegisteredTool, route: RestRoute, schemas: Json): Json {
  const { tool } = entry
  const parameters = [...parametersOf(entry, route), ...quoteParameters(tool)]
  const body = route.method === 'POST' ? bodyOf(entry, route, schemas) : undefined
  const payment = paymentInfoOf(tool, route)
  return {
    operationId: route.operationId,
    summary: tool.title,
    description: descriptionOf(tool, route),
    tags: [tagOf(tool)],
    security: securityOf(tool, tokensOf(tool)),
    ...(payment && { 'x-payment-info': payment }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: body }),
    responses: {
      [route.status ?? 200]: route.isRaw
        ? RAW_ANSWER
        : tool.passes
          ? PASSED_ANSWER
          : answerOf(entry, schemas),
      ...problemsOf(tool, errorsOf(tool, route)),
    },
  }
}

function answerOf(entry: RegisteredTool, schemas: Json): Json {
  const output = hoist(entry.outputSchema, `${entry.portableName}_output`, schemas)
  return {
    description: 'Done.',
    headers: { ...REQUEST_ID, ...paidHeaders(entry.tool) },
    content: { 'application/json': { schema: output, examples: answersOf(entry) } },
  }
}

const REQUEST_ID: Json = {
  'X-Request-Id': { schema: { type: 'string' }, description: 'Quote it when asking for help.' },
}

function descriptionOf(tool: AnyTool, { fixed, isRaw }: RestRoute): string {
  const price = `Price: ${jobPrices(tool) ?? priceWords(tool.price)}${isPaid(tool) ? `. ${HOW_TO_PAY}` : '.'}`
  const set = Object.entries(fixed ?? {}).map(
    ([name, value]) => `Here \`${name}\` is always \`${JSON.stringify(value)}\`.`,
  )
  return [tool.summary, ...(isRaw ? [RAW_WORDS] : []), ...set, price].join('\n\n')
}

const HOW_TO_PAY =
  'It is paid with x402: without a payment nothing is done, and the answer is a 402 that says the exact price. Repeat the ' +
  'identical request with `Payment-Signature` (or `X-PAYMENT` of v1).'

function answersOf(entry: RegisteredTool): Json {
  const given = entry.tool.examples.filter(({ output }) => output !== undefined)
  if (given.length === 0)
    return { shape: { summary: 'Shape of the answer', value: sampleOf(entry.outputSchema) } }
  return Object.fromEntries(
    given.map(({ title, output }) => [slug(title), { summary: title, value: output }]),
  )
}

const pathNames = (route: RestRoute) => [...route.path.matchAll(/\{([\w-]+)\}/g)].map((match) => match[1]!)

function parametersOf({ tool, inputSchema }: RegisteredTool, route: RestRoute): Json[] {
  const inPath = pathNames(route)
  const properties = (inputSchema['properties'] ?? {}) as Record<string, JsonSchema>
  const required = (inputSchema['required'] ?? []) as readonly string[]
  // A token is a header here, which `security` describes; the REST door takes none from an address.
  const isSent = (name: string) => name !== tokenArgument(tool)
  const names = route.method === 'GET' && !route.isRaw ? Object.keys(properties).filter(isSent) : inPath
  return names.map((name) => {
    const { description, ...schema } = properties[name] ?? { type: 'string' }
    const example = valueOf(tool, name) ?? sampleOf(schema)
    return {
      name,
      in: inPath.includes(name) ? 'path' : 'query',
      required: inPath.includes(name) || required.includes(name),
      ...(typeof description === 'string' && { description }),
      schema,
      // An optional parameter without a telling value is better left out of "try it".
      ...((inPath.includes(name) || valueOf(tool, name) !== undefined) && { example }),
    }
  })
}

function valueOf(tool: AnyTool, name: string): unknown {
  for (const { input } of tool.examples) {
    const value = (input as Json)[name]
    if (value !== undefined) return value
  }
  return undefined
}

function bodyOf(entry: RegisteredTool, route: RestRoute, schemas: Json): Json | undefined {
  const inPath = pathNames(route)
  const without = (value: Json): Json =>
    Object.fromEntries(Object.entries(value).filter(([name]) => !inPath.includes(name)))
  const properties = without((entry.inputSchema['properties'] ?? {}) as Json)
  const required = ((entry.inputSchema['required'] ?? []) as string[]).filter(
    (name) => !inPath.includes(name),
  )
  if (entry.tool.passes) return PASSED_BODY
  if (inPath.length > 0 && Object.keys(properties).length === 0) return undefined
  const { required: _all, ...rest } = entry.inputSchema
  const schema = { ...rest, properties, ...(required.length > 0 && { required }) }
  const name = `${entry.portableName}_input`
  const examples = entry.tool.examples.map(({ title, input }) => [
    slug(title),
    { summary: title, value: without(input as Json) },
  ])
  return {
    required: required.length > 0 || inPath.length === 0,
    content: {
      'application/json': { schema: hoist(schema, name, schemas), examples: Object.fromEntries(examples) },
    },
  }
}

const ANYTHING = {
  '*/*': {
    schema: {},
    examples: { any: { summary: 'Any media type', value: '{"sku":"tea","quantity":1}' } },
  },
}
const PASSED_BODY: Json = {
  required: false,
  description: 'Any media type, in any Content-Encoding, at most 256 KiB: forwarded byte for byte.',
  content: ANYTHING,
}
const PASSED_ANSWER: Json = {
  description:
    'The answer of the merchant, at most 1 MiB: its own status (any, errors included), headers and bytes. It has an ' +
    '`X-Gateway-Attempt`, which no answer of the gateway itself has.',
  headers: {
    ...REQUEST_ID,
    ...Object.fromEntries(
      [
        ['X-Gateway-Attempt', 'Id of the attempt'],
        ['X-Gateway-Receipt', 'Signed receipt: compact JWS, typ gw-receipt+jws'],
        ['X-Gateway-Receipt-Url', 'Where that receipt can be read'],
        ['X-Gateway-Evidence', 'Signed evidence of what was forwarded: compact JWS, typ gw-evidence+jws'],
        ['X-Gateway-Idempotency-Key', 'The Idempotency-Key that was added, where the request had none'],
      ].map(([name, description]) => [name!, { schema: { type: 'string' }, description }]),
    ),
  },
  content: ANYTHING,
}

const RAW_WORDS =
  'Query, further methods (HEAD, POST, PUT, PATCH, DELETE), routes below this address and JSON bodies are as the listing of the service ' +
  'says: see GET /v1/marketplace/services, and the OpenAPI document of each seller at `/p/{seller}/openapi.json`. With and without the ' +
  'slash at its end it is the same address; test money is taken below `/p/testnet/{seller}/{service_id}/`.'
const RAW_ANSWER: Json = {
  description:
    'The answer of the service: its own status (2xx), content type and bytes, as its listing promises.',
  headers: {
    ...REQUEST_ID,
    ...Object.fromEntries(
      [
        ['Payment-Response', 'x402: what became of the payment, base64 of JSON'],
        ['Agent-Gateway-Receipt', 'Signed receipt: compact JWS, typ gw-receipt+jws'],
        ['Agent-Gateway-Claim', 'Id of the payment claim; the seller knows the call by it'],
        ['Link', 'Where the receipt can be read: rel="receipt"'],
      ].map(([name, description]) => [name!, { schema: { type: 'string' }, description }]),
    ),
  },
  content: ANYTHING,
}

/** A schema becomes a component; its own `$defs` become components beside it, because a `#/$defs/` would point nowhere. */
function hoist(schema: JsonSchema, name: string, schemas: Json): Json {
  const { $defs, ...rest } = schema
  const rewrite = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(rewrite)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [
        key,
        key === '$ref' && typeof inner === 'string'
          ? inner
              .replace(/^#\/\$defs\//, `#/components/schemas/${name}_`)
              .replace(/^#$/, `#/components/schemas/${name}`)
          : rewrite(inner),
      ]),
    )
  }
  for (const [key, definition] of Object.entries(($defs ?? {}) as Json))
    schemas[`${name}_${key}`] = rewrite(definition)
  schemas[name] = rewrite(rest)
  return { $ref: `#/components/schemas/${name}` }
}

function problemsOf(tool: AnyTool, codes: readonly ErrorCode[]): Json {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of codes)
    byStatus.set(ERRORS[code].status, [...(byStatus.get(ERRORS[code].status) ?? []), code])
  return Object.fromEntries(
    [...byStatus].map(([status, list]) => [
      status,
      {
        description: list.map((code) => `\`${code}\`: ${ERRORS[code].title}.`).join(' '),
        ...withHeaders(refusalHeaders(tool, list)),
        content: {
          'application/problem+json': {
            schema: { $ref: '#/components/schemas/Problem' },
            examples: Object.fromEntries(
              list.map((code) => [code, { $ref: `#/components/examples/${code}` }]),
            ),
          },
        },
      },
    ]),
  )
}

const withHeaders = (headers: Json) => (Object.keys(headers).length > 0 ? { headers } : {})

function problemExamples(codes: ReadonlySet<ErrorCode>, baseUrl: string): Json {
  return Object.fromEntries(
    [...codes].map((code) => [code, { summary: ERRORS[code].title, value: sampleProblem(code, baseUrl) }]),
  )
}

/** The second word of a tool's name groups it: `gateway.egress.fetch` is about egress. */
const tagOf = ({ name }: AnyTool) => name.split(/[._]/)[1]!

const TAG_WORDS: Readonly<Record<string, string>> = {
  execute: 'Results from public or supplied sources',
  capabilities: 'What can be had here',
  edge: 'Transactions forwarded to merchants who authorized it in their DNS',
  egress: 'Outbound requests with credentials that the agent never sees',
  actions: 'Signed permits for one exact request, and the mandates behind them',
  credits: 'Balance and ledger',
  keys: 'Service keys of operators, free keys of email verification',
  email: 'Decisions about email addresses',
  receipts: 'Signed receipts',
  authority: 'Keys that protect stored secrets',
  protocols: 'Ways in',
  test: 'Scores of sample transactions',
  health: 'Is it up',
}

function tagsOf(registry: Registry): Json[] {
  const served = registry.tools.filter(({ tool }) => tool.doors.includes('rest'))
  const names = [...new Set(served.map(({ tool }) => tagOf(tool)))]
  return names.map((name) => ({ name, description: TAG_WORDS[name] ?? `Tools about ${name}` }))
}

const slug = (title: string) =>
  title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_|_$/g, '')

/** Whoever may call, some say with a token whose account is meant. */
function tokensOf(tool: AnyTool): readonly Json[] {
  const { caller, errors } = tool
  if (caller === 'anyone' && errors.includes('key_required')) return [{}, ...SECURITY.account]
  // No assistant is given what people decide.
  return isForPeople(tool) ? SECURITY[caller].filter((one) => !('oauth' in one)) : SECURITY[caller]
}

const SIGNED_IN: Json = { oauth: [GATEWAY_SCOPE] }
const OPERATING: Json = { oauth: Object.keys(SIGN_IN_SCOPES) }

const SECURITY: Readonly<Record<AnyTool['caller'], readonly Json[]>> = {
  anyone: [],
  capability: [{ capability: [] }, { capabilityHeader: [] }, SIGNED_IN],
  operator: [{ serviceKey: [] }, OPERATING],
  admin: [{ serviceKey: [] }, OPERATING],
  account: [{ serviceKey: [] }, { capability: [] }, { capabilityHeader: [] }, SIGNED_IN],
  email: [{ emailKey: [] }, { serviceKey: [] }],
  seller: [{ serviceKey: [] }, OPERATING],
}

const securitySchemes = (baseUrl: string) => {
  const { authorizationUrl, tokenUrl, deviceAuthorizationUrl, metadataUrl } = signInAddresses(baseUrl)
  return {
    ...SECURITY_SCHEMES,
    oauth: {
      type: 'oauth2',
      description:
        'An access token (agw_at_…) that a person gives an assistant in their browser (authorization code with PKCE S256). Without a browser: ' +
        `the device flow at ${deviceAuthorizationUrl}. Both are described at ${metadataUrl}.`,
      flows: {
        authorizationCode: { authorizationUrl, tokenUrl, refreshUrl: tokenUrl, scopes: SIGN_IN_SCOPES },
      },
      // OpenAPI has members for these from 3.2 on.
      'x-oauth2-metadata-url': metadataUrl,
      'x-device-authorization-url': deviceAuthorizationUrl,
    },
  }
}

const SECURITY_SCHEMES = {
  serviceKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'Service key of an operator or a seller (agw_sk_…)',
  },
  emailKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'Free key of email verification (agw_ek_…), from POST /v1/keys/free',
  },
  capability: { type: 'http', scheme: 'bearer', description: 'Capability issued to an agent (agw_cap_…)' },
  capabilityHeader: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Gateway-Capability',
    description: 'The same capability, where the Authorization header is taken',
  },
  ...PAYMENT_SCHEMES,
}

const PROBLEM: Json = {
  type: 'object',
  description: 'RFC 9457 problem document',
  required: ['type', 'title', 'status', 'detail', 'instance', 'code', 'request_id'],
  properties: {
    type: { type: 'string', format: 'uri', description: 'A page about this code' },
    title: { type: 'string' },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: { type: 'string', description: 'What to do next' },
    instance: { type: 'string' },
    code: { type: 'string', enum: Object.keys(ERRORS) },
    request_id: { type: 'string' },
    fields: {
      type: 'array',
      items: {
        type: 'object',
        required: ['pointer', 'message'],
        properties: { pointer: { type: 'string', description: 'JSON Pointer' }, message: { type: 'string' } },
      },
    },
    repair: { type: 'object', description: 'A request that works when sent unchanged' },
    coverage: { type: 'object', description: 'Of `sources_unusable`: what became of each source' },
    retry_after_seconds: { type: 'integer', minimum: 0 },
    attempt_id: { type: 'string' },
    idempotency_key: { type: 'string' },
    ...PAYMENT_MEMBERS,
  },
}
