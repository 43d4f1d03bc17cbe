// Translates a validation issue for a caller: which code, which field, which words. No value is ever quoted back.
import type { z } from 'zod'
import type { ErrorCode } from './errors.ts'

export interface FieldProblem {
  readonly code: ErrorCode
  /** RFC 6901, into the value that was checked. */
  readonly pointer: string
  readonly message: string
}

const MAX_NAME_CHARACTERS = 64
/** As many as a problem names fields: describing 60,000 took 100 ms. */
const MAX_NAMED_KEYS = 20

/** One entry a field: several unknown properties are one issue of the validator, but several problems of the caller. */
export function describeIssues(issues: readonly z.core.$ZodIssue[], value: unknown): FieldProblem[] {
  const problems = issues.flatMap(toBranch).flatMap((issue): FieldProblem[] =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.slice(0, MAX_NAMED_KEYS).map((key) => ({
          code: 'input_unknown_property',
          pointer: toPointer([...issue.path, key]),
          message: 'Unknown property',
        }))
      : [{ code: codeOf(issue, value), pointer: toPointer(issue.path), message: messageOf(issue, value) }],
  )
  // A value of the wrong type is neither too long nor too large, whatever the validator measured.
  const mistyped = new Set(
    problems.filter(({ code }) => code === 'input_wrong_type').map(({ pointer }) => pointer),
  )
  return problems.filter(({ code, pointer }) => code !== 'input_invalid' || !mistyped.has(pointer))
}

/** Replaces the issue of a union by those of the branch that was meant, where types tell the branches apart. */
export function toBranch(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue]
  const meant = issue.errors.filter((each) => !each.some(isTypeOfBranch))
  const [branch, ...others] = meant
  if (!branch || others.length > 0) return [issue]
  return branch.flatMap((nested) => toBranch({ ...nested, path: [...issue.path, ...nested.path] }))
}

function codeOf(issue: z.core.$ZodIssue, value: unknown): ErrorCode {
  if (isMissing(issue, value)) return 'input_missing_field'
  return isWrongType(issue, valueAt(value, issue.path)) ? 'input_wrong_type' : 'input_invalid'
}

const isMissing = (issue: z.core.$ZodIssue, value: unknown) =>
  issue.path.length > 0 && valueAt(value, issue.path) === undefined

/** A validator may speak of a value or a union where the type is wrong: a number where only words are listed has the wrong type. */
function isWrongType(issue: z.core.$ZodIssue, value: unknown): boolean {
  if (issue.code === 'invalid_type') return true
  if (issue.code === 'invalid_value') return issue.values.every((allowed) => typeof allowed !== typeof value)
  if (issue.code !== 'invalid_union') return false
  return issue.errors.length > 0 && issue.errors.every((branch) => branch.some(isTypeOfBranch))
}

const isTypeOfBranch = (issue: z.core.$ZodIssue) => issue.path.length === 0 && issue.code === 'invalid_type'

function messageOf(issue: z.core.$ZodIssue, value: unknown): string {
  // A rule over several members says itself which of them would do.
  if (isMissing(issue, value) && issue.code !== 'custom') return 'Required'
  if (issue.code === 'too_small') return sizeMessage(issue, issue.minimum, 'at least')
  if (issue.code === 'too_big') return sizeMessage(issue, issue.maximum, 'at most')
  if (issue.code !== 'invalid_union' || !isWrongType(issue, undefined)) return issue.message
  const expected = issue.errors.flatMap((branch) =>
    branch.flatMap((nested) => (nested.code === 'invalid_type' ? [nested.expected] : [])),
  )
  return `Invalid input: expected ${[...new Set(expected)].join(' or ')}`
}

const COUNTED: Readonly<Record<string, string>> = {
  string: 'character',
  array: 'item',
  set: 'item',
  map: 'entry',
}

/** The validator's own words are for programmers; a rule that has words of its own keeps them. */
function sizeMessage(
  {
    origin,
    message,
    inclusive,
    exact,
  }: Pick<z.core.$ZodIssueTooSmall, 'origin' | 'message' | 'inclusive' | 'exact'>,
  bound: number | bigint,
  word: 'at least' | 'at most',
): string {
  if (!/^Too (?:small|big): /.test(message)) return message
  const counted = COUNTED[origin]
  if (counted === undefined) {
    if (inclusive !== false) return `Must be ${word} ${bound}`
    return `Must be ${word === 'at least' ? 'more' : 'less'} than ${bound}`
  }
  if (bound === 1 && word === 'at least' && exact !== true) return 'Must not be empty'
  const plural = counted === 'entry' ? 'entries' : `${counted}s`
  return `Must have ${exact === true ? 'exactly' : word} ${bound} ${Number(bound) === 1 ? counted : plural}`
}

export function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined
    at = (at as Record<PropertyKey, unknown>)[key]
  }
  return at
}

const toPointer = (path: readonly PropertyKey[]) =>
  path
    .map((key) => `/${String(key).slice(0, MAX_NAME_CHARACTERS).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('')
