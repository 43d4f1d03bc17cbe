// One task, from its acceptance to its end. Nothing is told that is not stored first, and only one of "it ended" and "it was canceled"
// is ever written: task-state.ts sees to that.
import { randomUUID } from 'node:crypto'
import { GatewayError } from '../../core/errors.ts'
import { newId } from '../../lib/ids.ts'
import type { Logger } from '../../lib/log.ts'
import type { A2aCall } from './call.ts'
import type { SendRequest } from './envelope.ts'
import { pause } from './pause.ts'
import { redactMessage } from './redact.ts'
import {
  advance,
  createLiveTask,
  leave,
  type LiveTask,
  publish,
  publishArtifact,
  publishStatus,
  type TaskRegistry,
} from './task-registry.ts'
import { finalState, isAtRest, isAway, isTerminal } from './task-state.ts'
import { type KnownTask, ownerIdOf, type SaveAs, type TaskStore } from './task-store.ts'
import { withExtensions } from './x402-metadata.ts'
import type { Outcome, Work } from './work.ts'
import {
  agentMessage,
  type Json,
  type Reply,
  textPart,
  type TaskStateName,
  type WirePart,
  type WireStatus,
  type WireTask,
} from './wire.ts'

/** A blocking call that takes longer than this shows up in ListTasks, and after a crash. */
const REGISTER_AFTER_MS = 250

export interface Run {
  /** The live task once work has begun; undefined when it ends without one. */
  readonly begun: Promise<LiveTask | undefined>
  readonly done: Promise<Reply>
}

/** A task that was just made of a message. */
export interface OpenedTask {
  readonly id: string
  readonly owner: string | null
  /** In the store; 0 where it is not stored yet. */
  readonly revision: number
}

export interface RunOptions {
  /** The task that the message goes on with. */
  readonly resumed: KnownTask | undefined
  /** What has to be stored before the task is. Without that there is no task. */
  readonly opened?: ((task: OpenedTask) => Promise<void>) | undefined
  /** Somebody will follow the task: it is stored, and `begun` called, before the work starts. */
  readonly begun?: (entry: LiveTask) => void
  /** People have to allow it elsewhere: the task is stored as it waits, and goes on by itself. Called once. */
  readonly waits?: (entry: LiveTask) => void
}

export interface Runner {
  start(work: Work, request: SendRequest, call: A2aCall, options: RunOptions): Run
  /** Stops work that can be called off; what does not stop in time is canceled over its head. Resolves with the task as it ended. */
  cancel(entry: LiveTask): Promise<WireTask>
  /** Tells other replicas that the tasks at work here are alive. */
  beat(): void
  statusOf(
    task: Pick<WireTask, 'id' | 'contextId'>,
    state: TaskStateName,
    said?: readonly WirePart[],
    metadata?: Json,
  ): WireStatus
}

