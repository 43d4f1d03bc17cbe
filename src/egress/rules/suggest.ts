// The narrowest rules that people would still want to read, for requests that were seen. Pure. Of what was not seen they allow only what differs in a
// segment that names one thing among many, and what is read below a branch with too many paths to name; each of them says so.
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

interface SuggestedRule {
  readonly text: string
  /** Paths that it was made of, where it fits others, too; undefined where it fits what was seen alone. */
  readonly widenedFrom: ReadonlySet<string> | undefined
}

interface Suggestion {
  /** In the order of hosts and paths. Of one host they may be more than a capability takes: whoever reads them decides which to join. */
  readonly rules: readonly SuggestedRule[]
  /** No rule is long enough for them, and a shorter one would let a program change more than it did. */
  readonly leftOut: readonly SeenRequest[]
}

/** So many different names in one place are names of things. */
const MANY = 4
/** A branch begins no deeper: below that nobody tells one from another. */
const DEEPEST_BRANCH = 8
/** What they let a program do beyond what was seen is to read. */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD'])

interface Pattern {
  readonly host: string
  readonly segments: readonly string[]
  readonly methods: ReadonlySet<string>
  /** What it was made of. */
  readonly paths: ReadonlySet<string>
}

export function suggestRules(seen: readonly SeenRequest[]): Suggestion {
  const hosts = Map.groupBy(seen.filter(isSendable), ({ host }) => host)
  const leftOut: SeenRequest[] = []
  const rules = [...hosts.keys()].toSorted().flatMap((host) => {
    let patterns = joined(
      (hosts.get(host) ?? []).flatMap((request) => {
        const pattern = shortened(patternOf(request))
        if (!pattern) leftOut.push(request)
        return pattern ?? []
      }),
    )
    for (let before = 0; before !== patterns.length;) {
      before = patterns.length
      patterns = joined(generalised(patterns))
    }
    return thinned(patterns)
      .map((pattern) => ({
        text: toRule(pattern),
        widenedFrom: pattern.segments.some(isStar) ? pattern.paths : undefined,
      }))
      .toSorted((a, b) => (a.text < b.text ? -1 : 1))
  })
  return { rules, leftOut }
}

const isStar = (segment: string) => segment === '*' || segment === '**'

/** What steps through directories, or leaves a segment empty, goes out under no rule; so does a method that none can name. */
const isSendable = ({ method, path }: SeenRequest): boolean =>
  HttpMethod.safeParse(method).success &&
  path
    .split('/')
    .every((segment, at, all) => !isDots(segment) && (segment !== '' || at === 0 || at === all.length - 1))
const isDots = (segment: string) => /^(?:\.|%2e){1,2}$/i.test(segment)

/** The same path with other methods is one rule. */
const joined = (patterns: readonly Pattern[]): Pattern[] =>
  [...Map.groupBy(patterns, ({ segments }) => segments.join('/')).values()].flatMap(([first, ...others]) => {
    if (first === undefined || others.length === 0) return first ?? []
    const all = [first, ...others]
    return {
      ...first,
      methods: new Set(all.flatMap(({ methods }) => [...methods])),
      paths: new Set(all.flatMap(({ paths }) => [...paths])),
    }
  })

const patternOf = ({ method, host, path }: SeenRequest): Pattern => ({
  host,
  methods: new Set([method]),
  segments: path.slice(1).split('/').map(named),
  paths: new Set([path]),
})

/** A number, a UUID or a digest. */
const NUMBER = /^(?:\d+|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|[\da-f]{16,})$/i
/**
 * Ids that say of what they are, as those of Stripe, OpenAI and Anthropic do. What people call a bucket or a project may look like any other id: seen
 * once, it is that one.
 */
const ID =
  /^(?:acct|asst|batch|ch|chatcmpl|cs|cus|evt|fi|file|ftjob|il|in|msg|msgbatch|pi|pm|price|prod|re|req|resp|run|seti|si|step|sub|thread|tr|txn|vs)[_-](?:[\da-f]{16,}|(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])(?=\D*\d)[A-Za-z\d]{12,})$/

