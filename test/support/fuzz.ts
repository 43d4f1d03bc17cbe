// Input for fuzzing a tool: anything at all, values of its own schema, and its examples with something broken in them.
import fc from 'fast-check'
import type { JsonSchema } from '../../src/core/registry.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** How many inputs each tool is sent; the configuration of the run says it. */
    readonly fuzzInputs: number
  }
}

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** Printed by each suite, so that a failure can be run again: FUZZ_SEED=… */
export const fuzzSeed = Number(process.env['FUZZ_SEED'] ?? Math.trunc(Math.random() * 2 ** 31))

/** Strings that have broken parsers, databases and prototypes before. */
const AWKWARD = [
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\u202e',
  '\r\nx: y',
  '__proto__',
  'constructor',
  'toString',
  'null',
  'undefined',
  'NaN',
  '-0',
  '1e999',
  '9007199254740993',
  '../../etc/passwd',
  '%00',
  "' OR 1=1 --",
  '${7*7}',
  '<script>alert(1)</script>',
  'https://127.0.0.1/',
  'https://user:pass@example.com/',
  'file:///etc/passwd',
  'https://api.example.com/\u0000',
  'x'.repeat(20_000),
]
const awkward = fc.constantFrom(...AWKWARD)
const extreme = fc.constantFrom(0, -0, -1, 1, 2 ** 31, 2 ** 53, -(2 ** 53), 1e308, 0.1, Number.MIN_VALUE)
const anyValue: fc.Arbitrary<Json> = fc.oneof(
  fc.jsonValue({ maxDepth: 2, depthSize: 'small', stringUnit: 'binary' }) as fc.Arbitrary<Json>,
  awkward,
  extreme,
)

/** Input that this schema of ours allows. */
export const validInput = (schema: JsonSchema): fc.Arbitrary<Json> => fromSchema(schema, schema, 0)

/** Input for a tool with this schema and these examples. */
export function fuzzInput(schema: JsonSchema, examples: readonly unknown[]): fc.Arbitrary<Json> {
  const valid = fc.oneof(
    fromSchema(schema, schema, 0),
    ...examples.map((value) => fc.constant(value as Json)),
  )
  return fc.oneof(
    { weight: 1, arbitrary: anyValue },
    { weight: 2, arbitrary: valid },
    { weight: 4, arbitrary: fc.tuple(valid, fc.array(mutation, { minLength: 1, maxLength: 3 })).map(mutate) },
  )
}

interface Mutation {
  readonly kind: 'drop' | 'replace' | 'add' | 'wrap' | 'repeat'
  /** Which of the object's fields, as a share of their number. */
  readonly at: number
  readonly name: string
  readonly value: Json
}

const mutation: fc.Arbitrary<Mutation> = fc.record({
  kind: fc.constantFrom(
    'drop' as const,
    'replace' as const,
    'add' as const,
    'wrap' as const,
    'repeat' as const,
  ),
  at: fc.double({ min: 0, max: 0.999, noNaN: true }),
  name: fc.oneof(fc.string(), awkward),
  value: anyValue,
})

function mutate([value, mutations]: [Json, Mutation[]]): Json {
  return mutations.reduce(applyMutation, value)
}

function applyMutation(value: Json, { kind, at, name, value: other }: Mutation): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return other
  const entries = Object.entries(value)
  const index = Math.floor(at * entries.length)
  const chosen = entries[index]
  if (kind === 'add' || !chosen) return Object.fromEntries([...entries, [name, other]])
  const replaced = (next: Json) => Object.fromEntries(entries.with(index, [chosen[0], next]))
  if (kind === 'drop') return Object.fromEntries(entries.toSpliced(index, 1))
  if (kind === 'wrap') return replaced([chosen[1]])
  if (kind === 'repeat')
    return replaced(
      typeof chosen[1] === 'string' ? chosen[1].repeat(50).slice(0, 40_000) : [chosen[1], chosen[1]],
    )
  return replaced(
    typeof chosen[1] === 'object' ? applyMutation(chosen[1], { kind, at, name, value: other }) : other,
  )
}

/** Values that a JSON Schema of ours allows (patterns that fast-check cannot generate become awkward text). */
function fromSchema(schema: JsonSchema, root: JsonSchema, depth: number): fc.Arbitrary<Json> {
  if (depth > 6) return fc.constant(null)
  if ('const' in schema) return fc.constant(schema['const'] as Json)
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as Json[]))
  const branches = [schema['anyOf'], schema['oneOf']].flat().filter(Boolean) as JsonSchema[]
  if (branches.length > 0) return fc.oneof(...branches.map((branch) => fromSchema(branch, root, depth + 1)))
  switch ([schema['type']].flat()[0]) {
    case 'object':
      return objectFrom(schema, root, depth)
    case 'array':
      return fc.array(fromSchema((schema['items'] ?? {}) as JsonSchema, root, depth + 1), {
        minLength: Number(schema['minItems'] ?? 0),
        maxLength: Math.min(Number(schema['maxItems'] ?? 3), 4),
      })
    case 'integer':
      return fc.integer({ min: atLeast(schema['minimum']), max: atMost(schema['maximum']) })
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'string':
      return textFrom(schema)
    default:
      return anyValue
  }
}

const atLeast = (value: unknown) => Math.max(Number(value ?? -1000), -(2 ** 31))
const atMost = (value: unknown) => Math.min(Number(value ?? 2 ** 31 - 1), 2 ** 31 - 1)

function objectFrom(schema: JsonSchema, root: JsonSchema, depth: number): fc.Arbitrary<Json> {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>)
  const { additionalProperties: others } = schema
  if (properties.length === 0) {
    if (others === false) return fc.constant({})
    const each = typeof others === 'object' ? fromSchema(others as JsonSchema, root, depth + 1) : anyValue
    return fc.dictionary(fc.string(), each, { maxKeys: 3 }) as fc.Arbitrary<Json>
  }
  const model = Object.fromEntries(
    properties.map(([name, inner]) => [name, fromSchema(inner, root, depth + 1)]),
  )
  return fc.record(model, { requiredKeys: (schema['required'] ?? []) as string[] }) as fc.Arbitrary<Json>
}

function textFrom(schema: JsonSchema): fc.Arbitrary<string> {
  if (schema['format'] === 'uri') return fc.oneof(fc.webUrl({ validSchemes: ['https'] }), awkward)
  if (typeof schema['pattern'] === 'string') {
    try {
      return fc.stringMatching(new RegExp(schema['pattern'], 'u'))
    } catch {
      return fc.oneof(fc.constantFrom('api.example.com', '/', 'dGV4dA=='), awkward)
    }
  }
  return fc.oneof(fc.string({ maxLength: Math.min(Number(schema['maxLength'] ?? 100), 200) }), awkward)
}

/** Rotating re-wraps every stored credential: it comes before the fuzz of storing them. */
export const inFuzzOrder = <T extends { readonly tool: { readonly name: string } }>(
  entries: readonly T[],
): T[] => entries.toSorted((a, b) => Number(isRotation(b)) - Number(isRotation(a)))

const isRotation = ({ tool }: { readonly tool: { readonly name: string } }) =>
  tool.name === 'gateway.authority.rotate'

/** Traces of code in an answer: stack frames, file names, driver words. */
export const LEAK = /\n\s+at |node_modules|\.ts:\d|\.js:\d|node:internal|SQLITE_|syntax error at/
