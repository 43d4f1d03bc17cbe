// A message sets work in motion: the call of a tool, from its acceptance to its outcome.
import { randomUUID } from 'node:crypto'
import type { CallPath, CallResult } from '../../core/call.ts'
import type { ProgressReport } from '../../core/progress.ts'
import type { GatewayError, Problem } from '../../core/errors.ts'
import type { Caller } from '../../core/caller.ts'
import { messageAnswer } from '../message-answer.ts'
import { noteLimits } from '../http/reply.ts'
import { oversized } from '../http/body-limit.ts'
import type { A2aCall } from './call.ts'
import type { Skill } from './skills.ts'
import type { PendingSettlement } from './pending-settlement.ts'
import type { KnownTask } from './task-store.ts'
import type { UnpaidCall } from './unpaid-call.ts'
import type { Submission } from './x402-metadata.ts'
import {
  dataPart,
  type Json,
  JSON_MEDIA,
  textPart,
  type TaskStateName,
  type WireArtifact,
  type WirePart,
} from './wire.ts'

/** How work ends. `refused` is before any work was done, so there is nothing to keep. */
export type Outcome =
  | { readonly kind: 'refused'; readonly error: unknown }
  | {
      readonly kind: 'ended'
      readonly state: TaskStateName
      readonly artifacts?: readonly WireArtifact[]
      readonly parts?: readonly WirePart[]
      /** Metadata of the status message. */
      readonly metadata?: Json
      /** The call that goes on once the task is paid, or allowed. */
      readonly unpaid?: UnpaidCall
      /** Set where the task stays "working" until its settlement is known. */
      readonly pending?: PendingSettlement
      /** Caller whose task it is, where it ends before it was accepted. */
      readonly caller?: Caller | undefined
    }

export interface WorkContext {
  readonly signal: AbortSignal
  /** Must be called, and awaited, before the first effect. `metadata`: of the status message, with these parts. */
  accepted(caller: Caller | null, parts?: readonly WirePart[], metadata?: Json): Promise<void> | void
  status(state: TaskStateName, parts?: readonly WirePart[], metadata?: Json): void
  artifact(artifact: WireArtifact, chunk?: { append?: boolean; lastChunk?: boolean }): void
  /** The payment was found good: from here on money may move, and the task cannot be canceled any more. */
  reserve(): void
}

export interface Work {
  /** `message`: nothing is stored, and `ended.parts` is the whole answer. */
  readonly reply: 'task' | 'message'
  run(context: WorkContext): Promise<Outcome>
}

export interface ToolWorkParts {
  readonly calls: CallPath
  readonly call: A2aCall
  readonly skill: Skill
  readonly input: unknown
  readonly asText: boolean
  /** The payment that the message shows, and who its sender says to be. */
  readonly submission: Submission
  /** The caller's idempotency key of the metadata; not judged yet. */
  readonly idempotencyKey?: unknown
  /** Whether receipts come with their signatures. */
  readonly wantsSignatures: boolean
  /** Whether answers come whole, however long they are. */
  readonly wantsWhole?: boolean | undefined
  /** Writes the names of tools in a text of ours as A2A does. */
  readonly spell?: ((text: string) => string) | undefined
  readonly toProblem: (error: GatewayError) => Problem
}

/** The resource that a payment over A2A names: the skill, since the address of the agent is that of all. */
export const resourceOf = (skill: Skill) => ({ url: `a2a://skill/${skill.id}`, method: 'POST' })

/** A call of the skill's tool as the work of a task. */
export function toolWork(parts: ToolWorkParts & { readonly resumed?: KnownTask | undefined }): Work {
  const { calls, skill } = parts
  const { tool } = skill.entry
  // A message to a task that waited for its sender goes on with the task.
  const reply = parts.resumed ? 'task' : tool.reply
  return {
    reply,
    async run({ signal, accepted, status }) {
      let hasBegun = false
      const result = await calls.call({
        ...requestOf(parts, signal),
        async onAccepted(caller) {
          await accepted(caller)
          hasBegun = true
        },
        progress: (report) => status(stateOf(report), [textPart(progressText(report))]),
      })
      noteLimits(parts.call.seen, result)
      if (result.ok) {
        const output = answerPart(parts, result)
        if (reply === 'message') return { kind: 'ended', state: 'TASK_STATE_COMPLETED', parts: [output] }
        return completed(skill, output)
      }
      // Nothing could have failed where there is no task: the call itself is answered with the error.
      if (!hasBegun || reply === 'message') return { kind: 'refused', error: result.error }
      return { kind: 'ended', state: 'TASK_STATE_FAILED', parts: problemParts(parts, result.error) }
    },
  }
}

/** The part of a call that is the same for free and paid skills. */
export const requestOf = (
  { call, skill, input, idempotencyKey, submission }: ToolWorkParts,
  signal: AbortSignal,
) => ({
  tool: skill.entry.tool,
  input,
  inputError: oversized(skill.entry.tool, call.bytes) ?? submission.inputError,
  payment: submission.payment,
  signIn: submission.signIn,
  quote: submission.quote,
  idempotencyKey,
  door: 'a2a' as const,
  tokens: call.tokens,
  address: call.address,
  requestId: call.requestId,
  traceparent: call.traceparent,
  resource: resourceOf(skill),
  signal: () => signal,
})

/** An answer as the part of a message or an artifact. */
export function answerPart(
  { skill, wantsSignatures, wantsWhole, spell, asText }: ToolWorkParts,
  result: CallResult & { ok: true },
): WirePart {
  const { output, json } = messageAnswer(
    { tool: skill.entry.tool, wantsSignatures, wantsWhole, spell },
    result,
  )
  return asText ? { text: json(), mediaType: 'text/plain' } : dataPart(output)
}

/** The end of work that went well: one artifact with the output, named after the skill. */
export const completed = (skill: Skill, output: WirePart): Outcome & { kind: 'ended' } => ({
  kind: 'ended',
  state: 'TASK_STATE_COMPLETED',
  artifacts: [{ artifactId: randomUUID(), name: skill.id, parts: [output] }],
})

/** 3.7: what went wrong is a message, not a result. The problem is the same object as at the other doors. */
export function problemParts({ toProblem }: ToolWorkParts, error: GatewayError): readonly WirePart[] {
  const problem = toProblem(error)
  return [dataPart(problem), textPart(problem.detail)]
}

/** Text only where the client says that it takes nothing else of ours. */
export const wantsText = (modes: readonly string[]) =>
  modes.length > 0 &&
  !modes.some((mode) => mode === '*/*' || mode === 'application/*' || mode.startsWith(JSON_MEDIA)) &&
  modes.some((mode) => mode.startsWith('text/'))

/** A permission that people give elsewhere (4.1.3, 7.6): the work goes on by itself when they have. */
const stateOf = ({ waitsFor }: ProgressReport): TaskStateName =>
  waitsFor === 'approval' ? 'TASK_STATE_AUTH_REQUIRED' : 'TASK_STATE_WORKING'

/** `fetched (2 of 3)`: progress as a status message says it. */
export function progressText(report: ProgressReport): string {
  const count = report.total === undefined ? `${report.done}` : `${report.done} of ${report.total}`
  return report.message === undefined ? count : `${report.message} (${count})`
}
