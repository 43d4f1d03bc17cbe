// What somebody pasted, as the transaction that `gateway.test` takes: a sample in JSON, an HTTP message, a command of curl, or a document
// alone. It keeps the text and knows where each part of the transaction stands in it. Runs on the server and in browsers.
import { curlToHttp } from './curl.ts'
import { type JsonNode, nodeAt, type Range, readJsonRanges } from '../../../../lib/json-ranges.ts'

export interface PastedTransaction {
  readonly target: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: unknown
  readonly evaluate_at?: unknown
  readonly tool_annotations?: unknown
}

/** A part of the transaction in the text. */
export interface Part {
  readonly value: Range
  /** What names it, where something does. */
  readonly name?: Range | undefined
  /** It holds other parts, so that its name says more of it than its value. */
  readonly isContainer?: boolean
  /** What a string says, escapes undone; undefined for what is no string. */
  readonly says?: string
  /** The string stands in the text letter by letter. */
  readonly isVerbatim?: boolean
}

export interface Pasted {
  readonly form: 'sample' | 'http' | 'curl' | 'document'
  /** What is shown: what was pasted, or the HTTP message that a command of curl sends. */
  readonly text: string
  readonly transaction: PastedTransaction
  /** Whether the address was not there and had to be made up. */
  readonly isTargetAssumed: boolean
  /** @param pointer without `#`: what is encoded in something is decode.ts's business */
  partAt(pointer: string): Part | undefined
}

export type PasteFault = 'empty' | 'unreadable' | 'no_target'
export type Paste =
  { readonly ok: true; readonly pasted: Pasted } | { readonly ok: false; readonly fault: PasteFault }

/** The address of a document that came without one. Nothing is ever sent to it. */
export const ASSUMED_TARGET = 'https://example.com/'

/** Never throws. */
export function readPaste(given: string): Paste {
  const text = given.replaceAll('\r\n', '\n').replace(/^\uFEFF/, '')
  if (text.trim() === '') return { ok: false, fault: 'empty' }
  const root = readJsonRanges(text)
  if (root) return readJsonPaste(text, root)
  const command = curlToHttp(text)
  const pasted = readHttp(command ?? text, command === undefined ? 'http' : 'curl')
  return pasted ? { ok: true, pasted } : { ok: false, fault: 'unreadable' }
}

const SAMPLE_MEMBERS = ['target', 'method', 'headers', 'body', 'evaluate_at', 'tool_annotations']

function readJsonPaste(text: string, root: JsonNode): Paste {
  if (root.kind !== 'object') return { ok: false, fault: 'unreadable' }
  const value = JSON.parse(text) as Record<string, unknown>
  const has = (name: string) => root.children.has(name)
  if (!has('target') && has('headers') && (has('method') || has('body')))
    return { ok: false, fault: 'no_target' }
  if (!has('target')) return { ok: true, pasted: documentOf(text) }
  // Files of samples carry more than the transaction; that is left out, as on the command line.
  const known = Object.entries(value).filter(([name]) => SAMPLE_MEMBERS.includes(name))
  return {
    ok: true,
    pasted: {
      form: 'sample',
      text,
      transaction: Object.fromEntries(known) as unknown as PastedTransaction,
      isTargetAssumed: false,
      partAt: (pointer) => partOf(text, nodeAt(root, pointer)),
    },
  }
}

/** A node of JSON as a part. */
export function partOf(text: string, node: JsonNode | undefined): Part | undefined {
  if (!node) return undefined
  const { from, to, name, kind } = node
  return {
    value: { from, to },
    name,
    ...((kind === 'object' || kind === 'array') && { isContainer: true }),
    ...(kind === 'string' && { says: String(JSON.parse(text.slice(from, to))) }),
  }
}

const documentOf = (text: string): Pasted => ({
  form: 'document',
  text,
  transaction: {
    target: ASSUMED_TARGET,
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: text,
  },
  isTargetAssumed: true,
  partAt: (pointer) =>
    pointer === '/body'
      ? { value: { from: 0, to: text.length }, isContainer: true, says: text, isVerbatim: true }
      : undefined,
})

const REQUEST =
  /^([!#$%&'*+.^_`|~\dA-Za-z-]+)[ \t]+(\/\S*|[a-z][a-z\d+.-]*:\/\/\S*)(?:[ \t]+HTTP\/\d(?:\.\d)?)?$/i
const RESPONSE = /^HTTP\/\d(?:\.\d)?[ \t]+\d{3}(?:[ \t].*)?$/
const FIELD = /^([!#$%&'*+.^_`|~\dA-Za-z-]+):[ \t]*(.*?)[ \t]*$/

/** An HTTP message as it is written down: the first line, fields, an empty line, the body. */
function readHttp(text: string, form: 'http' | 'curl'): Pasted | undefined {
  const lines = linesOf(text)
  const [first, ...rest] = lines
  if (!first) return undefined
  const request = REQUEST.exec(first.text)
  if (!request && !RESPONSE.test(first.text)) return undefined
  const parts = new Map<string, Part>()
  const fields = new Map<string, { value: string; range: Range; name: Range }[]>()
  let body: Range | undefined
  for (const line of rest) {
    if (line.text.trim() === '') {
      body = { from: Math.min(line.to + 1, text.length), to: text.trimEnd().length }
      break
    }
    const field = FIELD.exec(line.text)
    if (!field) return undefined
    const [, name = '', value = ''] = field
    const from = line.from + line.text.indexOf(value, name.length + 1)
    const found = fields.get(name) ?? []
    found.push({
      value,
      range: { from, to: from + value.length },
      name: { from: line.from, to: line.from + name.length },
    })
    fields.set(name, found)
  }
  for (const [name, found] of fields) {
    const at = `/headers/${name.replaceAll('~', '~0')}`
    for (const [index, { value, range, name }] of found.entries())
      parts.set(found.length === 1 ? at : `${at}/${index}`, { value: range, name, says: value })
  }
  const hasBody = body !== undefined && body.from < body.to
  if (body && hasBody)
    parts.set('/body', {
      value: body,
      isContainer: true,
      says: text.slice(body.from, body.to),
      isVerbatim: true,
    })
  const host = [...fields].find(([name]) => name.toLowerCase() === 'host')?.[1][0]?.value
  const [, method, address = ''] = request ?? []
  const target = targetOf(address, host)
  if (request) {
    const from = first.text.indexOf(address, (method ?? '').length)
    parts.set('/method', { value: { from: 0, to: (method ?? '').length } })
    parts.set('/target', { value: { from, to: from + address.length }, says: address })
  }
  return {
    form,
    text,
    isTargetAssumed: target === undefined,
    transaction: {
      target: target ?? ASSUMED_TARGET,
      // What a server answered is read by its fields and body; the method was the question's.
      method: method ?? 'GET',
      headers: Object.fromEntries(
        [...fields].map(([name, found]) => {
          const values = found.map(({ value }) => value)
          return [name, values.length === 1 ? (values[0] ?? '') : values]
        }),
      ),
      ...(body && hasBody && { body: text.slice(body.from, body.to) }),
    },
    partAt: (pointer) => parts.get(pointer),
  }
}

/** Undefined where neither the first line nor the field Host says where it goes. */
function targetOf(address: string, host: string | undefined): string | undefined {
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(address)) return address
  if (host !== undefined && address.startsWith('/')) return `https://${host}${address}`
  return undefined
}

interface Line extends Range {
  readonly text: string
}

function linesOf(text: string): Line[] {
  let from = 0
  return text.split('\n').map((line) => {
    const found = { text: line, from, to: from + line.length }
    from = found.to + 1
    return found
  })
}
