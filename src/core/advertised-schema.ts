// The JSON Schema under which an input is published. Every model API takes a subset of the language, each another one, and an unknown
// word in one tool refuses the whole list. So what is published keeps to the words that all of them take, and zod goes on
// enforcing the rest: what is published may be narrower than what is accepted, and is never of another shape.
//
// | left out or rewritten            | because                                                                                        |
// | -------------------------------- | ---------------------------------------------------------------------------------------------- |
// | `propertyNames`, `const`, `oneOf`, `exclusiveMinimum`, `contentEncoding`, `title` | Gemini's Schema has no such fields: 400, "Cannot find field" |
// | `format` but `date-time`         | Gemini takes `enum` and `date-time` of strings, OpenAI and Anthropic lists of their own         |
// | long and looking-around `pattern` | OpenAI and Anthropic refuse lookaround, and nobody's model reads 300 characters of it          |
// | `default: null`, `null` beside it | leaving a member out says the same, and LangChain and Vertex flatten unions badly              |
// | `enum` of numbers                | Gemini's `enum` is a list of strings                                                           |
// | bounds of the double             | zod writes ±2^53 at every integer: nothing that anybody did not know                           |
//
// The rules themselves, with their sources, are in test/support/model-apis.
import { z } from 'zod'
import '../../schemas/advertised.ts'
import { isObject } from '../lib/json.ts'

export type JsonSchema = Readonly<Record<string, unknown>>

/** `input`: for documents, with every bound. `list`: for lists of tools, where a model pays for each word that it reads. */
type PublishedFor = 'input' | 'list'

const MAX_PATTERN = 100
/** Nobody tries a number like this without a reason, so a list does not say where the bound is. */
const MUCH = 100_000
const FEW = 10

/** The schema of what a caller sends, as it is published: defaults are optional, aliases and wrappers are not there. */
export const advertise = (schema: z.ZodType): JsonSchema => advertised(toJson(schema, 'input'), 'input')

/** The same, and its short form for lists of tools. */
export const advertiseTwice = oncePerSchema((schema) => {
  const whole = toJson(schema, 'input')
  return { inputSchema: advertised(whole, 'input'), listedSchema: advertised(whole, 'list') }
})

function advertised(whole: JsonSchema, use: PublishedFor): JsonSchema {
  const { additionalProperties: others, ...words } = published(whole, use)
  // The OpenAI Agents SDK takes `true` there for a wish to be strict, and warns that it cannot be fulfilled.
  const isSaid = others !== undefined && (use === 'input' || others !== true)
  return isSaid ? { ...words, additionalProperties: others } : words
}

/** The schema of an answer: no model API takes one, so nothing is left out. */
export const describeOutput = oncePerSchema((schema) => withoutMarks(toJson(schema, 'output')) as JsonSchema)

/**
 * A schema never changes, and a process may open several registries with the same tools. Whoever gets the result must not change it.
 * A declaration, because it is called above.
 */
function oncePerSchema<T extends object>(make: (schema: z.ZodType) => T): (schema: z.ZodType) => T {
  const made = new WeakMap<z.ZodType, T>()
  return (schema) => {
    const known = made.get(schema) ?? make(schema)
    made.set(schema, known)
    return known
  }
}

function toJson(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io }) as Record<string, unknown>
  return rest
}

function published(given: JsonSchema, use: PublishedFor): JsonSchema {
  const schema = formOf(given, use)
  const { description, default: value, $ref, $defs } = schema
  const said = {
    ...(description !== undefined && { description }),
    ...(isWorthSaying(value, use) && { default: value }),
    ...(isObject<JsonSchema>($defs) && { $defs: mapValues($defs, (inner) => published(inner, use)) }),
  }
  if ($ref !== undefined) return { $ref, ...said }
  const options = optionsOf(schema)
  if (options.length > 0) return unionOf(options, value === null, said, use)
  const type = typeOf(schema)
  const typed = type === undefined ? {} : { type }
  if (type === 'object') return { ...typed, ...said, ...objectWords(schema, use) }
  if (type === 'array') return { ...typed, ...said, ...arrayWords(schema, use) }
  if (type === 'string') return { ...typed, ...said, ...textWords(schema, use) }
  // Gemini's `enum` is of strings, so a truth that has only one value is said in words where a model reads it.
  if (type === 'boolean') return { ...typed, ...said, ...(use === 'input' && pick(schema, ['const'])) }
  return { ...typed, ...said, ...numberWords(schema, use) }
}

