// Input -> Message: header fields by name, body as text or JSON, each with its place. Nothing here knows a protocol, and
// nothing that came in is an exception: what cannot be read is a state of the message.
import { readJson } from './decode/json.ts'
import { keepOutline, placeOfBody, readOutline, sourceOf } from './decode/outline.ts'
import { pointer } from './decode/value.ts'
import {
  MAX_BODY_CHARS,
  MAX_FIELDS_OF_A_NAME,
  MAX_HEADER_CHARS,
  type Body,
  type Found,
  type HeaderField,
  type Json,
  type Message,
  type Place,
  type TransactionInput,
} from './ports.ts'

/**
 * @param read the body, where somebody has read it already
 * @param wantsTexts whether its texts will be looked into as well
 */
export function readMessage(input: TransactionInput, read?: Body, wantsTexts = false): Message {
  const body = read ?? readBody(input.body, mediaType(input.headers), wantsTexts)
  const { headers, unreadHeaders } = readHeaders(input.headers)
  const byName = new Map<string, HeaderField>()
  for (const field of headers) if (!byName.has(field.name)) byName.set(field.name, field)
  const method = input.method?.toUpperCase() ?? (body.kind === 'absent' ? 'GET' : 'POST')
  return {
    target: { text: input.target, url: parseUrl(input.target) },
    method,
    headers,
    unreadHeaders,
    body,
    header: (name) => byName.get(name),
  }
}

/** All fields of a name, repeated ones apart. */
export const headersNamed = (message: Message, name: string): readonly HeaderField[] =>
  message.headers.filter((field) => field.name === name)

/** What is larger than any protocol needs is not read. */
export const isOversize = (field: HeaderField): boolean => field.value.length > MAX_HEADER_CHARS

/** The JSON body; null where there is none or it cannot be read. */
export const jsonBody = (message: Message): Found<Json> | null =>
  message.body.kind === 'json' ? { value: message.body.value, at: placeOfBody(message.body.raw) } : null

function parseUrl(text: string): URL | undefined {
  return URL.parse(text) ?? undefined
}

type Fields = TransactionInput['headers']

/**
 * Sorted by name, so that the order of the members of the input decides nothing; repeated fields in the order they came.
 * Places keep the spelling of the input.
 */
function readHeaders(fields: Fields): Pick<Message, 'headers' | 'unreadHeaders'> {
  const found: HeaderField[] = []
  for (const name of Object.keys(fields ?? {}).sort()) {
    const value = fields![name]!
    const at = pointer('/headers', name)
    const lower = name.trim().toLowerCase()
    if (typeof value === 'string') found.push({ name: lower, value: value.trim(), at })
    else if (Array.isArray(value))
      for (const [index, item] of value.entries())
        if (typeof item === 'string') found.push({ name: lower, value: item.trim(), at: pointer(at, index) })
  }
  let isInOrder = true
  let isRepeated = false
  for (let i = 1; i < found.length; i++) {
    const [before, name] = [found[i - 1]!.name, found[i]!.name]
    if (before > name) isInOrder = false
    else if (before === name) isRepeated = true
  }
  // Of most messages the names are in lower case, and each is there once.
  if (isInOrder && !isRepeated) return { headers: found, unreadHeaders: [] }
  if (!isInOrder) found.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  return limitRepetition(found)
}

/** Whoever judges holds the fields of one name against each other: a bound to their number keeps that linear. */
function limitRepetition(sorted: readonly HeaderField[]): Pick<Message, 'headers' | 'unreadHeaders'> {
  const headers: HeaderField[] = []
  const unreadHeaders: Place[] = []
  let count = 0
  for (const [index, field] of sorted.entries()) {
    count = sorted[index - 1]?.name === field.name ? count + 1 : 1
    if (count <= MAX_FIELDS_OF_A_NAME) headers.push(field)
    else if (count === MAX_FIELDS_OF_A_NAME + 1) unreadHeaders.push(field.at)
  }
  return { headers, unreadHeaders }
}

function mediaType(fields: Fields): string {
  for (const [name, value] of Object.entries(fields ?? {}))
    if (name.trim().toLowerCase() === 'content-type') {
      const text: unknown = Array.isArray(value) ? value[0] : value
      if (typeof text === 'string') return text.split(';')[0]!.trim().toLowerCase()
    }
  return ''
}

function readBody(body: unknown, type: string, wantsTexts: boolean): Body {
  if (body === undefined || body === null || body === '') return { kind: 'absent' }
  if (typeof body !== 'string') return readValue(body as Json, wantsTexts)
  if (body.length > MAX_BODY_CHARS) return { kind: 'unreadable', why: 'oversize' }
  const saysJson = /^application\/(?:[\w.-]+\+)?json$/.test(type)
  if (!saysJson && !/^\s*[[{]/.test(body)) return { kind: 'text', raw: body }
  const read = readJson(body)
  if (read.ok) return { kind: 'json', value: read.value, raw: body }
  // Text in braces that says it is something else may be that.
  return saysJson || type === '' || read.why !== 'malformed'
    ? { kind: 'unreadable', why: read.why }
    : { kind: 'text', raw: body }
}

/** What was parsed by others may be anything: it is held against the limits of text. */
function readValue(value: Json, wantsTexts: boolean): Body {
  const outline = readOutline(sourceOf(value, undefined), { isLimited: true, wantsTexts })
  if (outline.why !== undefined) return { kind: 'unreadable', why: outline.why }
  const body = { kind: 'json', value, raw: undefined } as const
  keepOutline(body, outline)
  return body
}
