// The words of a signing template. A template is text with placeholders in braces; what it gives is bytes, because bodies are.
import { createHash } from 'node:crypto'
import type { KindOf } from '../../../schemas/credential-kinds.ts'
import { valuesOf } from '../placement/form-body.ts'
import type { SecretParts } from '../ports.ts'
import type { RequestToSign } from './kind.ts'
import { readPart } from './key-parts.ts'

export interface Values {
  readonly parts: SecretParts
  readonly request: RequestToSign
  /** With the parameters that are added before signing. */
  readonly url: URL
  readonly timestamp: string
  readonly nonce: string
  readonly prehash?: Buffer | undefined
  readonly signature?: string
}

type Fill = (values: Values, argument: string) => string | Buffer

/** `name`, or `name.argument` for those that take one. */
const FILLS: Readonly<Record<string, Fill>> = {
  timestamp: ({ timestamp }) => timestamp,
  nonce: ({ nonce }) => nonce,
  method: ({ request }) => request.method,
  host: ({ url }) => url.host,
  path: ({ url }) => url.pathname,
  query: ({ url }) => url.search.slice(1),
  target: ({ url }) => url.pathname + url.search,
  url: ({ url }) => url.href,
  body: ({ request }) => request.body ?? '',
  body_sha256: ({ request }) => digestOf(request.body, 'sha256', 'hex'),
  body_sha256_base64: ({ request }) => digestOf(request.body, 'sha256', 'base64'),
  body_sha512: ({ request }) => digestOf(request.body, 'sha512', 'hex'),
  prehash: ({ prehash }) => prehash ?? '',
  signature: ({ signature = '' }) => signature,
  header: ({ request }, name) => request.headers.find(([header]) => header === name.toLowerCase())?.[1] ?? '',
  form: ({ request }, name) => valuesOf(request.body ?? NO_BODY, name).next().value ?? '',
  part: ({ parts }, name) => readPart(parts, name),
}
const NO_BODY = Buffer.alloc(0)
const TAKE_ARGUMENT = new Set(['header', 'form', 'part'])

const PLACEHOLDER = /\{([a-z0-9_]+)(?:\.([A-Za-z0-9_-]+))?\}/g

const digestOf = (body: Buffer | undefined, algorithm: string, encoding: 'hex' | 'base64') =>
  createHash(algorithm)
    .update(body ?? '')
    .digest(encoding)

export interface TemplateRules {
  readonly partNames: readonly string[]
  /** Placeholders that have no value yet where this template is filled. */
  readonly without: readonly string[]
}

/** @returns why the template cannot be filled; undefined where it can */
export function findTemplateFault(
  template: string,
  { partNames, without }: TemplateRules,
): string | undefined {
  if (!template.isWellFormed()) return 'holds half a surrogate pair'
  const rest = template.replace(PLACEHOLDER, '')
  if (/[{}]/.test(rest)) return 'has a brace that belongs to no placeholder'
  for (const [text, name = '', argument] of template.matchAll(PLACEHOLDER)) {
    if (!Object.hasOwn(FILLS, name)) return `has ${text}; there are ${list(Object.keys(FILLS))}`
    if (without.includes(name)) return `has ${text}, which is not known there yet`
    if (TAKE_ARGUMENT.has(name) !== (argument !== undefined))
      return TAKE_ARGUMENT.has(name) ? `has ${text}: write {${name}.NAME}` : `has ${text}: write {${name}}`
    if (name === 'part' && argument !== undefined && (argument === 'key' || !partNames.includes(argument)))
      return argument === 'key'
        ? 'would send the key itself'
        : `names the part ${argument}, which is not stored`
  }
  return undefined
}

const list = (names: readonly string[]) => names.map((name) => `{${name}}`).join(', ')

/** Whether what is signed says all of the request: its method, its path with the query, and its body. */
export function coversRequest({
  message,
  prehash = '',
}: Pick<KindOf<'hmac'>, 'message' | 'prehash'>): boolean {
  const signed = message.includes('{prehash}') ? message + prehash : message
  const names = new Set(Array.from(signed.matchAll(PLACEHOLDER), ([, name = '']) => name))
  const hasTarget = names.has('target') || names.has('url') || (names.has('path') && names.has('query'))
  return names.has('method') && hasTarget && [...names].some((name) => name.startsWith('body'))
}

/** Fills a template that was checked when it was stored. */
export function fillTemplate(template: string, values: Values): Buffer {
  const pieces: Buffer[] = []
  let at = 0
  for (const match of template.matchAll(PLACEHOLDER)) {
    const [text, name = '', argument = ''] = match
    pieces.push(Buffer.from(template.slice(at, match.index)))
    const filled = FILLS[name]?.(values, argument) ?? text
    pieces.push(typeof filled === 'string' ? Buffer.from(filled) : filled)
    at = match.index + text.length
  }
  pieces.push(Buffer.from(template.slice(at)))
  return Buffer.concat(pieces)
}
