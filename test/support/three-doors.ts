// One call of a tool through each door, as raw wire JSON, brought to one form: the code, and the output if there is one.
import type { AnyTool } from '../../src/core/registry.ts'
import { at, type Json } from './tree.ts'

export interface Outcome {
  /** HTTP status of the exchange. */
  readonly status: number
  /** `ok`, or the code of the problem document. */
  readonly code: unknown
  readonly output: unknown
  readonly raw: string
}

type Send = (path: string, init: RequestInit) => Promise<Response>

const jsonType = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

export const throughDoor = {
  async rest(send: Send, tool: AnyTool, input: unknown, token: string): Promise<Outcome> {
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
    const headers = { ...jsonType, authorization: `Bearer ${token}` }
    const response =
      route.method === 'GET'
        ? await send(`${path}?${query}`, { headers })
        : await send(path, { method: 'POST', headers, body: JSON.stringify(rest) })
    const raw = await response.text()
    const body = JSON.parse(raw) as Json
    const code = response.ok ? 'ok' : body['code']
    return { status: response.status, code, output: response.ok ? body : undefined, raw }
  },

  async mcp(send: Send, tool: AnyTool, input: unknown, token: string): Promise<Outcome> {
    const { status, body, raw } = await rpc(
      send,
      '/mcp',
      token,
      { 'mcp-protocol-version': '2025-11-25' },
      'tools/call',
      {
        name: tool.name,
        arguments: input,
      },
    )
    const content = at(body, 'result', 'structuredContent')
    const isError = at(body, 'result', 'isError') === true
    // A challenge is the PaymentRequired of x402 itself, not a problem document.
    const refused = at(content, 'x402Version') === undefined ? at(content, 'code') : 'payment_required'
    const code = isError ? refused : content === undefined ? at(body, 'error', 'code') : 'ok'
    return { status, code, output: code === 'ok' ? content : undefined, raw }
  },

  async a2a(send: Send, tool: AnyTool, input: unknown, token: string): Promise<Outcome> {
    const { status, body, raw } = await rpc(send, '/a2a', token, { 'a2a-version': '1.0' }, 'SendMessage', {
      message: {
        messageId: crypto.randomUUID(),
        role: 'ROLE_USER',
        parts: [{ data: { skill: skillFor(tool, input), input } }],
      },
    })
    const details = (at(body, 'error', 'data') ?? []) as Json[]
    const refused = details.map((detail) => at(detail, 'value', 'code')).find((code) => code !== undefined)
    const failed = dataOf(at(body, 'result', 'task', 'status', 'message', 'parts'))
    const state = at(body, 'result', 'task', 'status', 'state')
    const ended =
      state === 'TASK_STATE_FAILED'
        ? at(failed, 'code')
        : state === 'TASK_STATE_INPUT_REQUIRED'
          ? 'payment_required'
          : 'ok'
    const code = body['error'] ? (refused ?? at(body, 'error', 'code')) : ended
    const parts =
      at(body, 'result', 'task', 'artifacts', '0', 'parts') ?? at(body, 'result', 'message', 'parts')
    return { status, code, output: code === 'ok' ? dataOf(parts) : undefined, raw }
  },
}

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
