// The narrowest rules that people would still want to read, for requests that were seen. Pure. Every request that was seen is allowed by them; of
// what was not seen they allow only what differs in a segment that names one thing among many.
import {
  charactersOf,
  MAX_RULE_CHARACTERS,
  MAX_RULE_LENGTH,
  MAX_RULES,
} from '../../../schemas/egress-rule.ts'
import { HttpMethod } from '../../../schemas/http.ts'
import { checkPath } from '../target.ts'

/** A request as it was made, once or often. */
export interface SeenRequest {
  readonly method: string
  /** `host`, or `host:port`. */
  readonly host: string
  /** Without a query. */
  readonly path: string
}

/** So many different names in one place are names of things. */
const MANY = 4
const MOST_SEGMENTS = 8
/** Nobody reads a longer one, and it is hardly the same in the next run. */
const LONGEST_SEGMENT = 100

interface Pattern {
  readonly host: string
  readonly segments: readonly string[]
  readonly methods: ReadonlySet<string>
}

/** @returns for a host as many as a capability takes, in the order of hosts and paths */
export function suggestRules(seen: readonly SeenRequest[]): string[] {
  const hosts = Map.groupBy(seen, ({ host }) => host)
  return [...hosts.keys()].toSorted().flatMap((host) => {
    let patterns = joined((hosts.get(host) ?? []).filter(isSendable).map(patternOf))
    for (let before = 0; before !== patterns.length;) {
      before = patterns.length
      patterns = joined(generalised(patterns))
    }
    patterns = joined(patterns.map(shortened))
    for (let depth = MOST_SEGMENTS; !isTaken(patterns); depth--)
      patterns = joined(patterns.map((pattern) => cut(pattern, depth)))
    return patterns.map(toRule).toSorted()
  })
}

/** What steps through directories, or leaves a segment empty, goes out under no rule; so does a method that none can name. */
const isSendable = ({ method, path }: SeenRequest): boolean =>
  HttpMethod.safeParse(method).success &&
  path
    .split('/')
    .every((segment, at, all) => !isDots(segment) && (segment !== '' || at === 0 || at === all.length - 1))
const isDots = (segment: string) => /^(?:\.|%2e){1,2}$/i.test(segment)

/** The same path with other methods is one rule. */
function joined(patterns: readonly Pattern[]): Pattern[] {
  const found = new Map<string, Pattern>()
  for (const pattern of patterns) {
    const key = pattern.segments.join('/')
    const known = found.get(key)
    found.set(key, known ? { ...known, methods: new Set([...known.methods, ...pattern.methods]) } : pattern)
  }
  return [...found.values()]
}

const patternOf = ({ method, host, path }: SeenRequest): Pattern => ({
  host,
  methods: new Set([method]),
  segments: path.slice(1).split('/').map(named),
})

/** A segment that names one thing: a number, a UUID, a digest, or the id of some service. */
const ID =
  /^(?:\d+|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|[\da-f]{12,}|[\w.~-]*(?=[\w.~-]{12})(?=\D*\d)(?=[^A-Za-z]*[A-Za-z])[\w~-]{12,})$/i
const VERSION = /^v\d+(?:\.\d+)*(?:alpha|beta)?\d*$|^\d{4}-\d\d-\d\d$/

/** What is written in an unusual way is sent in the usual one, so that nothing but a star fits both. */
const named = (segment: string): string =>
  segment.length > LONGEST_SEGMENT ||
  segment.includes('*') ||
  !checkPath(`/${segment}`).ok ||
  (ID.test(segment) && !VERSION.test(segment))
    ? '*'
    : segment

/** Paths that differ in one place alone, and in many ways there, are one. */
function generalised(patterns: readonly Pattern[]): readonly Pattern[] {
  const longest = Math.max(0, ...patterns.map(({ segments }) => segments.length))
  for (let at = 0; at < longest; at++) {
    const alike = Map.groupBy(
      patterns.filter(({ segments }) => segments.length > at && segments[at] !== ''),
      ({ segments, methods }) => [...segments.with(at, '*'), [...methods].toSorted().join()].join('/'),
    )
    const many = [...alike.values()].find(({ length }) => length >= MANY)
    if (many)
      return [
        ...patterns.filter((pattern) => !many.includes(pattern)),
        ...many.map((pattern) => ({ ...pattern, segments: pattern.segments.with(at, '*') })),
      ]
  }
  return patterns
}

const cut = (pattern: Pattern, depth: number): Pattern =>
  pattern.segments.length > depth
    ? { ...pattern, segments: [...pattern.segments.slice(0, depth), '**'] }
    : pattern

/** Cut until it is a rule, whatever methods are joined to it. */
function shortened(pattern: Pattern): Pattern {
  const methods = new Set<string>(HttpMethod.options)
  let short = cut(pattern, MAX_RULE_LENGTH / 2)
  for (let depth = short.segments.length; toRule({ ...short, methods }).length > MAX_RULE_LENGTH; depth--)
    short = cut(pattern, depth)
  return short
}

const isTaken = (patterns: readonly Pattern[]): boolean =>
  patterns.length <= MAX_RULES && charactersOf([patterns.map(toRule)]) <= MAX_RULE_CHARACTERS

const toRule = ({ host, methods, segments }: Pattern): string =>
  `allow ${[...methods].toSorted().join()} ${host}/${segments.join('/')}`