/** What is written in an unusual way is sent in the usual one, so that nothing but a star fits both. */
const named = (segment: string): string =>
  segment.includes('*') || !checkPath(`/${segment}`).ok || NUMBER.test(segment) || ID.test(segment)
    ? '*'
    : segment

/** Paths that differ in one place alone, and in many ways there, are one. */
function generalised(patterns: readonly Pattern[]): readonly Pattern[] {
  const longest = Math.max(0, ...patterns.map(({ segments }) => segments.length))
  for (let at = 0; at < longest; at++) {
    const alike = Map.groupBy(
      patterns.filter(({ segments }) => segments.length > at && segments[at] !== '' && segments[at] !== '**'),
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

/**
 * Cut until it is a rule, whatever methods are joined to it.
 * @returns undefined where it is too long and its method changes things
 */
function shortened(pattern: Pattern): Pattern | undefined {
  const isRule = (short: Pattern) =>
    toRule({ ...short, methods: new Set<string>(HttpMethod.options) }).length <= MAX_RULE_LENGTH
  if (isRule(pattern)) return pattern
  if (!isSafe(pattern)) return undefined
  let short = cut(pattern, MAX_RULE_LENGTH / 2)
  for (let depth = short.segments.length - 1; !isRule(short); depth--) short = cut(pattern, depth)
  return short
}

const isSafe = ({ methods }: Pattern): boolean => [...methods].every((method) => SAFE_METHODS.has(method))

/** Paths that begin with the same segments. */
interface Branch {
  /** Segments that they have in common. */
  readonly depth: number
  readonly members: readonly Pattern[]
}

/** Cut in the branches that are crowded, until they are no more than a capability takes; as they are where no branch is crowded. */
function thinned(patterns: readonly Pattern[]): readonly Pattern[] {
  let left = patterns
  while (!isTaken(left)) {
    const branches = crowdedBranches(left)
    if (branches.length === 0) return left
    for (const branch of branches) if (!isTaken(left)) left = cutBranch(left, branch)
  }
  return left
}

/** @returns of what is only read, those without a crowded branch of their own, the fullest first: none of them is a part of another */
function crowdedBranches(patterns: readonly Pattern[]): readonly Branch[] {
  const branches = new Map<string, { readonly depth: number; readonly members: Pattern[] }>()
  const keyOf = (segments: readonly string[], depth: number) => segments.slice(0, depth).join('/')
  for (const pattern of patterns.filter(isSafe))
    for (let depth = 1; depth <= DEEPEST_BRANCH && depth < pattern.segments.length; depth++) {
      const key = keyOf(pattern.segments, depth)
      const known = branches.get(key)
      if (known) known.members.push(pattern)
      else branches.set(key, { depth, members: [pattern] })
    }
  const crowded = [...branches].filter(([, { members }]) => members.length >= MANY)
  const parents = new Set(
    crowded.map(([, { depth, members }]) => keyOf(members[0]?.segments ?? [], depth - 1)),
  )
  return crowded
    .flatMap(([key, branch]) => (parents.has(key) ? [] : branch))
    .toSorted((a, b) => b.members.length - a.members.length)
}

function cutBranch(patterns: readonly Pattern[], { depth, members }: Branch): readonly Pattern[] {
  const cutOff = new Set(members)
  return [
    ...patterns.filter((pattern) => !cutOff.has(pattern)),
    ...joined(members.map((pattern) => cut(pattern, depth))),
  ]
}

const isTaken = (patterns: readonly Pattern[]): boolean =>
  patterns.length <= MAX_RULES && charactersOf([patterns.map(toRule)]) <= MAX_RULE_CHARACTERS

const toRule = ({ host, methods, segments }: Pattern): string =>
  `allow ${[...methods].toSorted().join()} ${host}/${segments.join('/')}`
