// Behaviours that the public compatibility kit asks for by message id. Only with GATEWAY_CONFORMANCE_FIXTURES=1, which
// production refuses. Everything around them (envelope, tasks, store, streams) is the product's own.
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { SendRequest } from './envelope.ts'
import type { Outcome, Work, WorkContext } from './work.ts'
import { dataPart, textPart, type TaskStateName, type WirePart } from './wire.ts'

/** Longer than twice the kit's stream time-out. */
const LONG_WORK_MS = 5_000

const end = (state: TaskStateName, ...parts: WirePart[]): Outcome => ({
  kind: 'ended',
  state,
  ...(parts.length > 0 ? { parts } : {}),
})
const completed = (...parts: WirePart[]) => end('TASK_STATE_COMPLETED', ...parts)
const withArtifact = (...parts: WirePart[]): Outcome => ({
  kind: 'ended',
  state: 'TASK_STATE_COMPLETED',
  artifacts: [{ artifactId: randomUUID(), name: 'output', parts }],
})
const file = { filename: 'output.txt', mediaType: 'text/plain' }
const rawFile: WirePart = { raw: Buffer.from('Generated file content').toString('base64'), ...file }

type Step = (context: WorkContext) => Promise<Outcome> | Outcome

/** Working, one artifact, completed. */
const streamed =
  (...parts: WirePart[]): Step =>
  ({ status }) => {
    status('TASK_STATE_WORKING')
    return withArtifact(...parts)
  }

// The longest prefix that fits wins.
const STEPS: Readonly<Record<string, Step>> = {
  'tck-complete-task': () => completed(textPart('Hello from TCK')),
  'tck-artifact-text': () => withArtifact(textPart('Generated text content')),
  'tck-artifact-file': () => withArtifact(rawFile),
  'tck-artifact-file-url': () => withArtifact({ url: 'https://example.com/output.txt', ...file }),
  'tck-artifact-data': () => withArtifact(dataPart({ key: 'value', count: 42 })),
  'tck-input-required': () => end('TASK_STATE_INPUT_REQUIRED', textPart('What else?')),
  'tck-reject-task': () => end('TASK_STATE_REJECTED', textPart('rejected')),
  'tck-stream-001': streamed(textPart('Stream hello from TCK')),
  'tck-stream-002': () => completed(),
  'tck-stream-003': streamed(textPart('Stream task lifecycle')),
  'tck-stream-ordering-001': streamed(textPart('Ordered output')),
  'tck-stream-artifact-text': streamed(textPart('Streamed text content')),
  'tck-stream-artifact-file': streamed(rawFile),
  'tck-stream-artifact-chunked': ({ status, artifact }) => {
    const artifactId = randomUUID()
    status('TASK_STATE_WORKING')
    artifact({ artifactId, name: 'output', parts: [textPart('chunk-1 ')] }, { lastChunk: false })
    artifact({ artifactId, name: 'output', parts: [textPart('chunk-2')] }, { append: true, lastChunk: true })
    return completed()
  },
  'test-resubscribe-message-id': async ({ status, signal }) => {
    status('TASK_STATE_WORKING')
    await wait(LONG_WORK_MS, undefined, { signal, ref: false }).catch(() => {})
    return signal.aborted ? end('TASK_STATE_CANCELED') : completed()
  },
}

export function fixtureFor({ message }: SendRequest): Work | undefined {
  if (message.messageId.startsWith('tck-message-response'))
    return { reply: 'message', run: async () => completed(textPart('Direct message response')) }
  const name = Object.keys(STEPS)
    .filter((prefix) => message.messageId.startsWith(prefix))
    .sort((a, b) => b.length - a.length)[0]
  // A follow-up to a task of these fixtures ends it, whatever its id.
  const step = name === undefined ? message.taskId && (() => completed(textPart('Thank you'))) : STEPS[name]
  if (!step) return undefined
  return {
    reply: 'task',
    async run(context) {
      await context.accepted(null)
      return step(context)
    },
  }
}
