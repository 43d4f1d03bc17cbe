// What the Anthropic Messages API accepts as a tool.
//
// Names: https://docs.claude.com/en/docs/agents-and-tools/tool-use/implement-tool-use (^[a-zA-Z0-9_-]{1,64}$; the API takes 128). The
// schema: JSON Schema 2020-12 (`tools.N.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12`), with the
// API's own words "input_schema does not support oneOf, allOf, or anyOf at the top level" and "Property keys should match pattern
// '^[a-zA-Z0-9_.-]{1,64}$'"; custom tools of managed agents refuse `$ref` anywhere
// (https://platform.claude.com/docs/en/managed-agents/self-hosted-sandboxes).
// Strict: https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations, and
// anthropic-sdk-typescript src/lib/transform-json-schema.ts, which says what it cannot express in the description instead.
import { type ModelTool, refusals, type Schema } from './schema-walk.ts'

export const ANTHROPIC = {
  toolName: /^[a-zA-Z0-9_-]{1,64}$/,
  propertyName: /^[a-zA-Z0-9_.-]{1,64}$/,
} as const

const NOT_AT_THE_TOP = ['oneOf', 'allOf', 'anyOf']

/** What the API says against this tool; empty where it takes it. */
export function anthropicRefusals({ name, schema }: ModelTool): string[] {
  return [
    ...(ANTHROPIC.toolName.test(name) ? [] : [`name: String should match pattern '${ANTHROPIC.toolName}'`]),
    ...(schema['type'] === 'object' ? [] : ["input_schema.type: Input should be 'object'"]),
    ...(NOT_AT_THE_TOP.some((word) => word in schema)
      ? ['input_schema does not support oneOf, allOf, or anyOf at the top level']
      : []),
    ...refusals(schema, (inner) => [
      ...('$ref' in inner || '$defs' in inner ? ['reference keywords are not supported'] : []),
      ...Object.keys((inner['properties'] ?? {}) as object)
        .filter((key) => !ANTHROPIC.propertyName.test(key))
        .map((key) => `Property keys should match pattern '${ANTHROPIC.propertyName}': ${key}`),
    ]),
  ]
}

const FORMATS = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid']
/** Words that transform-json-schema.ts passes on; any other it writes into the description. */
const PASSED = ['type', 'anyOf', 'oneOf', 'allOf', 'description', 'title', 'const', 'enum', 'items']
const PASSED_BY_TYPE: Readonly<Record<string, readonly string[]>> = {
  object: ['properties', 'required', 'additionalProperties'],
  string: ['format'],
  array: ['minItems'],
}
/** What it may write there without a loss: a bound that a model reads as well in words. */
const SAID_IN_WORDS = [
  'default',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'maxItems',
  'minItems',
  'pattern',
]

/** What strict tool use would lose of the schema or refuse; empty where it keeps all of it. */
export const anthropicStrictRefusals = (schema: Schema): string[] =>
  refusals(schema, (inner) => {
    const type = String(inner['type'])
    const known = [...PASSED, ...(PASSED_BY_TYPE[type] ?? []), ...SAID_IN_WORDS]
    const { format, pattern, additionalProperties } = inner
    return [
      ...Object.keys(inner)
        .filter((word) => !known.includes(word))
        .map((word) => `${word} is not supported`),
      ...('type' in inner || 'anyOf' in inner ? [] : ['JSON schema must have a type defined']),
      ...(format !== undefined && !FORMATS.includes(String(format)) ? [`format ${String(format)}`] : []),
      ...(typeof pattern === 'string' && /\(\?[=!<]|\\[bB1-9]/.test(pattern) ? ['pattern looks around'] : []),
      ...(type === 'object' && (additionalProperties ?? false) !== false
        ? ["for 'object' type, 'additionalProperties' must be explicitly set to false"]
        : []),
    ]
  })
