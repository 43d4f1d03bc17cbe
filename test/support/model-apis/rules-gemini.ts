// What the Gemini API accepts as a function declaration with `parameters`.
//
// https://ai.google.dev/api/caching#Schema (a select subset of OpenAPI 3.0: an unknown word is 400, `Invalid JSON payload received.
// Unknown name "propertyNames" at 'tools[0].function_declarations[0].parameters.properties[0].value': Cannot find field.`),
// https://ai.google.dev/api/caching#FunctionDeclaration (names). A list as `type` is 400, "Proto field is not repeating, cannot start
// list". Of strings, generativelanguage.googleapis.com takes the formats `enum` and `date-time` ("only 'enum' and 'date-time' are
// supported for STRING type"), and Vertex AI takes nothing beside `any_of` ("When using any_of, it must be the only field set").
import { type ModelTool, refusals, type Schema, unknownWords } from './schema-walk.ts'

export const GEMINI = {
  toolName: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/,
  maxTools: 512,
} as const

/** Fields of the message google.ai.generativelanguage.v1beta.Schema, as JSON spells them. */
const FIELDS = new Set([
  'type',
  'format',
  'title',
  'description',
  'nullable',
  'enum',
  'maxItems',
  'minItems',
  'properties',
  'required',
  'minProperties',
  'maxProperties',
  'minLength',
  'maxLength',
  'pattern',
  'example',
  'anyOf',
  'propertyOrdering',
  'default',
  'items',
  'minimum',
  'maximum',
])
const TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']
const FORMATS: Readonly<Record<string, readonly string[]>> = {
  string: ['enum', 'date-time'],
  number: ['float', 'double'],
  integer: ['int32', 'int64'],
}

/** What the API says against this declaration; empty where it takes it. */
export function geminiRefusals({ name, schema }: ModelTool): string[] {
  return [
    ...(GEMINI.toolName.test(name) ? [] : [`Invalid function name: ${name}`]),
    ...(String(schema['type']).toLowerCase() === 'object'
      ? []
      : ['functionDeclaration parameters schema should be of type OBJECT']),
    ...refusals(schema, schemaFaults),
  ]
}

function schemaFaults(schema: Schema): string[] {
  const { type, format, enum: choice, items, properties, required, anyOf } = schema
  const kind = String(type).toLowerCase()
  const names = Object.keys((properties ?? {}) as object)
  const missing = Array.isArray(required) ? required.filter((name) => !names.includes(String(name))) : []
  return [
    ...unknownWords(schema, FIELDS).map((word) => `Unknown name "${word}": Cannot find field.`),
    ...(Array.isArray(type) ? ['Proto field is not repeating, cannot start list.'] : []),
    ...(TYPES.includes(kind) || anyOf !== undefined ? [] : ['field predicate failed: a type is required']),
    ...(format !== undefined && !FORMATS[kind]?.includes(String(format))
      ? [`format: ${String(format)} is not supported for ${kind.toUpperCase()} type`]
      : []),
    ...(Array.isArray(choice) &&
    (kind !== 'string' || !choice.every((value) => typeof value === 'string' && value !== ''))
      ? ['enum: only allowed for STRING type, and cannot be empty']
      : []),
    ...(kind === 'array' && items === undefined ? ['items: missing field.'] : []),
    ...missing.map((name) => `required: property ${String(name)} is not defined`),
    ...(anyOf !== undefined && Object.keys(schema).length > 1
      ? ['When using any_of, it must be the only field set']
      : []),
  ]
}

/**
 * A schema as every adapter sends it at least: LangChain (libs/providers/langchain-google-genai/src/utils/zod_to_genai_parameters.ts) takes
 * away these words and leaves every other; the AI SDK (packages/google/src/convert-json-schema-to-openapi-schema.ts) takes away more.
 */
export function asGeminiAdaptersSend(schema: Schema): Schema {
  const strip = (value: unknown, isSchema: boolean): unknown => {
    if (Array.isArray(value)) return value.map((item) => strip(item, isSchema))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value)
        .filter(([word]) => !(isSchema && ['additionalProperties', '$schema'].includes(word)))
        .map(([word, inner]) => [word, strip(inner, !(isSchema && word === 'properties'))]),
    )
  }
  return strip(schema, true) as Schema
}
