// Which part of a form a JSON Schema asks for, and whether a value can be shown by it. What no part can show is shown as JSON, so that
// every input there is has a form.
export type Schema = Readonly<Record<string, unknown>>

/**
 * `line`, `area`: text; `truth`: yes, no or nothing said; `lines`: a text a line; `boxes`: some of a few; `rows`: names with values;
 * `group`: an object with its own parts; `json`: whatever else.
 */
export type Widget =
  'line' | 'area' | 'number' | 'choice' | 'truth' | 'lines' | 'boxes' | 'rows' | 'group' | 'json'

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Members of an object in the order of the schema. */
export function membersOf(schema: Schema): [name: string, member: Schema][] {
  const { properties } = schema
  if (!isSchema(properties)) return []
  return Object.entries(properties).filter((pair): pair is [string, Schema] => isSchema(pair[1]))
}

/** The schema of a member; undefined where the schema itself names none. */
export function memberOf(schema: Schema, name: string): Schema | undefined {
  const { properties } = schema
  if (!isSchema(properties) || !Object.hasOwn(properties, name)) return undefined
  const member = properties[name]
  return isSchema(member) ? plain(member) : undefined
}

export const isRequired = ({ required }: Schema, name: string): boolean =>
  Array.isArray(required) && required.includes(name)

/** A value that may also be null is filled in like the value; null itself is said in JSON. */
export function plain(schema: Schema): Schema {
  const { anyOf, ...rest } = schema
  if (!Array.isArray(anyOf)) return schema
  const [only, ...others] = anyOf.filter((option) => isSchema(option) && option['type'] !== 'null')
  return isSchema(only) && others.length === 0 ? { ...rest, ...only } : schema
}

/** Whether an object takes members that its schema does not name. */
export const isOpen = ({ additionalProperties }: Schema): boolean =>
  additionalProperties === true || isSchema(additionalProperties)

export const choicesOf = ({ enum: choices }: Schema): string[] | undefined =>
  Array.isArray(choices) && choices.every((choice) => typeof choice === 'string') ? choices : undefined

/** Texts longer than a line. */
const LONG = 512

/** An address is a line, however long it may be, and what a message holds is more than one. */
const ADDRESS = /(?:^|_)(?:url|target|origin)$/
const CONTENT = /^(?:body|html)$/

export const isAddress = (name: string, { pattern }: Schema): boolean =>
  ADDRESS.test(name) || (typeof pattern === 'string' && pattern.startsWith('^https'))

/** The part that a schema asks for. */
function usualWidget(given: Schema, name: string): Widget {
  const schema = plain(given)
  switch (schema['type']) {
    case 'string':
      if (choicesOf(schema)) return 'choice'
      if (isAddress(name, schema)) return 'line'
      return CONTENT.test(name) || Number(schema['maxLength'] ?? 0) > LONG ? 'area' : 'line'
    case 'integer':
    case 'number':
      return 'number'
    case 'boolean':
      return 'truth'
    case 'array':
      return usualList(schema['items'])
    case 'object':
      return usualObject(schema)
    default:
      return 'json'
  }
}

function usualList(items: unknown): Widget {
  if (!isSchema(items) || items['type'] !== 'string') return 'json'
  return choicesOf(items) ? 'boxes' : 'lines'
}

function usualObject(schema: Schema): Widget {
  if (membersOf(schema).length > 0) return isOpen(schema) ? 'json' : 'group'
  const others = schema['additionalProperties']
  return isSchema(others) && others['type'] === 'string' && !choicesOf(others) ? 'rows' : 'json'
}

/**
 * The part that shows a member.
 * @param value undefined where nothing is filled in yet
 */
export function widgetOf(schema: Schema, value: unknown, name: string): Widget {
  const usual = usualWidget(schema, name)
  if (value === undefined) return usual
  if (usual === 'line' && typeof value === 'string' && value.includes('\n'))
    return widgetIf('area', schema, value)
  return widgetIf(usual, schema, value)
}

const widgetIf = (widget: Widget, schema: Schema, value: unknown): Widget =>
  SHOWS[widget](value, plain(schema)) ? widget : 'json'

/** A form sends lines with a carriage return, so one that was there before is lost; and nothing filled in is nothing sent. */
const isText = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && !value.includes('\r')
const isLine = (value: unknown): value is string => isText(value) && !value.includes('\n')

export const NUMBER = /^-?\d{1,15}(?:\.\d{1,15})?$/

const SHOWS: Readonly<Record<Widget, (value: unknown, schema: Schema) => boolean>> = {
  line: isLine,
  // The first line break of an area is not of its text (HTML, section 13.2.6.4.7).
  area: (value) => isText(value) && !value.startsWith('\n'),
  number: (value) => typeof value === 'number' && NUMBER.test(String(value)),
  choice: (value, schema) => typeof value === 'string' && choicesOf(schema)?.includes(value) === true,
  truth: (value) => typeof value === 'boolean',
  lines: (value) => Array.isArray(value) && value.length > 0 && value.every(isLine),
  boxes: (value, { items }) => isInOrder(value, isSchema(items) ? (choicesOf(items) ?? []) : []),
  rows: (value) =>
    isSchema(value) &&
    Object.keys(value).length > 0 &&
    Object.entries(value).every(([name, text]) => isLine(name) && (text === '' || isLine(text))),
  group: (value, schema) =>
    isSchema(value) &&
    Object.keys(value).length > 0 &&
    Object.entries(value).every(
      ([name, inner]) => inner !== undefined && memberOf(schema, name) !== undefined,
    ),
  json: () => true,
}

/** Some of the choices, each once, in their order: that is how a form sends them. */
function isInOrder(value: unknown, choices: readonly string[]): boolean {
  if (!Array.isArray(value) || value.length === 0) return false
  const sent = choices.filter((choice) => value.includes(choice))
  return sent.length === value.length && sent.every((choice, at) => choice === value[at])
}

/** What an input says besides the members that its form has: by another name of a member, or where any member is taken. */
export function restOf(schema: Schema, input: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(input).filter(([name]) => memberOf(schema, name) === undefined))
}
