// Spans of OpenTelemetry below the port. The span under way is kept beside what the log names (lib/current-trace.ts), and not in the context
// of the API, which is one for the whole process.
import {
  type Context,
  type Link,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import type { Resource } from '@opentelemetry/resources'
import type { SpanExporter } from '@opentelemetry/sdk-trace'
import type { TraceSettings } from '../../core/config.ts'
import { type CurrentTrace, currentTrace, withTrace } from '../../lib/current-trace.ts'
import type { OpenSpan, SpanStart, Tracing } from '../port.ts'

/** What still runs so long after the end of its request is work of its own: a timer that a request happened to start. */
const LINGER_MS = 60_000

interface Root {
  endedAt: number | undefined
}

interface UnderWay extends CurrentTrace {
  readonly span: Span
  readonly context: Context
  /** The first span of the trace here. */
  readonly root: Root
  /** The `traceparent` that its request came with. */
  readonly incoming: string | undefined
}

/** A trace that is not written: one for all of them, so that nine of ten requests make nothing. */
const UNWRITTEN: CurrentTrace = {}
const UNWRITTEN_SPAN: OpenSpan = {
  run: (work) => withTrace(UNWRITTEN, work),
  label() {},
  end() {},
}

export async function createTracing(
  settings: TraceSettings,
  exporter: SpanExporter,
  resource: Resource,
): Promise<{ readonly tracing: Tracing; close(): Promise<void> }> {
  const sdk = await import('@opentelemetry/sdk-trace')
  const isWritten = createSampling(settings, sdk)
  const provider = new sdk.TracerProvider({
    resource,
    // What is begun is written: the choice is made before, without a span.
    sampler: new sdk.AlwaysOnSampler(),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter, scheduledDelayMillis: settings.delayMs })],
    // A label is a word of a list; whatever else got into one would be cut here.
    spanLimits: { attributeValueLengthLimit: 256 },
  })
  const tracer = provider.getTracer('agent-gateway')

  /** The only traces in this process are of this folder. */
  const underWay = () => currentTrace() as UnderWay | typeof UNWRITTEN | undefined

  function start({ name, kind, labels, parent, isOtherTrace }: SpanStart): OpenSpan | undefined {
    const around = underWay()
    const outer = around && 'span' in around ? around : undefined
    const beginsTrace = around === undefined || isOtherTrace === true
    if (!beginsTrace && !outer) return undefined
    if (beginsTrace) {
      // A step of housekeeping is no trace.
      if (kind !== 'server') return undefined
      if (!isWritten(parent)) return UNWRITTEN_SPAN
    }
    const links: Link[] = isOtherTrace && outer ? [{ context: outer.span.spanContext() }] : []
    const above = (beginsTrace ? remoteContext(parent) : outer?.context) ?? ROOT_CONTEXT
    const span = tracer.startSpan(name, { kind: KINDS[kind], attributes: labels, links }, above)
    const { traceId, spanId } = span.spanContext()
    const root = (beginsTrace ? undefined : outer?.root) ?? { endedAt: undefined }
    const now: UnderWay = {
      fields: { trace_id: traceId, span_id: spanId },
      isOver: () => root.endedAt !== undefined && performance.now() - root.endedAt > LINGER_MS,
      span,
      root,
      context: trace.setSpan(above, span),
      incoming: outer?.incoming ?? parent,
    }
    return openSpan(now, beginsTrace)
  }

  return {
    tracing: {
      start,
      incoming() {
        const around = underWay()
        return around && 'incoming' in around ? around.incoming : undefined
      },
    },
    close: () => provider.shutdown(),
  }
}

function openSpan(underWay: UnderWay, isRoot: boolean): OpenSpan {
  const { span, root } = underWay
  return {
    run: (work) => withTrace(underWay, work),
    label: (labels) => void span.setAttributes(labels),
    end(type) {
      if (type !== undefined) span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR })
      span.end()
      if (isRoot) root.endedAt = performance.now()
    },
  }
}

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  internal: SpanKind.INTERNAL,
} as const satisfies Record<SpanStart['kind'], SpanKind>

/** @param traceparent of W3C Trace Context, valid: 00-<32 hex>-<16 hex>-<2 hex> */
function readParent(traceparent: string): { traceId: string; spanId: string; traceFlags: number } {
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-')
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) }
}

const remoteContext = (traceparent: string | undefined): Context | undefined =>
  traceparent === undefined
    ? undefined
    : trace.setSpanContext(ROOT_CONTEXT, { ...readParent(traceparent), isRemote: true })

/** @returns whether a trace is written that begins here, below `parent` where there is one */
function createSampling(
  { sampler, ratio }: TraceSettings,
  sdk: typeof import('@opentelemetry/sdk-trace'),
): (parent: string | undefined) => boolean {
  const isParentBased = sampler.startsWith('parentbased_')
  const root = isParentBased ? sampler.slice('parentbased_'.length) : sampler
  const byId = new sdk.TraceIdRatioBasedSampler(ratio)
  return (parent) => {
    if (parent !== undefined && isParentBased) return (readParent(parent).traceFlags & 1) === 1
    if (root !== 'traceidratio') return root === 'always_on'
    // An id that somebody gave is judged as by everybody else who sees it; of one that does not exist yet chance decides.
    if (parent === undefined) return Math.random() < ratio
    const { decision } = byId.shouldSample(ROOT_CONTEXT, readParent(parent).traceId)
    return decision === sdk.SamplingDecision.RECORD_AND_SAMPLED
  }
}
