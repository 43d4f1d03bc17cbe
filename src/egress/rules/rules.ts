// Rules that people can read, for requests that a scope covers already: the first one that fits decides, and what none fits is denied. Pure.
import { RULE_PARTS } from '../../../schemas/egress-rule.ts'
import { coversHost, type ScopedRequest } from '../scope.ts'
import { checkPath, type TargetOptions } from '../target.ts'

export type RuleDecision = 'allow' | 'ask' | 'deny'

export interface Rule {
  /** As it was written. */
  readonly text: string
  readonly decision: RuleDecision
  /** Undefined is every one. */
  readonly methods: readonly string[] | undefined
  readonly host: string | undefined
  /** Undefined is every path. A `*` is any one segment, and `**`, the last one, is however many follow. */
  readonly segments: readonly string[] | undefined
}

export interface RuleVerdict {
  readonly decision: RuleDecision
  /** The rule that decided; undefined where none fits. */
  readonly rule: string | undefined
}

/** @throws {TypeError} where the text is none; schemas (`EgressRule`) tell people why */
export function parseRule(text: string): Rule {
  const [, decision, methods = '', host = '', path = ''] = RULE_PARTS.exec(text) ?? []
  if (decision === undefined) throw new TypeError('not a rule')
  return {
    text,
    decision: decision as RuleDecision,
    methods: methods === '*' ? undefined : methods.split(','),
    host: host === '*' ? undefined : host,
    segments: path === '' ? undefined : path.slice(1).split('/'),
  }
}

/**
 * @param request canonical (target.ts): no empty segment, no dot segment, no escape that need not be one
 * @param isPath the other spellings of its path, which several lists may be judged by
 */
export function judgeRules(
  rules: readonly Rule[],
  request: ScopedRequest,
  isPath: FitsSegments = createSpellings(request.path),
): RuleVerdict {
  const path = request.path.slice(1).split('/')
  const rule = rules.find(({ decision, methods, host, segments }) => {
    if (methods && !methods.includes(request.method)) return false
    if (host !== undefined && !coversHost(host, request.host, request.port)) return false
    return segments === undefined || (decision === 'allow' ? fitsPath(segments, path) : isPath(segments))
  })
  return rule ? { decision: rule.decision, rule: rule.text } : { decision: 'deny', rule: undefined }
}

/** A rule's segments in each way of reading, which stay as they are. */
const patterns = new WeakMap<readonly string[], readonly (readonly string[])[]>()
function patternsOf(segments: readonly string[]): readonly (readonly string[])[] {
  const known = patterns.get(segments)
  if (known) return known
  const made = READINGS.map((read) => read(`/${segments.join('/')}`))
  patterns.set(segments, made)
  return made
}

/** Whether the segments of a rule fit a path in any spelling. */
export type FitsSegments = (segments: readonly string[]) => boolean

/**
 * A server may take other spellings for the same path. Whoever forbids one, or wants to see it first, means all of them. They are made when
 * they are first asked for, and once: a request may be judged by hundreds of rules.
 * @param path canonical, as it is sent
 */
export function createSpellings(path: string): FitsSegments {
  const isJoined = joinedBySlash(path)
  let spellings:
    readonly { readonly pieces: readonly string[]; readonly holds: ReadonlySet<string> }[] | undefined
  return (segments) => {
    spellings ??= READINGS.map((read) => read(path)).map((pieces) => ({ pieces, holds: new Set(pieces) }))
    const patterns = patternsOf(segments)
    return spellings.some(({ pieces, holds }, reading) => {
      const pattern = patterns[reading] ?? []
      if (!pattern.every((segment) => holds.has(segment) || isStar(segment))) return false
      return isJoined ? fitsAnyReading(pattern, pieces, isJoined) : fitsPath(pattern, pieces)
    })
  }
}
const isStar = (segment: string) => segment === '*' || segment === '**'

/** @returns of each slash whether it is escaped, so that what stands on both sides may be one segment; undefined where none is */
function joinedBySlash(path: string): readonly boolean[] | undefined {
  if (!/%2f/i.test(path)) return undefined
  return path
    .slice(1)
    .match(/\/|%2f/gi)
    ?.map((slash) => slash !== '/')
}

function fitsPath(pattern: readonly string[], path: readonly string[]): boolean {
  const isOpen = pattern.at(-1) === '**'
  const fixed = isOpen ? pattern.slice(0, -1) : pattern
  if (isOpen ? path.length < fixed.length : path.length !== fixed.length) return false
  return fixed.every((segment, at) => (segment === '*' ? path[at] !== '' : segment === path[at]))
}

/**
 * A server takes each `%2F` for a slash or for a character of the segment, and nobody but the server knows which.
 * @param isJoined of each slash
 */
function fitsAnyReading(
  pattern: readonly string[],
  pieces: readonly string[],
  isJoined: readonly boolean[],
): boolean {
  const isOpen = pattern.at(-1) === '**'
  const fixed = isOpen ? pattern.slice(0, -1) : pattern
  // How many pieces the segments so far may have taken, ascending: a star takes any number that escaped slashes join.
  let taken = [0]
  for (const segment of fixed) {
    const next: number[] = []
    for (const from of taken) {
      if (from >= pieces.length || (next.at(-1) ?? 0) > from) continue
      if (segment !== '*') {
        if (segment === pieces[from]) next.push(from + 1)
        continue
      }
      let to = from + 1
      next.push(to)
      while (to < pieces.length && isJoined[to - 1] === true) next.push(++to)
    }
    taken = next
  }
  return isOpen ? taken.length > 0 : taken.at(-1) === pieces.length
}

/** Segments without regard to case, to escapes, and to a slash at the end. */
function loosely(path: string): readonly string[] {
  let text = path
  try {
    text = decodeURIComponent(path)
  } catch {
    // What is no escape of UTF-8 stays as it is.
  }
  const segments = text.toLowerCase().slice(1).split('/')
  return segments.at(-1) === '' ? segments.slice(0, -1) : segments
}

/** What frameworks take off the end of a path, and answer in that form. */
const FORMAT = /\.(?:json|xml|html?|csv|txt|js|ya?ml|rss|atom)$/
/** Every server of git takes a repository with and without it, and then says what is asked of the repository. */
const GIT = /(?<=.)\.git$/
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu

/**
 * Also without what some file systems and frameworks drop: dots and spaces at the end of a segment, a format, letters that show nothing; and
 * without what a clone address has behind the name of its repository.
 */
function mostLoosely(path: string): readonly string[] {
  const segments = loosely(path).map((segment) =>
    segment
      .normalize('NFKC')
      .replaceAll(INVISIBLE, '')
      // Some letters have one capital letter with others.
      .toUpperCase()
      .toLowerCase()
      .replace(/[.\s]+$/, '')
      .replace(GIT, ''),
  )
  const last = segments.at(-1)?.replace(FORMAT, '') ?? ''
  return last === '' ? segments.slice(0, -1) : [...segments.slice(0, -1), last]
}

const READINGS = [loosely, mostLoosely] as const

/** The first rule whose path no request can have, and why. Undefined where every rule can fit. */
export function findDeadRule(
  rules: readonly string[],
  options: Pick<TargetOptions, 'allowEncodedSlash'>,
): { readonly at: number; readonly message: string } | undefined {
  for (const [at, text] of rules.entries()) {
    const { segments } = parseRule(text)
    if (segments && !checkPath(`/${segments.join('/')}`, options).ok)
      return { at, message: 'its path is not canonical, so no request would match it' }
  }
  return undefined
}