/** Nothing, no and none are what anybody supposes of a default. */
function isWorthSaying(value: unknown, use: PublishedFor): boolean {
  if (value === undefined || value === null) return false
  return (
    use === 'input' ||
    !(value === '' || value === false || (typeof value === 'object' && Object.keys(value).length === 0))
  )
}

/** The form that the member asks for in place of its own, with its own description. */
function formOf(given: JsonSchema, use: PublishedFor): JsonSchema {
  const { advertised: _mark, listed: _list, advertisedAs, listedAs, ...own } = given
  const form = use === 'list' ? (listedAs ?? advertisedAs) : advertisedAs
  if (!isObject(form)) return own
  if (form['type'] === undefined && form['enum'] === undefined) return { ...own, ...form }
  const { description, default: value } = own
  return {
    ...(description !== undefined && { description }),
    ...(value !== undefined && { default: value }),
    ...form,
  }
}

/** The branches of a union, however it is written: a list of types is one, too. */
function optionsOf({ type, anyOf, oneOf, ...rest }: JsonSchema): readonly JsonSchema[] {
  if (!Array.isArray(type)) return [anyOf, oneOf].flat().filter(isObject)
  const { description: _said, default: _value, ...words } = rest
  return type.map((each: unknown) => (each === 'null' ? { type: each } : { ...words, type: each }))
}

/**
 * `null` is not published where leaving the member out says the same; a union of one is no union. Beside `anyOf` Vertex takes no other
 * word, so what is said of a value that may be null is said inside.
 */
function unionOf(
  options: readonly JsonSchema[],
  isNullByDefault: boolean,
  said: JsonSchema,
  use: PublishedFor,
): JsonSchema {
  const values = options.filter(({ type }) => type !== 'null').map((option) => published(option, use))
  const isNullable = values.length < options.length && !isNullByDefault
  const [only] = values
  if (values.length > 1) return { anyOf: isNullable ? [...values, { type: 'null' }] : values, ...said }
  return isNullable ? { anyOf: [{ ...only, ...said }, { type: 'null' }] } : { ...only, ...said }
}

function objectWords(schema: JsonSchema, use: PublishedFor): JsonSchema {
  const { properties, required, additionalProperties } = schema
  const all = isObject<JsonSchema>(properties) ? Object.entries(properties) : []
  const shown = all.filter(([, member]) => isShown(member, use))
  const names = shown
    .filter(([name, member]) => member['advertised'] === 'required' || includes(required, name))
    .map(([name]) => name)
  return {
    ...(properties !== undefined && {
      properties: Object.fromEntries(shown.map(([name, member]) => [name, published(member, use)])),
    }),
    ...(names.length > 0 && { required: names }),
    // Everything here is closed unless it says that it is open, and a list does not say so 80 times.
    ...(additionalProperties !== undefined &&
      (use === 'input' || additionalProperties !== false) && {
        additionalProperties: others(additionalProperties, use),
      }),
  }
}

const isShown = ({ advertised, listed }: JsonSchema, use: PublishedFor): boolean =>
  advertised !== false && (use === 'input' || listed !== false)

/** `{}` is a schema without a type, which some refuse; `true` says the same. */
function others(schema: unknown, use: PublishedFor): unknown {
  if (!isObject(schema)) return schema
  return Object.keys(schema).length === 0 ? true : ofMany(schema, use)
}

