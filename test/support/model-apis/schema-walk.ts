// Every schema inside a schema, with the JSON Pointer at which it stands. Values (`enum`, `default`) are not schemas and not visited.

export type Schema = Readonly<Record<string, unknown>>

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const ONE = ['items', 'additionalProperties', 'propertyNames', 'not', 'contains', 'if', 'then', 'else']
const MANY = ['anyOf', 'oneOf', 'allOf', 'prefixItems']
const NAMED = ['properties', '$defs', 'definitions', 'patternProperties', 'dependentSchemas']

/** @param visit is given the outer schema before the inner ones */
export function eachSchema(schema: unknown, visit: (schema: Schema, at: string) => void, at = ''): void {
  if (!isSchema(schema)) return
  visit(schema, at)
  for (const word of ONE) eachSchema(schema[word], visit, `${at}/${word}`)
  for (const word of MANY)
    if (Array.isArray(schema[word]))
      for (const [index, branch] of schema[word].entries())
        eachSchema(branch, visit, `${at}/${word}/${index}`)
  for (const word of NAMED)
    for (const [name, member] of Object.entries(isSchema(schema[word]) ? schema[word] : {}))
      eachSchema(member, visit, `${at}/${word}/${name}`)
}

/** What `judge` says against any schema inside this one, each with its place. */
export function refusals(schema: unknown, judge: (schema: Schema) => readonly string[]): string[] {
  const found: string[] = []
  eachSchema(schema, (inner, at) => found.push(...judge(inner).map((words) => `${at || '/'}: ${words}`)))
  return found
}

export const unknownWords = (schema: Schema, known: ReadonlySet<string>): string[] =>
  Object.keys(schema).filter((word) => !known.has(word))

/** A function as a model API is sent it: the three APIs name the members differently and mean the same. */
export interface ModelTool {
  readonly name: string
  readonly description?: string
  readonly schema: Schema
}
