// What an assistant was not allowed, as a task that waits for the person who connected it (A2A 1.0, 4.1.3: TASK_STATE_AUTH_REQUIRED).
// It is shown a link for them; a message to the task goes on with the same call.
import { GatewayError } from '../../core/errors.ts'
import type { Caller } from '../../core/caller.ts'
import { unpaidCall } from './unpaid-call.ts'
import { problemParts, type ToolWorkParts, type Work } from './work.ts'
import { dataPart, textPart } from './wire.ts'

export interface SignInParts {
  /** Tells whose token it is. @throws {GatewayError} */
  admit(): Promise<Caller>
  /** Where a person widens a connection. */
  readonly consoleUrl: string
}

/** The same work, which waits where it was refused for want of a permission. Nobody without a connection has anybody to wait for. */
export function waitForPermission(
  work: Work,
  parts: ToolWorkParts,
  { admit, consoleUrl }: SignInParts,
): Work {
  return {
    reply: work.reply,
    async run(context) {
      const outcome = await work.run(context)
      if (outcome.kind !== 'refused' || !isPermission(outcome.error)) return outcome
      const caller = await admit()
      const connection = 'connection' in caller ? caller.connection : undefined
      if (!connection) return outcome
      const link = `${consoleUrl}/connections/${connection.id}`
      const { skill, input, asText } = parts
      return {
        kind: 'ended',
        state: 'TASK_STATE_AUTH_REQUIRED',
        parts: [
          textPart(
            `The person who connected you did not allow this. Show them ${link} where they can. Then send a message to this task, ` +
              'and it goes on.',
          ),
          dataPart({ url: link, scope: outcome.error.extras['scope'] }),
          ...problemParts(parts, outcome.error),
        ],
        unpaid: unpaidCall(skill, input, asText),
        caller,
      }
    },
  }
}

const isPermission = (error: unknown): error is GatewayError =>
  error instanceof GatewayError && error.code === 'insufficient_scope'
