// OpenAI Responses: what it refuses, and how it answers. https://platform.openai.com/docs/api-reference/responses/create
import { contentText, type Events, type Json, type ModelApi, objectsIn, textOf } from './http.ts'
import { openAiRefusal, openAiTools } from './openai.ts'
import type { Reply } from './script.ts'

export const openAiResponses: ModelApi = {
  matches: (path) => path.endsWith('/responses'),
  read({ headers, body }) {
    const declared = objectsIn(body['tools']).filter(({ type }) => type === 'function')
    const tools = openAiTools(headers, body, declared, (index) => `tools[${index}]`)
    return { tools, results: resultsOf(objectsIn(body['input'])) }
  },
  wantsEvents: ({ body }) => body['stream'] === true,
  answer: (reply) => response([itemOf(reply)]),
  events(reply) {
    const item = itemOf(reply)
    const item_id = item['id']
    const at = { item_id, output_index: 0 }
    const words = 'call' in reply ? '' : reply.text
    const part = { type: 'output_text', text: '', annotations: [], logprobs: [] }
    const middle: readonly Json[] =
      'call' in reply
        ? [
            { type: 'response.function_call_arguments.delta', ...at, delta: item['arguments'] },
            { type: 'response.function_call_arguments.done', ...at, arguments: item['arguments'] },
          ]
        : [
            { type: 'response.content_part.added', ...at, content_index: 0, part },
            { type: 'response.output_text.delta', ...at, content_index: 0, delta: words, logprobs: [] },
            { type: 'response.output_text.done', ...at, content_index: 0, text: words, logprobs: [] },
            { type: 'response.content_part.done', ...at, content_index: 0, part: { ...part, text: words } },
          ]
    const begun =
      'call' in reply
        ? { ...item, status: 'in_progress', arguments: '' }
        : { ...item, status: 'in_progress', content: [] }
    const all: readonly Json[] = [
      { type: 'response.created', response: { ...response([]), status: 'in_progress' } },
      { type: 'response.in_progress', response: { ...response([]), status: 'in_progress' } },
      { type: 'response.output_item.added', output_index: 0, item: begun },
      ...middle,
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: response([item]) },
    ]
    return all.map((data, sequence_number) => ({
      event: textOf(data['type']),
      data: { ...data, sequence_number },
    })) satisfies Events
  },
}

let count = 0
function itemOf(reply: Reply): Json {
  const number = ++count
  if (!('call' in reply))
    return {
      id: `msg_${number}`,
      type: 'message',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: reply.text, annotations: [], logprobs: [] }],
    }
  const { name, input } = reply.call
  return {
    id: `fc_${number}`,
    type: 'function_call',
    status: 'completed',
    call_id: `call_${number}`,
    name,
    arguments: JSON.stringify(input),
  }
}

const response = (output: readonly Json[]): Json => ({
  id: `resp_${count}`,
  object: 'response',
  created_at: 1_790_000_000,
  status: 'completed',
  background: false,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  model: 'gpt-mock',
  output,
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: null, summary: null },
  store: false,
  temperature: 1,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_p: 1,
  truncation: 'disabled',
  usage: {
    input_tokens: 1,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 1,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 2,
  },
  user: null,
  metadata: {},
})

/** Every call of the input has its output in it, and every output its call. */
function resultsOf(items: readonly Json[]): string[] {
  const called = items.filter(({ type }) => type === 'function_call').map(({ call_id }) => textOf(call_id))
  const answered = items.filter(({ type }) => type === 'function_call_output')
  const results = answered.map((item) => {
    const id = textOf(item['call_id'])
    if (!called.includes(id))
      throw openAiRefusal(`No tool call found for function call output with call_id ${id}.`, 'input')
    return contentText(item['output'])
  })
  const open = called.find((id) => !answered.some(({ call_id }) => call_id === id))
  if (open !== undefined) throw openAiRefusal(`No tool output found for function call ${open}.`, 'input')
  return results
}
