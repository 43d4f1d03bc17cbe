// The JSON-RPC and A2A messages of a body, which several protocols stand in.
import { readJson } from '../decode/json.ts'
import { inside, isObject, member, pick, pickList, pickObject, pickText } from '../decode/value.ts'
import { jsonBody } from '../message.ts'
import type { Found, Json, JsonObject, Message, Place } from '../ports.ts'

/** One JSON-RPC message (a batch has several), or a bare A2A message over REST. */
export interface Envelope {
  readonly root: Found<JsonObject>
  readonly isJsonRpc: boolean
  readonly id: Found<Json> | null
  readonly method: Found<string> | null
  readonly params: Found<JsonObject> | null
  readonly result: Found<JsonObject> | null
  readonly error: Found<JsonObject> | null
  /** `_meta` of params, result and the message itself. */
  readonly metas: readonly Found<JsonObject>[]
  /** Those, and the one inside of the arguments: no protocol puts a payment there, and a server that hands its arguments on may read it. */
  readonly paymentMetas: readonly Found<JsonObject>[]
  /** A2A messages in it: of the request, the result, the status of a task. */
  readonly messages: readonly Found<JsonObject>[]
  /** `metadata` of those, of the task and of its parts. */
  readonly metadatas: readonly Found<JsonObject>[]
  /** `data` of the data parts. */
  readonly dataParts: readonly Found<JsonObject>[]
  readonly isA2a: boolean
  /**
   * Documents that it carries for another protocol: data parts; of an answer also the result, its `structuredContent` or the JSON that
   * its text holds, and the data of an error.
   */
  readonly documents: readonly Found<JsonObject>[]
}

// More messages in one batch are left unread, as is all that would make the reading of a batch slow.
const MAX_BATCH = 64

/** @returns none where the body is no JSON, and none for what is neither JSON-RPC nor A2A */
export function readEnvelopes(message: Message): readonly Envelope[] {
  const body = jsonBody(message)
  if (body === null) return []
  const roots = Array.isArray(body.value) ? pickList(body).slice(0, MAX_BATCH) : [body]
  return roots.flatMap((root) => {
    const object = pickObject(root)
    const envelope = object === null ? undefined : readEnvelope(object)
    return envelope === undefined ? [] : [envelope]
  })
}

const A2A_METHOD =
  /^(?:message\/(?:send|stream)|tasks\/(?:get|cancel|list|resubscribe|subscribe|pushNotificationConfig\/\w+)|SendMessage|SendStreamingMessage|GetTask|ListTasks|CancelTask|SubscribeToTask)$/

function readEnvelope(root: Found<JsonObject>): Envelope | undefined {
  const isJsonRpc = member(root.value, 'jsonrpc') === '2.0'
  const method = isJsonRpc ? pickText(root, 'method') : null
  const params = isJsonRpc ? pickObject(root, 'params') : null
  const result = isJsonRpc ? pickObject(root, 'result') : null
  const error = isJsonRpc ? pickObject(root, 'error') : null
  const messages = [
    pickObject(params, 'message'),
    pickObject(result, 'message'),
    pickObject(result, 'status', 'message'),
    pickObject(result, 'task', 'status', 'message'),
    result,
    isJsonRpc ? null : pickObject(root, 'message'),
    isJsonRpc ? null : pickObject(root, 'status', 'message'),
    isJsonRpc ? null : root,
  ].filter((found): found is Found<JsonObject> => found !== null && isA2aMessage(found))
  const tasks = [result, pickObject(result, 'task'), isJsonRpc ? null : root].filter(
    (found): found is Found<JsonObject> => found !== null && isTask(found),
  )
  const isA2a = messages.length > 0 || tasks.length > 0 || (method !== null && A2A_METHOD.test(method.value))
  if (!isJsonRpc && !isA2a) return undefined
  const parts = [
    ...messages.flatMap((found) => [...pickList(found, 'parts'), ...pickList(found, 'content')]),
    ...tasks.flatMap((found) =>
      pickList(found, 'artifacts').flatMap((artifact) => pickList(artifact, 'parts')),
    ),
  ]
  const dataParts = objects(parts.map((part) => pick(part, 'data')))
  const metas = objects([pick(params, '_meta'), pick(result, '_meta'), pick(root, '_meta')])
  return {
    root,
    isJsonRpc,
    id: isJsonRpc ? pick(root, 'id') : null,
    method,
    params,
    result,
    error,
    metas,
    paymentMetas: [...metas, ...objects([pick(params, 'arguments', '_meta')])],
    messages,
    metadatas: isA2a
      ? objects([
          ...messages.map((found) => pick(found, 'metadata')),
          ...tasks.map((found) => pick(found, 'metadata')),
          pick(params, 'metadata'),
          ...tasks.map((found) => pick(found, 'status', 'metadata')),
        ])
      : [],
    dataParts,
    isA2a,
    documents: [...dataParts, ...readAnswer(result), ...objects([result, pick(error, 'data')])],
  }
}

