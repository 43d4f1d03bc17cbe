// The span under way, as the log names it. Whoever writes traces runs what belongs to a span within it; without one there is none.
import { AsyncLocalStorage } from 'node:async_hooks'

/** Names of the log's fields. */
export interface TraceFields {
  readonly trace_id: string
  readonly span_id: string
}

const storage = new AsyncLocalStorage<{ readonly fields: TraceFields }>()

/** @returns what was given to the innermost {@link withTrace} around this */
export const currentTrace = (): { readonly fields: TraceFields } | undefined => storage.getStore()

export const withTrace = <T>(trace: { readonly fields: TraceFields }, work: () => T): T =>
  storage.run(trace, work)
