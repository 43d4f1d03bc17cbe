// SARIF 2.1.0 (OASIS, with errata 01) as a JSON Schema of those objects that `test --format sarif` writes. Names, types, bounds and required
// members are those of the standard; members that we do not write are left out and refused, so that a misspelled one is found.
const text = { type: 'string' }
const bag = { type: 'object' }
const object = (properties: object, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
const list = (items: object) => ({ type: 'array', items })

/** 3.11: a result says its message, a rule its description, as text. */
const message = object({ text }, ['text'])
/** 3.30: everything is counted from 1. */
const place = { type: 'integer', minimum: 1 }
const region = object({ startLine: place, startColumn: place, endLine: place, endColumn: place })

const location = object({
  physicalLocation: object({
    artifactLocation: object({ uri: { type: 'string', format: 'uri-reference' }, uriBaseId: text }),
    region,
  }),
  logicalLocations: { ...list(object({ fullyQualifiedName: text })), uniqueItems: true },
})

const result = object(
  {
    ruleId: text,
    ruleIndex: { type: 'integer', minimum: -1 },
    level: { enum: ['none', 'note', 'warning', 'error'] },
    message,
    locations: list(location),
    partialFingerprints: { type: 'object', additionalProperties: text },
    properties: bag,
  },
  ['message'],
)

const rule = object({ id: text, shortDescription: message, help: message }, ['id'])
const driver = object({ name: text, version: text, rules: { ...list(rule), uniqueItems: true } }, ['name'])

const run = object(
  {
    tool: object({ driver }, ['driver']),
    columnKind: { enum: ['utf16CodeUnits', 'unicodeCodePoints'] },
    invocations: list(object({ executionSuccessful: { type: 'boolean' } }, ['executionSuccessful'])),
    results: list(result),
    properties: bag,
  },
  ['tool'],
)

export const SARIF = object(
  { $schema: { type: 'string', format: 'uri' }, version: { const: '2.1.0' }, runs: list(run) },
  ['version', 'runs'],
)
