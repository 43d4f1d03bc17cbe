// Judges a value by a JSON Schema (draft 2020-12) that a stranger wrote: interpreted within a budget, never compiled to code,
// and nothing outside the schema is resolved. Formats are annotations, as the draft says.
import type { RE2JS } from 're2js'
import { isObject } from './json.ts'
import { compilePattern, MAX_STEPS, type Means, Stop, Work } from './schema-work.ts'

export type SchemaVerdict =
  | { readonly ok: true }
  /** `unsupported`: words that this reader does not know, or that lead outside; `costly`: more work than it is given. */
  | { readonly ok: false; readonly reason: 'invalid' | 'unsupported' | 'costly' }

const DRAFT = /^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/
/** A long text and a large object cost as many steps as they take time. */
const CHARS_A_STEP = 16
const MAX_DEPTH = 64
const MAX_PATTERNS = 16
const UNSUPPORTED = [
  '$dynamicRef',
  '$dynamicAnchor',
  '$anchor',
  '$vocabulary',
  'unevaluatedProperties',
  'unevaluatedItems',
]

type Schema = Readonly<Record<string, unknown>>

/** Never throws. @param schema as parsed from JSON, like `value` */
export function validateBySchema(schema: unknown, value: unknown): SchemaVerdict {
  let patterns = 0
  return createJudge(schema)(value, {
    steps: MAX_STEPS,
    compile(pattern) {
      if (++patterns > MAX_PATTERNS) throw new Stop('costly')
      return compilePattern(pattern)
    },
  })
}

/** A schema that judges many values: its patterns are compiled once. */
export interface SchemaChecker {
  /**
   * Never throws.
   * @param steps the most work that is done for this value; 20,000 take two milliseconds. Patterns have 20,000 of their own, whatever
   * is given: those are 50 milliseconds
   */
  check(value: unknown, steps?: number): SchemaVerdict
}

/** @param schema as parsed from JSON; what is wrong with it is said of every value */
export function createSchemaChecker(schema: unknown): SchemaChecker {
  const compiled = new Map<string, RE2JS>()
  const compile = (pattern: string) => {
    const known = compiled.get(pattern)
    if (known) return known
    if (compiled.size >= MAX_PATTERNS) throw new Stop('costly')
    const made = compilePattern(pattern)
    compiled.set(pattern, made)
    return made
  }
  const judgeBy = createJudge(schema)
  return { check: (value, steps = MAX_STEPS) => judgeBy(value, { steps, compile }) }
}

type Judge = (value: unknown, means: Means) => SchemaVerdict

/** What a part of a schema says of a value, made when a value first gets there: what is wrong with a part is said of nothing else. */
type Check = (value: unknown, depth: number) => boolean

/** @returns judges values by the schema, of which every part that was once used is ready */
function createJudge(root: unknown): Judge {
  if (!isObject(root)) return () => ({ ok: false, reason: 'unsupported' })
  const { $schema: draft } = root
  if (draft !== undefined && !(typeof draft === 'string' && DRAFT.test(draft)))
    return () => ({ ok: false, reason: 'unsupported' })
  const work = new Work()
  const check = createCompiler(root, work)(root)
  return (value, means) => {
    work.begin(means)
    try {
      return check(value, 0) ? { ok: true } : { ok: false, reason: 'invalid' }
    } catch (thrown) {
      if (thrown instanceof Stop) return { ok: false, reason: thrown.reason }
      throw thrown
    }
  }
}

const unsupported: Check = () => {
  throw new Stop('unsupported')
}

