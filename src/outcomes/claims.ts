// Reads a request, with everything wrapped inside it, into flat claims: which field, which value, where it stood.
// Decides nothing about which outcome is meant; that is resolve.ts.
import type { z } from 'zod'
import {
  WORD_FIELDS,
  WrappedHttp,
  WrappedIntent,
  WrappedOperation,
  WrappedRequest,
  WrappedTask,
} from '../../schemas/execute-request.ts'
import { MAX_HTML_CHARACTERS, OUTCOME_IDS } from '../../schemas/outcome.ts'
import type { ErrorCode } from '../core/errors.ts'
import { must } from '../lib/must.ts'
import { describeIssues } from '../core/validation-issues.ts'
import { type CommandReason, isExecuteAddress, isReadOnly, readCommand } from './command.ts'
import { countCharacters } from './extract/text.ts'
import { readOperation } from './intents/operation.ts'
import { MAX_SOURCES } from './limits.ts'

export const SOURCE_FIELDS = ['html', 'url', 'urls', 'sources'] as const
export const OPTION_FIELDS = [
  'limit',
  'max_age_seconds',
  'redirects',
  'start',
  'query',
  'format',
  'testnet',
] as const
export type ClaimField =
  | 'capability'
  | 'words'
  | 'unknown_name'
  /** Said, and of no use to any capability. */
  | 'unused'
  | (typeof SOURCE_FIELDS)[number]
  | (typeof OPTION_FIELDS)[number]

export interface Claim {
  readonly field: ClaimField
  readonly value: unknown
  /** JSON Pointer into the request. */
  readonly pointer: string
}

export type ClaimsReading =
  | { readonly ok: true; readonly claims: readonly Claim[] }
  | {
      readonly ok: false
      readonly code: ErrorCode
      readonly detail: string
      readonly fields: { pointer: string; message: string }[]
    }

const MAX_WRAPPERS = 8
const OWN_NAMES = new Set(['gateway_execute', 'gateway.execute', 'gatewayexecute', 'execute', '/v1/execute'])

interface Wrapped {
  readonly schema: z.ZodType
  readonly value: unknown
  readonly pointer: string
  /** Parsed out of a string: what is in it has no pointer of its own. */
  readonly isText?: boolean
}

/** @param request the parsed input of the tool: its defaults stand for things nobody said */
export function readClaims(request: Readonly<Record<string, unknown>>): ClaimsReading {
  const claims: Claim[] = []
  const queue: Wrapped[] = [{ schema: WrappedRequest, value: request, pointer: '' }]
  // A wrapped request is added behind, and read in its turn.
  for (const [i, { schema, value, pointer, isText = false }] of queue.entries()) {
    if (i > MAX_WRAPPERS)
      return refuse('input_invalid', pointer, `Wrap a request at most ${MAX_WRAPPERS} times`)
    const parsed = schema.safeParse(value)
    if (!parsed.success) return refuseIssues(parsed.error.issues, value, pointer, isText)
    const fields = parsed.data as Record<string, unknown>
    const refused =
      schema === WrappedHttp
        ? readHttp(fields, pointer, claims, queue)
        : schema === WrappedOperation
          ? readOperationField(fields, pointer, claims, queue)
          : readFields(fields, isText ? () => pointer : (field) => `${pointer}/${field}`, claims, queue)
    if (refused) return refused
  }
  return { ok: true, claims }
}

type Refusal = ClaimsReading & { ok: false }

const WORDS = new Set<string>(WORD_FIELDS)
const WRAPPERS = new Map<string, z.ZodType>([
  ['input', WrappedRequest],
  ['arguments', WrappedRequest],
  ['parameters', WrappedRequest],
  ['task', WrappedTask],
  ['http', WrappedHttp],
  ['operation', WrappedOperation],
])
const NAMES = new Set(['name', 'tool', 'skill', 'skill_id'])

