// OTLP over HTTP, in protobuf or JSON. An exporter that fails says so in the log once a minute, without a word of what it sent or was
// answered: the headers of a request may hold the operator's key of a service.
import type { PushMetricExporter } from '@opentelemetry/sdk-metrics'
import type { SpanExporter } from '@opentelemetry/sdk-trace'
import type { OtlpSettings } from '../../core/config.ts'
import type { Logger } from '../../lib/log.ts'

export async function openTraceExporter(settings: OtlpSettings, log: Logger): Promise<SpanExporter> {
  const { OTLPTraceExporter } = await (settings.protocol === 'http/json'
    ? import('@opentelemetry/exporter-trace-otlp-http')
    : import('@opentelemetry/exporter-trace-otlp-proto'))
  return reporting(new OTLPTraceExporter(optionsOf(settings)), 'traces', log)
}

export async function openMetricExporter(settings: OtlpSettings, log: Logger): Promise<PushMetricExporter> {
  const { OTLPMetricExporter } = await (settings.protocol === 'http/json'
    ? import('@opentelemetry/exporter-metrics-otlp-http')
    : import('@opentelemetry/exporter-metrics-otlp-proto'))
  return reporting(new OTLPMetricExporter(optionsOf(settings)), 'metrics', log)
}

const optionsOf = ({ url, headers }: OtlpSettings) => ({
  url,
  headers: headers.use((pairs) => Object.fromEntries(pairs)),
})

const QUIET_MS = 60_000
const ADVICE =
  'look at OTEL_EXPORTER_OTLP_ENDPOINT (OTLP over HTTP, port 4318 as a rule) and at the collector there'
const KEY_ADVICE =
  'it refuses the key, or wants one: look at OTEL_EXPORTER_OTLP_HEADERS and at who may write to the collector'

/** What the collector answered with, if anything; the library's errors have it for a code. */
const statusOf = (error: (Error & { readonly code?: unknown }) | undefined): number | undefined =>
  typeof error?.code === 'number' ? error.code : undefined

interface Exporter<T> {
  export(items: T, done: (result: { readonly code: number; readonly error?: Error }) => void): void
}

function reporting<T, E extends Exporter<T>>(exporter: E & Exporter<T>, what: string, log: Logger): E {
  const send = exporter.export.bind(exporter)
  let said: number | undefined
  exporter.export = (items, done) =>
    send(items, (result) => {
      if (result.code !== 0 && (said === undefined || performance.now() - said >= QUIET_MS)) {
        said = performance.now()
        const status = statusOf(result.error)
        // The serializer of `err` keeps its kind, its code where that is a word, and where it was thrown.
        log.warn(
          { err: result.error, status },
          `${what} could not be delivered to the OTLP endpoint: ${status === 401 || status === 403 ? KEY_ADVICE : ADVICE}`,
        )
      }
      done(result)
    })
  return exporter
}
