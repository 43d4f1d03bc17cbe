// Whether a seller's JSON Schema may be kept: small, of the words that the gateway judges by, closed in itself. What is said here
// holds for every branch, also one that no call has taken yet.
import { createSchemaChecker } from '../../lib/json-schema.ts'
import { isObject } from '../../lib/json.ts'

const MAX_BYTES = 16 * 1024
const MAX_DEPTH = 24
const MAX_NODES = 600
const MAX_PATTERNS = 16
const DRAFT = /^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/

/** Words that are judged by no reader here, or that lead outside. */
const UNKNOWN = new Set([
  '$dynamicRef',
  '$dynamicAnchor',
  '$anchor',
  '$vocabulary',
  'unevaluatedProperties',
  'unevaluatedItems',
  '$recursiveRef',
])
/** Where schemas stand in a schema: one, a list, or by name. */
const ONE = ['not', 'if', 'then', 'else', 'items', 'contains', 'additionalProperties', 'propertyNames']
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems']
const NAMED = ['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions']

/** @returns why the schema cannot be kept; undefined where it can */
export function findSchemaProblem(schema: unknown): string | undefined {
  if (!isObject(schema)) return 'is not an object'
  if (Buffer.byteLength(JSON.stringify(schema)) > MAX_BYTES) return `is larger than ${MAX_BYTES} bytes`
  const seen = { nodes: 0, patterns: 0 }
  return walk(schema, 0, seen)
}

function walk(schema: unknown, depth: number, seen: { nodes: number; patterns: number }): string | undefined {
  if (typeof schema === 'boolean') return undefined
  if (!isObject(schema)) return 'holds something that is no schema'
  if (++seen.nodes > MAX_NODES || depth > MAX_DEPTH) return 'is too large or too deep'
  for (const word of Object.keys(schema))
    if (UNKNOWN.has(word)) return `uses ${word}, which is not judged here`
  const { $schema: draft, $ref: reference, $id: id, pattern } = schema
  if (draft !== undefined && !(typeof draft === 'string' && DRAFT.test(draft)))
    return 'is of another draft than 2020-12'
  if (id !== undefined) return 'has an $id, which would change what its references mean'
  if (reference !== undefined && !(typeof reference === 'string' && /^#(?:\/|$)/.test(reference)))
    return 'refers to something outside itself'
  const patterns = [
    ...(pattern === undefined ? [] : [pattern]),
    ...(isObject(schema['patternProperties']) ? Object.keys(schema['patternProperties']) : []),
  ]
  for (const one of patterns) {
    if (++seen.patterns > MAX_PATTERNS) return `has more than ${MAX_PATTERNS} patterns`
    if (typeof one !== 'string' || !isUsable(one))
      return 'has a pattern that is too long, or with look-around or back references'
  }
  const inner = [
    ...ONE.flatMap((word) => (Object.hasOwn(schema, word) ? [schema[word]] : [])),
    ...LISTS.flatMap((word) => (Object.hasOwn(schema, word) ? asList(schema[word]) : [])),
    ...NAMED.flatMap((word) => (Object.hasOwn(schema, word) ? asMembers(schema[word]) : [])),
  ]
  for (const one of inner) {
    const problem = walk(one, depth + 1, seen)
    if (problem !== undefined) return problem
  }
  return undefined
}

const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [undefined])
const asMembers = (value: unknown): readonly unknown[] =>
  isObject(value) ? Object.values(value) : [undefined]

function isUsable(pattern: string): boolean {
  const verdict = createSchemaChecker({ type: 'string', pattern }).check('')
  return verdict.ok || verdict.reason === 'invalid'
}
