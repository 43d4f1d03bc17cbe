// A2A's operations in wire form, the same for every binding: send, stream, get, list, cancel, subscribe.
// A task is durable before its result is told; a blocking call that ends quickly costs exactly one write.
import {
  ContentTypeNotSupportedError,
  RequestMalformedError,
  TaskNotCancelableError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors'
import type { Logger } from '../../lib/log.ts'
import type { Caller } from '../../core/caller.ts'
import type { A2aCall } from './call.ts'
import { createFollowers } from './followers.ts'
import { parseSendRequest, type SendRequest } from './envelope.ts'
import { pause } from './pause.ts'
import { createRunner, isTaken, type OpenedTask } from './runner.ts'
import type { DecidePending } from './pending-settlement.ts'
import { advance, follow, type LiveTask, type TaskRegistry } from './task-registry.ts'
import { isAtRest, isTerminal, nextPhase } from './task-state.ts'
import {
  createTaskStore,
  type KnownTask,
  type ListPage,
  type ListQuery,
  ownerIdOf,
  type TaskRows,
} from './task-store.ts'
import { HEARTBEAT_MS } from './silence-watch.ts'
import { readSubmission, statusOf } from './x402-metadata.ts'
import { knownState, type Push, requirePush, type VettedPush } from './push.ts'
import type { WirePushConfig } from './push-config.ts'
import type { Work } from './work.ts'
import {
  type Reply,
  type TaskStateName,
  type WireEvent,
  type WireMessage,
  type WireTask,
  withHistory,
} from './wire.ts'

/** How long CancelTask waits for work to stop before it says "canceled" over its head. */
const CANCEL_GRACE_MS = 5_000
const POLL_MS = 1_000
/** A task that another replica works on is waited for so long. */
const MAX_WAIT_MS = 20_000

export interface EngineParts {
  readonly store: TaskRows
  readonly now: () => number
  readonly log: Logger
  /** Finds what the message asks for: work, or an answer that needs none. `resumed` is the task that it is a follow-up to. */
  plan(request: SendRequest, call: A2aCall, resumed: KnownTask | undefined): Work | WireMessage
  /** Tells whose request it is, within limits. @throws {GatewayError} key_invalid, capability_invalid, rate_limited */
  admit(call: A2aCall): Promise<Caller>
  /** Tells how a paid task ends whose settlement was not known. */
  readonly decide: DecidePending
  /** Tells clients of their tasks; undefined where there is no way to. */
  readonly push?: Push | undefined
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
  /** Where the client wants to be told of a task: it must be one that it may read. */
  readonly push: {
    create(taskId: string, config: unknown, call: A2aCall): Promise<WirePushConfig>
    get(taskId: string, id: string, call: A2aCall): Promise<WirePushConfig>
    list(taskId: string, call: A2aCall): Promise<readonly WirePushConfig[]>
    remove(taskId: string, id: string, call: A2aCall): Promise<void>
  }
  /** A task as it is stored, which ends first where the process behind it is gone. @throws {TaskNotFoundError} */
  readStored(id: string, owner: string | null): Promise<KnownTask>
  /** Waits for the work in hand, at most this long; what is left then is aborted. */
  close(deadlineMs: number): Promise<void>
}

/** The operations of A2A on tasks, behind both bindings and both versions. */
export function createEngine(parts: EngineParts): Engine {
  const { store, now, log } = parts
  const registry: TaskRegistry = new Map()
  const followers = createFollowers()
  const tasks = createTaskStore(store, now, (id) => registry.has(id), parts.decide)
  const cancelGraceMs = parts.cancelGraceMs ?? CANCEL_GRACE_MS
  const runner = createRunner({ tasks, registry, now, log, cancelGraceMs })

  /** Nobody here awaits this work: its task says what happened. */
  const logFailure = (thrown: unknown) => log.error({ err: thrown }, 'a2a task')

  const beat = () => {
    runner.beat()
    tasks.lookAgain().catch(logFailure)
  }
  const heartbeat = store.engine === 'postgres' ? setInterval(beat, HEARTBEAT_MS) : undefined
  heartbeat?.unref()

  type Found = KnownTask & { readonly entry?: LiveTask }

  /** Finds what to start, or the task that this payment was already shown for. */
  async function prepare(params: unknown, call: A2aCall) {
    const request = parseSendRequest(params)
    refuseForeignMedia(request)
    const push =
      request.push === undefined
        ? undefined
        : await requirePush(parts.push).vet(request.push, '/configuration/taskPushNotificationConfig')
    const { taskId, contextId } = request.message
    if (taskId === undefined)
      return { request, push, resumed: undefined, plan: parts.plan(request, call, undefined) }
    const found = await find(taskId, call)
    if (contextId !== undefined && contextId !== found.task.contextId)
      throw new RequestMalformedError(
        "message.contextId is not the task's context. Leave it out, or send the task's own.",
      )
    if (nextPhase(found.phase, 'follow_up'))
      return { request, push, resumed: found as KnownTask, plan: parts.plan(request, call, found) }
    // A copy of a payment gets what the first one got: nothing is settled twice.
    if (isPaying(request) && statusOf(found.task) !== undefined) {
      if (push) await requirePush(parts.push).add(push, knownState(found), call)
      return { request, known: found }
    }
    // 3.4.3: a follow-up goes to a task that waits for one.
    throw new UnsupportedOperationError(
      found.phase === 'ended'
        ? 'This task has ended. Send a new message without taskId.'
        : 'This task is being worked on. Wait for it, or cancel it.',
    )
  }

  /** What its client hears first is how the work ends: that it began is the answer to the message. */
  async function addPush(
    push: VettedPush,
    { id, owner, revision }: OpenedTask,
    call: A2aCall,
  ): Promise<void> {
    const state: TaskStateName = 'TASK_STATE_WORKING'
    await requirePush(parts.push).add(push, { id, owner, revision, state }, call)
  }

  const isPaying = (request: SendRequest) => readSubmission(request).payment !== undefined

  /** The task that a copy of this payment is at work on; anything else that went wrong is thrown on. */
  async function takenTask(thrown: unknown, request: SendRequest, call: A2aCall): Promise<Found> {
    const { taskId } = request.message
    if (taskId === undefined || !isTaken(thrown) || !isPaying(request)) throw thrown
    return find(taskId, call)
  }

  /** Resolves with the task as it comes to rest, here or in another replica, or as it is when that takes too long. */
  async function atRest(found: Found, call: A2aCall): Promise<WireTask> {
    if (found.entry) await Promise.race([found.entry.settled, aborted(call.gone)])
    let last = found.entry?.task ?? found.task
    for (let polls = MAX_WAIT_MS / POLL_MS; polls > 0 && !isAtRest(last.status.state); polls--) {
      await pause(POLL_MS, call.gone)
      if (call.gone.aborted) break
      last = (await look(found.task.id, found.owner)).task
    }
    return last
  }

  async function find(id: string, call: A2aCall): Promise<Found> {
    return look(id, ownerIdOf(await parts.admit(call)))
  }

  async function look(id: string, owner: string | null): Promise<Found> {
    const entry = registry.get(id)
    if (entry && (entry.owner === null || entry.owner === owner))
      return { task: entry.task, revision: entry.revision, owner: entry.owner, phase: entry.phase, entry }
    return tasks.read(id, owner)
  }

  /** Yields the task, then what happens to it; from the store where this process does not work on it. */
  async function* watch(
    found: Found,
    call: A2aCall,
    isOver: (state: string) => boolean,
  ): AsyncGenerator<WireEvent, void, undefined> {
    if (found.entry) {
      yield* follow(found.entry, call.gone)
      return yield* watchStored(found.entry, call, isAtRest)
    }
    yield { task: found.task }
    yield* watchStored(found, call, isOver)
  }

  async function* watchStored(
    from: Pick<KnownTask, 'task' | 'revision' | 'owner'>,
    call: A2aCall,
    isOver: (state: string) => boolean,
  ): AsyncGenerator<WireEvent, void, undefined> {
    let { revision, task } = from
    while (!isOver(task.status.state)) {
      await pause(POLL_MS, call.gone)
      if (call.gone.aborted) return
      const next = await look(task.id, from.owner)
      if (next.revision === revision) continue
      const known = new Set(task.artifacts?.map(({ artifactId }) => artifactId))
      ;({ revision, task } = next)
      const { id: taskId, contextId, status } = task
      for (const artifact of task.artifacts ?? [])
        if (!known.has(artifact.artifactId))
          yield { artifactUpdate: { taskId, contextId, artifact, lastChunk: true } }
      yield { statusUpdate: { taskId, contextId, status } }
    }
  }

  return {
    async send(params, call) {
      const prepared = await prepare(params, call)
      const { request } = prepared
      const isQuick = request.returnImmediately
      const shown = (task: WireTask): Reply => ({ task: withHistory(task, request.historyLength) })
      const again = async (found: Found) => shown(isQuick ? found.task : await atRest(found, call))
      if (prepared.known) return again(prepared.known)
      const { plan, resumed, push } = prepared
      if ('parts' in plan) return { message: plan }
      try {
        const opened = push && ((task: OpenedTask) => addPush(push, task, call))
        const waiting = Promise.withResolvers<LiveTask>()
        const run = runner.start(plan, request, call, {
          resumed,
          opened,
          ...(isQuick && { begun: () => {} }),
          waits: waiting.resolve,
        })
        if (isQuick) {
          const entry = await run.begun
          if (entry) {
            run.done.catch(logFailure)
            return shown(entry.task)
          }
        }
        // 3.2.2: a task that waits for a permission is an answer, and its client is told, or asks, how it goes on.
        const reply = await Promise.race([run.done, waiting.promise.then(({ task }): Reply => ({ task }))])
        run.done.catch(logFailure)
        return request.historyLength === undefined || 'message' in reply ? reply : shown(reply.task)
      } catch (thrown) {
        return again(await takenTask(thrown, request, call))
      }
    },

    async *stream(params, call) {
      const prepared = await prepare(params, call)
      const { request } = prepared
      const shown = (event: WireEvent) =>
        'task' in event ? { task: withHistory(event.task, request.historyLength) } : event
      async function* again(found: Found) {
        for await (const event of watch(found, call, isAtRest)) yield shown(event)
      }
      if (prepared.known) return yield* again(prepared.known)
      const { plan, resumed, push } = prepared
      if ('parts' in plan) return yield { message: plan }
      let followed: AsyncGenerator<WireEvent, void, undefined> | undefined
      const run = runner.start(plan, request, call, {
        resumed,
        opened: push && ((task) => addPush(push, task, call)),
        begun: (entry) => {
          followed = follow(entry, call.gone)
        },
      })
      const entry = await run.begun
      if (entry && followed) {
        run.done.catch(logFailure)
        for await (const event of followed) yield shown(event)
        return yield* watchStored(entry, call, isAtRest)
      }
      try {
        const reply = await run.done
        yield 'message' in reply ? { message: reply.message } : { task: reply.task }
      } catch (thrown) {
        yield* again(await takenTask(thrown, request, call))
      }
    },

    async get(id, historyLength, call) {
      if (historyLength !== undefined && (!Number.isInteger(historyLength) || historyLength < 0))
        throw new RequestMalformedError('historyLength must be a whole number, 0 or more.')
      return withHistory((await find(id, call)).task, historyLength)
    },

    async list(query, call) {
      return tasks.list(ownerIdOf(await parts.admit(call)), query)
    },

    async cancel(id, call) {
      const found = await find(id, call)
      if (!nextPhase(found.phase, 'cancel'))
        throw new TaskNotCancelableError(
          found.phase === 'ended'
            ? 'This task has already ended.'
            : 'This task is being paid for. It ends by itself in a few seconds.',
        )
      if (found.entry) return canceledOrTooLate(await runner.cancel(found.entry))
      const canceled = { ...found.task, status: runner.statusOf(found.task, 'TASK_STATE_CANCELED') }
      if (await tasks.save(canceled, found.owner, found.revision + 1)) return canceled
      return canceledOrTooLate((await find(id, call)).task)
    },

    async *subscribe(id, call) {
      const owner = ownerIdOf(await parts.admit(call))
      const found = await look(id, owner)
      if (found.phase === 'ended')
        throw new UnsupportedOperationError('This task has ended. Read it with GetTask.')
      const leaveStream = followers.enter(owner, call.address)
      try {
        yield* watch(found, call, isTerminal)
      } finally {
        leaveStream()
      }
    },

    push: {
      async create(taskId, config, call) {
        const push = requirePush(parts.push)
        const found = await find(taskId, call)
        return push.add(await push.vet(config, ''), knownState(found), call)
      },
      async get(taskId, id, call) {
        const push = requirePush(parts.push)
        return push.get((await find(taskId, call)).task.id, id)
      },
      async list(taskId, call) {
        const push = requirePush(parts.push)
        return push.list((await find(taskId, call)).task.id)
      },
      async remove(taskId, id, call) {
        const push = requirePush(parts.push)
        await push.remove((await find(taskId, call)).task.id, id)
      },
    },

    readStored: tasks.read,

    async close(deadlineMs) {
      clearInterval(heartbeat)
      const settled = Promise.all([...registry.values()].map((entry) => entry.settled))
      if (registry.size > 0) await Promise.race([settled, pause(deadlineMs)])
      for (const entry of registry.values()) {
        advance(entry, 'close')
        entry.controller.abort()
      }
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

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })

function canceledOrTooLate(task: WireTask): WireTask {
  if (task.status.state === 'TASK_STATE_CANCELED') return task
  throw new TaskNotCancelableError('This task ended before it could be canceled.')
}
