// The model behind the mocks: it plays a script, reads what its tools answered, and says it again. It is strict about itself, too:
// what it would call has to fit the schema that it was offered, because a model knows nothing else of a tool.
import { Ajv2020 } from 'ajv/dist/2020.js'
import { isObject } from '../../../src/lib/json.ts'
import type { JsonSchema } from '../../../src/core/registry.ts'

/** A tool as it arrived at the model's API, whatever the adapter on the way made of it. */
export interface OfferedTool {
  readonly name: string
  readonly description: string
  readonly parameters: JsonSchema
}

/** What a request of any model API says, once it passed the rules of that API. */
export interface Turn {
  readonly tools: readonly OfferedTool[]
  /** What the tools called so far answered, oldest first, as the model reads it. */
  readonly results: readonly string[]
}

export interface ModelCall {
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
}
export type Reply = { readonly calls: readonly ModelCall[] } | { readonly text: string }

export interface Step {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
}

/** What a model calls, turn by turn; the calls of one turn are made at once. */
export type Script = readonly (readonly Step[])[]

/** Calls the tools of the script turn by turn, and then answers with what the last one said. */
export function replyTo({ tools, results }: Turn, script: Script): Reply {
  let answered = 0
  for (const steps of script) {
    if (answered === results.length) return { calls: steps.map((step) => callOf(step, tools)) }
    answered += steps.length
  }
  if (answered !== results.length) throw new Error(`${results.length} results of ${answered} calls`)
  return { text: `The tool said: ${results.at(-1) ?? ''}` }
}

function callOf(step: Step, tools: readonly OfferedTool[]): ModelCall {
  const tool = tools.find(({ name }) => name === step.tool)
  if (tool === undefined) throw new Error(`none of ${tools.length} tools is ${step.tool}`)
  const input = { ...nullsOf(tool.parameters), ...step.input }
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  if (!ajv.validate(tool.parameters, input))
    throw new Error(`${tool.name} as offered does not take ${JSON.stringify(input)}: ${ajv.errorsText()}`)
  return { name: tool.name, input }
}

/** Where a schema was made strict, a model writes every member, and null for what it would leave out. */
function nullsOf({ properties, required }: JsonSchema): Record<string, null> {
  const takesNull = (schema: unknown): boolean =>
    isObject(schema) &&
    ([schema['type']].flat().includes('null') ||
      (Array.isArray(schema['anyOf']) && schema['anyOf'].some(takesNull)))
  const members = isObject(properties) ? Object.entries(properties) : []
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name)
  return Object.fromEntries(
    members.filter(([name, schema]) => isRequired(name) && takesNull(schema)).map(([name]) => [name, null]),
  )
}
