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
  answer: (reply) => response(itemsOf(reply)),
  events(reply) {
    const items = itemsOf(reply)
    const begun = { ...response([]), status: 'in_progress' }
    const all: readonly Json[] = [
      { type: 'response.created', response: begun },
      { type: 'response.in_progress', response: begun },
      ...items.flatMap(eventsOf),
      { type: 'response.completed', response: response(items) },
    ]
    return all.map((data, sequence_number) => ({
      event: textOf(data['type']),
      data: { ...data, sequence_number },
    })) satisfies Events
  },
}

function eventsOf(item: Json, output_index: number): Json[] {
  const at = { item_id: item['id'], output_index }
  const frame = (begun: Json, middle: readonly Json[]): Json[] => [
    { type: 'response.output_item.added', output_index, item: { ...item, status: 'in_progress', ...begun } },
    ...middle,
    { type: 'response.output_item.done', output_index, item },
  ]
  if (item['type'] === 'function_call')
    return frame({ arguments: '' }, [
      { type: 'response.function_call_arguments.delta', ...at, delta: item['arguments'] },
      { type: 'response.function_call_arguments.done', ...at, arguments: item['arguments'] },
    ])
  const [part = {}] = objectsIn(item['content'])
  const within = { ...at, content_index: 0 }
  const { text } = part
  return frame({ content: [] }, [
    { type: 'response.content_part.added', ...within, part: { ...part, text: '' } },
    { type: 'response.output_text.delta', ...within, delta: text, logprobs: [] },
    { type: 'response.output_text.done', ...within, text, logprobs: [] },
    { type: 'response.content_part.done', ...within, part },
  ])
}

let count = 0
function itemsOf(reply: Reply): Json[] {
  const status = 'completed'
  if ('calls' in reply)
    return reply.calls.map(({ name, input }) => {
      const number = ++count
      const call_id = `call_${number}`
      return {
        id: `fc_${number}`,
        type: 'function_call',
        status,
        call_id,
        name,
        arguments: JSON.stringify(input),
      }
    })
  const content = [{ type: 'output_text', text: reply.text, annotations: [], logprobs: [] }]
  return [{ id: `msg_${++count}`, type: 'message', status, role: 'assistant', content }]
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
    if (objectsIn(item['output']).some(({ type }) => !/^input_(?:text|image|file)$/.test(textOf(type))))
      throw openAiRefusal('Invalid value: output takes input_text, input_image and input_file.', 'input')
    return contentText(item['output'])
  })
  const open = called.find((id) => !answered.some(({ call_id }) => call_id === id))
  if (open !== undefined) throw openAiRefusal(`No tool output found for function call ${open}.`, 'input')
  return results
}
