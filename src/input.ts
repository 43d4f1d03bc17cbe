// Parses a tool's input and says what is wrong with it, field by field, without quoting any value back.
import type { z } from 'zod'
import { type ErrorCode, GatewayError } from './errors.ts'
import type { AnyTool } from './registry.ts'

const MAX_FIELDS = 20

/** @throws {GatewayError} input_missing_field, input_wrong_type, input_unknown_property or input_invalid */
export function parseInput(tool: AnyTool, input: unknown): unknown {
  const parsed = tool.input.safeParse(input)
  if (parsed.success) return parsed.data
  const issues = parsed.error.issues
  const fields = issues
    .slice(0, MAX_FIELDS)
    .map((issue) => ({ pointer: pointerOf(issue), message: issue.message }))
  const first = issues[0]!
  const place = fields[0]!.pointer || 'the input'
  throw new GatewayError(codeOf(first, input), `${place}: ${first.message}. ${hint(tool)}`, {
    extras: { fields },
  })
}

function codeOf(issue: z.core.$ZodIssue, input: unknown): ErrorCode {
  if (issue.code === 'unrecognized_keys') return 'input_unknown_property'
  if (issue.code !== 'invalid_type') return 'input_invalid'
  return valueAt(input, issue.path) === undefined && issue.path.length > 0
    ? 'input_missing_field'
    : 'input_wrong_type'
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Record<PropertyKey, unknown>)[key]
  }
  return value
}

/** RFC 6901. For an unknown property it names the property itself. */
function pointerOf(issue: z.core.$ZodIssue): string {
  const path = issue.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0] ?? ''] : issue.path
  return path
    .map((key) => `/${String(key).slice(0, 64).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('')
}

const hint = (tool: AnyTool) => `The schema of ${tool.name} is in /openapi.json and in the MCP tool list.`
