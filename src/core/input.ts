// Parses a tool's input and says what is wrong with it, field by field, without quoting any value back.
import { GatewayError } from './errors.ts'
import { describeIssues } from './validation-issues.ts'
import type { AnyTool } from './tool.ts'

const MAX_FIELDS = 20

/**
 * @param options.repair asked only where the input is refused
 * @throws {GatewayError} input_missing_field, input_wrong_type, input_unknown_property or input_invalid; the tool's own
 * code where it has one
 */
export function parseInput(
  tool: AnyTool,
  input: unknown,
  options: {
    /** Leaves out of a pointer every name that could be a secret: callers choose the names of members and headers. */
    readonly hideNames: (pointer: string) => string
    readonly repair?: (() => Record<string, unknown>) | undefined
  },
): unknown {
  const { hideNames, repair } = options
  const parsed = tool.input.safeParse(input)
  if (parsed.success) return parsed.data
  const problems = describeIssues(parsed.error.issues, input)
  const fields = problems
    .slice(0, MAX_FIELDS)
    .map(({ pointer, message }) => ({ pointer: hideNames(pointer), message }))
  const [first = { pointer: '', message: 'does not match the schema' }] = fields
  throw new GatewayError(
    tool.invalidInput ?? problems.at(0)?.code ?? 'input_invalid',
    `${first.pointer || 'the input'}: ${first.message}. ${hint(tool)}${repair ? ` ${REPAIR}` : ''}`,
    {
      extras: {
        fields,
        ...(repair && { repair: repair() }),
      },
    },
  )
}

const REPAIR = '`repair.example` is a request that works as it stands.'
const hint = (tool: AnyTool) => `The schema of ${tool.name} is in /openapi.json and in the MCP tool list.`

/** The error for input that a door could not read, under the tool's own code where it has one. */
export function underOwnCode({ invalidInput }: AnyTool, error: GatewayError): GatewayError {
  if (!invalidInput || error.status !== 400) return error
  return new GatewayError(invalidInput, error.message, { cause: error, extras: error.extras })
}
