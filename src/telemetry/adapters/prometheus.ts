// Metrics for Prometheus on a listener of their own: what callers may reach shows none. The text is the library's, with the names that
// Prometheus and an OTLP receiver that translates both have (`…_seconds`), so that one dashboard fits either way.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { PrometheusExporter } from '@opentelemetry/exporter-prometheus'
import type { MetricData, ResourceMetrics } from '@opentelemetry/sdk-metrics'
import { prometheusName, prometheusUnit } from '../instruments.ts'

const PATH = '/metrics'
const TYPE = 'text/plain; version=0.0.4; charset=utf-8'
/** A scraper has one; whoever holds more keeps nobody from the gateway. */
const MAX_CONNECTIONS = 16

export interface Scrape {
  readonly reader: PrometheusExporter
  readonly url: string
  close(): Promise<void>
}

/** @throws where the port cannot be had */
export async function openPrometheus({
  host,
  port,
}: {
  readonly host: string
  readonly port: number
}): Promise<Scrape> {
  const library = await import('@opentelemetry/exporter-prometheus')
  // A reader that is asked by the server below, instead of one that listens itself.
  const reader = new library.PrometheusExporter({ preventServerStart: true })
  const serializer = new library.PrometheusSerializer('', false, undefined, false, true)
  let collecting: Promise<string> | undefined

  async function collect(): Promise<string> {
    const { resourceMetrics } = await reader.collect()
    return serializer.serialize(withPrometheusNames(resourceMetrics))
  }

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (req.url !== PATH) return refuse(res, 404, `See ${PATH}.`)
    if (req.method !== 'GET' && req.method !== 'HEAD') return refuse(res, 405, 'Use GET.')
    // A page in somebody's browser that made a name resolve here.
    const site = req.headers['sec-fetch-site']
    if (site !== undefined && site !== 'none') return refuse(res, 403, 'No web page may read this.')
    // Many who scrape at once are one collection.
    collecting ??= collect().finally(() => (collecting = undefined))
    const text = await collecting
    res.writeHead(200, { 'content-type': TYPE, 'cache-control': 'no-store' })
    res.end(req.method === 'HEAD' ? undefined : text)
  }

  const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000 }, (req, res) => {
    answer(req, res).catch(() => {
      if (!res.headersSent) refuse(res, 500, 'The metrics could not be collected.')
    })
  })
  server.maxConnections = MAX_CONNECTIONS
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const bound = (server.address() as AddressInfo).port
  return {
    reader,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}${PATH}`,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}

function refuse(res: ServerResponse, status: number, words: string): void {
  res.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${words}\n`)
}

const withPrometheusNames = ({ scopeMetrics, ...rest }: ResourceMetrics): ResourceMetrics => ({
  ...rest,
  scopeMetrics: scopeMetrics.map(({ scope, metrics }) => ({ scope, metrics: metrics.map(renamed) })),
})

const renamed = (metric: MetricData): MetricData => ({
  ...metric,
  descriptor: {
    ...metric.descriptor,
    name: prometheusName(metric.descriptor.name, metric.descriptor.unit),
    unit: prometheusUnit(metric.descriptor.unit),
  },
})
