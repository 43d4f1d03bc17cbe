// Metrics for Prometheus on a listener of their own: what callers may reach shows none. The text is the library's, with the names that
// Prometheus and an OTLP receiver that translates both have (`…_seconds`), so that one dashboard fits either way.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, isIP, type Socket } from 'node:net'
import type { PrometheusExporter } from '@opentelemetry/exporter-prometheus'
import type { MetricData, ResourceMetrics } from '@opentelemetry/sdk-metrics'
import { prometheusName, prometheusUnit } from '../instruments.ts'

const PATH = '/metrics'
const TYPE = 'text/plain; version=0.0.4; charset=utf-8'
/** A scraper has one. Whoever opens more, and reads nothing from them, keeps no scraper out: the oldest goes for the newest. */
const MAX_CONNECTIONS = 16
/** Figures take three seconds at most; the rest is for the way. */
const LIFETIME_MS = 10_000

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
  let isOnLoopback = true

  async function collect(): Promise<string> {
    const { resourceMetrics } = await reader.collect()
    return serializer.serialize(withPrometheusNames(resourceMetrics))
  }

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const [path] = (req.url ?? '').split('?', 1)
    if (path !== PATH) return refuse(res, 404, `See ${PATH}.`)
    if (req.method !== 'GET' && req.method !== 'HEAD') return refuse(res, 405, 'Use GET.')
    if (isOfPage(req)) return refuse(res, 403, 'No web page may read this.')
    if (isOnLoopback && !isOwnName(req.headers.host))
      return refuse(res, 403, 'Use localhost, an IP address or GATEWAY_METRICS_HOST.')
    // Many who scrape at once are one collection.
    collecting ??= collect().finally(() => (collecting = undefined))
    const text = await collecting
    res.writeHead(200, { 'content-type': TYPE, 'cache-control': 'no-store' })
    res.end(req.method === 'HEAD' ? undefined : text)
  }

  /** A page may have made its own name resolve here, and then reads what is of its own origin; it cannot have its name be one of these. */
  function isOwnName(asked: string | undefined): boolean {
    // HTTP/1.0, which no browser speaks.
    if (asked === undefined) return true
    const name = (URL.parse(`http://${asked}`)?.hostname ?? '').replace(/^\[|\]$/g, '')
    return name === 'localhost' || isIP(name) !== 0 || name === host.toLowerCase()
  }

  const server = createServer((req, res) => {
    // Node says so itself after the last request that it takes, and keeps the connection for seconds all the same.
    res.setHeader('connection', 'close')
    answer(req, res).catch(() => {
      if (!res.headersSent) refuse(res, 500, 'The metrics could not be collected.')
    })
  })
  // Answers to requests that are sent ahead would pile up for as long as nobody reads them.
  server.maxRequestsPerSocket = 1
  server.on('connection', keepFew())
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const { address, port: bound } = server.address() as AddressInfo
  // Elsewhere a scraper may know the gateway by any name that the operator's network has, and the network keeps everybody else away.
  isOnLoopback = address === '::1' || address.startsWith('127.')
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

/** Keeps as many connections as there may be, each for as long as an answer takes. */
function keepFew(): (socket: Socket) => void {
  const open = new Set<Socket>()
  return (socket) => {
    const end = setTimeout(() => socket.destroy(), LIFETIME_MS).unref()
    socket.once('close', () => {
      clearTimeout(end)
      open.delete(socket)
    })
    open.add(socket)
    const [oldest] = open
    if (open.size <= MAX_CONNECTIONS || oldest === undefined) return
    open.delete(oldest)
    oldest.destroy()
  }
}

/** Browsers say where a request comes from, if they trust the address that it goes to. No scraper does. */
function isOfPage({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site']
  return headers.origin !== undefined || (site !== undefined && site !== 'none')
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
