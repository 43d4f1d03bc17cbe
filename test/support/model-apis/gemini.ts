// Gemini generateContent: what it refuses, and how it answers. https://ai.google.dev/api/generate-content
import { isObject } from '../../../src/lib/json.ts'
import { Refusal, type Json, type ModelApi, objectsIn, textOf } from './http.ts'
import { geminiRefusals } from './rules-gemini.ts'
import type { OfferedTool, Reply } from './script.ts'

export const geminiContent: ModelApi = {
  matches: (path) => /\/models\/[^/]+:(?:generateContent|streamGenerateContent)$/.test(path),
  read({ headers, url, body }) {
    if (headers['x-goog-api-key'] === undefined && !url.searchParams.has('key'))
      throw refusal("Method doesn't allow unregistered callers", 403, 'PERMISSION_DENIED')
    const declared = objectsIn(body['tools']).flatMap((tool) => objectsIn(tool['functionDeclarations']))
    const tools = declared.map(readTool)
    return { tools, results: resultsOf(objectsIn(body['contents'])) }
  },
  wantsEvents: ({ url }) => url.pathname.endsWith(':streamGenerateContent'),
  answer: (reply) => answer(reply),
  events: (reply) => [{ data: answer(reply) }],
}

const refusal = (message: string, code = 400, status = 'INVALID_ARGUMENT') =>
  new Refusal(code, { error: { code, message, status } })

const answer = (reply: Reply): Json => ({
  candidates: [
    {
      index: 0,
      finishReason: 'STOP',
      content: {
        role: 'model',
        parts:
          'calls' in reply
            ? reply.calls.map(({ name, input }) => ({ functionCall: { name, args: input } }))
            : [{ text: reply.text }],
      },
    },
  ],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  modelVersion: 'gemini-mock',
})

function readTool(tool: Json, index: number): OfferedTool {
  const name = textOf(tool['name'])
  const description = textOf(tool['description'])
  const { parameters, parametersJsonSchema } = tool
  if (isObject(parameters)) {
    const faults = geminiRefusals({ name, description, schema: parameters })
    const [fault] = faults
    if (fault !== undefined)
      throw refusal(`tools[0].function_declarations[${index}]: ${name}: ${fault} (${faults.length} in all)`)
    return { name, description, parameters }
  }
  // Left out for a function without arguments.
  return { name, description, parameters: isObject(parametersJsonSchema) ? parametersJsonSchema : {} }
}

/** As many responses as calls, right after them; a turn may be spread over neighbours, as LangChain sends it. */
function resultsOf(contents: readonly Json[]): string[] {
  const results: string[] = []
  let open = 0
  for (const { parts } of contents) {
    const responses = objectsIn(parts).flatMap(({ functionResponse }) =>
      isObject(functionResponse) ? [functionResponse] : [],
    )
    const calls = objectsIn(parts).filter(({ functionCall }) => functionCall !== undefined).length
    open -= responses.length
    if (open < 0 || (open > 0 && responses.length === 0))
      throw refusal(
        'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
      )
    for (const { name, response } of responses) {
      if (textOf(name) === '')
        throw refusal('GenerateContentRequest.contents.parts.function_response.name: Name cannot be empty.')
      if (!isObject(response))
        throw refusal("Invalid value at 'contents.parts.function_response.response' (Struct)")
      results.push(wordsOf(response))
    }
    open += calls
  }
  if (open > 0)
    throw refusal('Please ensure that function call turn is followed by a function response turn.')
  return results
}

/** A response is any object; the adapters put the text of the tool into one of its members. */
const wordsOf = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : Array.isArray(value) || isObject(value)
      ? Object.values(value).map(wordsOf).join('\n')
      : JSON.stringify(value)
