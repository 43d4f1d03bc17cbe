// Input -> Message: header fields by name, body as text or JSON, each with its place. Nothing here knows a protocol, and
// nothing that came in is an exception: what cannot be read is a state of the message.
import { toUrl } from './compare.ts'
import { readJson } from './decode/json.ts'
import { readOutline } from './decode/outline.ts'
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
  type Outline,
  type Place,
  type TransactionInput,
} from './ports.ts'

/**
 * Never throws.
 * @param given the body, where somebody has read it already
 */
export function readMessage(input: TransactionInput, given?: Body): Message {
  const read = given ?? readBody(input.body, mediaType(input.headers))
  const outline = read.kind === 'json' ? outlineOf(read) : NOTHING
  const { why } = outline
  const body: Body = why === undefined ? read : { kind: 'unreadable', why }
  const { headers, unreadHeaders } = readHeaders(input.headers)
  const byName = new Map(headers.toReversed().map((field) => [field.name, field]))
  return {
    target: { text: input.target, url: toUrl(input.target) },
    method: input.method?.toUpperCase() ?? (body.kind === 'absent' ? 'GET' : 'POST'),
    headers,
    unreadHeaders,
    body,
    outline: why === undefined ? outline : NOTHING,
    header: (name) => byName.get(name),
  }
}

/** URL of an address in a message: most often it is that of the target, which is read already. Undefined where it is no absolute URL. */
export const urlOf = ({ target }: Message, text: string): URL | undefined =>
  text === target.text ? target.url : toUrl(text)

/** Methods that change nothing (RFC 9110, 9.2.1). Any other token, known or not, may. */
export const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** All fields of a name, repeated ones apart. */
export const headersNamed = (message: Message, name: string): readonly HeaderField[] =>
  message.headers.filter((field) => field.name === name)

/** A field that is larger than any protocol needs is not read. */
export const isOversize = (field: HeaderField): boolean => field.value.length > MAX_HEADER_CHARS

/** The JSON body; null where there is none or it cannot be read. */
export const jsonBody = (message: Message): Found<Json> | null =>
  message.body.kind === 'json' ? { value: message.body.value, at: placeOfBody(message.body) } : null

type JsonBody = Extract<Body, { kind: 'json' }>

/** Members of a text stand one layer deeper than those of a value. */
const placeOfBody = ({ raw }: JsonBody): Place => (raw === undefined ? '/body' : '/body#')

const NOTHING: Outline = { texts: [], marks: [], why: undefined }

/** A value that others parsed may be anything, so it is held against the limits of text. */
const outlineOf = (body: JsonBody): Outline =>
  readOutline({
    value: body.value,
    at: placeOfBody(body),
    where: 'body',
    isDecoded: false,
    isLimited: body.raw === undefined,
  })

type Fields = TransactionInput['headers']

/**
 * Sorted by name, so that the order of the members of the input decides nothing; repeated fields in the order they came.
 * Places keep the spelling of the input.
 */
function readHeaders(fields: Fields): Pick<Message, 'headers' | 'unreadHeaders'> {
  const found: HeaderField[] = []
  for (const name of Object.keys(fields ?? {}).sort()) {
    const value: unknown = fields?.[name]
    const at = pointer('/headers', name)
    const lower = name.trim().toLowerCase()
    if (typeof value === 'string') found.push({ name: lower, value: value.trim(), at })
    else if (Array.isArray(value))
      for (const [index, item] of (value as unknown[]).entries())
        if (typeof item === 'string') found.push({ name: lower, value: item.trim(), at: pointer(at, index) })
  }
  return limitRepetition(found.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)))
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
      if (typeof text === 'string') return text.replace(/;.*/s, '').trim().toLowerCase()
    }
  return ''
}

/** @param type media type in lower case, without parameters */
function readBody(body: unknown, type: string): Body {
  if (body === undefined || body === null || body === '') return { kind: 'absent' }
  if (typeof body !== 'string') return { kind: 'json', value: body as Json, raw: undefined }
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
