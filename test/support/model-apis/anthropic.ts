// Anthropic Messages: what it refuses, and how it answers. https://docs.anthropic.com/en/api/messages
import { isObject } from '../../../src/lib/json.ts'
import { Refusal, contentText, type Events, type Json, type ModelApi, objectsIn, textOf } from './http.ts'
import { anthropicRefusals, anthropicStrictRefusals } from './rules-anthropic.ts'
import type { OfferedTool, Reply } from './script.ts'

export const anthropicMessages: ModelApi = {
  matches: (path) => path.endsWith('/v1/messages'),
  read({ headers, body }) {
    if (headers['x-api-key'] === undefined)
      throw refusal('x-api-key header is required', 401, 'authentication_error')
    if (headers['anthropic-version'] === undefined) throw refusal('anthropic-version: header is required')
    for (const name of ['model', 'max_tokens', 'messages'])
      if (body[name] === undefined) throw refusal(`${name}: Field required`)
    const tools = objectsIn(body['tools']).map(readTool)
    const twice = tools.find(({ name }, index) => tools.findIndex((other) => other.name === name) !== index)
    if (twice) throw refusal('tools: Tool names must be unique.')
    return { tools, results: resultsOf(objectsIn(body['messages'])) }
  },
  wantsEvents: ({ body }) => body['stream'] === true,
  answer: (reply) => ({ ...message(), content: blocksOf(reply), stop_reason: stopReason(reply) }),
  events(reply) {
    const blocks = blocksOf(reply).flatMap((block, index): Json[] => {
      const [begun, delta] =
        block['type'] === 'tool_use'
          ? [
              { ...block, input: {} },
              { type: 'input_json_delta', partial_json: JSON.stringify(block['input']) },
            ]
          : [
              { ...block, text: '' },
              { type: 'text_delta', text: block['text'] },
            ]
      return [
        { type: 'content_block_start', index, content_block: begun },
        { type: 'content_block_delta', index, delta },
        { type: 'content_block_stop', index },
      ]
    })
    const all: readonly Json[] = [
      { type: 'message_start', message: message() },
      ...blocks,
      {
        type: 'message_delta',
        delta: { stop_reason: stopReason(reply), stop_sequence: null },
        usage: { output_tokens: 1 },
      },
      { type: 'message_stop' },
    ]
    return all.map((data) => ({ event: textOf(data['type']), data })) satisfies Events
  },
}

const refusal = (text: string, status = 400, type = 'invalid_request_error') =>
  new Refusal(status, { type: 'error', error: { type, message: text }, request_id: 'req_mock' })

function readTool(tool: Json, index: number): OfferedTool {
  const name = textOf(tool['name'])
  const schema = tool['input_schema']
  if (!isObject(schema)) throw refusal(`tools.${index}.custom.input_schema: Field required`)
  const description = textOf(tool['description'])
  const faults = [
    ...anthropicRefusals({ name, description, schema }),
    ...(tool['strict'] === true ? anthropicStrictRefusals(schema) : []),
  ]
  const [fault] = faults
  if (fault !== undefined) throw refusal(`tools.${index}.custom: ${name}: ${fault} (${faults.length} in all)`)
  return { name, description, parameters: schema }
}

let count = 0
const message = (): Json => ({
  id: `msg_${++count}`,
  type: 'message',
  role: 'assistant',
  model: 'claude-mock',
  content: [],
  stop_reason: null,
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
})
const stopReason = (reply: Reply) => ('calls' in reply ? 'tool_use' : 'end_turn')
const blocksOf = (reply: Reply): Json[] =>
  'calls' in reply
    ? reply.calls.map(({ name, input }) => ({ type: 'tool_use', id: `toolu_${++count}`, name, input }))
    : [{ type: 'text', text: reply.text }]

/** Each tool_use has its tool_result in the very next message, and each tool_result its tool_use in the one before. */
function resultsOf(messages: readonly Json[]): string[] {
  const results: string[] = []
  if (messages[0]?.['role'] !== 'user') throw refusal('messages: first message must use the "user" role')
  let open: string[] = []
  for (const [index, { role, content }] of messages.entries()) {
    const blocks = objectsIn(content)
    const answers = blocks.filter(({ type }) => type === 'tool_result')
    const inner = answers.flatMap((answer) => objectsIn(answer['content']))
    if ([...blocks, ...inner].some(({ type, text }) => type === 'text' && textOf(text) === ''))
      throw refusal('messages: text content blocks must be non-empty')
    for (const answer of answers) {
      const id = textOf(answer['tool_use_id'])
      if (!open.includes(id))
        throw refusal(
          `messages.${index}.content.0: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. ` +
            'Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
        )
      open = open.filter((other) => other !== id)
      results.push(contentText(answer['content']))
    }
    if (open.length > 0)
      throw refusal(
        `messages.${index - 1}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ` +
          `${open.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
      )
    open =
      role === 'assistant' ? blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => textOf(id)) : []
  }
  return results
}
