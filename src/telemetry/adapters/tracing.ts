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
import type { Sampler, SpanExporter } from '@opentelemetry/sdk-trace'
import type { TraceSettings } from '../../core/config.ts'
import { currentTrace, type TraceFields, withTrace } from '../../lib/current-trace.ts'
import type { OpenSpan, SpanStart, Tracing } from '../port.ts'

/** What still runs so long after the end of its request is work of its own: a timer that a request happened to start. */
const LINGER_MS = 60_000

interface Root {
  endedAt: number | undefined
}

interface UnderWay {
  readonly fields: TraceFields
  readonly isOver: () => boolean
  /** The first span of the trace here. */
  readonly root: Root
  readonly context: Context
  readonly isSampled: boolean
  /** The `traceparent` that its request came with. */
  readonly incoming: string | undefined
}

export async function createTracing(
  settings: TraceSettings,
  exporter: SpanExporter,
  resource: Resource,
): Promise<{ readonly tracing: Tracing; close(): Promise<void> }> {
  const sdk = await import('@opentelemetry/sdk-trace')
  const provider = new sdk.TracerProvider({
    resource,
    sampler: samplerOf(settings, sdk),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter })],
    // A label is a word of a list; whatever else got into one would be cut here.
    spanLimits: { attributeValueLengthLimit: 256 },
  })
  const tracer = provider.getTracer('agent-gateway')

  /** The only traces in this process are of this folder. */
  const underWay = () => currentTrace() as UnderWay | undefined

  function start({ name, kind, labels, parent, isOtherTrace }: SpanStart): OpenSpan | undefined {
    const outer = underWay()
    // A step of a trace that is not sampled, or of none.
    if (kind !== 'server' && !outer?.isSampled) return undefined
    const remote = outer === undefined || isOtherTrace ? remoteContext(parent) : undefined
    const links: Link[] = isOtherTrace && outer?.isSampled ? [{ context: spanContextOf(outer.context) }] : []
    const above = remote ?? outer?.context ?? ROOT_CONTEXT
    const span = tracer.startSpan(name, { kind: KINDS[kind], attributes: labels, links }, above)
    const { traceId, spanId, traceFlags } = span.spanContext()
    const root = outer?.root ?? { endedAt: undefined }
    const now: UnderWay = {
      fields: { trace_id: traceId, span_id: spanId },
      isOver: () => root.endedAt !== undefined && performance.now() - root.endedAt > LINGER_MS,
      root,
      context: trace.setSpan(above, span),
      isSampled: (traceFlags & 1) === 1,
      incoming: outer?.incoming ?? parent,
    }
    return openSpan(span, now, outer === undefined)
  }

  return {
    tracing: { start, incoming: () => underWay()?.incoming },
    close: () => provider.shutdown(),
  }
}

function openSpan(span: Span, underWay: UnderWay, isRoot: boolean): OpenSpan {
  return {
    run: (work) => withTrace(underWay, work),
    label: (labels) => void span.setAttributes(labels),
    end(type) {
      if (type !== undefined) span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR })
      span.end()
      if (isRoot) underWay.root.endedAt = performance.now()
    },
  }
}

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  internal: SpanKind.INTERNAL,
} as const satisfies Record<SpanStart['kind'], SpanKind>

function spanContextOf(context: Context) {
  const found = trace.getSpanContext(context)
  if (!found) throw new TypeError('a span that is under way has a context')
  return found
}

/** @param traceparent of W3C Trace Context, valid: 00-<32 hex>-<16 hex>-<2 hex> */
function remoteContext(traceparent: string | undefined): Context | undefined {
  if (traceparent === undefined) return undefined
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-')
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
  })
}

function samplerOf(
  { sampler, ratio }: TraceSettings,
  sdk: typeof import('@opentelemetry/sdk-trace'),
): Sampler {
  const isParentBased = sampler.startsWith('parentbased_')
  const root = ((): Sampler => {
    switch (isParentBased ? sampler.slice('parentbased_'.length) : sampler) {
      case 'always_off':
        return new sdk.AlwaysOffSampler()
      case 'traceidratio':
        return new sdk.TraceIdRatioBasedSampler(ratio)
      default:
        return new sdk.AlwaysOnSampler()
    }
  })()
  return isParentBased ? new sdk.ParentBasedSampler({ root }) : root
}
