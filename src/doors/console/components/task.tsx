// The state of a task, in words and by its shape.
import type { VNode } from 'preact'
import { State, type StateName } from '../../site/components/state.tsx'
import type { ConsoleContext } from '../ports.ts'
import { TASK_STATES, type TaskRecord, type TaskState } from '../records/task.ts'
import { taskStates } from '../texts/records.ts'

export const TASK_LOOKS = {
  TASK_STATE_SUBMITTED: 'unknown',
  TASK_STATE_WORKING: 'unknown',
  TASK_STATE_INPUT_REQUIRED: 'waiting',
  TASK_STATE_AUTH_REQUIRED: 'waiting',
  TASK_STATE_COMPLETED: 'done',
  TASK_STATE_FAILED: 'failed',
  TASK_STATE_CANCELED: 'unknown',
  TASK_STATE_REJECTED: 'failed',
} satisfies Record<TaskState, StateName>

export function TaskStateChip({
  task,
  page,
}: {
  readonly task: Pick<TaskRecord, 'state'>
  readonly page: Pick<ConsoleContext, 'language'>
}): VNode {
  const state = TASK_STATES.find((known) => known === task.state)
  return state ? (
    <State is={TASK_LOOKS[state]} page={page} words={taskStates[page.language][state]} />
  ) : (
    <State is="unknown" page={page} words={task.state} />
  )
}
