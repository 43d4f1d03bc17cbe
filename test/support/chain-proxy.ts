// Stands between a gateway and a node and misbehaves on demand: loses answers, gives others, counts what passed.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Call {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

/** What to do with a call: a value to answer with, an error, or a way to say nothing. */
export type Interception =
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } }
  /** `after`: the node has got it. The connection ends without an answer. */
  | { readonly drop: 'before' | 'after' }
  | { readonly result: unknown }

export interface ChainProxy {
  readonly url: string
  /** Methods that arrived, in order. */
  readonly seen: readonly string[]
  /** Whether they arrived in one request. */
  readonly requests: number
  /** @param intercept undefined: the node answers */
  on(method: string, intercept: (call: Call) => Interception | undefined): void
  /** Answers everything in its own way, or not at all. */
  onRequest(handle: ((body: string, res: ServerResponse) => void) | undefined): void
  reset(): void
  close(): Promise<void>
}

export async function startChainProxy(target: string): Promise<ChainProxy> {
  const interceptors = new Map<string, (call: Call) => Interception | undefined>()
  let whole: ((body: string, res: ServerResponse) => void) | undefined
  const seen: string[] = []
  let requests = 0

  async function forward(calls: readonly Call[]): Promise<Map<unknown, object>> {
    if (calls.length === 0) return new Map()
    const response = await fetch(target, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(calls),
    })
    return new Map(((await response.json()) as { id: unknown }[]).map((reply) => [reply.id, reply]))
  }

  async function handle(req: IncomingMessage, res: ServerResponse) {
    let body = ''
    for await (const chunk of req) body += chunk
    requests++
    const parsed = JSON.parse(body) as Call | Call[]
    const calls = [parsed].flat()
    for (const { method } of calls) seen.push(method)
    if (whole) return whole(body, res)
    const plans = new Map(calls.map((call) => [call.id, interceptors.get(call.method)?.(call)]))
    const drops = [...plans.values()].flatMap((plan) => (plan && 'drop' in plan ? [plan.drop] : []))
    if (drops.includes('before')) return void res.destroy()
    const asked = calls.filter(({ id }) => {
      const plan = plans.get(id)
      return plan === undefined || 'drop' in plan
    })
    const replies = await forward(asked)
    if (drops.length > 0) return void res.destroy()
    const answers = calls.map(({ id }) => replies.get(id) ?? { jsonrpc: '2.0', id, ...plans.get(id) })
    res.setHeader('content-type', 'application/json')
    res.end(JSON.stringify(Array.isArray(parsed) ? answers : answers[0]))
  }

  const server = createServer((req, res) => void handle(req, res).catch(() => res.destroy()))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    get requests() {
      return requests
    },
    on: (method, intercept) => void interceptors.set(method, intercept),
    onRequest: (handler) => void (whole = handler),
    reset() {
      interceptors.clear()
      whole = undefined
      seen.length = 0
      requests = 0
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