/** What is longer is a page for people. */
const MAX_PARTS_READ = 4

/** An answer of MCP says its document twice; servers of before 2025-06 only as text. */
function readAnswer(result: Found<JsonObject> | null): Found<JsonObject>[] {
  const structured = pickObject(result, 'structuredContent')
  if (structured !== null) return [structured]
  return pickList(result, 'content')
    .slice(0, MAX_PARTS_READ)
    .flatMap((part) => {
      const text = pickText(part, 'text')
      if (text === null || !text.value.startsWith('{')) return []
      const read = readJson(text.value)
      return read.ok && isObject(read.value) ? [{ value: read.value, at: inside(text.at) }] : []
    })
}

const objects = (found: readonly (Found<Json> | null)[]): Found<JsonObject>[] =>
  found.flatMap((item) => {
    const object = pickObject(item)
    return object === null ? [] : [object]
  })

const isA2aMessage = (found: Found<JsonObject>): boolean =>
  ['messageId', 'role', 'taskId'].some((key) => typeof member(found.value, key) === 'string') &&
  (Array.isArray(member(found.value, 'parts')) ||
    Array.isArray(member(found.value, 'content')) ||
    member(found.value, 'metadata') !== undefined)

const isTask = (found: Found<JsonObject>): boolean =>
  member(found.value, 'kind') === 'task' ||
  (typeof member(found.value, 'contextId') === 'string' && pickObject(found, 'status') !== null)

/** Id of the A2A task that a message belongs to. */
export function findTaskId(envelope: Envelope | undefined): Found<string> | null {
  if (envelope === undefined) return null
  for (const found of envelope.messages) {
    const id = pickText(found, 'taskId')
    if (id !== null) return id
  }
  if (!envelope.isA2a) return null
  return (
    pickText(envelope.result, 'task', 'id') ??
    (envelope.result !== null && isTask(envelope.result) ? pickText(envelope.result, 'id') : null)
  )
}

/** The envelope that a place stands in, or the first. */
export const envelopeOf = (
  { envelopes }: { readonly envelopes: readonly Envelope[] },
  at: Place | undefined,
): Envelope | undefined => envelopes.find(({ root }) => at?.startsWith(`${root.at}/`)) ?? envelopes[0]

/** @returns the first answer of the `_meta` objects in turn */
export function firstOfMetas<T>({ metas }: Envelope, read: (found: Found<JsonObject>) => T | null): T | null {
  for (const found of metas) {
    const value = read(found)
    if (value !== null) return value
  }
  return null
}

/** MCP has no field for an idempotency key; what is seen is `x402/idempotency-key` and others that end in it. */
export function readMetaKey(envelope: Envelope | undefined): Found<string> | null {
  if (envelope === undefined) return null
  return firstOfMetas(envelope, (found) => {
    const known = pickText(found, 'x402/idempotency-key')
    if (known !== null) return known
    const name = Object.keys(found.value)
      .filter((key) => /(?:^|[/._-])idempotency[-_]?key$/i.test(key))
      .sort()[0]
    return name === undefined ? null : pickText(found, name)
  })
}
