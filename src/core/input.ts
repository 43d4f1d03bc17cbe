// Parses a tool's input and says what is wrong with it, field by field, without quoting any value back.
import { GatewayError } from './errors.ts'
import type { z } from 'zod'
import { isObject } from '../lib/json.ts'
import { describeIssues, toBranch, valueAt } from './validation-issues.ts'
import type { AnyTool } from './tool.ts'

const MAX_FIELDS = 20
/** More than any input has members; a list of a million nulls is not gone through twice. */
const MAX_NULLS = 64

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
    /** Whether null at a member that may be left out, and takes no null, is leaving it out. */
    readonly nullIsAbsent?: boolean
  },
): unknown {
  const { hideNames, repair, nullIsAbsent = false } = options
  const strictly = tool.input.safeParse(input)
  const parsed = nullIsAbsent && !strictly.success ? withoutNulls(tool, input, strictly) : strictly
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

/**
 * A model whose output is constrained to a strict schema sends every member, and null for those that it leaves out (OpenAI, structured
 * outputs: "emulate an optional parameter by using a union type with null"). Only what was refused is looked at, so that null keeps
 * its meaning wherever it has one.
 */
function withoutNulls(tool: AnyTool, input: unknown, refused: z.ZodSafeParseError<unknown>) {
  const nulls = refused.error.issues
    .flatMap(toBranch)
    .map(({ path }) => path)
    .filter((path) => isNullMember(input, path))
  if (nulls.length === 0 || nulls.length > MAX_NULLS) return refused
  const again = tool.input.safeParse(leaveOut(input, nulls))
  const isRequired = again.error?.issues.some(({ path }) => nulls.some((left) => isSame(left, path)))
  return isRequired ? refused : again
}

const isNullMember = (input: unknown, path: readonly PropertyKey[]) =>
  typeof path.at(-1) === 'string' && valueAt(input, path) === null

function leaveOut(input: unknown, paths: readonly (readonly PropertyKey[])[]): unknown {
  const copy: unknown = structuredClone(input)
  for (const path of paths) {
    const holder = valueAt(copy, path.slice(0, -1))
    const name = path.at(-1)
    if (isObject(holder) && typeof name === 'string') delete holder[name]
  }
  return copy
}

const isSame = (one: readonly PropertyKey[], other: readonly PropertyKey[]) =>
  one.length === other.length && one.every((step, at) => step === other[at])

const REPAIR = '`repair.example` is a request that works as it stands.'
const hint = (tool: AnyTool) =>
  `The schema of ${tool.name} is in /openapi.json, in the MCP tool list and, for A2A, at /a2a/ext/skills/v1.`

/** The error for input that a door could not read, under the tool's own code where it has one. */
export function underOwnCode({ invalidInput }: AnyTool, error: GatewayError): GatewayError {
  if (!invalidInput || error.status !== 400) return error
  return new GatewayError(invalidInput, error.message, { cause: error, extras: error.extras })
}
