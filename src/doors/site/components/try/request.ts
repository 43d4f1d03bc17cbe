// The REST request of an input, and the same as a line for a shell.
import type { FieldFault } from '../form/read.ts'
import type { TryFacts } from './facts.ts'

export interface ToolRequest {
  readonly method: 'GET' | 'POST'
  /** With its query. */
  readonly path: string
  readonly body?: Readonly<Record<string, unknown>>
}

type Route = Pick<TryFacts, 'method' | 'path'>

/** Members of the input that the path needs, and that are not there. */
export const missingInPath = ({ path }: Route, input: Readonly<Record<string, unknown>>): string[] =>
  namesIn(path).filter((name) => !isPart(input[name]))

const namesIn = (path: string) =>
  [...path.matchAll(/\{([^{}]+)\}/g)].flatMap(([, name]) => (name === undefined ? [] : [name]))
const isPart = (value: unknown) => (typeof value === 'string' && value !== '') || typeof value === 'number'

/** One value has one place: the path, else the query of what is read, else the body. */
export function requestOf({ method, path }: Route, input: Readonly<Record<string, unknown>>): ToolRequest {
  const inPath = namesIn(path)
  const filled = path.replaceAll(/\{([^{}]+)\}/g, (_all, name: string) =>
    encodeURIComponent(String(input[name] ?? '')),
  )
  const rest = Object.entries(input).filter(([name]) => !inPath.includes(name))
  if (method === 'POST') return { method, path: filled, body: Object.fromEntries(rest) }
  const query = new URLSearchParams(
    rest.flatMap(([name, value]) => textsOf(value).map((text) => [name, text])),
  )
  return { method, path: query.size > 0 ? `${filled}?${query.toString()}` : filled }
}

function textsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(textsOf)
  return [typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)]
}

/** In single quotes a shell reads nothing but the quote itself. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

interface CurlParts {
  readonly baseUrl: string
  /** Variable of the shell that holds the token; undefined where none is needed. */
  readonly tokenIn: string | undefined
  readonly secret: readonly string[]
}

/** The request for a shell; tokens are named and never shown. */
export function curlOf({ method, path, body }: ToolRequest, { baseUrl, tokenIn, secret }: CurlParts): string {
  const lines = [
    `curl -sS ${quoted(baseUrl + path)}`,
    ...(tokenIn === undefined ? [] : [`-H "Authorization: Bearer $${tokenIn}"`]),
    ...(method === 'POST'
      ? [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(hide(body ?? {}, secret)))}`]
      : []),
  ]
  return lines.join(' \\\n  ')
}

/** A body with members that are named and not shown. */
export const hide = (body: Readonly<Record<string, unknown>>, secret: readonly string[]) =>
  Object.fromEntries(Object.entries(body).map(([name, value]) => [name, secret.includes(name) ? '…' : value]))

/** The faults that a problem document points out. */
export function faultsOf(body: unknown): FieldFault[] {
  const fields: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, 'fields') : undefined
  if (!Array.isArray(fields)) return []
  return fields.flatMap((field: unknown) => {
    const { pointer, message } = (typeof field === 'object' && field !== null ? field : {}) as Record<
      string,
      unknown
    >
    return typeof pointer === 'string' && typeof message === 'string' ? [{ pointer, message }] : []
  })
}
