// What a message sets in motion: a tool through the call path, or (conformance runs only) a fixture.
import { randomUUID } from 'node:crypto'
import type { CallPath } from '../../call.ts'
import type { GatewayError, Problem } from '../../errors.ts'
import type { Caller } from '../../services.ts'
import type { A2aCall } from './call.ts'
import type { Skill } from './skills.ts'
import {
  dataPart,
  JSON_MEDIA,
  textPart,
  type TaskStateName,
  type WireArtifact,
  type WirePart,
} from './wire.ts'

/** How work ends. `refused`: before any work was done, so there is nothing to keep. */
export type Outcome =
  | { readonly kind: 'refused'; readonly error: unknown }
  | {
      readonly kind: 'ended'
      readonly state: TaskStateName
      readonly artifacts?: readonly WireArtifact[]
      readonly parts?: readonly WirePart[]
    }

export interface WorkContext {
  readonly signal: AbortSignal
  /** Must be called, and awaited, before the first effect. */
  accepted(caller: Caller | null): Promise<void> | void
  status(state: TaskStateName, parts?: readonly WirePart[]): void
  artifact(artifact: WireArtifact, chunk?: { append?: boolean; lastChunk?: boolean }): void
}

export interface Work {
  /** `message`: nothing is stored, and `ended.parts` is the whole answer. */
  readonly reply: 'task' | 'message'
  run(context: WorkContext): Promise<Outcome>
}

export function toolWork(parts: {
  calls: CallPath
  call: A2aCall
  skill: Skill
  input: unknown
  acceptedOutputModes: readonly string[]
  toProblem: (error: GatewayError) => Problem
}): Work {
  const { calls, call, skill, input } = parts
  const { tool } = skill.entry
  const asText = wantsText(parts.acceptedOutputModes)
  return {
    reply: tool.reply,
    async run({ signal, accepted, status }) {
      let hasBegun = false
      const result = await calls.call({
        tool,
        input,
        door: 'a2a',
        tokens: call.tokens,
        address: call.address,
        requestId: call.requestId,
        traceparent: call.traceparent,
        signal,
        async onAccepted(caller) {
          await accepted(caller)
          hasBegun = true
        },
        progress: (report) => status('TASK_STATE_WORKING', [textPart(progressText(report))]),
      })
      if (result.ok) {
        const output = asText
          ? { text: JSON.stringify(result.output), mediaType: 'text/plain' }
          : dataPart(result.output)
        if (tool.reply === 'message') return { kind: 'ended', state: 'TASK_STATE_COMPLETED', parts: [output] }
        const artifact = { artifactId: randomUUID(), name: skill.id, parts: [output] }
        return { kind: 'ended', state: 'TASK_STATE_COMPLETED', artifacts: [artifact] }
      }
      // Without a task there is nothing that could have failed: the call itself is answered with the error.
      if (!hasBegun || tool.reply === 'message') return { kind: 'refused', error: result.error }
      // 3.7: what went wrong is a message, not a result. The problem is the same object as at the other doors.
      const problem = dataPart(parts.toProblem(result.error))
      return { kind: 'ended', state: 'TASK_STATE_FAILED', parts: [problem, textPart(result.error.message)] }
    },
  }
}

/** Text only where the client says that it takes nothing else of ours. */
const wantsText = (modes: readonly string[]) =>
  modes.length > 0 &&
  !modes.some((mode) => mode === '*/*' || mode === 'application/*' || mode.startsWith(JSON_MEDIA)) &&
  modes.some((mode) => mode.startsWith('text/'))

function progressText(report: { done: number; total?: number; message?: string }): string {
  const count = report.total === undefined ? `${report.done}` : `${report.done} of ${report.total}`
  return report.message === undefined ? count : `${report.message} (${count})`
}