/** Runs the work of tasks in this process and writes how each ended. */
export function createRunner(parts: {
  tasks: TaskStore
  registry: TaskRegistry
  now: () => number
  log: Logger
  cancelGraceMs: number
}): Runner {
  const { tasks, registry, now, log, cancelGraceMs } = parts

  /** Nobody here awaits these writes: the next one, or the next read, says what happened. */
  const logFailure = (thrown: unknown) => log.error({ err: thrown }, 'a2a task')

  const timestamp = () => new Date(now()).toISOString()
  const statusOf: Runner['statusOf'] = ({ id, contextId }, state, said, metadata) => ({
    state,
    timestamp: timestamp(),
    ...(said ? { message: withExtensions(agentMessage(said, { contextId, taskId: id }), metadata) } : {}),
  })

  /** One write at a time per task. False when another process changed the row: then it is read again and adopted. */
  function write(entry: LiveTask, next: WireTask = entry.task, as?: SaveAs): Promise<boolean> {
    return inTurn(entry, async () => {
      if (!(await tasks.save(next, entry.owner, entry.revision + 1, as ?? { isLive: true }))) return false
      entry.revision++
      return true
    })
  }
  function inTurn<T>(entry: LiveTask, work: () => Promise<T>): Promise<T> {
    const turn = entry.writing.then(work)
    entry.writing = turn.catch(() => {})
    return turn
  }

  /** Tells that it goes on; where another replica ended it meanwhile, its work is called off. */
  const beat = (entry: LiveTask) =>
    inTurn(entry, async () => {
      if (entry.phase === 'ending' || isAway(entry.phase)) return
      if (await tasks.save(entry.task, entry.owner, entry.revision + 1, { isLive: true })) {
        entry.revision++
        return
      }
      const stored = await tasks.read(entry.task.id, entry.owner)
      if (!isTerminal(stored.task.status.state)) {
        // Its own write, of which the database could not tell it; what another process has begun stays that one's.
        if (stored.isOurs) entry.revision = stored.revision
      } else if (advance(entry, 'cancel')) {
        log.warn(
          { task: entry.task.id },
          'an a2a task that is at work here was ended elsewhere: its work is called off',
        )
        entry.controller.abort()
      }
    })

  function start(
    work: Work,
    request: SendRequest,
    call: A2aCall,
    { resumed, opened: beforeStored, begun: watch, waits }: RunOptions,
  ): Run {
    const controller = new AbortController()
    const begun = Promise.withResolvers<LiveTask | undefined>()
    let entry: LiveTask | undefined
    let registering: NodeJS.Timeout | undefined
    let isPaying = false

    function open(owner: string | null, said?: readonly WirePart[], metadata?: Json): LiveTask {
      const id = resumed?.task.id ?? newId('task', now())
      if (registry.has(id)) throw takenAlready()
      const contextId = resumed?.task.contextId ?? request.message.contextId ?? randomUUID()
      const message = redactMessage({ ...request.message, taskId: id, contextId })
      const task: WireTask = {
        id,
        contextId,
        status: statusOf({ id, contextId }, 'TASK_STATE_WORKING', said, metadata),
        ...(resumed?.task.artifacts ? { artifacts: resumed.task.artifacts } : {}),
        history: [...(resumed?.task.history ?? []), message],
      }
      const opened = createLiveTask(task, resumed ? resumed.owner : owner, controller, {
        ...(resumed && { revision: resumed.revision }),
        phase: isPaying ? 'paying' : 'working',
      })
      registry.set(id, opened)
      return opened
    }

    /** Where another replica ended it meanwhile, the work is called off. */
    async function tellOthers(told: LiveTask): Promise<void> {
      try {
        if (!(await write(told))) controller.abort()
        else if (told.task.status.state === 'TASK_STATE_AUTH_REQUIRED') waits?.(told)
      } catch (thrown) {
        logFailure(thrown)
      }
    }

    async function prepare(opened: LiveTask): Promise<void> {
      if (!beforeStored) return
      const { task, owner, revision } = opened
      try {
        await beforeStored({ id: task.id, owner, revision })
      } catch (thrown) {
        leave(registry, opened)
        throw thrown
      }
    }

    async function run(): Promise<Reply> {
      if (work.reply === 'message') call.gone.addEventListener('abort', () => controller.abort())
      let outcome: Outcome
      try {
        outcome = await work.run({
          signal: controller.signal,
          async accepted(caller, said, metadata) {
            if (work.reply === 'message') return
            const opened = open(caller === null ? null : ownerIdOf(caller), said, metadata)
            await prepare(opened)
            if (watch || resumed || beforeStored) await register(opened)
            else registering = setTimeout(() => void write(opened).catch(logFailure), REGISTER_AFTER_MS)
            entry = opened
            watch?.(entry)
            begun.resolve(entry)
          },
          status(state, said, metadata) {
            if (!entry || !advance(entry, 'report')) return
            const { state: before } = entry.task.status
            publishStatus(entry, statusOf(entry.task, state, said, metadata))
            if (state === before) return
            // A state that others see is stored; those who asked to be told of it are told from there.
            void tellOthers(entry)
          },
          artifact(artifact, chunk) {
            if (entry && advance(entry, 'report')) publishArtifact(entry, artifact, chunk)
          },
          reserve() {
            isPaying = true
            if (entry) advance(entry, 'reserve')
          },
        })
      } finally {
        clearTimeout(registering)
      }
      if (outcome.kind === 'refused') throw outcome.error
      // It waits for a payment or a permission before there was any work: what waits is a task, whatever the answer would have been.
      const waits = isAtRest(outcome.state) && !isTerminal(outcome.state)
      if (!entry && (work.reply === 'task' || waits)) {
        const opened = open(outcome.caller ? ownerIdOf(outcome.caller) : null)
        await prepare(opened)
        entry = opened
      }
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
          leave(registry, entry)
        }
        throw thrown
      } finally {
        begun.resolve(entry)
      }
    })()
    return { begun: begun.promise, done }
  }

  /** A task that somebody will ask for must be found, so without a row the work does not begin. */
  async function register(entry: LiveTask): Promise<void> {
    try {
      if (!(await write(entry))) throw takenAlready()
    } catch (thrown) {
      leave(registry, entry)
      throw thrown
    }
  }

  /** The last state is on disk before anybody hears of it. */
  async function finish(entry: LiveTask, outcome: Outcome & { kind: 'ended' }): Promise<Reply> {
    const { pending } = outcome
    const state = finalState(entry.phase, outcome.state, pending !== undefined)
    if (!advance(entry, 'finish')) {
      await entry.settled
      return { task: entry.task }
    }
    const isAsItSays = state === outcome.state
    const status = isAsItSays
      ? statusOf(entry.task, state, outcome.parts, outcome.metadata)
      : statusOf(entry.task, state)
    const artifacts = [...(entry.task.artifacts ?? []), ...(outcome.artifacts ?? [])]
    const task: WireTask = { ...entry.task, status, ...(artifacts.length > 0 ? { artifacts } : {}) }
    const json = JSON.stringify(task)
    const unpaid = isAsItSays ? outcome.unpaid : undefined
    if (!(await write(entry, task, { json, unpaid, pending }))) return adopt(entry)
    for (const artifact of outcome.artifacts ?? []) publishArtifact(entry, artifact, { lastChunk: true })
    publishStatus(entry, status)
    leave(registry, entry, pending !== undefined)
    return { task: entry.task, json }
  }

  async function cancel(entry: LiveTask): Promise<WireTask> {
    advance(entry, 'cancel')
    entry.controller.abort()
    await settledWithin(entry, cancelGraceMs)
    if (!advance(entry, 'overdue')) {
      await entry.settled
      return entry.task
    }
    const status = statusOf(entry.task, 'TASK_STATE_CANCELED', [textPart(STILL_RUNNING)])
    try {
      if (!(await write(entry, { ...entry.task, status }))) await adopt(entry)
      else publishStatus(entry, status)
    } finally {
      leave(registry, entry)
    }
    return entry.task
  }

  /** Another replica ended this task (it canceled it): its word is the stored one. */
  async function adopt(entry: LiveTask): Promise<Reply> {
    const { task } = await tasks.read(entry.task.id, entry.owner)
    entry.task = task
    publish(entry, { statusUpdate: { taskId: task.id, contextId: task.contextId, status: task.status } })
    leave(registry, entry)
    return { task }
  }

  return {
    start,
    cancel,
    statusOf,
    beat() {
      for (const entry of registry.values()) if (entry.revision > 0) void beat(entry).catch(logFailure)
    },
  }
}

const takenAlready = () =>
  new GatewayError('state_conflict', 'Another message is being worked on for this task.', { reason: TAKEN })

const TAKEN = 'a2a task taken'
/** Somebody else got to the task first. */
export const isTaken = (thrown: unknown): boolean => thrown instanceof GatewayError && thrown.reason === TAKEN

const NOT_STORED =
  'The result of this task could not be stored, so it is not reported. What was done is not undone: look before you repeat it.'

const STILL_RUNNING =
  'Canceled. The work did not stop in time, so what it had begun may still take effect; its result will not be reported here.'

async function settledWithin(entry: LiveTask, ms: number): Promise<void> {
  const timeout = new AbortController()
  await Promise.race([entry.settled, pause(ms, timeout.signal)])
  timeout.abort()
}
