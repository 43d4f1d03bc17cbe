// A task as it is shown: its words and data, and nothing of what the door keeps beside it.
import { z } from 'zod'
import { toTimestamp } from '../../../lib/timestamp.ts'
import type { StoredTask } from '../../../store/ports.ts'

export const TASK_STATES = [
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
] as const
export type TaskState = (typeof TASK_STATES)[number]

const Part = z.object({
  text: z.string().optional(),
  url: z.string().optional(),
  data: z.unknown().optional(),
})
const Message = z.object({ role: z.string(), parts: z.array(Part).default([]) })
const Task = z.object({
  status: z.object({ message: Message.optional() }),
  history: z.array(Message).default([]),
  artifacts: z.array(z.object({ name: z.string().optional(), parts: z.array(Part).default([]) })).default([]),
})

export interface TaskRecord {
  readonly task_id: string
  readonly context_id: string
  readonly state: string
  /** The account, or the capability of an agent. */
  readonly owner: string
  readonly changes: number
  readonly updated_at: string
  readonly kept_until: string
}

export const TASK_COLUMNS = [
  'task_id',
  'state',
  'context_id',
  'owner',
  'changes',
  'updated_at',
  'kept_until',
] as const satisfies readonly (keyof TaskRecord)[]

/** What was said, as text, and what was handed over, as JSON. */
export interface Said {
  readonly text: string
  /** Null where there was none. */
  readonly data: string | null
}

export interface TaskDetail extends TaskRecord {
  readonly status: Said | null
  readonly messages: readonly (Said & { readonly by: 'user' | 'agent' })[]
  readonly results: readonly (Said & { readonly name: string })[]
}

export const toTaskRecord = (row: StoredTask): TaskRecord => ({
  task_id: row.id,
  context_id: row.contextId,
  state: row.state,
  owner: row.owner ?? '',
  changes: row.revision,
  updated_at: toTimestamp(row.updatedAt),
  kept_until: toTimestamp(row.expiresAt),
})

/** Texts and data that a page shows of one part; what is longer is cut. */
const MAX_SHOWN = 20_000

export function toTaskDetail(row: StoredTask): TaskDetail {
  const read = Task.safeParse(JSON.parse(row.json))
  const { status, history, artifacts } = read.success ? read.data : { status: {}, history: [], artifacts: [] }
  return {
    ...toTaskRecord(row),
    status: 'message' in status && status.message ? saidOf(status.message.parts) : null,
    messages: history.map(({ role, parts }) => ({
      by: role === 'ROLE_AGENT' ? ('agent' as const) : ('user' as const),
      ...saidOf(parts),
    })),
    results: artifacts.map(({ name = '', parts }) => ({ name, ...saidOf(parts) })),
  }
}

function saidOf(parts: readonly z.output<typeof Part>[]): Said {
  const text = parts.flatMap((part) => part.text ?? part.url ?? []).join('\n')
  const data = parts.flatMap((part) => (part.data === undefined ? [] : [part.data]))
  const json = data.length === 0 ? null : JSON.stringify(data.length === 1 ? data[0] : data, null, 2)
  return { text: text.slice(0, MAX_SHOWN), data: json?.slice(0, MAX_SHOWN) ?? null }
}
