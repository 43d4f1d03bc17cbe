// What the two APIs of OpenAI have in common: the key, the shape of an error, and the rules for functions.
import type { IncomingHttpHeaders } from 'node:http'
import { isObject } from '../../../src/lib/json.ts'
import { Refusal, type Json, textOf } from './http.ts'
import { OPENAI, openaiRefusals, strictRefusals } from './rules-openai.ts'
import type { OfferedTool } from './script.ts'

export const openAiRefusal = (
  message: string,
  param: string,
  code: string | null = null,
  status = 400,
): Refusal => new Refusal(status, { error: { message, type: 'invalid_request_error', param, code } })

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
  if (declared.length > OPENAI.maxTools)
    throw openAiRefusal(
      `Invalid 'tools': array too long. Expected an array with maximum length ${OPENAI.maxTools}, but got an array with length ${declared.length} instead.`,
      'tools',
      'array_above_max_length',
    )
  return declared.map((given, index) => {
    const tool = isObject(given) ? given : {}
    const name = textOf(tool['name'])
    const description = textOf(tool['description'])
    const schema = isObject(tool['parameters']) ? tool['parameters'] : {}
    // The Responses API makes a function strict that does not say, by its own conversion; only what says so is refused.
    const faults = [
      ...openaiRefusals({ name, description, schema }),
      ...(tool['strict'] === true ? strictRefusals(schema) : []),
    ]
    const [fault] = faults
    if (fault !== undefined)
      throw openAiRefusal(
        `Invalid schema for function '${name}': ${fault} (${faults.length} in all)`,
        at(index),
        'invalid_function_parameters',
      )
    return { name, description, parameters: schema }
  })
}
