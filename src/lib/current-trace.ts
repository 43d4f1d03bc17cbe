// The span under way, as the log names it. Whoever writes traces runs what belongs to a span within it; without one there is none.
import { AsyncLocalStorage } from 'node:async_hooks'

/** Names of the log's fields. */
interface TraceFields {
  readonly trace_id: string
  readonly span_id: string
}

export interface CurrentTrace {
  /** None where the trace is not written. */
  readonly fields?: TraceFields
  /** What was begun in a request and goes on for ever, such as a timer, is none of its trace in the end. */
  readonly isOver?: () => boolean
}

const storage = new AsyncLocalStorage<CurrentTrace>()

/** @returns what was given to the innermost {@link withTrace} around this, unless that is over */
export function currentTrace(): CurrentTrace | undefined {
  const trace = storage.getStore()
  return trace?.isOver?.() === true ? undefined : trace
}

export const withTrace = <T>(trace: CurrentTrace, work: () => T): T => storage.run(trace, work)
