// Fixture tools that need something from the client: asked within the call in the 2025 era, by returning
// `input_required` and being called again in the 2026 era.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { isObject } from '../../lib/json.ts'
import type { FixtureCall, FixtureOutcome } from './fixtures.ts'
import { type JsonObject, META, RPC } from './wire.ts'

export interface InputRequest {
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list'
  readonly params: JsonObject
}
type Inputs = Readonly<Record<string, InputRequest>>

export const text = (value: string): FixtureOutcome => ({
  result: { content: [{ type: 'text', text: value }] },
})
const invalidParams = (message: string): FixtureOutcome => ({
  error: { code: RPC.invalidParams, message },
})

export const form = (
  message: string,
  properties: JsonObject,
  required: readonly string[] = [],
): InputRequest => ({
  method: 'elicitation/create',
  params: { message, requestedSchema: { type: 'object', properties, required } },
})
const sample = (prompt: string, maxTokens: number): InputRequest => ({
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: { type: 'text', text: prompt } }], maxTokens },
})
const roots: InputRequest = { method: 'roots/list', params: {} }

const askName = form('What is your name?', { name: { type: 'string' } }, ['name'])
const askConfirmation = form('Please confirm', { ok: { type: 'boolean' } }, ['ok'])

/** State that travels through the client and comes back: signed, because the client could change it. */
const stateKey = randomBytes(32)
const sign = (value: string) => createHmac('sha256', stateKey).update(value).digest('base64url')
const sealState = (value: string) => `${value}.${sign(value)}`
function openState(state: unknown): string | undefined {
  if (typeof state !== 'string') return undefined
  const at = state.indexOf('.')
  const [value, mac] = [state.slice(0, at), Buffer.from(state.slice(at + 1))]
  const expected = Buffer.from(sign(value))
  return mac.length === expected.length && timingSafeEqual(mac, expected) ? value : undefined
}

const CAPABILITY_OF = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
} as const

export function declaredCapabilities({ params }: Pick<FixtureCall, 'params'>): JsonObject {
  const meta = params['_meta']
  const declared = isObject(meta) ? meta[META.capabilities] : undefined
  return isObject(declared) ? declared : {}
}

/** Runs `then` with the answers, or says what is still to be answered. */
async function gather(
  call: FixtureCall,
  inputs: Inputs,
  then: (answers: Readonly<Record<string, JsonObject>>) => FixtureOutcome,
  state?: string,
): Promise<FixtureOutcome> {
  if (call.era === 'legacy') {
    const answers: Record<string, JsonObject> = {}
    for (const [key, { method, params }] of Object.entries(inputs))
      answers[key] = await call.exchange.ask(method, params)
    return then(answers)
  }
  const given = call.params['inputResponses']
  if (given !== undefined && !isObject(given)) return invalidParams('inputResponses must be an object')
  const isAnswered = Object.keys(inputs).every((key) => isObject(given?.[key]))
  if (given && isAnswered) return then(given as Record<string, JsonObject>)
  return inputRequired(inputs, state)
}

const inputRequired = (inputs: Inputs, state?: string): FixtureOutcome => ({
  result: {
    resultType: 'input_required',
    inputRequests: inputs,
    ...(state === undefined ? {} : { requestState: sealState(state) }),
  },
})

/** As gather, but the state must come back unchanged before an answer counts. */
async function gatherWithState(
  call: FixtureCall,
  inputs: Inputs,
  state: string,
  then: () => FixtureOutcome,
): Promise<FixtureOutcome> {
  const echoed = call.params['requestState']
  if (echoed !== undefined && openState(echoed) !== state)
    return invalidParams('requestState was changed on the way')
  return gather(call, inputs, () => (echoed === undefined ? inputRequired(inputs, state) : then()), state)
}

async function multiRound(call: FixtureCall): Promise<FixtureOutcome> {
  const step1 = { step1: form('Step 1: What is your name?', { name: { type: 'string' } }, ['name']) }
  const step2 = {
    step2: form('Step 2: What is your favorite color?', { color: { type: 'string' } }, ['color']),
  }
  const echoed = call.params['requestState']
  if (echoed === undefined) return inputRequired(step1, 'round-1')
  switch (openState(echoed)) {
    case 'round-1':
      return gather(call, step1, () => inputRequired(step2, 'round-2'), 'round-1')
    case 'round-2':
      return gather(call, step2, () => text('All rounds are complete.'), 'round-2')
    default:
      return invalidParams('requestState was changed on the way')
  }
}

