// A2A's operations in wire form, the same for every binding: send, stream, get, list, cancel, subscribe.
// A task is durable before its result is told; a blocking call that ends quickly costs exactly one write.
import { randomUUID } from 'node:crypto'
import {
  ContentTypeNotSupportedError,
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotCancelableError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors'
import { GatewayError } from '../../errors.ts'
import { newId } from '../../ids.ts'
import type { Logger } from '../../log.ts'
import {
  createBook,
  HEARTBEAT_MS,
  type Kept,
  type ListPage,
  type ListQuery,
  ownerIdOf,
  type TaskStore,
} from './book.ts'
import type { A2aCall } from './call.ts'
import { parseSendRequest, type SendRequest } from './envelope.ts'
import {
  createLiveTask,
  deferred,
  follow,
  type LiveTask,
  publish,
  publishArtifact,
  publishStatus,
} from './live.ts'
import { redactMessage } from './redact.ts'
import type { Outcome, Work } from './work.ts'
import {
  agentMessage,
  isInterrupted,
  isTerminal,
  type Reply,
  textPart,
  type TaskStateName,
  type WireEvent,
  type WireMessage,
  type WirePart,
  type WireStatus,
  type WireTask,
  withHistory,
} from './wire.ts'

/** A blocking call that takes longer than this shows up in ListTasks, and after a crash. */
const REGISTER_AFTER_MS = 250
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
  const cancelGraceMs = parts.cancelGraceMs ?? CANCEL_GRACE_MS
  const heartbeat = store.engine === 'postgres' ? setInterval(beat, HEARTBEAT_MS) : undefined
  heartbeat?.unref()

  /** For work on its way that nobody here awaits: its task says what happened. */
  const logFailure = (thrown: unknown) => log.error({ err: thrown }, 'a2a task')

  /** Other replicas take a task for dead when its row goes silent. */
  function beat(): void {
    for (const entry of live.values())
      if (entry.revision > 0 && !entry.isEnding) void write(entry).catch(logFailure)
  }

  const timestamp = () => new Date(now()).toISOString()
  const statusOf = (task: WireTask, state: TaskStateName, said?: readonly WirePart[]): WireStatus => ({
    state,
    timestamp: timestamp(),
    ...(said ? { message: agentMessage(said, { contextId: task.contextId, taskId: task.id }) } : {}),
  })

  /** One write at a time per task. False when another process changed the row: then it is read again and adopted. */
  function write(entry: LiveTask, next: WireTask = entry.task, json?: string): Promise<boolean> {
    const turn = entry.writing.then(async () => {
      if (!(await book.save(next, entry.owner, entry.revision + 1, json))) return false
      entry.revision++
      return true
    })
    entry.writing = turn.catch(() => {})
    return turn
  }

  interface Run {
    /** The live task once work has begun; undefined when it ends without one. */
    readonly begun: Promise<LiveTask | undefined>
    readonly done: Promise<Reply>
  }

  /** @param watch somebody will follow the task: it is stored, and `watch` called, before the work starts */
  function start(
    work: Work,
    request: SendRequest,
    call: A2aCall,
    resumed: Kept | undefined,
    watch: ((entry: LiveTask) => void) | undefined,
  ): Run {
    const controller = new AbortController()
    const begun = deferred<LiveTask | undefined>()
    let entry: LiveTask | undefined
    let registering: NodeJS.Timeout | undefined

    function open(owner: string | null): LiveTask {
      const id = resumed?.task.id ?? newId('task', now())
      const contextId = resumed?.task.contextId ?? request.message.contextId ?? randomUUID()
      const message = redactMessage({ ...request.message, taskId: id, contextId })
      const task: WireTask = {
        id,
        contextId,
        status: { state: 'TASK_STATE_WORKING', timestamp: timestamp() },
        ...(resumed?.task.artifacts ? { artifacts: resumed.task.artifacts } : {}),
        history: [...(resumed?.task.history ?? []), message],
      }
      const opened = createLiveTask(task, resumed ? resumed.owner : owner, controller, resumed?.revision)
      live.set(id, opened)
      return opened
    }

    async function run(): Promise<Reply> {
      if (work.reply === 'message') call.gone.addEventListener('abort', () => controller.abort())
      let outcome: Outcome
      try {
        outcome = await work.run({
          signal: controller.signal,
          async accepted(caller) {
            if (work.reply === 'message') return
            const opened = open(caller === null ? null : ownerIdOf(caller))
            if (watch || resumed) await register(opened)
            else registering = setTimeout(() => void write(opened).catch(logFailure), REGISTER_AFTER_MS)
            entry = opened
            watch?.(entry)
            begun.resolve(entry)
          },
          status(state, said) {
            if (entry && !entry.isEnding) publishStatus(entry, statusOf(entry.task, state, said))
          },
          artifact(artifact, chunk) {
            if (entry && !entry.isEnding) publishArtifact(entry, artifact, chunk)
          },
        })
      } finally {
        clearTimeout(registering)
      }
      if (outcome.kind === 'refused') throw outcome.error
      if (!entry) {
        const { contextId } = request.message
        return {
          message: agentMessage(outcome.parts ?? [], contextId === undefined ? undefined : { contextId }),
        }
      }
      return finish(entry, outcome)
    }

    const done = (async () => {
      try {
        return await run()
      } catch (thrown) {
        if (entry) {
          // Nobody will read the result; those who follow must not wait for it. Later reads say the same.
          publishStatus(entry, statusOf(entry.task, 'TASK_STATE_FAILED', [textPart(NOT_STORED)]))
          forget(entry)
        }
        throw thrown
      } finally {
        begun.resolve(entry)
      }
    })()
    return { begun: begun.promise, done }
  }

  /** What somebody will ask for must be found; without a row the work does not begin. */
  async function register(entry: LiveTask): Promise<void> {
    try {
      if (!(await write(entry)))
        throw new GatewayError('state_conflict', 'Another message is being worked on for this task.')
    } catch (thrown) {
      forget(entry)
      throw thrown
    }
  }

  function forget(entry: LiveTask): void {
    live.delete(entry.task.id)
    entry.settle()
  }

  /** The last state is on disk before anybody hears of it. */
  async function finish(entry: LiveTask, outcome: Outcome & { kind: 'ended' }): Promise<Reply> {
    if (entry.isEnding) {
      await entry.settled
      return { task: entry.task }
    }
    entry.isEnding = true
    const wasCanceled = entry.controller.signal.aborted && outcome.state !== 'TASK_STATE_COMPLETED'
    const state = wasCanceled ? 'TASK_STATE_CANCELED' : outcome.state
    const status = statusOf(entry.task, state, wasCanceled ? undefined : outcome.parts)
    const artifacts = [...(entry.task.artifacts ?? []), ...(outcome.artifacts ?? [])]
    const task: WireTask = { ...entry.task, status, ...(artifacts.length > 0 ? { artifacts } : {}) }
    const json = JSON.stringify(task)
    if (!(await write(entry, task, json))) return adopt(entry)
    for (const artifact of outcome.artifacts ?? []) publishArtifact(entry, artifact, { lastChunk: true })
    publishStatus(entry, status)
    forget(entry)
    return { task: entry.task, json }
  }

  /** Stops the work; what does not stop in time is canceled over its head. */
  async function cancelLive(entry: LiveTask): Promise<WireTask> {
    entry.controller.abort()
    await settledWithin(entry, cancelGraceMs)
    if (entry.isEnding) {
      await entry.settled
      return entry.task
    }
    entry.isEnding = true
    const status = statusOf(entry.task, 'TASK_STATE_CANCELED', [textPart(STILL_RUNNING)])
    try {
      if (!(await write(entry, { ...entry.task, status }))) await adopt(entry)
      else publishStatus(entry, status)
    } finally {
      forget(entry)
    }
    return entry.task
  }

  /** Another replica ended this task (it canceled it): its word is the stored one. */
  async function adopt(entry: LiveTask): Promise<Reply> {
    const { task } = await book.read(entry.task.id, entry.owner)
    entry.task = task
    publish(entry, { statusUpdate: { taskId: task.id, contextId: task.contextId, status: task.status } })
    forget(entry)
    return { task }
  }

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
      const run = start(plan, request, call, resumed, request.returnImmediately ? () => {} : undefined)
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
      const run = start(plan, request, call, resumed, (entry) => {
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
      if (found.entry) return canceledOrTooLate(await cancelLive(found.entry))
      const canceled = { ...found.task, status: statusOf(found.task, 'TASK_STATE_CANCELED') }
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

const NOT_STORED =
  'The result of this task could not be stored, so it is not reported. What was done is not undone: look before you repeat it.'

const STILL_RUNNING =
  'Canceled. The work did not stop in time, so what it had begun may still take effect; its result will not be reported here.'

function canceledOrTooLate(task: WireTask): WireTask {
  if (task.status.state === 'TASK_STATE_CANCELED') return task
  throw new TaskNotCancelableError('This task ended before it could be canceled.')
}

async function settledWithin(entry: LiveTask, ms: number): Promise<void> {
  const timeout = new AbortController()
  await Promise.race([entry.settled, pause(ms, timeout.signal)])
  timeout.abort()
}

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    timer.unref()
    if (signal?.aborted) end()
    else signal?.addEventListener('abort', end)
  })
}
