// What a handler answers, held against the schema that its documents show. What is sent is what was checked: the parsed value.
import { GatewayError } from './errors.ts'
import type { AnyTool } from './registry.ts'
import { describeIssues } from './validation-issues.ts'

const MAX_PLACES = 5

/**
 * @returns a copy that holds nothing but what the schema names, so that no getter says another thing when it is sent
 * @throws {GatewayError} internal, with the places for the log and none of the values
 */
export function checkOutput(
  tool: AnyTool,
  output: unknown,
  hideNames: (pointer: string) => string,
  extras: GatewayError['extras'] = {},
): unknown {
  const parsed = tool.output.safeParse(output)
  if (parsed.success) return parsed.data
  const places = describeIssues(parsed.error.issues, output)
    .slice(0, MAX_PLACES)
    .map(({ pointer, message }) => `${hideNames(pointer) || 'the output'}: ${message}`)
  throw refusedOutput(`output refused by its schema: ${places.join('; ')}`, extras)
}

/** What went wrong is the gateway's own fault: the caller is told that it failed, the log says how. */
export const refusedOutput = (reason: string, extras: GatewayError['extras'] = {}): GatewayError =>
  new GatewayError(
    'internal',
    'The gateway failed to handle this request. Try again; if it keeps failing, give the operator the request_id.',
    { reason, extras, cause: new Error(reason) },
  )