const describeAnswer = ({ action, content }: JsonObject = {}) =>
  `action=${String(action)}, content=${JSON.stringify(content ?? {})}`

const choices = (values: readonly string[], titles: readonly string[]) =>
  values.map((value, index) => ({ const: value, title: titles[index] }))

const DEFAULTS = {
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
}
const OPTIONS = ['option1', 'option2', 'option3']
const VALUES = ['value1', 'value2', 'value3']
const ENUMS = {
  untitledSingle: { type: 'string', enum: OPTIONS },
  titledSingle: { type: 'string', oneOf: choices(VALUES, ['First Option', 'Second Option', 'Third Option']) },
  legacyEnum: {
    type: 'string',
    enum: ['opt1', 'opt2', 'opt3'],
    enumNames: ['Option One', 'Option Two', 'Option Three'],
  },
  untitledMulti: { type: 'array', items: { type: 'string', enum: OPTIONS } },
  titledMulti: {
    type: 'array',
    items: { anyOf: choices(VALUES, ['First Choice', 'Second Choice', 'Third Choice']) },
  },
}

const argument = ({ params }: FixtureCall, name: string) => {
  const given = params['arguments']
  return isObject(given) && typeof given[name] === 'string' ? given[name] : ''
}

function onlyDeclared(call: FixtureCall): Inputs {
  const declared = declaredCapabilities(call)
  const all: Inputs = { user_name: askName, greeting: sample('Generate a greeting', 50), client_roots: roots }
  return Object.fromEntries(Object.entries(all).filter(([, { method }]) => CAPABILITY_OF[method] in declared))
}

export const inputFixtures: Readonly<Record<string, (call: FixtureCall) => Promise<FixtureOutcome>>> = {
  test_sampling: (call) =>
    gather(call, { reply: sample(argument(call, 'prompt'), 100) }, ({ reply }) =>
      text(`LLM response: ${JSON.stringify(reply?.['content'])}`),
    ),
  test_elicitation: (call) => {
    const username = { type: 'string', description: "User's response" }
    const email = { type: 'string', description: "User's email address" }
    const ask = form(argument(call, 'message'), { username, email }, ['username', 'email'])
    return gather(call, { user: ask }, ({ user }) => text(`User response: ${describeAnswer(user)}`))
  },
  test_elicitation_sep1034_defaults: (call) =>
    gather(call, { user: form('Please check the defaults', DEFAULTS) }, ({ user }) =>
      text(`Elicitation completed: ${describeAnswer(user)}`),
    ),
  test_elicitation_sep1330_enums: (call) =>
    gather(call, { user: form('Please choose', ENUMS) }, ({ user }) =>
      text(`Elicitation completed: ${describeAnswer(user)}`),
    ),
  test_streaming_elicitation: (call) => gather(call, { user_name: askName }, () => text('Thank you.')),
  test_input_required_result_elicitation: (call) =>
    gather(call, { user_name: askName }, ({ user_name }) => {
      const content = user_name?.['content']
      return text(`Hello, ${isObject(content) ? String(content['name']) : 'nobody'}!`)
    }),
  test_input_required_result_sampling: (call) =>
    gather(call, { capital_question: sample('What is the capital of France?', 100) }, (answers) =>
      text(JSON.stringify(answers['capital_question']?.['content'])),
    ),
  test_input_required_result_list_roots: (call) =>
    gather(call, { client_roots: roots }, ({ client_roots }) =>
      text(JSON.stringify(client_roots?.['roots'])),
    ),
  test_input_required_result_request_state: (call) =>
    gatherWithState(call, { confirm: askConfirmation }, 'confirm', () => text('state-ok')),
  test_input_required_result_tampered_state: (call) =>
    gatherWithState(call, { confirm: askConfirmation }, 'tamper', () => text('state-ok')),
  test_input_required_result_multiple_inputs: (call) =>
    gatherWithState(
      call,
      { user_name: askName, greeting: sample('Generate a greeting', 50), client_roots: roots },
      'multiple',
      () => text('All inputs are here.'),
    ),
  test_input_required_result_multi_round: multiRound,
  test_input_required_result_capabilities: (call) =>
    gather(call, onlyDeclared(call), () => text('All declared inputs are here.')),
}
