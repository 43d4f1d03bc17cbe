// Checks a handler's answer against the schema that its documents show. The checked value itself, as parsed, is sent.
import { type GatewayError, gatewayFault } from './errors.ts'
import type { AnyTool } from './tool.ts'
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
  throw gatewayFault(`output refused by its schema: ${places.join('; ')}`, extras)
}
