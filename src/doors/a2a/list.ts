// ListTasks: its parameters checked, and its answer trimmed to what was asked for (3.1.4).
import { z } from 'zod'
import { invalidFields } from './envelope.ts'
import type { ListPage } from './task-store.ts'
import type { A2aCall } from './call.ts'
import type { Engine } from './engine.ts'
import { type TaskStateName, type WireTask, withHistory } from './wire.ts'

const STATES = [
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_REJECTED',
  'TASK_STATE_AUTH_REQUIRED',
] as const satisfies readonly TaskStateName[]

/** HTTP+JSON sends numbers and booleans as query text. */
const integer = (min: number, max: number) =>
  z.preprocess(
    (value) => (typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : (value ?? undefined)),
    z.int().min(min).max(max).optional(),
  )
const text = z.preprocess(
  (value) => (value === '' || value === null ? undefined : value),
  z.string().max(256).optional(),
)

const ListInput = z.object({
  contextId: text,
  status: z.preprocess(
    (value) => (value === '' || value === null || value === 'TASK_STATE_UNSPECIFIED' ? undefined : value),
    z.enum(STATES).optional(),
  ),
  pageSize: integer(1, 100),
  pageToken: text,
  historyLength: integer(0, 1_000_000),
  statusTimestampAfter: z.preprocess(
    (value) => (value === '' || value === null ? undefined : value),
    z.iso.datetime({ offset: true }).optional(),
  ),
  includeArtifacts: z.preprocess(
    (value) =>
      value === 'true' ? true : value === 'false' || value === '' || value === null ? false : value,
    z.boolean().optional(),
  ),
})

export interface ListAnswer extends Omit<ListPage, 'tasks'> {
  readonly tasks: readonly WireTask[]
}

/** @throws {GatewayError} input_invalid */
export async function listTasks(engine: Engine, params: unknown, call: A2aCall): Promise<ListAnswer> {
  const parsed = ListInput.safeParse(params)
  if (!parsed.success)
    throw invalidFields(
      parsed.error.issues.map((issue) => ({ pointer: `/${issue.path.join('/')}`, message: issue.message })),
    )
  const { historyLength, includeArtifacts, statusTimestampAfter, status, ...query } = parsed.data
  const page = await engine.list(
    {
      contextId: query.contextId,
      pageSize: query.pageSize,
      pageToken: query.pageToken,
      state: status,
      since: statusTimestampAfter === undefined ? undefined : Date.parse(statusTimestampAfter),
    },
    call,
  )
  return {
    ...page,
    tasks: page.tasks.map((task) => trimmed(withHistory(task, historyLength), includeArtifacts)),
  }
}

function trimmed(task: WireTask, includeArtifacts: boolean | undefined): WireTask {
  const { artifacts, ...rest } = task
  return includeArtifacts ? { ...rest, artifacts: artifacts ?? [] } : rest
}
