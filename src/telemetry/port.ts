// What the observers of this folder write to. Whoever measures nothing has no such object: then nothing is wrapped either, and a call takes
// the way that it took before there was telemetry.
import type { CounterName, HistogramName, ObservedName } from './instruments.ts'

export type Labels = Readonly<Record<string, string | number>>

export interface Reading {
  readonly value: number
  readonly labels?: Labels
}

export interface Telemetry {
  add(name: CounterName, by: number, labels: Labels): void
  /** Seconds, for every histogram of the list. */
  record(name: HistogramName, value: number, labels: Labels): void
  /** @param read asked whenever somebody collects; what it throws is no reading */
  observe(name: ObservedName, read: () => readonly Reading[] | Promise<readonly Reading[]>): void
  /** Undefined while no traces are written. */
  readonly tracing: Tracing | undefined
}

export interface Tracing {
  /**
   * Begins a span below the one under way. Undefined where none is needed: the trace is not written, or what would be its root is a step
   * of housekeeping.
   */
  start(span: SpanStart): OpenSpan | undefined
  /** The `traceparent` that the request under way came with. */
  incoming(): string | undefined
}

export interface SpanStart {
  readonly name: string
  /** A `server` span may be a root; others are steps of one. */
  readonly kind: 'server' | 'client' | 'internal'
  readonly labels: Labels
  /** W3C `traceparent` of whoever asks, valid. */
  readonly parent?: string | undefined
  /** Below `parent`, or the root of a trace where there is none, instead of below the span under way, to which it is linked. */
  readonly isOtherTrace?: boolean
}

export interface OpenSpan {
  /** What is begun within is below this span. */
  run<T>(work: () => T): T
  label(labels: Labels): void
  /** @param type of the failure: a code, a status, a reason; never a message */
  end(type?: string): void
}

/**
 * Counts what is under way, by one label: numbers in memory, which cost nothing beside a record of the SDK.
 * @param known values of the label that are read as 0 before the first: a graph without a line says neither that there are none nor that nobody counts
 */
export function createLevel<V extends string>(
  label: string,
  known: readonly V[] = [],
): {
  change(value: V, by: 1 | -1): void
  read(): readonly Reading[]
} {
  const levels = new Map<V, number>(known.map((value) => [value, 0]))
  return {
    change: (value, by) => void levels.set(value, (levels.get(value) ?? 0) + by),
    read: () => [...levels].map(([each, value]) => ({ value, labels: { [label]: each } })),
  }
}

/** Seconds since a mark of `performance.now()`. */
export const secondsSince = (mark: number): number => (performance.now() - mark) / 1000
