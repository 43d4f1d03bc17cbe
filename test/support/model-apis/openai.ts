// What the two APIs of OpenAI have in common: the key, the shape of an error, and the rules for functions.
import type { IncomingHttpHeaders } from 'node:http'
import { isObject } from '../../../src/lib/json.ts'
import { Refusal, type Json, textOf } from './http.ts'
import type { OfferedTool } from './script.ts'

export const openAiRefusal = (
  message: string,
  param: string,
  code: string | null = null,
  status = 400,
): Refusal => new Refusal(status, { error: { message, type: 'invalid_request_error', param, code } })

const MAX_TOOLS = 128

/**
 * @param declared the functions of the request
 * @param at where the function with this index stands in the request, for the error
 * @throws Refusal as the API refuses
 */
export function openAiTools(
  headers: IncomingHttpHeaders,
  body: Json,
  declared: readonly unknown[],
  at: (index: number) => string,
): OfferedTool[] {
  if (!/^Bearer \S/.test(headers.authorization ?? ''))
    throw openAiRefusal("You didn't provide an API key.", '', 'invalid_api_key', 401)
  if (textOf(body['model']) === '') throw openAiRefusal('you must provide a model parameter', 'model')
  if (declared.length > MAX_TOOLS)
    throw openAiRefusal(
      `Invalid 'tools': array too long. Expected an array with maximum length ${MAX_TOOLS}, but got an array with length ${declared.length} instead.`,
      'tools',
      'array_above_max_length',
    )
  return declared.map((given, index) => {
    const tool = isObject(given) ? given : {}
    const name = textOf(tool['name'])
    const description = textOf(tool['description'])
    const parameters = isObject(tool['parameters']) ? tool['parameters'] : {}
    refuseName(name, `${at(index)}.name`)
    return { name, description, parameters }
  })
}

function refuseName(name: string, param: string): void {
  if (name.length > 64)
    throw openAiRefusal(
      `Invalid '${param}': string too long. Expected a string with maximum length 64, but got a string with length ${name.length} instead.`,
      param,
      'string_above_max_length',
    )
  if (!/^[a-zA-Z0-9_-]+$/.test(name))
    throw openAiRefusal(
      `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
      param,
      'invalid_value',
    )
}
