// A JSON Schema as rows that a person can read: what a value is, whether it has to be there, and what it is held to. Pure, and bounded: a
// seller's schema is a stranger's.
import { isObject } from '../../../../lib/json.ts'
import type { SchemaTexts } from '../../texts/schema.ts'

type Schema = Readonly<Record<string, unknown>>

export interface SchemaRow {
  readonly name: string
  readonly isRequired: boolean
  readonly type: string
  readonly description: string | undefined
  /** Whole phrases, such as `1 to 300 characters`. */
  readonly limits: readonly string[]
  /** A pattern that a text is held to, as it is written. */
  readonly pattern: string | undefined
  /** Each as JSON. */
  readonly values: readonly string[]
  readonly byDefault: string | undefined
  readonly example: string | undefined
  readonly groups: readonly SchemaGroup[]
}

/** The fields of an object: of the value itself, of each entry of a list, or of one form of several. */
export interface SchemaGroup {
  readonly label: string
  readonly rows: readonly SchemaRow[]
  /** There is more than is shown. */
  readonly isCut: boolean
}

const MAX_DEPTH = 8
/** Fields of a whole schema; the largest of our own has some three hundred. */
const MAX_ROWS = 600
/** Lists in forms in references: what names itself has no end, and what names two that name two more has one that nobody reaches. */
const MAX_NESTING = 24
/** Schemas looked at for one table; the largest of our own takes some two thousand. */
const MAX_STEPS = 20_000
/** Characters of descriptions, patterns and values: a reference repeats them in every row for nothing. */
const MAX_CHARACTERS = 200_000
const MAX_VALUES = 60
const MAX_SHOWN = 120
/** zod writes the bounds of the double at every whole number: nothing that anybody did not know. */
const MUCH = Number.MAX_SAFE_INTEGER

/**
 * The fields of a schema's object, those of its forms where it has several.
 * @param share of what a schema of our own may take: a page has several of a stranger's
 */