/** Nobody comes near a bound of many without a reason. */
const isFew = (bound: unknown, use: PublishedFor) => use === 'input' || (isNumber(bound) && bound <= FEW)

/** In a list the words of the whole are enough for its parts. */
function ofMany(schema: JsonSchema, use: PublishedFor): JsonSchema {
  const { description: _each, ...part } = published(schema, use)
  return use === 'list' ? part : published(schema, use)
}

function arrayWords(schema: JsonSchema, use: PublishedFor): JsonSchema {
  const { items } = schema
  return {
    ...(isObject(items) && { items: ofMany(items, use) }),
    ...(use === 'input' && pick(schema, ['minItems'])),
    ...(isFew(schema['maxItems'], use) && pick(schema, ['maxItems'])),
  }
}

function textWords(schema: JsonSchema, use: PublishedFor): JsonSchema {
  const { format, pattern } = schema
  const isTime = format === 'date-time'
  const isKept = typeof pattern === 'string' && !isTime && isPortable(pattern)
  const choice = typeof schema['const'] === 'string' ? { enum: [schema['const']] } : pick(schema, ['enum'])
  return {
    ...choice,
    ...(isTime && { format }),
    // A model counts no characters and runs no expression: the description says what it needs.
    ...(use === 'input' && { ...(isKept && { pattern }), ...pick(schema, ['minLength', 'maxLength']) }),
  }
}

function isPortable(pattern: string): boolean {
  return pattern.length <= MAX_PATTERN && !/\(\?[=!<]|\\[pPbB1-9]/.test(pattern)
}

function numberWords(schema: JsonSchema, use: PublishedFor): JsonSchema {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema
  const isInteger = typeOf(schema) === 'integer'
  const choice = (Array.isArray(schema['enum']) ? schema['enum'] : [schema['const']]).filter(isNumber)
  const lowest = isNumber(exclusiveMinimum) && isInteger ? exclusiveMinimum + 1 : minimum
  const highest = isNumber(exclusiveMaximum) && isInteger ? exclusiveMaximum - 1 : maximum
  const bounds = choice.length > 0 ? { minimum: Math.min(...choice), maximum: Math.max(...choice) } : {}
  return {
    ...(isNumber(lowest) && lowest > (use === 'list' ? 1 : Number.MIN_SAFE_INTEGER) && { minimum: lowest }),
    ...(isNumber(highest) &&
      highest < (use === 'list' ? MUCH : Number.MAX_SAFE_INTEGER) && { maximum: highest }),
    ...bounds,
  }
}

function typeOf(schema: JsonSchema): unknown {
  const { type, enum: choice } = schema
  if (type !== undefined) return type
  const [value] = Array.isArray(choice) ? choice : [schema['const']]
  if (isNumber(value)) return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value === 'string' || typeof value === 'boolean' ? typeof value : undefined
}

/** The marks of an input that an answer repeats are of no use there. */
function withoutMarks(value: unknown, isSchema = true): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutMarks(item))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !(isSchema && MARKS.includes(key)))
      // Below these the keys are names, and a member may be called `advertised`.
      .map(([key, inner]) => [key, withoutMarks(inner, !(isSchema && NAMED.includes(key)))]),
  )
}
const MARKS: readonly string[] = ['advertised', 'advertisedAs', 'listed', 'listedAs']
const NAMED: readonly string[] = ['properties', '$defs', 'patternProperties']

const isNumber = (value: unknown): value is number => typeof value === 'number'
const includes = (list: unknown, name: string) => Array.isArray(list) && list.includes(name)
const pick = (schema: JsonSchema, names: readonly string[]): JsonSchema =>
  Object.fromEntries(names.filter((name) => schema[name] !== undefined).map((name) => [name, schema[name]]))
const mapValues = (object: Readonly<Record<string, JsonSchema>>, change: (value: JsonSchema) => JsonSchema) =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]))
