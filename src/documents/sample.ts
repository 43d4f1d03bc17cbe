// An example value made from a JSON Schema: deterministic, valid for the schemas that tools use, and readable.
import type { JsonSchema } from '../core/registry.ts'

const MAX_DEPTH = 8

/** @param root where `#/$defs/…` points to */
export function sampleOf(schema: JsonSchema, root: JsonSchema = schema, depth = 0): unknown {
  for (const known of ['const', 'default'] as const) if (known in schema) return schema[known]
  const first = listOf(schema['examples'])[0] ?? listOf(schema['enum'])[0]
  if (first !== undefined) return first
  if (typeof schema['$ref'] === 'string' && depth < MAX_DEPTH)
    return sampleOf(resolve(schema['$ref'], root), root, depth + 1)
  const branches = [...listOf(schema['anyOf']), ...listOf(schema['oneOf'])] as JsonSchema[]
  // A value says more than null does.
  const branch = branches.find((candidate) => candidate['type'] !== 'null') ?? branches[0]
  if (branch) return sampleOf(branch, root, depth)
  return byType(schema, root, depth)
}

function byType(schema: JsonSchema, root: JsonSchema, depth: number): unknown {
  const type = [schema['type']].flat().find((name) => name !== 'null')
  switch (type) {
    case 'object':
      return sampleObject(schema, root, depth)
    case 'array': {
      const items = schema['items'] as JsonSchema | undefined
      if (!items || depth >= MAX_DEPTH) return []
      return [sampleOf(items, root, depth + 1)]
    }
    case 'integer':
    case 'number':
      return Math.max(Number(schema['minimum'] ?? 0), 0)
    case 'boolean':
      return false
    case 'string':
      return sampleText(schema)
    default:
      return {}
  }
}

function sampleObject(schema: JsonSchema, root: JsonSchema, depth: number): unknown {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>)
  const required = listOf(schema['required'])
  const wanted = properties.filter(([name]) => required.includes(name))
  return Object.fromEntries(wanted.map(([name, property]) => [name, sampleOf(property, root, depth + 1)]))
}

/** Formats and patterns of our own vocabulary. */
function sampleText(schema: JsonSchema): string {
  if (schema['format'] === 'uri') return 'https://example.com/'
  if (schema['format'] === 'date-time') return '2026-01-01T00:00:00.000Z'
  const pattern = typeof schema['pattern'] === 'string' ? new RegExp(schema['pattern'], 'u') : undefined
  const description = String(schema['description'] ?? '')
  const candidates = [/RFC 3339/.test(description) ? '2026-01-01T00:00:00.000Z' : 'text', ...SAMPLES]
  const minLength = Number(schema['minLength'] ?? 0)
  const fits = (text: string) => text.length >= minLength && (pattern?.test(text) ?? true)
  return candidates.find(fits) ?? 'text'.padEnd(minLength, '.')
}

const SAMPLES = [
  'api.example.com',
  '/',
  'https://example.com/',
  '0'.repeat(64),
  'application/json',
  'dGV4dA==',
  '1000',
  '2026-01',
]

function resolve(ref: string, root: JsonSchema): JsonSchema {
  let value: unknown = root
  for (const key of ref.split('/').slice(1)) value = (value as Record<string, unknown> | undefined)?.[key]
  return (value ?? {}) as JsonSchema
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
