// One parser for every shape in which a fetch is asked for. Reads the request, with whatever is wrapped inside it, into
// claims: which field, which value, where it stood. Two claims that differ are refused with both places named.
import { MAX_BYTES, TIMEOUT_MS, URL_ALIASES, WEB_FETCH, WebFetchFields } from '../../schemas/web-fetch.ts'
import { readCurlCommand } from '../outbound/curl.ts'
import { type ErrorCode, GatewayError } from '../core/errors.ts'
import { describeIssues } from '../core/validation-issues.ts'
import { parseJson } from '../lib/json.ts'
import { findDuplicateMember } from './duplicates.ts'

export const PRODUCTION = 'eip155:8453'
export const TESTNET = 'eip155:84532'

/** Fetch that was asked for; the URL is not judged yet. */
export interface WantedFetch {
  readonly url: string
  /** Place where the URL stood, for a refusal that concerns it. */
  readonly urlPointer: string
  readonly method: 'GET' | 'HEAD'
  readonly mode: 'auto' | 'text' | 'json'
  readonly timeoutMs: number
  readonly maxBytes: number
  readonly network: typeof PRODUCTION | typeof TESTNET
}

export type ShapeReading =
  | { readonly ok: true; readonly wanted: WantedFetch }
  | {
      readonly ok: false
      readonly code: ErrorCode
      readonly detail: string
      readonly fields: { pointer: string; message: string }[]
    }
type Refusal = ShapeReading & { ok: false }

type Field = 'url' | 'method' | 'mode' | 'timeout_ms' | 'max_bytes' | 'network'
interface Claim {
  readonly field: Field
  readonly value: unknown
  readonly pointer: string
}

/** Field that a member says something about; the aliases of the URL among them. */
const FIELD_OF: Readonly<Record<string, Field>> = {
  ...Object.fromEntries(URL_ALIASES.map((name) => [name, 'url' as const])),
  method: 'method',
  mode: 'mode',
  timeout_ms: 'timeout_ms',
  timeoutMs: 'timeout_ms',
  max_bytes: 'max_bytes',
  maxBytes: 'max_bytes',
}
const NETWORKS: Readonly<Record<string, WantedFetch['network']>> = {
  [PRODUCTION]: PRODUCTION,
  base: PRODUCTION,
  'base-mainnet': PRODUCTION,
  [TESTNET]: TESTNET,
  'base-sepolia': TESTNET,
}
const OWN_NAMES = new Set([WEB_FETCH, WEB_FETCH.replaceAll('.', '_')])
const NAME_MEMBERS = ['tool', 'name', 'tool_name'] as const
const WRAPPERS = ['input', 'arguments', 'parameters'] as const
/** Deep enough for what is flat, whatever a model puts around it. */
const MAX_ARGUMENTS_DEPTH = 8

/** @param request fits WebFetchRequest; its wrappers are still anything */
export function readShape(request: Readonly<Record<string, unknown>>): ShapeReading {
  const claims: Claim[] = []
  const given = (name: string) => request[name] !== undefined
  const { name: _n, tool: _t, tool_name: _tn, function: call, operation, ...rest } = request
  const { input: _i, arguments: _a, parameters: _p, ...top } = rest

  for (const member of NAME_MEMBERS) {
    const refused = given(member) ? readName(request[member], `/${member}`) : undefined
    if (refused) return refused
  }
  const wrapped: [value: unknown, pointer: string][] = [[top, '']]
  for (const member of WRAPPERS) if (given(member)) wrapped.push([request[member], `/${member}`])
  for (const [member, value] of [
    ['function', call],
    ['operation', operation],
  ] as const) {
    if (value === undefined) continue
    const { name, arguments: inner } = value as { name?: unknown; arguments: unknown }
    const refused = name === undefined ? undefined : readName(name, `/${member}/name`)
    if (refused) return refused
    const read = member === 'function' ? readEncoded(inner as string) : { ok: true as const, value: inner }
    if (!read.ok) return read
    wrapped.push([read.value, `/${member}/arguments`])
  }
  for (const [value, pointer] of wrapped) {
    const refused = readFields(value, pointer, claims)
    if (refused) return refused
  }
  const contradiction = findContradiction(claims)
  if (contradiction) return contradiction

  const url = claims.find(({ field }) => field === 'url')
  if (!url) return missingUrl(wrapped.length === 2 ? wrapped[1]![1] : '')
  const said = new Map(claims.map(({ field, value }) => [field, value]))
  const or = <T>(field: Field, value: T) => (said.get(field) as T | undefined) ?? value
  return {
    ok: true,
    wanted: {
      url: url.value as string,
      urlPointer: url.pointer,
      method: or('method', 'GET'),
      mode: or('mode', 'auto'),
      timeoutMs: or('timeout_ms', TIMEOUT_MS.default),
      maxBytes: or('max_bytes', MAX_BYTES.default),
      network: or('network', PRODUCTION),
    },
  }
}

