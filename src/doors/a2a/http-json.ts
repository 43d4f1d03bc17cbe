// HTTP+JSON at /a2a/rest, 1.0: the operations as the specification maps them (11.3), straight onto the engine.
import type { Speller } from '../../core/tool-words.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { RequestMalformedError, VersionNotSupportedError } from '@a2a-js/sdk/errors'
import { GatewayError } from '../../core/errors.ts'
import { openToPages, sendOptions } from '../http/cors.ts'
import { readJson } from '../http/body.ts'
import type { ReadingOf } from '../http/body-limit.ts'
import type { HttpContext } from '../http/request.ts'
import { limitHeaders, type SeenLimits, sendJson } from '../http/reply.ts'
import { callFrom, extensionHeaders, requestedVersion, type A2aCall } from './call.ts'
import type { Engine } from './engine.ts'
import { type ErrorContext, toRestFailure } from './errors.ts'
import type { Cards } from './handler.ts'
import { listTasks } from './list.ts'
import { sendEvents } from './sse.ts'
import type { WireEvent } from './wire.ts'

export const REST_PREFIX = '/a2a/rest'
const MEDIA = 'application/a2a+json'

export interface RestParts {
  readonly engine: Engine
  readonly cards: Cards
  readonly extensions: readonly string[]
  readonly baseUrl: string
  readonly spell: Speller
  readonly readingOf: ReadingOf
  readonly logFailure: (thrown: unknown, requestId: string) => void
}

interface Operation {
  readonly methods: readonly string[]
  readonly run: (input: {
    method: string | undefined
    id: string
    /** Of the configuration, where the path names one. */
    configId: string
    query: URLSearchParams
    body: () => Promise<unknown>
    call: A2aCall
  }) => Promise<unknown> | AsyncGenerator<WireEvent, void, undefined>
}

/** The HTTP+JSON binding of A2A 1.0 (section 11). */
export function createRest(parts: RestParts) {
  const { engine, cards } = parts

  function find(path: string): { operation: Operation; id: string; configId?: string } | undefined {
    if (path === '/message:send') return { operation: send, id: '' }
    if (path === '/message:stream') return { operation: stream, id: '' }
    if (path === '/tasks') return { operation: list, id: '' }
    if (path === '/extendedAgentCard') return { operation: card, id: '' }
    const task = /^\/tasks\/([^/:]+)(:cancel|:subscribe)?$/.exec(path)
    if (task) {
      const [, id = '', verb] = task
      return { operation: verb ? byVerb[verb as keyof typeof byVerb] : get, id }
    }
    const [, id, configId] = /^\/tasks\/([^/]+)\/pushNotificationConfigs(?:\/([^/]+))?$/.exec(path) ?? []
    if (id === undefined) return undefined
    return configId === undefined ? { operation: pushes, id } : { operation: push, id, configId }
  }

  const send: Operation = {
    methods: ['POST'],
    async run({ body, call }) {
      const reply = await engine.send(await body(), call)
      return 'message' in reply ? { message: reply.message } : { task: reply.task }
    },
  }
  const stream: Operation = {
    methods: ['POST'],
    async *run({ body, call }) {
      yield* engine.stream(await body(), call)
    },
  }
  const list: Operation = {
    methods: ['GET'],
    run: ({ query, call }) => listTasks(engine, Object.fromEntries(query), call),
  }
  const get: Operation = {
    methods: ['GET'],
    run: async ({ id, query, call }) => engine.get(id, historyLengthOf(query), call),
  }
  const card: Operation = { methods: ['GET'], run: ({ call }) => cards.extended(call) }
  const pushes: Operation = {
    methods: ['GET', 'POST'],
    async run({ method, id, body, call }) {
      if (method === 'POST') return engine.push.create(id, await body(), call)
      return { configs: await engine.push.list(id, call) }
    },
  }
  const push: Operation = {
    methods: ['GET', 'DELETE'],
    async run({ method, id, configId, call }) {
      if (method === 'GET') return engine.push.get(id, configId, call)
      await engine.push.remove(id, configId, call)
      return {}
    },
  }
  const byVerb = {
    ':cancel': { methods: ['POST'], run: ({ id, call }) => engine.cancel(id, call) },
    // 11.3 says POST; clients that open an EventSource can only GET.
    ':subscribe': { methods: ['POST', 'GET'], run: ({ id, call }) => engine.subscribe(id, call) },
  } satisfies Record<string, Operation>

  return async function serve(
    req: IncomingMessage,
    res: ServerResponse,
    context: HttpContext,
  ): Promise<void> {
    const { baseUrl, spell } = parts
    const errors: ErrorContext = { requestId: context.requestId, baseUrl, spell, req }
    // Tasks are read with GET here, and their results may have been paid for.
    const headers: Record<string, string> = {
      'x-request-id': context.requestId,
      'cache-control': 'no-store',
      ...openToPages(req),
    }
    let seen: SeenLimits | undefined
    try {
      const found = find(decodePath(context.path.slice(REST_PREFIX.length)))
      if (!found)
        throw new GatewayError(
          'not_found',
          'There is no such A2A operation; the card is at /.well-known/agent-card.json.',
        )
      const { operation, id, configId = '' } = found
      // A stream has no head to wait for.
      const hasHead = operation.methods.includes('GET') && operation !== byVerb[':subscribe']
      const allow = [...operation.methods, ...(hasHead ? ['HEAD'] : []), 'OPTIONS']
      if (req.method === 'OPTIONS') return sendOptions(res, context.requestId, allow, 'protocol')
      if (!allow.includes(req.method ?? ''))
        throw new GatewayError('method_not_allowed', `Use ${operation.methods.join(' or ')} here.`, {
          extras: { allow },
        })
      // These paths exist in 1.0 only, so a client that names no version cannot mean another.
      if ((requestedVersion(req, context.query) ?? '1.0') !== '1.0')
        throw new VersionNotSupportedError(
          'This binding speaks A2A 1.0. Version 0.3 is spoken over JSON-RPC at /a2a.',
        )
      Object.assign(headers, extensionHeaders(req, parts.extensions, '1.0'))
      const call = callFrom(req, res, context, '1.0')
      seen = call.seen
      const answer = operation.run({
        method: req.method === 'HEAD' ? 'GET' : req.method,
        id,
        configId,
        query: new URLSearchParams(context.query),
        async body() {
          const reading = await parts.readingOf(req, call)
          const body = await readJson(req, reading)
          call.bytes = reading.size
          return body
        },
        call,
      })
      if (Symbol.asyncIterator in answer)
        return await sendEvents(res, answer, headers, (thrown) => toRestFailure(thrown, errors).body)
      const value = await answer
      sendJson(res, 200, value, { ...headers, ...limitHeaders(seen), 'content-type': MEDIA })
    } catch (thrown) {
      const failure = toRestFailure(thrown, errors)
      if (failure.status >= 500) parts.logFailure(thrown, context.requestId)
      sendJson(res, failure.status, failure.body, {
        ...headers,
        ...limitHeaders(seen),
        ...failure.headers,
        'content-type': MEDIA,
      })
    }
  }
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

function historyLengthOf(query: URLSearchParams): number | undefined {
  const text = query.get('historyLength')
  if (text === null || text === '') return undefined
  if (!/^\d{1,9}$/.test(text))
    throw new RequestMalformedError('historyLength must be a whole number, 0 or more.')
  return Number(text)
}