function createCompiler(root: Schema, work: Work): (schema: unknown) => Check {
  const ready = new WeakMap<object, Check>()

  function compile(schema: unknown): Check {
    if (isObject(schema)) {
      const known = ready.get(schema)
      if (known) return known
      const made = entered(compileObject(schema))
      ready.set(schema, made)
      return made
    }
    return entered(typeof schema === 'boolean' ? () => schema : unsupported)
  }

  const entered =
    (check: Check): Check =>
    (value, depth) => {
      work.step(1)
      if (depth > MAX_DEPTH) throw new Stop('costly')
      return check(value, depth)
    }

  /** A part inside of another, one level deeper, made when it is first used: a schema may be larger than any value needs. */
  function inner(schema: unknown): Check {
    let check: Check | undefined
    return (value, depth) => (check ??= compile(schema))(value, depth + 1)
  }

  function compileObject(schema: Schema): Check {
    const { $id } = schema
    const hasForeignId = $id !== undefined && !(typeof $id === 'string' && $id.startsWith('#'))
    if (hasForeignId || UNSUPPORTED.some((word) => Object.hasOwn(schema, word))) return unsupported
    const general = compileGeneral(schema)
    const isTextFine = compileText(schema)
    const isNumberFine = compileNumber(schema)
    const isListFine = compileList(schema)
    const isObjectFine = compileMembers(schema)
    return (value, depth) => {
      for (const check of general) if (!check(value, depth)) return false
      if (typeof value === 'string') return isTextFine(value)
      if (typeof value === 'number') return isNumberFine(value)
      if (Array.isArray(value)) return isListFine(value, depth)
      return !isObject(value) || isObjectFine(value, depth)
    }
  }

  /** What is said of values of any type. */
  function compileGeneral(schema: Schema): readonly Check[] {
    const all = (list: readonly unknown[]) => list.map(inner)
    return [
      ...rule(schema, '$ref', isText, (reference): Check => {
        let check: Check | undefined
        return (value, depth) => (check ??= inner(resolve(root, reference)))(value, depth)
      }),
      ...rule(
        schema,
        'const',
        isAnything,
        (one): Check =>
          (value) =>
            isSame(one, value, work),
      ),
      ...rule(
        schema,
        'enum',
        Array.isArray,
        (list): Check =>
          (value) =>
            list.some((one) => isSame(one, value, work)),
      ),
      ...rule(schema, 'type', isTypes, (types): Check => {
        const names = [types].flat()
        return (value) => names.some((name) => isOfType(name, value))
      }),
      ...rule(schema, 'allOf', Array.isArray, (list): Check => {
        const checks = all(list)
        return (value, depth) => checks.every((check) => check(value, depth))
      }),
      ...rule(schema, 'anyOf', Array.isArray, (list): Check => {
        const checks = all(list)
        return (value, depth) => checks.some((check) => check(value, depth))
      }),
      ...rule(schema, 'oneOf', Array.isArray, (list): Check => {
        const checks = all(list)
        return (value, depth) => checks.filter((check) => check(value, depth)).length === 1
      }),
      ...rule(schema, 'not', isAnything, (one): Check => {
        const check = inner(one)
        return (value, depth) => !check(value, depth)
      }),
      ...rule(schema, 'if', isAnything, (one): Check => {
        const isSo = inner(one)
        const [then] = rule(schema, 'then', isAnything, inner)
        const [otherwise] = rule(schema, 'else', isAnything, inner)
        return (value, depth) => (isSo(value, depth) ? then : otherwise)?.(value, depth) !== false
      }),
    ]
  }

  function compileText(schema: Schema): (text: string) => boolean {
    const least = lazily(schema, 'minLength', isCount)
    const most = lazily(schema, 'maxLength', isCount)
    const pattern = lazily(schema, 'pattern', isText)
    const isMeasured = least.isGiven || most.isGiven
    return (text) => {
      work.step(text.length / CHARS_A_STEP)
      if (isMeasured) {
        const length = [...text].length
        if (length < (least.get() ?? 0) || length > (most.get() ?? Infinity)) return false
      }
      const given = pattern.get()
      return given === undefined || work.matches(given, text)
    }
  }

  function compileNumber(schema: Schema): (number: number) => boolean {
    const names = ['multipleOf', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'] as const
    if (!names.some((name) => Object.hasOwn(schema, name))) return () => true
    const [multiple, least, most, above, below] = names.map((name) => lazily(schema, name, isNumber))
    return (number) => {
      const unit = multiple?.get()
      return (
        number >= (least?.get() ?? -Infinity) &&
        number <= (most?.get() ?? Infinity) &&
        number > (above?.get() ?? -Infinity) &&
        number < (below?.get() ?? Infinity) &&
        (unit === undefined || Number.isInteger(number / unit))
      )
    }
  }

  function compileList(schema: Schema): (list: readonly unknown[], depth: number) => boolean {
    const least = lazily(schema, 'minItems', isCount)
    const most = lazily(schema, 'maxItems', isCount)
    const prefix = lazily(schema, 'prefixItems', Array.isArray)
    const first = (prefix.isGiven && Array.isArray(schema['prefixItems']) ? schema['prefixItems'] : []).map(
      inner,
    )
    const items = schema['items'] === undefined ? undefined : inner(schema['items'])
    const contains = Object.hasOwn(schema, 'contains') ? inner(schema['contains']) : undefined
    const fewest = lazily(schema, 'minContains', isCount)
    const mostContained = lazily(schema, 'maxContains', isCount)
    const unique = lazily(schema, 'uniqueItems', isFlag)
    return (list, depth) => {
      if (list.length < (least.get() ?? 0) || list.length > (most.get() ?? Infinity)) return false
      prefix.get()
      for (const [at, item] of list.entries()) {
        const check = first[at] ?? items
        if (check && !check(item, depth)) return false
      }
      if (contains) {
        const found = list.filter((item) => contains(item, depth)).length
        if (found < (fewest.get() ?? 1) || found > (mostContained.get() ?? Infinity)) return false
      }
      return (
        unique.get() !== true ||
        !list.some((item, i) => list.slice(0, i).some((other) => isSame(item, other, work)))
      )
    }
  }

  function compileMembers(schema: Schema): (object: Schema, depth: number) => boolean {
    const least = lazily(schema, 'minProperties', isCount)
    const most = lazily(schema, 'maxProperties', isCount)
    const required = lazily(schema, 'required', Array.isArray)
    const dependentRequired = lazily(schema, 'dependentRequired', isObject)
    const dependentSchemas = lazily(schema, 'dependentSchemas', isObject)
    const properties = lazily(schema, 'properties', isObject)
    const patternProperties = lazily(schema, 'patternProperties', isObject)
    const { additionalProperties, propertyNames } = schema
    const others = additionalProperties === undefined ? undefined : inner(additionalProperties)
    const naming = propertyNames === undefined ? undefined : inner(propertyNames)
    const parts = new Map<unknown, Check>()
    const partOf = (part: unknown): Check => {
      const known = parts.get(part)
      if (known) return known
      const made = inner(part)
      parts.set(part, made)
      return made
    }
    return (object, depth) => {
      const names = Object.keys(object)
      work.step(names.length)
      if (names.length < (least.get() ?? 0) || names.length > (most.get() ?? Infinity)) return false
      const has = (name: unknown) => typeof name === 'string' && Object.hasOwn(object, name)
      if (required.get()?.every(has) === false) return false
      for (const [name, needed] of Object.entries(dependentRequired.get() ?? {}))
        if (has(name) && !(Array.isArray(needed) && needed.every(has))) return false
      for (const [name, part] of Object.entries(dependentSchemas.get() ?? {}))
        if (has(name) && !partOf(part)(object, depth)) return false
      const named = properties.get()
      const byPattern = Object.entries(patternProperties.get() ?? {})
      return names.every((name) => {
        if (naming && !naming(name, depth)) return false
        const isNamed = named !== undefined && Object.hasOwn(named, name)
        if (isNamed && !partOf(named[name])(object[name], depth)) return false
        const matching = byPattern.filter(([pattern]) => work.matches(pattern, name))
        if (!matching.every(([, part]) => partOf(part)(object[name], depth))) return false
        return isNamed || matching.length > 0 || !others || others(object[name], depth)
      })
    }
  }

  return compile
}

/** A keyword's check where the schema has it; one that is not what the draft says it is cannot be judged by. */
function rule<T>(
  schema: Schema,
  word: string,
  is: (given: unknown) => given is T,
  make: (given: T) => Check,
): readonly Check[] {
  if (!Object.hasOwn(schema, word)) return []
  const given = schema[word]
  return [is(given) ? make(given) : unsupported]
}

/** A keyword that is read when a value needs it, and no sooner: what is wrong with it is of no matter to others. */
function lazily<T>(
  schema: Schema,
  word: string,
  is: (given: unknown) => given is T,
): { readonly isGiven: boolean; get(): T | undefined } {
  if (!Object.hasOwn(schema, word)) return ABSENT
  const given = schema[word]
  if (is(given)) return { isGiven: true, get: () => given }
  return {
    isGiven: true,
    get() {
      throw new Stop('unsupported')
    },
  }
}
const ABSENT = { isGiven: false, get: () => undefined }

/** A pointer into the schema itself; anything else would have to be fetched. */
function resolve(root: Schema, reference: string): unknown {
  if (reference !== '#' && !reference.startsWith('#/')) throw new Stop('unsupported')
  let found: unknown = root
  for (const part of reference.split('/').slice(1)) {
    const name = unescape(part)
    if (typeof found !== 'object' || found === null || name === undefined || !Object.hasOwn(found, name))
      throw new Stop('unsupported')
    found = (found as Schema)[name]
  }
  return found
}

function unescape(part: string): string | undefined {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return undefined
  }
}

function isOfType(type: string, value: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isObject(value)
    case 'integer':
      return Number.isInteger(value)
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === type
    default:
      throw new Stop('unsupported')
  }
}

function isSame(a: unknown, b: unknown, work: Work): boolean {
  work.step(1)
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => isSame(item, b[i], work))
  if (!isObject(a)) return a === b
  if (!isObject(b)) return false
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isSame(a[name], b[name], work))
  )
}

const isAnything = (_given: unknown): _given is unknown => true
const isText = (given: unknown): given is string => typeof given === 'string'
const isFlag = (given: unknown): given is boolean => typeof given === 'boolean'
const isNumber = (given: unknown): given is number => typeof given === 'number'
const isCount = (given: unknown): given is number => Number.isSafeInteger(given) && Number(given) >= 0
const isTypes = (given: unknown): given is string | string[] =>
  isText(given) || (Array.isArray(given) && given.every(isText))
