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
        // The serializer of `err` keeps its kind, its code and where it was thrown.
        log.warn(
          { err: result.error },
          `${what} could not be delivered to the OTLP endpoint: look at OTEL_EXPORTER_OTLP_ENDPOINT (OTLP over HTTP, port 4318 as a rule) and at the collector there`,
        )
      }
      done(result)
    })
  return exporter
}
