// What telemetry costs: the same egress fetch through gateways that measure nothing, metrics, a tenth of the traces, and everything. Each delivers
// to a collector of this process, and metrics are scraped every 15 seconds, as Prometheus does. `node bench/telemetry.ts`
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { freePort } from '../test/support/free-port.ts'
import { issueCapability } from './capability.ts'
import { newToken } from '../src/lib/tokens.ts'
import {
  closedLoop,
  createServers,
  median,
  percentile,
  printTable,
  residentMb,
  type LoadResult,
  type Shot,
  START_FLAGS,
} from './support.ts'
import { prepareTlsUpstream } from './tls-upstream.ts'

const HOST = 'api.example.com'
const ROUNDS = 11
const REQUESTS = 1500
/** Until then V8's threads compile: for a gateway with telemetry three times as much as for one without. */
const WARM_REQUESTS = 6000
const SCRAPE_MS = 15_000
const operatorKey = newToken('sk')

const behind = await prepareTlsUpstream(HOST)
const servers = createServers()
let delivered = 0
const collector = createServer((req, res) => {
  req.on('data', (chunk: Buffer) => (delivered += chunk.length))
  req.on('end', () => res.writeHead(200).end())
}).listen(0, '127.0.0.1')
await once(collector, 'listening')

try {
  const upstream = await servers.start('./peers/upstream.ts', behind.env)
  const port = new URL(upstream.url).port
  const otlp = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
    OTEL_METRIC_EXPORT_INTERVAL: '5000',
  }
  const tenth = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.1' }
  const contenders = [
    await open('nothing', {}),
    await open('nothing, once more', {}),
    await open('metrics, for Prometheus', {}, await freePort()),
    await open('a tenth of the traces', { ...otlp, ...tenth, OTEL_METRICS_EXPORTER: 'none' }),
    await open('metrics and all traces', otlp, await freePort()),
  ]

  async function open(name: string, more: Record<string, string>, metricsPort?: number) {
    const server = await servers.start(
      '../test/support/loopback-gateway.ts',
      {
        PORT: '0',
        GATEWAY_DATA_DIR: join(behind.directory, name.replaceAll(/\W/g, '-')),
        GATEWAY_LOG_LEVEL: 'error',
        GATEWAY_RATE_LIMIT: '0',
        GATEWAY_DNS_SERVERS: behind.dns.address,
        GATEWAY_EGRESS_PORTS: port,
        GATEWAY_SERVICE_KEY_CREDITS: '100000000',
        GATEWAY_OPERATOR_KEY: operatorKey,
        NODE_EXTRA_CA_CERTS: behind.caFile,
        ...more,
        ...(metricsPort !== undefined && { GATEWAY_METRICS_PORT: String(metricsPort) }),
      },
      START_FLAGS,
    )
    const shot: Shot = {
      path: '/v1/egress/fetch',
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${await issueCapability(server, operatorKey, HOST)}`,
      },
      body: JSON.stringify({ method: 'GET', url: `https://${HOST}:${port}/v1/items` }),
    }
    return { name, server, shot, metricsPort, runs: [] as LoadResult[] }
  }

  for (const { server, shot } of contenders)
    await closedLoop(server, shot, { connections: 16, requests: WARM_REQUESTS })
  let scrapedAt = 0
  for (let round = 0; round < ROUNDS; round++)
    for (const { server, shot, metricsPort, runs } of contenders) {
      const load = closedLoop(server, shot, { connections: 16, requests: REQUESTS, awake: true })
      if (metricsPort !== undefined && performance.now() - scrapedAt > SCRAPE_MS) {
        scrapedAt = performance.now()
        await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).arrayBuffer()
      }
      runs.push(await load)
    }

  /** V8 still compiles for thousands of fetches, the more the more code there is: what is left is what a fetch costs. */
  const ownCpuOf = (at: number) => contenders[at]!.runs.map(({ cpuUs, engineCpuUs }) => cpuUs - engineCpuUs)
  const cpuOf = (at: number) => contenders[at]!.runs.map((run) => run.cpuUs)
  printTable(
    `16 connections, closed loop, medians of ${ROUNDS} interleaved rounds; the ratio is the median of the ratios of each round (target: metrics at most 1.05x the CPU)`,
    [
      'telemetry',
      'CPU us/fetch',
      'ratio',
      'of V8 threads',
      'ratio without',
      'requests/s',
      'p50 ms',
      'p99 ms',
      'resident MB',
    ],
    contenders.map(({ name, server, runs }, at) => [
      name,
      median(cpuOf(at)).toFixed(0),
      `${median(cpuOf(at).map((cpu, round) => cpu / cpuOf(0)[round]!)).toFixed(3)}x`,
      median(runs.map((run) => run.engineCpuUs)).toFixed(0),
      `${median(ownCpuOf(at).map((cpu, round) => cpu / ownCpuOf(0)[round]!)).toFixed(3)}x`,
      median(runs.map((run) => run.requests / run.seconds)).toFixed(0),
      median(runs.map((run) => percentile(run.latenciesMs, 0.5))).toFixed(2),
      median(runs.map((run) => percentile(run.latenciesMs, 0.99))).toFixed(2),
      residentMb(server.pid).toFixed(0),
    ]),
  )
  console.log(`\n${(delivered / 2 ** 20).toFixed(1)} MiB were delivered to the collector`)
} finally {
  await servers.stop()
  collector.closeAllConnections()
  collector.close()
  await behind.close()
}
