// A resolved OpenAPI operation as one address to read. Whatever would need a specification to be fetched is refused.

export interface Parameter {
  readonly name?: string | undefined
  readonly in?: string | undefined
  readonly value?: string | number | boolean | undefined
}

export type OperationReading =
  | { readonly ok: true; readonly url: string; readonly unused: readonly string[] }
  /** `field` of the operation, and what to send instead. */
  | { readonly ok: false; readonly field: string; readonly message: string }

type Server = string | { readonly url: string }

const REFERENCES = [
  '$ref', 'operationRef', 'openapi', 'openapi_url', 'openapiUrl', 'swagger', 'spec', 'spec_url', 'specUrl', 'specification',
  'specification_url', 'document_url', 'definition', 'definition_url', 'paths',
] // prettier-ignore
const SPECIFICATION = /(?:^|[/._-])(?:openapi|swagger|api-docs)[^/]*(?:\.(?:json|ya?ml)|\/v\d+)?\/?$/i
const NO_FETCH =
  'A specification is never fetched: send the resolved operation, with url, method and desired_action'
const MAX_URL_CHARACTERS = 8192

/** The address that an OpenAPI operation asks for, or which of its fields is wrong. */
export function readOperation(operation: Readonly<Record<string, unknown>>): OperationReading {
  const reference = REFERENCES.find((field) => Object.hasOwn(operation, field))
  if (reference !== undefined) return refuse(reference, NO_FETCH)
  const address = addressOf(operation)
  if (!address.ok) return address
  const parameters = listParameters(operation['parameters'])
  if (!parameters.ok) return parameters
  const filled = fill(address, parameters.list)
  if (!filled.ok) return filled
  const { url, unused } = filled
  if (url.length > MAX_URL_CHARACTERS) return refuse(address.field, 'The address is too long')
  if (!URL.canParse(url)) return refuse(address.field, 'Not an absolute URL')
  if (SPECIFICATION.test(new URL(url).pathname)) return refuse(address.field, NO_FETCH)
  return { ok: true, url, unused }
}

type Address = { readonly ok: true; readonly field: string; readonly url: string }

function addressOf(
  operation: Readonly<Record<string, unknown>>,
): Address | (OperationReading & { ok: false }) {
  const url = operation['url'] as string | undefined
  const path = operation['path'] as string | undefined
  if (url !== undefined && /^[a-z][a-z\d+.-]*:/i.test(url)) return { ok: true, field: 'url', url }
  const servers = (operation['servers'] ?? []) as readonly Server[]
  const server = (operation['server'] as Server | undefined) ?? servers[0]
  const tail = path ?? url
  if (server === undefined)
    return refuse(
      url === undefined ? (path === undefined ? 'url' : 'server') : 'url',
      url === undefined ? 'Required' : 'Not an absolute URL',
    )
  if (tail === undefined) return refuse('path', 'Required')
  const base = typeof server === 'string' ? server : server.url
  return { ok: true, field: 'path', url: `${base.replace(/\/$/, '')}/${tail.replace(/^\//, '')}` }
}

function listParameters(
  given: unknown,
): { readonly ok: true; readonly list: readonly Parameter[] } | (OperationReading & { ok: false }) {
  if (given === undefined) return { ok: true, list: [] }
  if (!Array.isArray(given)) {
    const named = Object.entries(given as Record<string, unknown>)
      .map(([name, value]) => ({ name, value }))
      .filter((one): one is { name: string; value: string | number | boolean } =>
        ['string', 'number', 'boolean'].includes(typeof one.value),
      )
      .sort((a, b) => (a.name < b.name ? -1 : 1))
    return { ok: true, list: named }
  }
  if (given.some((one: object) => Object.hasOwn(one, '$ref'))) return refuse('parameters', NO_FETCH)
  return { ok: true, list: given as readonly Parameter[] }
}

/** Values go where the template or `in` says; what a header or a cookie would carry is not sent. */
function fill(address: Address, parameters: readonly Parameter[]): OperationReading {
  const unused: string[] = []
  const query: string[] = []
  let { url } = address
  for (const { name, in: place, value } of parameters) {
    if (name === undefined || value === undefined) continue
    const template = `{${name}}`
    const encoded = encodeValue(String(value))
    if (url.includes(template)) url = url.split(template).join(encoded)
    else if (place === undefined || place === 'query') query.push(`${encodeValue(name)}=${encoded}`)
    else unused.push('parameters')
  }
  const open = /\{[^{}/]*\}/.exec(url)
  if (open) return refuse(address.field, 'Fill in the values of the parameters in braces')
  // A URL that has its query already is resolved: the same parameter is not added twice.
  const known = new Set(url.includes('?') ? url.slice(url.indexOf('?') + 1).split('&') : [])
  const more = query.filter((pair) => !known.has(pair))
  const [bare = '', ...fragment] = url.split('#')
  const joined = more.length === 0 ? bare : `${bare}${bare.includes('?') ? '&' : '?'}${more.join('&')}`
  return { ok: true, url: [joined, ...fragment].join('#'), unused: [...new Set(unused)] }
}

/** Half a surrogate pair has no percent-encoding. */
const encodeValue = (value: string) => encodeURIComponent(value.toWellFormed())

const refuse = (field: string, message: string) => ({ ok: false, field, message }) as const
