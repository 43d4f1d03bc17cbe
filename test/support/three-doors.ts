// One call of a tool through each door, as raw wire JSON, brought to one form: the code, and the output if there is one.
import type { AnyTool, DoorName } from '../../src/core/registry.ts'
import { at, type Json } from './tree.ts'

export interface Outcome {
  /** HTTP status of the exchange. */
  readonly status: number
  /** `ok`, or the code of the problem document. */
  readonly code: unknown
  readonly output: unknown
  readonly raw: string
  /** The PaymentRequired of x402, where the call was answered with a price. */
  readonly challenge?: unknown
  /** The task that waits for the payment, over A2A. */
  readonly taskId?: unknown
}

type Send = (path: string, init: RequestInit) => Promise<Response>

/** What goes along with the input. */
export interface Beside {
  /** The payment of a challenge. */
  readonly payment?: unknown
  /** The task that it pays for, over A2A. */
  readonly taskId?: unknown
  /** `_meta` of MCP and metadata of A2A; REST has none. */
  readonly meta?: Json
}

const jsonType = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64')

export const throughDoor = {
  async rest(
    send: Send,
    tool: AnyTool,
    input: unknown,
    token: string,
    beside: Beside = {},
  ): Promise<Outcome> {
    const route = tool.rest[0]!
    const rest = { ...(input as Json) }
    const path = route.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
      const value = encodeURIComponent(String(rest[name] ?? 'none'))
      delete rest[name]
      return value
    })
    const query = new URLSearchParams(
      Object.entries(rest).map(([name, value]): [string, string] => [name, String(value)]),
    )
    const headers = {
      ...jsonType,
      authorization: `Bearer ${token}`,
      ...(beside.payment !== undefined && { 'payment-signature': base64(beside.payment) }),
    }
    const response =
      route.method === 'GET'
        ? await send(`${path}?${query}`, { headers })
        : await send(path, { method: 'POST', headers, body: JSON.stringify(rest) })
    const raw = await response.text()
    const body = JSON.parse(raw) as Json
    const code = response.ok ? 'ok' : body['code']
    const required = response.headers.get('payment-required')
    return {
      status: response.status,
      code,
      output: response.ok ? body : undefined,
      raw,
      ...(required !== null && { challenge: JSON.parse(Buffer.from(required, 'base64').toString()) }),
    }
  },

  async mcp(send: Send, tool: AnyTool, input: unknown, token: string, beside: Beside = {}): Promise<Outcome> {
    const { payment, meta } = beside
    const { status, body, raw } = await rpc(
      send,
      '/mcp',
      token,
      { 'mcp-protocol-version': '2025-11-25' },
      'tools/call',
      {
        name: tool.name,
        arguments: input,
        ...((payment !== undefined || meta) && {
          _meta: { ...meta, ...(payment !== undefined && { 'x402/payment': payment }) },
        }),
      },
    )
    const content = at(body, 'result', 'structuredContent')
    const isError = at(body, 'result', 'isError') === true
    // A challenge is the PaymentRequired of x402 itself, not a problem document.
    const isChallenge = at(content, 'x402Version') !== undefined && isError
    const refused = isChallenge ? 'payment_required' : at(content, 'code')
    // A client that can sign in is told in HTTP that it should: the problem document is the error's data.
    const error = at(body, 'error', 'data', 'code') ?? at(body, 'error', 'code')
    const code = isError ? refused : content === undefined ? error : 'ok'
    return {
      status,
      code,
      output: code === 'ok' ? content : undefined,
      raw,
      ...(isChallenge && { challenge: content }),
    }
  },

  async a2a(send: Send, tool: AnyTool, input: unknown, token: string, beside: Beside = {}): Promise<Outcome> {
    const { payment, taskId, meta } = beside
    const paying = payment !== undefined && {
      'x402.payment.status': 'payment-submitted',
      'x402.payment.payload': payment,
    }
    const { status, body, raw } = await rpc(send, '/a2a', token, { 'a2a-version': '1.0' }, 'SendMessage', {
      message: {
        messageId: crypto.randomUUID(),
        role: 'ROLE_USER',
        parts: [{ data: { skill: skillFor(tool, input), input } }],
        ...(taskId !== undefined && { taskId }),
        ...((paying || meta) && { metadata: { ...meta, ...paying } }),
      },
    })
    const details = (at(body, 'error', 'data') ?? []) as Json[]
    const refused = details.map((detail) => at(detail, 'value', 'code')).find((code) => code !== undefined)
    const task = at(body, 'result', 'task')
    const failed = dataOf(at(task, 'status', 'message', 'parts'))
    const state = at(task, 'status', 'state')
    const ended =
      state === 'TASK_STATE_FAILED'
        ? at(failed, 'code')
        : state === 'TASK_STATE_INPUT_REQUIRED'
          ? 'payment_required'
          : 'ok'
    const code = body['error'] ? (refused ?? at(body, 'error', 'code')) : ended
    const parts = at(task, 'artifacts', '0', 'parts') ?? at(body, 'result', 'message', 'parts')
    return {
      status,
      code,
      output: code === 'ok' ? dataOf(parts) : undefined,
      raw,
      ...(code === 'payment_required' && {
        challenge: at(task, 'status', 'message', 'metadata', 'x402.payment.required'),
        taskId: at(task, 'id'),
      }),
    }
  },
} satisfies Record<DoorName, unknown>

/** Of a tool with several, the one that the input names. */
const skillFor = ({ skills }: AnyTool, input: unknown) =>
  (skills.find(({ id }) => id === at(input, 'capability')) ?? skills[0]!).id

const dataOf = (parts: unknown): unknown =>
  ((parts ?? []) as Json[]).map((part) => part['data']).find((data) => data !== undefined)

async function rpc(
  send: Send,
  path: string,
  token: string,
  headers: Record<string, string>,
  method: string,
  params: unknown,
): Promise<{ status: number; body: Json; raw: string }> {
  const response = await send(path, {
    method: 'POST',
    headers: { ...jsonType, ...headers, authorization: `Bearer ${token}` },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const raw = await response.text()
  return { status: response.status, body: JSON.parse(raw) as Json, raw }
}
