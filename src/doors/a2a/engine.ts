// A2A's operations in wire form, the same for every binding: send, stream, get, list, cancel, subscribe.
// A task is durable before its result is told; a blocking call that ends quickly costs exactly one write.
import {
  ContentTypeNotSupportedError,
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotCancelableError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors'
import type { Logger } from '../../log.ts'
import { createBook, HEARTBEAT_MS, type Kept, type ListPage, type ListQuery, type TaskStore } from './book.ts'
import type { A2aCall } from './call.ts'
import { parseSendRequest, type SendRequest } from './envelope.ts'
import { follow, type LiveTask } from './live.ts'
import { pause } from './pause.ts'
import { createRunner } from './run.ts'
import type { Work } from './work.ts'
import {
  isInterrupted,
  isTerminal,
  type Reply,
  type WireEvent,
  type WireMessage,
  type WireTask,
  withHistory,
} from './wire.ts'

/** How long CancelTask waits for work to stop before it says "canceled" over its head. */
const CANCEL_GRACE_MS = 5_000
const POLL_MS = 1_000

export interface EngineParts {
  readonly store: TaskStore
  readonly now: () => number
  readonly log: Logger
  /** What the message asks for: work, or an answer that needs none. */
  plan(request: SendRequest, call: A2aCall): Work | WireMessage
  readonly cancelGraceMs?: number
}

export interface Engine {
  /** @throws {GatewayError | A2AError} refusals; failures of the work itself are in the task */
  send(params: unknown, call: A2aCall): Promise<Reply>
  /** Exactly one message, or the task first and then its updates. */
  stream(params: unknown, call: A2aCall): AsyncGenerator<WireEvent, void, undefined>
  get(id: string, historyLength: number | undefined, call: A2aCall): Promise<WireTask>
  list(query: ListQuery, call: A2aCall): Promise<ListPage>
  cancel(id: string, call: A2aCall): Promise<WireTask>
  subscribe(id: string, call: A2aCall): AsyncGenerator<WireEvent, void, undefined>
  /** Waits for the work in hand, at most this long; what is left then is aborted. */
  close(deadlineMs: number): Promise<void>
}

export function createEngine(parts: EngineParts): Engine {
  const { store, now, log } = parts
  const live = new Map<string, LiveTask>()
  const book = createBook(store, now, (id) => live.has(id))
  const runner = createRunner({ book, live, now, log, cancelGraceMs: parts.cancelGraceMs ?? CANCEL_GRACE_MS })
  const heartbeat = store.engine === 'postgres' ? setInterval(runner.beat, HEARTBEAT_MS) : undefined
  heartbeat?.unref()

  /** For work that nobody here awaits: its task says what happened. */
  const logFailure = (thrown: unknown) => log.error({ err: thrown }, 'a2a task')

  async function prepare(params: unknown, call: A2aCall) {
    const request = parseSendRequest(params)
    if (request.wantsPush) throw new PushNotificationNotSupportedError()
    refuseForeignMedia(request)
    const resumed = request.message.taskId === undefined ? undefined : await resume(request, call)
    return { request, resumed, plan: parts.plan(request, call) }
  }

  /** 3.4.3: a follow-up goes to a task that waits for one, in the task's own context. */
  async function resume(request: SendRequest, call: A2aCall): Promise<Kept> {
    const { taskId, contextId } = request.message
    const kept = await find(taskId!, call)
    if (contextId !== undefined && contextId !== kept.task.contextId)
      throw new RequestMalformedError(
        "message.contextId is not the task's context. Leave it out, or send the task's own.",
      )
    const { state } = kept.task.status
    if (isTerminal(state))
      throw new UnsupportedOperationError('This task has ended. Send a new message without taskId.')
    if (!isInterrupted(state))
      throw new UnsupportedOperationError('This task is being worked on. Wait for it, or cancel it.')
    return kept
  }

  async function find(id: string, call: A2aCall): Promise<Kept & { entry?: LiveTask }> {
    const owner = await book.ownerOf(call)
    const entry = live.get(id)
    if (entry && (entry.owner === null || entry.owner === owner))
      return { task: entry.task, revision: entry.revision, owner: entry.owner, entry }
    return book.read(id, owner)
  }

  return {
    async send(params, call) {
      const { request, resumed, plan } = await prepare(params, call)
      if ('parts' in plan) return { message: plan }
      const run = runner.start(plan, request, call, resumed, request.returnImmediately ? () => {} : undefined)
      if (request.returnImmediately) {
        const entry = await run.begun
        if (entry) {
          run.done.catch(logFailure)
          return { task: withHistory(entry.task, request.historyLength) }
        }
      }
      const reply = await run.done
      if (request.historyLength === undefined || 'message' in reply) return reply
      return { task: withHistory(reply.task, request.historyLength) }
    },

    async *stream(params, call) {
      const { request, resumed, plan } = await prepare(params, call)
      if ('parts' in plan) return yield { message: plan }
      let followed: AsyncGenerator<WireEvent, void, undefined> | undefined
      const run = runner.start(plan, request, call, resumed, (entry) => {
        followed = follow(entry, call.gone)
      })
      await run.begun
      if (!followed) {
        const reply = await run.done
        return yield 'message' in reply ? { message: reply.message } : { task: reply.task }
      }
      run.done.catch(logFailure)
      for await (const event of followed)
        yield 'task' in event ? { task: withHistory(event.task, request.historyLength) } : event
    },

    async get(id, historyLength, call) {
      if (historyLength !== undefined && (!Number.isInteger(historyLength) || historyLength < 0))
        throw new RequestMalformedError('historyLength must be a whole number, 0 or more.')
      return withHistory((await find(id, call)).task, historyLength)
    },

    async list(query, call) {
      return book.list(await book.ownerOf(call), query)
    },

    async cancel(id, call) {
      const found = await find(id, call)
      if (isTerminal(found.task.status.state))
        throw new TaskNotCancelableError('This task has already ended.')
      if (found.entry) return canceledOrTooLate(await runner.cancel(found.entry))
      const canceled = { ...found.task, status: runner.statusOf(found.task, 'TASK_STATE_CANCELED') }
      if (await book.save(canceled, found.owner, found.revision + 1)) return canceled
      return canceledOrTooLate((await find(id, call)).task)
    },

    async *subscribe(id, call) {
      let found = await find(id, call)
      if (isTerminal(found.task.status.state))
        throw new UnsupportedOperationError('This task has ended. Read it with GetTask.')
      if (found.entry) return yield* follow(found.entry, call.gone)
      // It waits for a message, or another replica works on it: the store is where to look.
      yield { task: found.task }
      let revision = found.revision
      while (!isTerminal(found.task.status.state)) {
        await pause(POLL_MS, call.gone)
        if (call.gone.aborted) return
        found = await find(id, call)
        if (found.revision === revision) continue
        revision = found.revision
        const { task } = found
        yield { statusUpdate: { taskId: task.id, contextId: task.contextId, status: task.status } }
      }
    },

    async close(deadlineMs) {
      clearInterval(heartbeat)
      const settled = Promise.all([...live.values()].map((entry) => entry.settled))
      if (live.size > 0) await Promise.race([settled, pause(deadlineMs)])
      for (const entry of live.values()) entry.controller.abort()
    },
  }
}

/** 3.3.2: content of a type that no skill takes is refused, not ignored. */
function refuseForeignMedia(request: SendRequest): void {
  for (const { mediaType } of request.message.parts)
    if (mediaType && !/^(text\/(plain|markdown)|application\/([\w.-]+\+)?json)\s*(;|$)/i.test(mediaType))
      throw new ContentTypeNotSupportedError(
        'Skills take application/json and text/plain; send the input as a data part or as text.',
      )
}

function canceledOrTooLate(task: WireTask): WireTask {
  if (task.status.state === 'TASK_STATE_CANCELED') return task
  throw new TaskNotCancelableError('This task ended before it could be canceled.')
}
