// OpenAI Chat Completions: what it refuses, and how it answers. https://platform.openai.com/docs/api-reference/chat/create
import { Refusal, contentText, type Json, type ModelApi, objectsIn, textOf } from './http.ts'
import { openAiRefusal, openAiTools } from './openai.ts'
import type { Reply } from './script.ts'

const MODEL = 'gpt-mock'

export const openAiChat: ModelApi = {
  matches: (path) => path.endsWith('/chat/completions'),
  read({ headers, body }) {
    const declared = objectsIn(body['tools']).map(({ function: given }) => given)
    const tools = openAiTools(headers, body, declared, (index) => `tools[${index}].function`)
    return { tools, results: resultsOf(objectsIn(body['messages'])) }
  },
  wantsEvents: ({ body }) => body['stream'] === true,
  answer: (reply) => ({
    ...head('chat.completion'),
    choices: [
      {
        index: 0,
        finish_reason: finish(reply),
        message: { role: 'assistant', refusal: null, ...said(reply) },
      },
    ],
    usage,
  }),
  events(reply, { body }) {
    const number = ++count
    const chunk = (delta: Json, finish_reason: string | null = null) => ({
      data: { ...head('chat.completion.chunk', number), choices: [{ index: 0, delta, finish_reason }] },
    })
    const { tool_calls: calls = [], content } = said(reply)
    const options = body['stream_options'] as { include_usage?: boolean } | undefined
    return [
      chunk({ role: 'assistant', content: content === null ? null : '' }),
      ...calls.flatMap((call, index) => [
        chunk({ tool_calls: [{ index, ...call, function: { ...call.function, arguments: '' } }] }),
        chunk({ tool_calls: [{ index, function: { arguments: call.function.arguments } }] }),
      ]),
      ...(content === null ? [] : [chunk({ content })]),
      chunk({}, finish(reply)),
      ...(options?.include_usage === true
        ? [{ data: { ...head('chat.completion.chunk', number), choices: [], usage } }]
        : []),
      { data: '[DONE]' },
    ]
  },
}

let count = 0
const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
/** LangGraph takes a message with an id that it has seen for the same message. */
const head = (object: string, number = ++count) => ({
  id: `chatcmpl-${number}`,
  object,
  created: 1_790_000_000,
  model: MODEL,
})
const finish = (reply: Reply) => ('calls' in reply ? 'tool_calls' : 'stop')

function said(reply: Reply) {
  if (!('calls' in reply)) return { content: reply.text }
  return {
    content: null,
    tool_calls: reply.calls.map(({ name, input }) => ({
      id: `call_${++count}`,
      type: 'function' as const,
      function: { name, arguments: JSON.stringify(input) },
    })),
  }
}

/** Every call is answered right after it, and nothing else is. */
function resultsOf(messages: readonly Json[]): string[] {
  const results: string[] = []
  let open: string[] = []
  const refuseOpen = (index: number) => {
    if (open.length > 0)
      throw openAiRefusal(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
          `The following tool_call_ids did not have response messages: ${open.join(', ')}`,
        `messages.[${index}].role`,
      )
  }
  for (const [index, message] of messages.entries()) {
    if (message['role'] === 'tool') {
      const id = textOf(message['tool_call_id'])
      if (!open.includes(id))
        throw openAiRefusal(
          "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
          `messages.[${index}].role`,
        )
      open = open.filter((other) => other !== id)
      if (objectsIn(message['content']).some(({ type }) => type !== 'text'))
        throw openAiRefusal(
          "Invalid 'messages': a tool message takes text only.",
          `messages.[${index}].content`,
        )
      results.push(contentText(message['content']))
      continue
    }
    refuseOpen(index)
    open = objectsIn(message['tool_calls']).map(({ id }) => textOf(id))
  }
  refuseOpen(messages.length)
  if (messages.length === 0)
    throw new Refusal(400, {
      error: { message: "Invalid 'messages': empty array.", type: 'invalid_request_error' },
    })
  return results
}
