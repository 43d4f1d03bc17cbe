// A2A 1.0 as it is on the wire (ProtoJSON), which is also how tasks are stored. The SDK's own types are the protobuf
// form; the engine does not use them, so a task that is sent, stored and read again is never converted.
import { randomUUID } from 'node:crypto'

export type Json = Readonly<Record<string, unknown>>

/** Exactly one of text, raw, url and data is present. */
export interface WirePart {
  readonly text?: string | undefined
  readonly raw?: string | undefined
  readonly url?: string | undefined
  readonly data?: unknown
  readonly mediaType?: string | undefined
  readonly filename?: string | undefined
  readonly metadata?: Json | undefined
}

export interface WireMessage {
  readonly messageId: string
  readonly contextId?: string | undefined
  readonly taskId?: string | undefined
  readonly role: 'ROLE_USER' | 'ROLE_AGENT'
  readonly parts: readonly WirePart[]
  readonly metadata?: Json | undefined
  readonly extensions?: readonly string[] | undefined
  readonly referenceTaskIds?: readonly string[] | undefined
}

export type TaskStateName =
  | 'TASK_STATE_SUBMITTED'
  | 'TASK_STATE_WORKING'
  | 'TASK_STATE_COMPLETED'
  | 'TASK_STATE_FAILED'
  | 'TASK_STATE_CANCELED'
  | 'TASK_STATE_INPUT_REQUIRED'
  | 'TASK_STATE_REJECTED'
  | 'TASK_STATE_AUTH_REQUIRED'

export interface WireStatus {
  readonly state: TaskStateName
  readonly message?: WireMessage | undefined
  readonly timestamp: string
}

export interface WireArtifact {
  readonly artifactId: string
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly parts: readonly WirePart[]
  readonly metadata?: Json | undefined
}

export interface WireTask {
  readonly id: string
  readonly contextId: string
  readonly status: WireStatus
  readonly artifacts?: readonly WireArtifact[] | undefined
  readonly history?: readonly WireMessage[] | undefined
  readonly metadata?: Json | undefined
}

export interface ArtifactUpdate {
  readonly taskId: string
  readonly contextId: string
  readonly artifact: WireArtifact
  readonly append?: boolean
  readonly lastChunk?: boolean
}

export type WireEvent =
  | { readonly task: WireTask }
  | { readonly message: WireMessage }
  | { readonly statusUpdate: { taskId: string; contextId: string; status: WireStatus } }
  | { readonly artifactUpdate: ArtifactUpdate }

/** The answer to SendMessage. `json` is the task already serialised, where that was done to store it. */
export type Reply = { readonly message: WireMessage } | { readonly task: WireTask; readonly json?: string }

export const JSON_MEDIA = 'application/json'
/** A part of JSON (A2A 1.0, 4.1.6). */
export const dataPart = (data: unknown): WirePart => ({ data, mediaType: JSON_MEDIA })
/** A part of plain text (A2A 1.0, 4.1.6). */
export const textPart = (text: string): WirePart => ({ text, mediaType: 'text/plain' })

/** A message of the agent with a new id, in the task and context given. */
export function agentMessage(
  parts: readonly WirePart[],
  task?: { readonly contextId?: string | undefined; readonly taskId?: string | undefined },
): WireMessage {
  return { messageId: randomUUID(), ...task, role: 'ROLE_AGENT', parts }
}

/** 3.2.4: undefined leaves it to us (all of it), 0 omits the history, n keeps the newest n. */
export function withHistory(task: WireTask, historyLength: number | undefined): WireTask {
  if (historyLength === undefined || !task.history || task.history.length <= historyLength) return task
  const { history, ...rest } = task
  return historyLength === 0 ? rest : { ...rest, history: history.slice(-historyLength) }
}