function readFields(
  fields: Readonly<Record<string, unknown>>,
  pointerOf: (field: string) => string,
  claims: Claim[],
  queue: Wrapped[],
): Refusal | undefined {
  for (const [field, value] of Object.entries(fields)) {
    if (value === undefined || isUnsaid(field, value)) continue
    const pointer = pointerOf(field)
    const schema = field === 'intent' ? WrappedIntent : WRAPPERS.get(field)
    let refused: Refusal | undefined
    if (WORDS.has(field) || (field === 'intent' && typeof value === 'string')) {
      const written = readWrittenRequest(String(value))
      if (written) queue.push({ schema: WrappedRequest, value: written, pointer, isText: true })
      else refused = readWords(String(value), pointer, claims)
    } else if (schema) queue.push({ schema, value, pointer })
    else if (NAMES.has(field)) claims.push(...readName(String(value), pointer))
    else if (field === 'message') refused = readMessage(value as Message, pointer, claims, queue)
    else if (field === 'command') refused = readCommandField(String(value), pointer, claims, queue)
    else if (field !== 'id') claims.push({ field: field as ClaimField, value, pointer })
    if (refused) return refused
  }
  return undefined
}

/** Defaults and empty lists say nothing. */
const isUnsaid = (field: string, value: unknown) =>
  (field === 'max_age_seconds' && value === 0) ||
  (field === 'testnet' && value === false) ||
  (Array.isArray(value) && value.length === 0)

/** A whole request may be written where words are expected; JSON that is none of ours is words. */
function readWrittenRequest(text: string): unknown {
  if (!/^\s*\{[^]*\}\s*$/.test(text)) return undefined
  try {
    const parsed = WrappedRequest.safeParse(JSON.parse(text))
    return parsed.success ? parsed.data : undefined
  } catch {
    return undefined
  }
}

/** Words may carry the HTML they speak of: from the first tag on it is HTML. */
function readWords(text: string, pointer: string, claims: Claim[]): Refusal | undefined {
  const tag = /<(?:!doctype|!--|[a-z][a-z\d-]*[\s/>])/i.exec(text)
  const words = tag ? text.slice(0, tag.index) : text
  if (!tag || words.trim() !== '') claims.push({ field: 'words', value: words, pointer })
  if (!tag) return undefined
  const html = text.slice(tag.index)
  if (countCharacters(html) > MAX_HTML_CHARACTERS)
    return refuse('input_invalid', pointer, `Too long: at most ${MAX_HTML_CHARACTERS} characters of HTML`)
  claims.push({ field: 'html', value: html, pointer })
  return undefined
}

type Message = string | { readonly parts: readonly { readonly text?: string; readonly data?: unknown }[] }

/** A message of an A2A task: text is words, data is a request. */
function readMessage(
  message: Message,
  pointer: string,
  claims: Claim[],
  queue: Wrapped[],
): Refusal | undefined {
  if (typeof message === 'string') return readWords(message, pointer, claims)
  for (const [i, { text, data }] of message.parts.entries()) {
    const at = `${pointer}/parts/${i}`
    const refused = text === undefined ? undefined : readWords(text, `${at}/text`, claims)
    if (refused) return refused
    if (data !== undefined) queue.push({ schema: WrappedRequest, value: data, pointer: `${at}/data` })
  }
  return undefined
}

function readName(name: string, pointer: string): Claim[] {
  const plain = name.trim().toLowerCase()
  if (OWN_NAMES.has(plain)) return []
  const id = OUTCOME_IDS.find((known) => known === plain.replace(/[_\s]/g, '-'))
  if (id) return [{ field: 'capability', value: id, pointer }]
  if (plain === 'demo') return [{ field: 'words', value: plain, pointer }]
  return [{ field: 'unknown_name', value: name, pointer }]
}

type Fields = Readonly<Record<string, unknown>>

function readHttp(fields: Fields, at: string, claims: Claim[], queue: Wrapped[]): Refusal | undefined {
  const url = String(fields['url'])
  if (fields['body'] !== undefined && isExecuteAddress(url))
    return unwrapBody(fields['body'], `${at}/body`, queue)
  const refused = readActions(fields, at, claims) ?? checkReadOnly(fields, at)
  if (refused) return refused
  // The headers are not sent: they could carry a secret, and a public source needs none.
  if (Object.keys((fields['headers'] ?? {}) as object).length > 0)
    claims.push({ field: 'unused', value: null, pointer: `${at}/headers` })
  return readUrls([url], `${at}/url`, claims)
}

