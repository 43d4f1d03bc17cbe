// The life of a task: the phases it goes through, what can happen to it, and which of the two go together. The registry of running
// tasks, the task store and every operation of this door ask here; none of them keeps flags of its own.
import type { TaskStateName } from './wire.ts'

/**
 * The gateway knows more of a task than the wire says: seven of these are "working" there.
 * - `working`: this process works on it, and the work can be called off
 * - `paying`: the same with its payment reserved, so money may move and nothing can be called off
 * - `canceling`: its work was told to stop and has not stopped yet
 * - `stopping`: the same with its payment reserved, because the gateway closes
 * - `ending`: its last state is being written
 * - `remote`: another process works on it, or died over it
 * - `waiting`: it waits for its client, for an input or a payment
 * - `pending`: nobody works on it, and it ends when its settlement is known
 * - `ended`: nothing happens to it any more
 */
export type TaskPhase =
  'working' | 'paying' | 'canceling' | 'stopping' | 'ending' | 'remote' | 'waiting' | 'pending' | 'ended'

/**
 * - `report`: the work tells of progress, or hands over a part of the result
 * - `reserve`: its payment was found good
 * - `cancel`: its client calls it off
 * - `close`: the gateway closes and ends all work
 * - `finish`: its work came back
 * - `overdue`: its work did not stop in the time that a cancel leaves it
 * - `follow_up`: its client sends another message to it
 * - `abandon`: the process that worked on it is known to be gone
 * - `decide`: its settlement is known
 */
export type TaskEvent =
  'report' | 'reserve' | 'cancel' | 'close' | 'finish' | 'overdue' | 'follow_up' | 'abandon' | 'decide'

const TRANSITIONS: Readonly<Record<TaskPhase, Readonly<Partial<Record<TaskEvent, TaskPhase>>>>> = {
  working: {
    report: 'working',
    reserve: 'paying',
    cancel: 'canceling',
    close: 'canceling',
    finish: 'ending',
  },
  paying: { report: 'paying', reserve: 'paying', close: 'stopping', finish: 'ending' },
  canceling: {
    report: 'canceling',
    cancel: 'canceling',
    close: 'canceling',
    finish: 'ending',
    overdue: 'ending',
  },
  stopping: { report: 'stopping', close: 'stopping', finish: 'ending' },
  // A client that cancels now waits for what is written: it may be a cancel, too.
  ending: { cancel: 'ending', close: 'ending' },
  remote: { cancel: 'ended', abandon: 'ended' },
  waiting: { cancel: 'ended', follow_up: 'working' },
  pending: { decide: 'ended' },
  ended: {},
}

/** @returns undefined when the phase does not take the event; then nothing may change */
export const nextPhase = (phase: TaskPhase, event: TaskEvent): TaskPhase | undefined =>
  TRANSITIONS[phase][event]

const TERMINAL: ReadonlySet<string> = new Set<TaskStateName>([
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
])
const INTERRUPTED: ReadonlySet<string> = new Set<TaskStateName>([
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
])

/** True of a wire state that is an end. */
export const isTerminal = (state: string): boolean => TERMINAL.has(state)
/** True of a wire state in which nothing happens by itself. */
export const isAtRest = (state: string): boolean => TERMINAL.has(state) || INTERRUPTED.has(state)

const AWAY: ReadonlySet<TaskPhase> = new Set(['remote', 'waiting', 'pending', 'ended'])

/** True of a phase without work of this process behind it: the task changes in the store alone. */
export const isAway = (phase: TaskPhase): boolean => AWAY.has(phase)

/**
 * The phase of a task that this process does not work on.
 * @param isPending it is stored with a settlement that was not known
 */
export function phaseAway(state: string, isPending: boolean): TaskPhase {
  if (TERMINAL.has(state)) return 'ended'
  if (INTERRUPTED.has(state)) return 'waiting'
  return isPending ? 'pending' : 'remote'
}

/**
 * The state that work ends in. Work that was told to stop is canceled, unless it completed all the same, or money may have moved.
 * @param phase when the work came back
 * @param state that the work asks for
 */
export function finalState(phase: TaskPhase, state: TaskStateName, isPending: boolean): TaskStateName {
  const wasStopped = phase === 'canceling' || phase === 'stopping'
  return wasStopped && !isPending && state !== 'TASK_STATE_COMPLETED' ? 'TASK_STATE_CANCELED' : state
}
