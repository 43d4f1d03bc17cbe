// What a form holds as the input of its tool. A name says where a text goes (a JSON pointer) and, before it, how it is read; the schema
// says what is there, and whatever it does not name is left out.
import { memberOf, NUMBER, plain, type Schema } from './schema.ts'

export interface FieldFault {
  readonly pointer: string
  readonly message: string
}

export interface FormReading {
  readonly input: Record<string, unknown>
  /** Areas that should hold JSON and do not. */
  readonly faults: readonly FieldFault[]
}

/** How a text is read that does not simply stand at its pointer. */
export const READ_AS = {
  lines: 'lines:',
  boxes: 'item:',
  name: 'name:',
  value: 'value:',
  json: 'json:',
  rest: 'rest:',
} as const

/**
 * @param entries as `FormData` or `URLSearchParams` give them
 * @param words.notJson what is said of an area that holds no JSON
 * @param parse of a stranger's JSON
 */
export function readForm(
  entries: Iterable<readonly [string, unknown]>,
  schema: Schema,
  words: { readonly notJson: string },
  parse: (text: string) => unknown = JSON.parse,
): FormReading {
  const faults: FieldFault[] = []
  const input: Record<string, unknown> = {}
  let rest: Record<string, unknown> = {}
  const names = new Map<string, string[]>()
  const values = new Map<string, string[]>()

  /** Once at its field, however often a form names it: what is wrong is drawn, and a short name may come thousands of times. */
  function blame(pointer: string): void {
    if (!faults.some((fault) => fault.pointer === pointer)) faults.push({ pointer, message: words.notJson })
  }

  function parsed(text: string, pointer: string): unknown {
    try {
      return parse(text)
    } catch {
      blame(pointer)
      return undefined
    }
  }

  for (const [name, given] of entries) {
    if (typeof given !== 'string') continue
    const text = given.replaceAll('\r\n', '\n')
    const slash = name.indexOf('/')
    const way = slash < 0 ? name : name.slice(0, slash)
    const pointer = slash < 0 ? '' : name.slice(slash)
    if (way === READ_AS.rest) {
      const value = text.trim() === '' ? undefined : parsed(text, '')
      if (isRecord(value)) rest = value
      else if (value !== undefined) blame('')
    } else if (way === READ_AS.name) append(names, pointer, text)
    else if (way === READ_AS.value) append(values, pointer, text)
    else if (text !== '') {
      const member = schemaAt(schema, pointer)
      if (member) put(input, pointer, valueOf(way, text, member, input, pointer, parsed))
    }
  }
  for (const [pointer, list] of names) {
    if (!schemaAt(schema, pointer)) continue
    const pairs = list.map((name, at) => [name, values.get(pointer)?.[at] ?? ''] as const)
    const named = pairs.filter(([name]) => name !== '')
    // Built by definition, not by assignment: a row may be called `__proto__`.
    if (named.length > 0) put(input, pointer, Object.fromEntries(named))
  }
  return { input: { ...rest, ...input }, faults }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function append(map: Map<string, string[]>, key: string, text: string): void {
  const list = map.get(key)
  if (list) list.push(text)
  else map.set(key, [text])
}

function valueOf(
  way: string,
  text: string,
  schema: Schema,
  input: Record<string, unknown>,
  pointer: string,
  parsed: (text: string, pointer: string) => unknown,
): unknown {
  switch (way) {
    case READ_AS.json:
      return text.trim() === '' ? undefined : parsed(text, pointer)
    case READ_AS.lines: {
      const lines = text.split('\n').filter((line) => line !== '')
      return lines.length > 0 ? lines : undefined
    }
    case READ_AS.boxes: {
      const known = valueAt(input, pointer)
      return [...(Array.isArray(known) ? known : []), text]
    }
    default:
      return coerced(text, schema)
  }
}

/** Text that is not of the type stays text, so that the gateway refuses it in its own words. */
function coerced(text: string, schema: Schema): unknown {
  const { type } = schema
  if ((type === 'integer' || type === 'number') && NUMBER.test(text.trim())) return Number(text)
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

const segmentsOf = (pointer: string) =>
  pointer
    .slice(1)
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))

export const pointerTo = (parent: string, name: string): string =>
  `${parent}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`

/** The schema that a pointer leads to through members that the schema names. */
function schemaAt(schema: Schema, pointer: string): Schema | undefined {
  let at: Schema | undefined = schema
  for (const name of segmentsOf(pointer)) at = at && memberOf(at, name)
  return at && plain(at)
}

function valueAt(input: unknown, pointer: string): unknown {
  let at = input
  for (const name of segmentsOf(pointer)) at = isRecord(at) && Object.hasOwn(at, name) ? at[name] : undefined
  return at
}

/** Sets what is there; an object around it comes to be with the first of its members. The names are the schema's. */
function put(input: Record<string, unknown>, pointer: string, value: unknown): void {
  if (value === undefined) return
  let at = input
  const names = segmentsOf(pointer)
  for (const [index, name] of names.entries()) {
    if (index === names.length - 1) at[name] = value
    else {
      const known = at[name]
      const inner = isRecord(known) ? known : {}
      at[name] = inner
      at = inner
    }
  }
}

/** The field that a fault is shown at: the one it points to, or what it is a part of. */
export const faultAt = (faults: readonly FieldFault[], pointer: string): FieldFault | undefined =>
  faults.find((fault) => fault.pointer === pointer) ??
  faults.find((fault) => fault.pointer.startsWith(`${pointer}/`))
