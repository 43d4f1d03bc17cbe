// Two answers to equal calls, made equal: what has to differ between them is replaced by what it is. Everything else stays.
import { isObject } from '../../src/lib/json.ts'

/** In texts, wherever they stand. */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\beyJ[\w-]+\.[\w-]*\.[\w-]*/g, '<signed document>'],
  [/\bagw_(sk|cap|ek)_[0-9A-Za-z]+/g, '<$1 token>'],
  [/\b([a-z]{2,8})_[0-9a-z]{35}\b/g, '<$1 id>'],
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '<uuid>'],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, '<time>'],
  [/\b\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\b/g, '<time>'],
  [/\b0x[0-9a-f]{64}\b/g, '<hash>'],
  [/\b[0-9a-f]{64}\b/g, '<digest>'],
  [/(?<![\w-])[\w-]{43}(?![\w-])/g, '<digest or key id>'],
  [/(?<=agent-gateway-verification=|^)[\w-]{32}(?![\w-])/g, '<challenge>'],
  [/\bapi\.\w+-shop\.com\b/g, '<host of a seller>'],
  // Names that the rows count up.
  [/\b(shop|weather|waiting|ticket|invoice|what test)([- ])\d+/g, '$1$2<n>'],
]

/** Members whose numbers are of the moment. */
const OF_THE_MOMENT = new Set([
  'balance',
  'uptime_seconds',
  'age_ms',
  'observed_ms_ago',
  'latency_ms',
  'duration_ms',
  'iat',
  'exp',
  // What is left of it.
  'cache_ttl_seconds',
  // Read anew behind an answer, and dearer or less with every block.
  'gas_wei',
  'settlements_left',
])

export function normalised(value: unknown): unknown {
  if (typeof value === 'string')
    return PATTERNS.reduce((text, [pattern, name]) => text.replace(pattern, name), value)
  if (Array.isArray(value)) return value.map(normalised)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      OF_THE_MOMENT.has(name) && inner !== null ? `<${typeof inner}>` : normalised(inner),
    ]),
  )
}
