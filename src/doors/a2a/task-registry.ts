// The tasks that this process works on: the current state of each, and everybody who listens to it.
import {
  isAtRest,
  isAway,
  isTerminal,
  nextPhase,
  phaseAway,
  type TaskEvent,
  type TaskPhase,
} from './task-state.ts'
import type { WireArtifact, WireEvent, WireStatus, WireTask } from './wire.ts'

/** The key is the task id. */
export type TaskRegistry = Map<string, LiveTask>

export interface LiveTask {
  /** The task that clients see; replaced, never changed in place. */
  task: WireTask
  /** Changed by `advance` and `leave` alone. */
  phase: TaskPhase
  /** Revision in the store; 0 until first saved. */
  revision: number
  readonly owner: string | null
  readonly controller: AbortController
  readonly listeners: Set<(event: WireEvent) => void>
  /** Resolves when nobody works on it here any more, and what became of it is stored. */
  readonly settled: Promise<void>
  readonly settle: () => void
  /** Writes of one task queue here, so that revisions follow each other. */
  writing: Promise<unknown>
}

/**
 * A task that this process works on.
 * @param owner whose task it is; null where whoever knows its id may read it
 */
export function createLiveTask(
  task: WireTask,
  owner: string | null,
  controller: AbortController,
  { revision = 0, phase = 'working' as TaskPhase } = {},
): LiveTask {
  const { promise, resolve } = Promise.withResolvers<void>()
  return {
    task,
    phase,
    revision,
    owner,
    controller,
    listeners: new Set(),
    settled: promise,
    settle: resolve,
    writing: Promise.resolve(),
  }
}

/** Takes an event where its phase allows that. False, and nothing changed, where it does not. */
export function advance(live: LiveTask, event: TaskEvent): boolean {
  const next = nextPhase(live.phase, event)
  if (next === undefined) return false
  live.phase = next
  return true
}

/** Ends the work of this process on a task, which may be at rest then or go on elsewhere. Nothing is published after it. */
export function leave(registry: TaskRegistry, live: LiveTask, isPending = false): void {
  registry.delete(live.task.id)
  live.phase = phaseAway(live.task.status.state, isPending)
  live.settle()
}

/** Tells every listener of the task. */
export function publish(live: LiveTask, event: WireEvent): void {
  for (const listener of live.listeners) listener(event)
}

/** Gives the task a new status and tells it to whoever listens. */
export function publishStatus(live: LiveTask, status: WireStatus): void {
  live.task = { ...live.task, status }
  publish(live, { statusUpdate: { taskId: live.task.id, contextId: live.task.contextId, status } })
}

/** Adds an artifact, or a chunk to the one with its id, and tells whoever listens. */
export function publishArtifact(
  live: LiveTask,
  artifact: WireArtifact,
  chunk: { append?: boolean; lastChunk?: boolean } = {},
): void {
  live.task = { ...live.task, artifacts: mergeArtifact(live.task.artifacts ?? [], artifact, chunk.append) }
  publish(live, {
    artifactUpdate: { taskId: live.task.id, contextId: live.task.contextId, artifact, ...chunk },
  })
}

function mergeArtifact(
  artifacts: readonly WireArtifact[],
  artifact: WireArtifact,
  append: boolean | undefined,
): readonly WireArtifact[] {
  const known = artifacts.find(({ artifactId }) => artifactId === artifact.artifactId)
  if (!known) return [...artifacts, artifact]
  const merged = append ? { ...known, parts: [...known.parts, ...artifact.parts] } : artifact
  return artifacts.map((kept) => (kept === known ? merged : kept))
}

/**
 * The task as it is now, then everything that happens to it, until it is at rest or nobody reads on.
 * Every listener sees the same events in the same order; one that stops does not disturb the others (3.5.2).
 */
export function follow(live: LiveTask, gone: AbortSignal): AsyncGenerator<WireEvent, void, undefined> {
  const waiting: WireEvent[] = [{ task: live.task }]
  let wake = () => {}
  const listener = (event: WireEvent) => {
    waiting.push(event)
    wake()
  }
  const onGone = () => wake()
  // Listening starts now and not with the first read, or what happens in between would be lost.
  live.listeners.add(listener)
  gone.addEventListener('abort', onGone)
  return (async function* read() {
    try {
      while (!gone.aborted) {
        const event = waiting.shift()
        if (event) {
          yield event
          if (endsStream(event, live)) return
          continue
        }
        if (isAway(live.phase)) return
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    } finally {
      live.listeners.delete(listener)
      gone.removeEventListener('abort', onGone)
    }
  })()
}

/** A task that waits for people to allow it elsewhere goes on here by itself: whoever listens hears that too. */
function endsStream(event: WireEvent, live: LiveTask): boolean {
  const isOver = isAway(live.phase) ? isAtRest : isTerminal
  if ('task' in event) return isOver(event.task.status.state)
  return 'statusUpdate' in event && isOver(event.statusUpdate.status.state)
}