function readOperationField(
  fields: Fields,
  at: string,
  claims: Claim[],
  queue: Wrapped[],
): Refusal | undefined {
  if (fields['body'] !== undefined && isExecuteAddress(String(fields['url'])))
    return unwrapBody(fields['body'], `${at}/body`, queue)
  const refused = readActions(fields, at, claims) ?? checkReadOnly(fields, at)
  if (refused) return refused
  const operation = readOperation(fields)
  if (!operation.ok) {
    const code = operation.message === 'Required' ? 'input_missing_field' : 'input_invalid'
    return refuse(code, `${at}/${operation.field}`, operation.message)
  }
  for (const field of operation.unused)
    claims.push({ field: 'unused', value: null, pointer: `${at}/${field}` })
  return readUrls([operation.url], `${at}/${fields['url'] === undefined ? 'path' : 'url'}`, claims)
}

function readActions(fields: Fields, at: string, claims: Claim[]): Refusal | undefined {
  for (const field of ['action', 'desired_action']) {
    const words = fields[field]
    const refused = typeof words === 'string' ? readWords(words, `${at}/${field}`, claims) : undefined
    if (refused) return refused
  }
  return undefined
}

const checkReadOnly = (fields: Fields, at: string): Refusal | undefined =>
  isReadOnly(String(fields['method'])) && fields['body'] === undefined
    ? undefined
    : refuse('input_invalid', `${at}/method`, 'Only GET and HEAD without a body are read-only')

function readCommandField(
  command: string,
  pointer: string,
  claims: Claim[],
  queue: Wrapped[],
): Refusal | undefined {
  const reading = readCommand(command)
  if (!reading.ok) return refuse('input_invalid', pointer, COMMAND_REASONS[reading.reason])
  switch (reading.kind) {
    case 'words':
      return readWords(reading.words, pointer, claims)
    case 'urls':
      return readUrls(reading.urls, pointer, claims)
    case 'body':
      return unwrapBody(reading.body, pointer, queue)
    case 'request':
      queue.push({ schema: WrappedRequest, value: reading.request, pointer, isText: true })
  }
  return undefined
}

const COMMAND_REASONS: Readonly<Record<CommandReason, string>> = {
  open_quote: 'A quote in the command is not closed, or it ends with a backslash',
  not_read_only: 'The command would change something: only GET and HEAD are read-only',
  no_url: 'The command names no URL',
  not_one_command:
    'Send one plain command: nothing is piped, redirected or substituted, and a URL is best quoted',
  unknown_option:
    'The options are --url, --limit, --query, --max-age-seconds, --redirects, --start and --testnet, each with its value',
}

function readUrls(urls: readonly string[], pointer: string, claims: Claim[]): Refusal | undefined {
  if (urls.length > MAX_SOURCES) return refuse('input_invalid', pointer, `Name at most ${MAX_SOURCES} URLs`)
  if (!urls.every((url) => URL.canParse(url))) return refuse('input_invalid', pointer, 'Not an absolute URL')
  const [url] = urls
  claims.push(
    urls.length === 1 ? { field: 'url', value: url, pointer } : { field: 'urls', value: urls, pointer },
  )
  return undefined
}

function unwrapBody(body: unknown, pointer: string, queue: Wrapped[]): Refusal | undefined {
  if (typeof body !== 'string') {
    queue.push({ schema: WrappedRequest, value: body, pointer })
    return undefined
  }
  try {
    queue.push({ schema: WrappedRequest, value: JSON.parse(body), pointer, isText: true })
  } catch {
    return refuse('input_invalid', pointer, 'The body is not valid JSON')
  }
  return undefined
}

function refuse(code: ErrorCode, pointer: string, message: string): Refusal {
  return { ok: false, code, detail: `${pointer}: ${message}.`, fields: [{ pointer, message }] }
}

function refuseIssues(
  issues: readonly z.core.$ZodIssue[],
  value: unknown,
  at: string,
  isText: boolean,
): Refusal {
  // The issues are sorted by name, because the order of the members of an object says nothing.
  const [first] = describeIssues(issues, value).toSorted((a, b) => (a.pointer < b.pointer ? -1 : 1))
  const { code, pointer, message } = must(first, 'the first issue of a refused request')
  return isText && pointer !== ''
    ? refuse(code, at, `${message}, at ${pointer} of what is in it`)
    : refuse(code, at + pointer, message)
}