export function schemaGroups(schema: Schema, t: SchemaTexts, share = 1): readonly SchemaGroup[] {
  let left = MAX_ROWS * share
  let steps = MAX_STEPS * share
  let characters = MAX_CHARACTERS * share
  const isSpent = () => (steps -= 1) < 0
  /** The text while there is room for it. */
  const fitting = (text: string | undefined) =>
    text !== undefined && (characters -= text.length) >= 0 ? text : undefined
  const fill = (text: string, a: string, b = '') => text.replaceAll('{a}', a).replaceAll('{b}', b)

  function resolve(given: unknown): Schema {
    let schema: unknown = given
    for (let steps = 0; steps < MAX_DEPTH && isObject(schema) && typeof schema['$ref'] === 'string'; steps++)
      schema = follow(root, schema['$ref'])
    return isObject(schema) ? schema : {}
  }
  const root = schema

  function groupsOf(given: Schema, label: string, depth: number, nesting = 0): SchemaGroup[] {
    if (nesting > MAX_NESTING || left <= 0 || isSpent()) return []
    const within = (inner: Schema, name: string) => groupsOf(inner, name, depth, nesting + 1)
    const schema = resolve(given)
    const branches = branchesOf(schema)
    if (branches.length > 0) {
      const shaped = branches.map(resolve).filter(hasFields)
      return shaped.flatMap((branch, at) =>
        within(branch, shaped.length > 1 ? fill(t.choice, String(at + 1)) : label),
      )
    }
    if (isObject(schema['items'])) return within(schema['items'], t.entryMembers)
    const { properties } = schema
    if (isObject(properties) && Object.keys(properties).length > 0)
      return [groupOf(schema, properties, label, depth)]
    return isObject(schema['additionalProperties'])
      ? within(schema['additionalProperties'], t.entryMembers)
      : []
  }

  function groupOf(schema: Schema, properties: Schema, label: string, depth: number): SchemaGroup {
    const required = new Set(listOf(schema['required']))
    const members = Object.entries(properties)
    const shown = depth >= MAX_DEPTH ? [] : members.slice(0, Math.max(left, 0))
    // A group without a row takes its place, too.
    left -= shown.length + 1
    return {
      label,
      rows: shown.map(([name, member]) => rowOf(name, resolve(member), member, required.has(name), depth)),
      isCut: shown.length < members.length,
    }
  }

  function rowOf(
    name: string,
    schema: Schema,
    written: unknown,
    isRequired: boolean,
    depth: number,
  ): SchemaRow {
    const description =
      textOf(isObject(written) ? written['description'] : undefined) ?? textOf(schema['description'])
    const inner = branchesOf(schema)
      .map(resolve)
      .filter((branch) => branch['type'] !== 'null')
    // What `X or null` says of X is said of the field.
    const [only] = inner
    const said = inner.length === 1 && only ? { ...only, ...schema } : schema
    return {
      name,
      isRequired,
      type: typeWords(schema, 0),
      description: fitting(description ?? textOf(said['description'])),
      limits: limitsOf(said),
      pattern: fitting(textOf(said['pattern']) ?? textOf(itemsOf(said)['pattern'])),
      values: valuesOf(said).flatMap((value) => fitting(value) ?? []),
      byDefault: 'default' in said ? fitting(short(said['default'])) : undefined,
      example: fitting(listOf(said['examples']).slice(0, 1).map(short)[0]),
      groups: groupsOf(schema, t.members, depth + 1),
    }
  }

  function typeWords(given: unknown, depth: number): string {
    const schema = resolve(given)
    if (depth > MAX_DEPTH || isSpent()) return t.types.any
    const branches = branchesOf(schema)
    if (branches.length > 0)
      return [...new Set(branches.map((branch) => typeWords(branch, depth + 1)))].join(t.or)
    const types = [schema['type']].flat().filter((type) => typeof type === 'string')
    if (types.length === 0) {
      const value = 'const' in schema ? schema['const'] : listOf(schema['enum'])[0]
      return value === undefined ? t.types.any : wordOf(value === null ? 'null' : typeof value)
    }
    return types.map((type) => oneType(type, schema, depth)).join(t.or)
  }

  function oneType(type: string, schema: Schema, depth: number): string {
    const { additionalProperties: others, items, format, properties } = schema
    if (type === 'array') return isObject(items) ? fill(t.listOf, typeWords(items, depth + 1)) : t.types.array
    if (type === 'object' && isObject(others) && !isObject(properties))
      return Object.keys(others).length > 0 ? fill(t.mapOf, typeWords(others, depth + 1)) : t.types.object
    if (type === 'string' && format === 'uri') return t.types.uri
    if (type === 'string' && format === 'date-time') return t.types.time
    return wordOf(type)
  }

  const wordOf = (type: string): string => new Map(Object.entries(t.types)).get(type) ?? t.types.any

  const itemsOf = (schema: Schema): Schema => resolve(schema['items'])

  function limitsOf(schema: Schema): string[] {
    const items = itemsOf(schema)
    return [
      span(t.entries, schema['minItems'], schema['maxItems']),
      span(
        t.characters,
        schema['minLength'] ?? items['minLength'],
        schema['maxLength'] ?? items['maxLength'],
      ),
      span(
        t.range,
        schema['minimum'] ?? schema['exclusiveMinimum'],
        schema['maximum'] ?? schema['exclusiveMaximum'],
      ),
    ].filter((limit) => limit !== undefined)
  }

  function span(words: SchemaTexts['range'], from: unknown, to: unknown): string | undefined {
    const low = typeof from === 'number' && Math.abs(from) < MUCH ? from : undefined
    const high = typeof to === 'number' && Math.abs(to) < MUCH ? to : undefined
    const say = (count: number | undefined) => (count === undefined ? '' : count.toLocaleString('en'))
    if (low === undefined && high === undefined) return undefined
    const form =
      low === undefined ? words.to : high === undefined ? words.from : low === high ? words.exact : words.both
    return fill(form, say(low), say(high))
  }

  function valuesOf(schema: Schema): string[] {
    if ('const' in schema) return [short(schema['const'])]
    const own = listOf(schema['enum'])
    const values = own.length > 0 ? own : listOf(itemsOf(schema)['enum'])
    return values.slice(0, MAX_VALUES).map(short)
  }

  return groupsOf(schema, t.members, 0)
}

const branchesOf = (schema: Schema): Schema[] =>
  (['anyOf', 'oneOf', 'allOf'] as const)
    .flatMap((key) => listOf(schema[key]))
    .filter((branch) => isObject(branch))

const hasFields = (schema: Schema): boolean =>
  isObject(schema['properties']) ||
  isObject(schema['items']) ||
  isObject(schema['additionalProperties']) ||
  branchesOf(schema).length > 0

function follow(root: Schema, ref: string): unknown {
  let value: unknown = root
  for (const key of ref.split('/').slice(1))
    value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
  return value
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** A value as JSON, cut where nobody reads on. */
function short(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null'
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
}
