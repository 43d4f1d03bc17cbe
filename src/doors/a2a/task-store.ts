// Tasks as they are stored: who may see one, how long it lives, and what becomes of those that a dead process left.
import { randomUUID } from 'node:crypto'
import { RequestMalformedError, TaskNotFoundError } from '@a2a-js/sdk/errors'
import type { Caller } from '../../core/caller.ts'
import type { Store, StoredTask } from '../../store/ports.ts'
import { paymentMetadata, receiptsOf, statusOf, withExtensions } from './x402-metadata.ts'
import { redactTokens } from './redact.ts'
import { formOf } from './x402-form.ts'
import type { DecidePending, Decision, PendingSettlement } from './pending-settlement.ts'
import { isAtRest, isTerminal, phaseAway, type TaskPhase } from './task-state.ts'
import type { UnpaidCall } from './unpaid-call.ts'
import { createSilenceWatch } from './silence-watch.ts'
import { agentMessage, type Json, textPart, type TaskStateName, type WireTask } from './wire.ts'

const RESULT_MS = 24 * 3_600_000
const WAITING_MS = 5 * 60_000
/** Metadata keys that are kept in the store and never shown. */
const MARK = {
  /** The process that works on a task. */
  worker: 'gateway.worker',
  /** The call that a task goes on with once it is paid. */
  unpaid: 'gateway.waiting',
  /** The claim that a task waits for when nobody works on it. */
  pending: 'gateway.undecided',
} as const

/** The store must be able to do this much. */
export type TaskRows = Pick<Store, 'engine' | 'saveTask' | 'getTask' | 'listTasks'>

export interface TaskStore {
  /** False when somebody else wrote first. */
  save(task: WireTask, owner: string | null, revision: number, as?: SaveAs): Promise<boolean>
  /** @throws {TaskNotFoundError} also when the task is another caller's */
  read(id: string, owner: string | null): Promise<KnownTask>
  list(owner: string | null, query: ListQuery): Promise<ListPage>
  /** Looks again at the tasks of other processes that somebody looked at, and ends those whose process is silent. */
  lookAgain(): Promise<void>
}

export interface SaveAs {
  /** Work goes on behind it, whatever state it shows. */
  readonly isLive?: boolean
  /** The task as stored, when already serialised. */
  readonly json?: string | undefined
  /** Kept beside the task and never shown. */
  readonly unpaid?: UnpaidCall | undefined
  readonly pending?: PendingSettlement | undefined
}

/** A task as it is known when a request comes in. */
export interface KnownTask {
  readonly task: WireTask
  readonly revision: number
  readonly owner: string | null
  readonly phase: TaskPhase
  /** This process wrote it last, and works on it; left out where nobody read it. */
  readonly isOurs?: boolean
  readonly unpaid?: UnpaidCall | undefined
}

export interface ListQuery {
  readonly contextId: string | undefined
  readonly state: TaskStateName | undefined
  readonly pageSize: number | undefined
  readonly pageToken: string | undefined
  readonly since: number | undefined
}

export interface ListPage {
  readonly tasks: readonly WireTask[]
  readonly nextPageToken: string
  readonly pageSize: number
  readonly totalSize: number
}

/** Null for an anonymous caller, who must hold the task id. */
export function ownerIdOf(caller: Caller): string | null {
  // An assistant is an agent to one skill and an operator to another; its tasks are its own either way.
  if ('connection' in caller && caller.connection) return caller.connection.id
  return caller.kind === 'operator' ? caller.accountId : caller.kind === 'agent' ? caller.id : null
}

const DEFAULT_PAGE = 50

