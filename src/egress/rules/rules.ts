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

/** @param request canonical (target.ts): no empty segment, no dot segment, no escape that need not be one */
export function judgeRules(rules: readonly Rule[], request: ScopedRequest): RuleVerdict {
  const rule = rules.find((one) => fits(one, request))
  return rule ? { decision: rule.decision, rule: rule.text } : { decision: 'deny', rule: undefined }
}

function fits({ decision, methods, host, segments }: Rule, request: ScopedRequest): boolean {
  if (methods && !methods.includes(request.method)) return false
  if (host !== undefined && !coversHost(host, request.host, request.port)) return false
  if (segments === undefined) return true
  if (decision === 'allow') return fitsPath(segments, request.path.slice(1).split('/'))
  return createSpellings(request.path)(segments)
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

/**
 * A server may take other spellings for the same path. Whoever forbids one, or wants to see it first, means all of them.
 * @param path canonical, as it is sent
 * @returns whether the segments of a rule fit it in any spelling
 */
export function createSpellings(path: string): (segments: readonly string[]) => boolean {
  const hasTwoReadings = /%2f/i.test(path)
  const spellings = READINGS.map((read) => read(path))
  return (segments) =>
    patternsOf(segments).some((pattern, i) => {
      const pieces = spellings[i] ?? []
      return hasTwoReadings ? fitsAnyReading(pattern, pieces, path) : fitsPath(pattern, pieces)
    })
}

function fitsPath(pattern: readonly string[], path: readonly string[]): boolean {
  const isOpen = pattern.at(-1) === '**'
  const fixed = isOpen ? pattern.slice(0, -1) : pattern
  if (isOpen ? path.length < fixed.length : path.length !== fixed.length) return false
  return fixed.every((segment, at) => (segment === '*' ? path[at] !== '' : segment === path[at]))
}

/** A server takes each `%2F` for a slash or for a character of the segment, and nobody but the server knows which. */
function fitsAnyReading(pattern: readonly string[], pieces: readonly string[], path: string): boolean {
  const isJoined = path
    .slice(1)
    .match(/\/|%2f/gi)
    ?.map((slash) => slash !== '/')
  const isOpen = pattern.at(-1) === '**'
  const fixed = isOpen ? pattern.slice(0, -1) : pattern
  // How many pieces the segments so far may have taken: a star takes any number that escaped slashes join.
  let taken = new Set([0])
  for (const segment of fixed) {
    const next = new Set<number>()
    for (const from of taken) {
      if (from >= pieces.length || next.has(from + 1)) continue
      if (segment !== '*') {
        if (segment === pieces[from]) next.add(from + 1)
        continue
      }
      let to = from + 1
      next.add(to)
      while (to < pieces.length && isJoined?.[to - 1] === true) next.add(++to)
    }
    taken = next
  }
  return isOpen ? taken.size > 0 : taken.has(pieces.length)
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
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu

/** Also without what some file systems and frameworks drop: dots and spaces at the end of a segment, a format, letters that show nothing. */
function mostLoosely(path: string): readonly string[] {
  const segments = loosely(path).map((segment) =>
    segment
      .normalize('NFKC')
      .replaceAll(INVISIBLE, '')
      // Some letters have one capital letter with others.
      .toUpperCase()
      .toLowerCase()
      .replace(/[.\s]+$/, ''),
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
