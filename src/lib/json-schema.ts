// Judges a value by a JSON Schema (draft 2020-12) that a stranger wrote: interpreted within a budget, never compiled to code,
// and nothing outside the schema is resolved. Formats are annotations, as the draft says.
import { RE2JS } from 're2js'
import { isObject } from './json.ts'

export type SchemaVerdict =
  | { readonly ok: true }
  /** `unsupported`: words that this reader does not know, or that lead outside; `costly`: more work than it is given. */
  | { readonly ok: false; readonly reason: 'invalid' | 'unsupported' | 'costly' }

const DRAFT = /^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/
const MAX_STEPS = 20_000
/** A long text and a large object cost as many steps as they take time. */
const CHARS_A_STEP = 16
const MAX_DEPTH = 64
const MAX_PATTERNS = 16
/** The automaton of a pattern of this length has at most a few thousand states. */
const MAX_PATTERN_CHARS = 256
/** A character that meets a state of the automaton costs 20 ns at worst: 20,000 steps are then 50 ms. */
const STATES_A_STEP = 128
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
  return judge(schema, value, {
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
   * @param steps the most work that is done for this value; 20,000 take a millisecond or two, 50 with patterns made for it
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
  return { check: (value, steps = MAX_STEPS) => judge(schema, value, { steps, compile }) }
}

interface Means {
  readonly steps: number
  compile(pattern: string): RE2JS
}

function judge(schema: unknown, value: unknown, means: Means): SchemaVerdict {
  if (!isObject(schema)) return { ok: false, reason: 'unsupported' }
  const { $schema: draft } = schema
  if (draft !== undefined && !(typeof draft === 'string' && DRAFT.test(draft)))
    return { ok: false, reason: 'unsupported' }
  try {
    return createValidator(schema, means)(schema, value, 0) ? { ok: true } : { ok: false, reason: 'invalid' }
  } catch (thrown) {
    if (thrown instanceof Stop) return { ok: false, reason: thrown.reason }
    throw thrown
  }
}

class Stop extends Error {
  readonly reason: 'unsupported' | 'costly'
  constructor(reason: Stop['reason']) {
    super(reason)
    this.reason = reason
  }
}

type Validate = (schema: unknown, value: unknown, depth: number) => boolean

function createValidator(root: Schema, means: Means): Validate {
  let steps = 0
  const step = (cost = 1) => {
    steps += cost
    if (steps > means.steps) throw new Stop('costly')
  }
  const matches = (pattern: string, text: string) => {
    if (pattern.length > MAX_PATTERN_CHARS) throw new Stop('costly')
    const compiled = means.compile(pattern)
    step((compiled.programSize() * (text.length + 1)) / STATES_A_STEP)
    return compiled.test(text)
  }

  function validate(schema: unknown, value: unknown, depth: number): boolean {
    step()
    if (depth > MAX_DEPTH) throw new Stop('costly')
    if (typeof schema === 'boolean') return schema
    if (!isObject(schema)) throw new Stop('unsupported')
    if (UNSUPPORTED.some((word) => Object.hasOwn(schema, word))) throw new Stop('unsupported')
    const own = <T>(word: string, is: (given: unknown) => given is T): T | undefined => {
      if (!Object.hasOwn(schema, word)) return undefined
      const given = schema[word]
      if (!is(given)) throw new Stop('unsupported')
      return given
    }
    const next = (inner: unknown, of: unknown) => validate(inner, of, depth + 1)
    const { $id } = schema
    if ($id !== undefined && !(typeof $id === 'string' && $id.startsWith('#'))) throw new Stop('unsupported')
    const reference = own('$ref', isText)
    if (reference !== undefined && !next(resolve(root, reference), value)) return false

    if (Object.hasOwn(schema, 'const') && !isSame(schema['const'], value, step)) return false
    if (own('enum', Array.isArray)?.some((one) => isSame(one, value, step)) === false) return false
    const type = own('type', isTypes)
    if (type !== undefined && ![type].flat().some((name) => isOfType(name, value))) return false

    if (own('allOf', Array.isArray)?.every((one) => next(one, value)) === false) return false
    if (own('anyOf', Array.isArray)?.some((one) => next(one, value)) === false) return false
    const oneOf = own('oneOf', Array.isArray)
    if (oneOf && oneOf.filter((one) => next(one, value)).length !== 1) return false
    if (Object.hasOwn(schema, 'not') && next(schema['not'], value)) return false
    if (Object.hasOwn(schema, 'if')) {
      const branch = next(schema['if'], value) ? 'then' : 'else'
      if (Object.hasOwn(schema, branch) && !next(schema[branch], value)) return false
    }
    if (typeof value === 'string') return isText_(value)
    if (typeof value === 'number') return isNumber_(value)
    if (Array.isArray(value)) return isList_(value)
    return !isObject(value) || isObject_(value)

    function isText_(text: string): boolean {
      step(text.length / CHARS_A_STEP)
      const length = [...text].length
      if (length < (own('minLength', isCount) ?? 0) || length > (own('maxLength', isCount) ?? Infinity))
        return false
      const pattern = own('pattern', isText)
      return pattern === undefined || matches(pattern, text)
    }

    function isNumber_(number: number): boolean {
      const multiple = own('multipleOf', isNumber)
      return (
        number >= (own('minimum', isNumber) ?? -Infinity) &&
        number <= (own('maximum', isNumber) ?? Infinity) &&
        number > (own('exclusiveMinimum', isNumber) ?? -Infinity) &&
        number < (own('exclusiveMaximum', isNumber) ?? Infinity) &&
        (multiple === undefined || Number.isInteger(number / multiple))
      )
    }

    function isList_(list: readonly unknown[]): boolean {
      if (
        list.length < (own('minItems', isCount) ?? 0) ||
        list.length > (own('maxItems', isCount) ?? Infinity)
      )
        return false
      const first = own('prefixItems', Array.isArray) ?? []
      if (!list.slice(0, first.length).every((item, i) => next(first[i], item))) return false
      const { items } = schema as Schema
      if (items !== undefined && !list.slice(first.length).every((item) => next(items, item))) return false
      if (Object.hasOwn(schema as Schema, 'contains')) {
        const found = list.filter((item) => next((schema as Schema)['contains'], item)).length
        if (found < (own('minContains', isCount) ?? 1) || found > (own('maxContains', isCount) ?? Infinity))
          return false
      }
      return (
        own('uniqueItems', isFlag) !== true ||
        !list.some((item, i) => list.slice(0, i).some((other) => isSame(item, other, step)))
      )
    }

    function isObject_(object: Schema): boolean {
      const names = Object.keys(object)
      step(names.length)
      if (
        names.length < (own('minProperties', isCount) ?? 0) ||
        names.length > (own('maxProperties', isCount) ?? Infinity)
      )
        return false
      const has = (name: unknown) => typeof name === 'string' && Object.hasOwn(object, name)
      if (own('required', Array.isArray)?.every(has) === false) return false
      for (const [name, needed] of Object.entries(own('dependentRequired', isObject) ?? {}))
        if (has(name) && !(Array.isArray(needed) && needed.every(has))) return false
      for (const [name, inner] of Object.entries(own('dependentSchemas', isObject) ?? {}))
        if (has(name) && !next(inner, object)) return false
      const properties = own('properties', isObject) ?? {}
      const byPattern = Object.entries(own('patternProperties', isObject) ?? {})
      const { additionalProperties: others, propertyNames } = schema as Schema
      return names.every((name) => {
        if (propertyNames !== undefined && !next(propertyNames, name)) return false
        const isNamed = Object.hasOwn(properties, name)
        if (isNamed && !next(properties[name], object[name])) return false
        const matching = byPattern.filter(([pattern]) => matches(pattern, name))
        if (!matching.every(([, inner]) => next(inner, object[name]))) return false
        return isNamed || matching.length > 0 || others === undefined || next(others, object[name])
      })
    }
  }
  return validate
}

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

/**
 * A stranger's pattern may backtrack for ever, so an automaton judges it, in time linear in the text. A clock that stops
 * the built-in engine would judge by how busy the machine is.
 */
function compilePattern(pattern: string): RE2JS {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(pattern))
  } catch {
    // No pattern at all, or one with look-around or back references.
    throw new Stop('unsupported')
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

function isSame(a: unknown, b: unknown, step: () => void): boolean {
  step()
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => isSame(item, b[i], step))
  if (!isObject(a)) return a === b
  if (!isObject(b)) return false
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isSame(a[name], b[name], step))
  )
}

const isText = (given: unknown) => typeof given === 'string'
const isFlag = (given: unknown) => typeof given === 'boolean'
const isNumber = (given: unknown) => typeof given === 'number'
const isCount = (given: unknown): given is number => Number.isSafeInteger(given) && Number(given) >= 0
const isTypes = (given: unknown): given is string | string[] =>
  isText(given) || (Array.isArray(given) && given.every(isText))