function readName(name: unknown, pointer: string): Refusal | undefined {
  if (OWN_NAMES.has(String(name))) return undefined
  return refuse('input_invalid', pointer, `Only ${WEB_FETCH} is quoted and fetched here`)
}

/** The arguments of a function call: JSON in a string. */
function readEncoded(text: string): { ok: true; value: unknown } | Refusal {
  const pointer = '/function/arguments'
  try {
    const value = parseJson(text, MAX_ARGUMENTS_DEPTH)
    if (findDuplicateMember(text) === undefined) return { ok: true, value }
    return refuse('input_conflict', pointer, 'One member is given twice')
  } catch (thrown) {
    const deep = thrown instanceof GatewayError && thrown.code === 'json_too_deep'
    const message = deep
      ? `Nested more than ${MAX_ARGUMENTS_DEPTH} deep`
      : 'Not valid JSON: encode one object'
    return refuse('input_invalid', pointer, message)
  }
}

function readFields(value: unknown, at: string, claims: Claim[]): Refusal | undefined {
  const parsed = WebFetchFields.safeParse(value)
  if (!parsed.success) {
    const { code, pointer, message } = describeIssues(parsed.error.issues, value)[0]!
    return refuse(code, at + pointer, message)
  }
  for (const [member, said] of Object.entries(parsed.data)) {
    if (said === undefined) continue
    const pointer = `${at}/${member}`
    if (member === 'curl' || member === 'command') {
      const refused = readCommand(String(said), pointer, member === 'curl', claims)
      if (refused) return refused
    } else if (member === 'testnet')
      claims.push({ field: 'network', value: said === true ? TESTNET : PRODUCTION, pointer })
    else if (member === 'network') claims.push({ field: 'network', value: NETWORKS[String(said)], pointer })
    else claims.push({ field: FIELD_OF[member]!, value: said, pointer })
  }
  return undefined
}

function readCommand(
  command: string,
  pointer: string,
  mayOmitName: boolean,
  claims: Claim[],
): Refusal | undefined {
  const reading = readCurlCommand(command, { mayOmitName })
  if (!reading.ok)
    return refuse(reading.conflict ? 'input_conflict' : 'input_invalid', pointer, reading.message)
  const { url, methods, timeoutMs } = reading.request
  claims.push({ field: 'url', value: url, pointer })
  for (const method of methods) claims.push({ field: 'method', value: method, pointer })
  if (timeoutMs !== undefined) {
    if (timeoutMs < TIMEOUT_MS.min || timeoutMs > TIMEOUT_MS.max)
      return refuse(
        'input_invalid',
        pointer,
        `--max-time must be between ${TIMEOUT_MS.min / 1000} and ${TIMEOUT_MS.max / 1000} seconds`,
      )
    claims.push({ field: 'timeout_ms', value: timeoutMs, pointer })
  }
  return undefined
}

/** The same field said twice with different values. Saying the same thing twice is fine. */
function findContradiction(claims: readonly Claim[]): Refusal | undefined {
  const first = new Map<Field, Claim>()
  for (const claim of claims) {
    const before = first.get(claim.field)
    if (!before) first.set(claim.field, claim)
    else if (comparable(before) !== comparable(claim)) {
      const message = `Two different values for ${claim.field}`
      const places = [...new Set([before.pointer, claim.pointer])]
      return {
        ok: false,
        code: 'input_conflict',
        detail: `${places.join(' and ')} contradict each other: ${lowerFirst(message)}. Keep one.`,
        fields: places.map((pointer) => ({ pointer, message })),
      }
    }
  }
  return undefined
}

/** A bare origin is the same address with its slash and without. */
const comparable = ({ field, value }: Claim) =>
  field === 'url' && /^https:\/\/[^/?#]+$/.test(String(value)) ? `${String(value)}/` : value

function missingUrl(at: string): Refusal {
  const pointer = `${at}/url`
  return {
    ok: false,
    code: 'input_missing_field',
    detail: `${pointer}: give the HTTPS URL to fetch (or one of its aliases: ${URL_ALIASES.slice(1).join(', ')}).`,
    fields: [{ pointer, message: 'Required' }],
  }
}

function refuse(code: ErrorCode, pointer: string, message: string): Refusal {
  const place = pointer || 'the input'
  return { ok: false, code, detail: `${place}: ${message}.`, fields: [{ pointer, message }] }
}

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)
