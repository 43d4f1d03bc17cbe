// What the OpenAI API accepts as a function: the same in chat completions and in responses.
//
// Names, and 128 of them: https://platform.openai.com/docs/api-reference/chat/create (tools: a-z, A-Z, 0-9, underscores and dashes, 64 at
// most; 128 functions at most). The root: the API's own words, "schema must have type 'object' and not have
// 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level" and "array schema missing items".
// Strict: https://platform.openai.com/docs/guides/structured-outputs#supported-schemas, and openai-node src/lib/transform.ts
// (`toStrictJsonSchema`), openai-python src/openai/lib/_pydantic.py (`to_strict_json_schema`) for how schemas are made strict.
import { eachSchema, type ModelTool, refusals, type Schema } from './schema-walk.ts'

export const OPENAI = {
  toolName: /^[a-zA-Z0-9_-]{1,64}$/,
  maxTools: 128,
  maxDescription: 1024,
} as const

const NOT_AT_THE_TOP = ['oneOf', 'anyOf', 'allOf', 'enum', 'not']

/** What the API says against this function where it is not asked to be strict; empty where it takes it. */
export function openaiRefusals({ name, description = '', schema }: ModelTool): string[] {
  return [
    ...(OPENAI.toolName.test(name) ? [] : [`name: ${name} does not match ${OPENAI.toolName}`]),
    ...(description.length > OPENAI.maxDescription ? ['description: longer than 1024 characters'] : []),
    ...(schema['type'] === 'object' ? [] : ["schema must have type 'object'"]),
    ...(schema['properties'] === undefined ? ['object schema missing properties'] : []),
    ...NOT_AT_THE_TOP.filter((word) => word in schema).map((word) => `schema has ${word} at the top level`),
    ...refusals(schema, ({ type, items }) =>
      type === 'array' && items === undefined ? ['array schema missing items'] : [],
    ),
  ]
}

/** Keywords that strict mode refuses, and transform.ts before it. */
const UNSUPPORTED = [
  'allOf',
  'oneOf',
  'contains',
  'dependentRequired',
  'dependentSchemas',
  'if',
  'then',
  'else',
  'not',
  'patternProperties',
  'prefixItems',
  'propertyNames',
  'unevaluatedItems',
  'unevaluatedProperties',
  'uniqueItems',
  'contentEncoding',
]
const FORMATS = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid']
const LIMITS = { properties: 5000, depth: 10, enumValues: 1000, textLength: 120_000 }

/** What strict mode refuses of a schema that was made strict; empty where it takes it. */
export function strictRefusals(schema: Schema): string[] {
  let properties = 0
  let values = 0
  let length = 0
  let depth = 0
  eachSchema(schema, ({ properties: members, enum: choice }, at) => {
    const names = Object.keys((members ?? {}) as object)
    properties += names.length
    length += names.join('').length
    if (Array.isArray(choice)) {
      values += choice.length
      length += choice.join('').length
    }
    depth = Math.max(depth, at.split('/').filter((step) => step === 'properties').length)
  })
  return [
    ...openaiRefusals({ name: 'any', schema }),
    ...(properties > LIMITS.properties ? [`${properties} properties`] : []),
    ...(values > LIMITS.enumValues ? [`${values} enum values`] : []),
    ...(length > LIMITS.textLength ? [`names and values of ${length} characters`] : []),
    ...(depth > LIMITS.depth ? [`${depth} levels of objects`] : []),
    ...refusals(schema, strictFaults),
  ]
}

function strictFaults(schema: Schema): string[] {
  const { type, format, pattern, properties, required, additionalProperties } = schema
  const names = Object.keys((properties ?? {}) as object)
  const isTyped = ['type', 'anyOf', '$ref', 'enum', 'const'].some((word) => word in schema)
  return [
    ...UNSUPPORTED.filter((word) => word in schema).map((word) => `${word} is not permitted`),
    ...(isTyped ? [] : ["schema must have a 'type' key"]),
    ...(typeof format === 'string' && !FORMATS.includes(format) ? [`format ${format} is not supported`] : []),
    ...(typeof pattern === 'string' && /\(\?[=!<]|\\[1-9]/.test(pattern) ? ['pattern looks around'] : []),
    ...([type].flat().includes('object') && additionalProperties !== false
      ? ["'additionalProperties' is required to be supplied and to be false"]
      : []),
    ...(names.every((name) => Array.isArray(required) && required.includes(name))
      ? []
      : ["'required' is required to be an array including every key in properties"]),
  ]
}

/**
 * A schema as strict mode wants it: every member is required, and one that could be left out may be null instead (the guide: "emulate
 * an optional parameter by using a union type with null").
 * @throws {Error} where an object takes members that nobody named, which no strict schema can
 */
export function toOpenaiStrict(schema: Schema, at = ''): Schema {
  const { properties, required = [], items, anyOf, additionalProperties, default: value, ...rest } = schema
  const isObject = schema['type'] === 'object' || properties !== undefined
  if (isObject && (additionalProperties ?? false) !== false)
    throw new Error(`Object schema at ${at || '<root>'} must set additionalProperties: false`)
  const members = Object.entries((properties ?? {}) as Record<string, Schema>)
  const strictMember = (name: string, member: Schema) => {
    const strict = toOpenaiStrict(member, `${at}/${name}`)
    return (required as string[]).includes(name) ? strict : nullable(strict)
  }
  return {
    ...rest,
    ...(value !== undefined && value !== null && { default: value }),
    ...(items !== undefined && { items: toOpenaiStrict(items as Schema, `${at}/items`) }),
    ...(Array.isArray(anyOf) && { anyOf: anyOf.map((branch: Schema) => toOpenaiStrict(branch, at)) }),
    ...(isObject && {
      properties: Object.fromEntries(members.map(([name, member]) => [name, strictMember(name, member)])),
      required: members.map(([name]) => name),
      additionalProperties: false,
    }),
  }
}

function nullable(schema: Schema): Schema {
  const { type, enum: choice, anyOf } = schema
  if (Array.isArray(anyOf))
    return anyOf.some((branch: Schema) => branch['type'] === 'null')
      ? schema
      : { ...schema, anyOf: [...anyOf, { type: 'null' }] }
  return { ...schema, type: [type, 'null'], ...(Array.isArray(choice) && { enum: [...choice, null] }) }
}
