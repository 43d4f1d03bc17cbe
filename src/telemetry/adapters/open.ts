// OpenTelemetry behind the port: loaded where an operator asked for telemetry, and nowhere else. Nothing is registered globally, so that two
// gateways in a process have nothing in common, and no library starts to write spans of its own.
import type { TelemetrySettings } from '../../core/config.ts'
import type { Logger } from '../../lib/log.ts'
import type { Telemetry } from '../port.ts'
import { createInstruments } from './instruments.ts'
import { openMetricExporter, openTraceExporter } from './otlp.ts'
import { openPrometheus } from './prometheus.ts'
import { createTracing } from './tracing.ts'

export interface OpenTelemetry extends Telemetry {
  /** Where Prometheus reads; undefined where nothing listens. */
  readonly metricsUrl: string | undefined
  /** Sends what is left, in a few seconds or not at all. Never throws. */
  close(): Promise<void>
}

/** Where traces alone are written. */
const NO_FIGURES: Pick<Telemetry, 'add' | 'record' | 'observe'> = { add() {}, record() {}, observe() {} }

/** The last figures are worth no longer wait at the end of a process. */
const FLUSH_MS = 5000

/**
 * @param about.version of the gateway
 * @param about.instanceId names this process among its replicas
 * @throws where the port for Prometheus cannot be had
 */
export async function openTelemetry(
  settings: TelemetrySettings,
  log: Logger,
  about: { readonly version: string; readonly instanceId: string },
): Promise<OpenTelemetry> {
  const { traces, metrics, prometheus } = settings
  const [{ resourceFromAttributes }, sdkMetrics] = await Promise.all([
    import('@opentelemetry/resources'),
    import('@opentelemetry/sdk-metrics'),
  ])
  const resource = resourceFromAttributes({
    'service.version': about.version,
    'service.instance.id': about.instanceId,
    ...settings.resource,
    'service.name': settings.service,
  })
  const scrape = prometheus && (await openPrometheus(prometheus))
  const readers = [
    ...(scrape ? [scrape.reader] : []),
    ...(metrics
      ? [
          new sdkMetrics.PeriodicExportingMetricReader({
            exporter: await openMetricExporter(metrics, log),
            exportIntervalMillis: metrics.intervalMs,
            exportTimeoutMillis: Math.min(metrics.intervalMs, 30_000),
          }),
        ]
      : []),
  ]
  const meters = new sdkMetrics.MeterProvider({
    resource,
    readers,
    // Tools, doors and codes together are many, as are routes and statuses; all of them are ours.
    views: [
      { instrumentName: 'agent_gateway.calls', aggregationCardinalityLimit: 10_000 },
      { instrumentName: 'http.server.request.duration', aggregationCardinalityLimit: 5000 },
    ],
  })
  const instruments =
    readers.length > 0 ? createInstruments(meters.getMeter('agent-gateway', about.version), log) : NO_FIGURES
  const tracing = traces && (await createTracing(traces, await openTraceExporter(traces, log), resource))

  return {
    ...instruments,
    tracing: tracing?.tracing,
    metricsUrl: scrape?.url,
    async close() {
      const ends = [
        meters.shutdown(),
        ...(tracing ? [tracing.close()] : []),
        ...(scrape ? [scrape.close()] : []),
      ]
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, FLUSH_MS)
      })
      // What fails was said by its exporter.
      await Promise.race([Promise.allSettled(ends), late])
      clearTimeout(timer)
    },
  }
}
