// Prompts, resources, completion and logging of the conformance suite, on the SDK's low-level server.
import type { Server } from '@modelcontextprotocol/server'
import { isObject } from '../../lib/json.ts'
import { form } from './fixture-inputs.ts'
import { type JsonObject, RPC } from './wire.ts'

/** One red pixel. */
export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
/** A header and no sample. */
export const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA='

const RESOURCES = [
  {
    uri: 'test://static-text',
    name: 'static-text',
    description: 'A text that never changes',
    mimeType: 'text/plain',
  },
  {
    uri: 'test://static-binary',
    name: 'static-binary',
    description: 'A picture that never changes',
    mimeType: 'image/png',
  },
  {
    uri: 'test://watched-resource',
    name: 'watched-resource',
    description: 'A text that may be subscribed to',
    mimeType: 'text/plain',
  },
]
const TEMPLATE = {
  uriTemplate: 'test://template/{id}/data',
  name: 'template',
  description: 'A document made from its id',
  mimeType: 'application/json',
}

const argument = (name: string, description: string) => ({ name, description, required: true })
const PROMPTS = [
  { name: 'test_simple_prompt', description: 'A prompt without arguments' },
  {
    name: 'test_prompt_with_arguments',
    description: 'A prompt with two arguments',
    arguments: [argument('arg1', 'First test argument'), argument('arg2', 'Second test argument')],
  },
  {
    name: 'test_prompt_with_embedded_resource',
    description: 'A prompt with a resource inside',
    arguments: [argument('resourceUri', 'URI of the resource to embed')],
  },
  { name: 'test_prompt_with_image', description: 'A prompt with a picture inside' },
  { name: 'test_input_required_result_prompt', description: 'A prompt that asks back' },
]

const refuse = (message: string, data?: JsonObject) =>
  Object.assign(new Error(message), { code: RPC.invalidParams, data })

function readResource(uri: string): JsonObject {
  if (uri === 'test://static-text')
    return { uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }
  if (uri === 'test://static-binary') return { uri, mimeType: 'image/png', blob: PNG }
  if (uri === 'test://watched-resource') return { uri, mimeType: 'text/plain', text: 'Nothing new yet.' }
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1]
  if (id === undefined) throw refuse('There is no such resource', { uri })
  const document = { id, templateTest: true, data: `Data for ID: ${id}` }
  return { uri, mimeType: 'application/json', text: JSON.stringify(document) }
}

const say = (text: string) => ({ role: 'user', content: { type: 'text', text } })

function getPrompt(name: string, given: Readonly<Record<string, unknown>>, answers: unknown): JsonObject {
  switch (name) {
    case 'test_simple_prompt':
      return { messages: [say('This is a simple prompt for testing.')] }
    case 'test_prompt_with_arguments':
      return {
        messages: [
          say(`Prompt with arguments: arg1='${String(given['arg1'])}', arg2='${String(given['arg2'])}'`),
        ],
      }
    case 'test_prompt_with_embedded_resource': {
      const text = 'Embedded resource content for testing.'
      const resource = { uri: String(given['resourceUri']), mimeType: 'text/plain', text }
      return {
        messages: [
          { role: 'user', content: { type: 'resource', resource } },
          say('Please process the embedded resource above.'),
        ],
      }
    }
    case 'test_prompt_with_image':
      return {
        messages: [
          { role: 'user', content: { type: 'image', data: PNG, mimeType: 'image/png' } },
          say('Please analyze the image above.'),
        ],
      }
    case 'test_input_required_result_prompt': {
      const context = isObject(answers) ? answers['user_context'] : undefined
      if (isObject(context)) return { messages: [say(`Context: ${JSON.stringify(context['content'])}`)] }
      const ask = form('What context should the prompt use?', { context: { type: 'string' } }, ['context'])
      return { resultType: 'input_required', inputRequests: { user_context: ask } }
    }
    default:
      throw refuse('There is no such prompt', { name })
  }
}

export const CONTENT_CAPABILITIES = {
  prompts: {},
  resources: { subscribe: true },
  completions: {},
  logging: {},
}

export function installContent(server: Server): void {
  server.setRequestHandler('resources/list', () => ({ resources: RESOURCES }))
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [TEMPLATE] }))
  server.setRequestHandler(
    'resources/read',
    ({ params }) => ({ contents: [readResource(params.uri)] }) as never,
  )
  // Nothing here ever changes, so there is nobody to remember.
  server.setRequestHandler('resources/subscribe', () => ({}))
  server.setRequestHandler('resources/unsubscribe', () => ({}))
  server.setRequestHandler('prompts/list', () => ({ prompts: PROMPTS }))
  server.setRequestHandler(
    'prompts/get',
    ({ params }, { mcpReq }) =>
      getPrompt(params.name, params.arguments ?? {}, mcpReq.inputResponses) as never,
  )
  server.setRequestHandler('completion/complete', () => ({
    completion: { values: ['paris', 'park', 'party'], total: 3, hasMore: false },
  }))
}