/** @param isLive whether this process is at work on a task */
export function createTaskStore(
  store: TaskRows,
  now: () => number,
  isLive: (id: string) => boolean,
  decide: DecidePending,
): TaskStore {
  const worker = randomUUID()
  const silence = createSilenceWatch(now)

  function toRow(task: WireTask, owner: string | null, revision: number, as: SaveAs = {}): StoredTask {
    const { state } = task.status
    const at = now()
    const mark = markOf(state, as)
    const isWaiting = !as.isLive && phaseAway(state, false) === 'waiting'
    const json = (!mark && as.json) || JSON.stringify(withMetadata(task, mark))
    return {
      id: task.id,
      contextId: task.contextId,
      owner,
      state,
      revision,
      json: redactTokens(json),
      updatedAt: at,
      expiresAt: at + (isWaiting ? WAITING_MS : RESULT_MS),
    }
  }

  function markOf(state: string, { isLive: isAtWork, unpaid, pending }: SaveAs): Json | undefined {
    if (unpaid) return { [MARK.unpaid]: unpaid }
    if (pending) return { [MARK.pending]: pending }
    const isOver = isAtWork ? isTerminal : isAtRest
    return isOver(state) ? undefined : { [MARK.worker]: worker }
  }

  /** A task that nobody works on any more ends with the first read that can tell how. */
  async function settle(row: StoredTask): Promise<StoredTask> {
    if (isTerminal(row.state)) return row
    const { task, worker: by, pending } = unmark(row)
    if (isAtRest(row.state) && by === undefined) return row
    if (pending) {
      const decision = await decide(task, pending)
      return decision ? end(row, task, decision) : row
    }
    // One process owns an embedded store, so any other worker is an earlier one.
    const mayLive = by === worker ? isLive(row.id) : store.engine === 'postgres' && !silence.isSilent(row)
    return mayLive ? row : end(row, task, abandoned(task))
  }

  async function end(row: StoredTask, task: WireTask, how: Ending): Promise<StoredTask> {
    const { id, contextId } = task
    const message = withExtensions(agentMessage(how.parts, { contextId, taskId: id }), how.metadata)
    const ended: WireTask = {
      ...task,
      status: { state: how.state, timestamp: new Date(now()).toISOString(), message },
      ...(how.artifacts && { artifacts: [...(task.artifacts ?? []), ...how.artifacts] }),
    }
    const next = toRow(ended, row.owner, row.revision + 1)
    return (await store.saveTask(next)) ? next : ((await store.getTask(row.id)) ?? next)
  }

  return {
    save: (task, owner, revision, as) => store.saveTask(toRow(task, owner, revision, as)),
    async read(id, owner) {
      const found = /^task_[0-9a-z]{35}$/.test(id) ? await store.getTask(id) : undefined
      if (!found || found.expiresAt <= now() || (found.owner !== null && found.owner !== owner))
        throw new TaskNotFoundError('There is no such task, or it is not yours.')
      const row = await settle(found)
      const { task, worker: by, unpaid, pending } = unmark(row)
      // What waits for people elsewhere looks at rest, and is at work in another replica.
      const isRemote = by !== undefined && !isTerminal(row.state)
      const phase = isRemote ? 'remote' : phaseAway(row.state, pending !== undefined)
      return { task, unpaid, phase, revision: row.revision, owner: row.owner, isOurs: by === worker }
    },
    async list(owner, query) {
      const pageSize = query.pageSize ?? DEFAULT_PAGE
      if (owner === null) return { tasks: [], nextPageToken: '', pageSize: 0, totalSize: 0 }
      if (query.pageToken !== undefined && !/^\d{1,15}~task_[0-9a-z]{35}$/.test(query.pageToken))
        throw new RequestMalformedError('pageToken must be the nextPageToken of an earlier answer.')
      const page = await store.listTasks(
        { owner, contextId: query.contextId, state: query.state, since: query.since },
        { limit: pageSize, before: query.pageToken },
      )
      // The sweep comes once a minute; what is past its time is gone before.
      const kept = page.items.filter((row) => row.expiresAt > now())
      const rows = await Promise.all(kept.map(settle))
      return {
        tasks: rows.map((row) => unmark(row).task),
        nextPageToken: page.next ?? '',
        pageSize: rows.length,
        totalSize: page.total,
      }
    },
    async lookAgain() {
      for (const id of silence.watched()) {
        const row = await store.getTask(id)
        const isOpen = row !== undefined && row.expiresAt > now() && !isTerminal(row.state)
        // Who has written meanwhile lives. Whoever looks at the task next begins to count anew.
        if (!isOpen || silence.hasMoved(row)) silence.forget(id)
        else if (isTerminal((await settle(row)).state)) silence.forget(id)
      }
    },
  }
}

type Ending = Omit<Decision, 'metadata'> & { readonly metadata: Json | undefined }

function abandoned(task: WireTask): Ending {
  const isPaid = statusOf(task) !== undefined
  return {
    state: 'TASK_STATE_FAILED',
    parts: [textPart(isPaid ? ABANDONED_PAYMENT : ABANDONED)],
    // Submitted and not failed: nobody knows yet, and that must not invite a second payment.
    metadata: isPaid
      ? paymentMetadata('payment-submitted', formOf(task), { receipts: receiptsOf(task) })
      : undefined,
  }
}

const ABANDONED =
  'The gateway stopped while it worked on this task. What it had already done is not undone: look at what it was to ' +
  'change (for egress, with the skill egress-attempts-list) before you send the message again.'

const ABANDONED_PAYMENT =
  'The gateway stopped while it worked on this task. Do not sign another payment yet: send the same one again with skill and ' +
  'input, in a message without taskId. If it was not charged, the work is done now; if it was, the answer names the claim ' +
  'with which the result can be read with the skill payments-get.'

const withMetadata = (task: WireTask, mark: Json | undefined): WireTask =>
  mark ? { ...task, metadata: { ...task.metadata, ...mark } } : task

interface Unmarked {
  readonly task: WireTask
  readonly worker?: unknown
  readonly unpaid?: UnpaidCall | undefined
  readonly pending?: PendingSettlement | undefined
}

/** The task as clients see it, and beside it what the store keeps for itself. */
function unmark(row: StoredTask): Unmarked {
  const task = JSON.parse(row.json) as WireTask
  const { metadata, ...rest } = task
  if (!metadata || !Object.values(MARK).some((mark) => mark in metadata)) return { task }
  const { [MARK.worker]: worker, [MARK.unpaid]: unpaid, [MARK.pending]: pending, ...kept } = metadata
  return {
    task: Object.keys(kept).length === 0 ? rest : { ...rest, metadata: kept },
    worker,
    unpaid: unpaid as UnpaidCall | undefined,
    pending: pending as PendingSettlement | undefined,
  }
}
