// What telemetry costs: the same egress fetch through gateways that measure nothing, metrics, a tenth of the traces, and everything. Each delivers
// to a collector of this process, and metrics are scraped while a process is measured, as Prometheus does. `node bench/telemetry.ts`
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
/** Of each contender so many processes, one after the other: two of the same gateway differ by up to a fifth, rounds of one by far less. */
const LAUNCHES = 9
const ROUNDS = 5
const REQUESTS = 1500
/** Until then V8's threads compile: for a gateway with telemetry three times as much as for one without. */
const WARM_REQUESTS = 6000
const operatorKey = newToken('sk')

const behind = await prepareTlsUpstream(HOST)
const servers = createServers()
let delivered = 0
const collector = createServer((req, res) => {
  req.on('data', (chunk: Buffer) => (delivered += chunk.length))
  req.on('end', () => res.writeHead(200).end())
}).listen(0, '127.0.0.1')
await once(collector, 'listening')

/** A gateway that is measured. */
interface Contender {
  readonly name: string
  readonly env: Readonly<Record<string, string>>
  readonly hasMetricsPort: boolean
}

/** What one process of it came to: medians of its rounds. */
interface Outcome {
  readonly cpuUs: number
  readonly engineCpuUs: number
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly residentMb: number
}

try {
  const upstream = await servers.start('./peers/upstream.ts', behind.env)
  const port = new URL(upstream.url).port
  const otlp = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
    OTEL_METRIC_EXPORT_INTERVAL: '5000',
  }
  const tenth = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.1' }
  const contenders: readonly Contender[] = [
    { name: 'nothing', env: {}, hasMetricsPort: false },
    { name: 'nothing, once more', env: {}, hasMetricsPort: false },
    { name: 'metrics, for Prometheus', env: {}, hasMetricsPort: true },
    {
      name: 'a tenth of the traces',
      env: { ...otlp, ...tenth, OTEL_METRICS_EXPORTER: 'none' },
      hasMetricsPort: false,
    },
    { name: 'metrics and all traces', env: otlp, hasMetricsPort: true },
  ]

  async function open({ name, env, hasMetricsPort }: Contender, launch: number) {
    const metricsPort = hasMetricsPort ? await freePort() : undefined
    const server = await servers.start(
      '../test/support/loopback-gateway.ts',
      {
        PORT: '0',
        GATEWAY_DATA_DIR: join(behind.directory, `${name.replaceAll(/\W/g, '-')}-${launch}`),
        GATEWAY_LOG_LEVEL: 'error',
        GATEWAY_RATE_LIMIT: '0',
        GATEWAY_DNS_SERVERS: behind.dns.address,
        GATEWAY_EGRESS_PORTS: port,
        GATEWAY_SERVICE_KEY_CREDITS: '100000000',
        GATEWAY_OPERATOR_KEY: operatorKey,
        NODE_EXTRA_CA_CERTS: behind.caFile,
        ...env,
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
    return { server, shot, metricsPort, runs: [] as LoadResult[] }
  }

  const outcomes: Outcome[][] = contenders.map(() => [])
  for (let launch = 0; launch < LAUNCHES; launch++) {
    // In another order each time: who starts later finds a warmer machine.
    const order = contenders.map((_, i) => (i + launch) % contenders.length)
    const opened = []
    for (const at of order) opened.push(await open(contenders[at]!, launch))
    for (const { server, shot } of opened)
      await closedLoop(server, shot, { connections: 16, requests: WARM_REQUESTS })
    for (let round = 0; round < ROUNDS; round++)
      for (const { server, shot, metricsPort, runs } of opened) {
        const load = closedLoop(server, shot, { connections: 16, requests: REQUESTS, awake: true })
        // A round takes less than the 15 seconds between two scrapes: one for each launch.
        if (metricsPort !== undefined && round === 0)
          await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).arrayBuffer()
        runs.push(await load)
      }
    for (const [i, { server, runs }] of opened.entries()) {
      const of = (figure: (run: LoadResult) => number) => median(runs.map(figure))
      outcomes[order[i]!]!.push({
        cpuUs: of((run) => run.cpuUs),
        engineCpuUs: of((run) => run.engineCpuUs),
        perSecond: of((run) => run.requests / run.seconds),
        p50: of((run) => percentile(run.latenciesMs, 0.5)),
        p99: of((run) => percentile(run.latenciesMs, 0.99)),
        residentMb: residentMb(server.pid),
      })
      await server.stop()
    }
  }

  const of = (at: number, figure: (outcome: Outcome) => number) => median(outcomes[at]!.map(figure))
  const cpu = ({ cpuUs }: Outcome) => cpuUs
  /** V8 still compiles for thousands of fetches, the more the more code there is: what is left is what a fetch costs. */
  const ownCpu = ({ cpuUs, engineCpuUs }: Outcome) => cpuUs - engineCpuUs
  printTable(
    `16 connections, closed loop; medians over ${LAUNCHES} processes of each, of which the medians of ${ROUNDS} interleaved rounds (target: metrics at most 1.05x the CPU)`,
    [
      'telemetry',
      'CPU us/fetch',
      'least',
      'most',
      'ratio',
      'of V8 threads',
      'ratio without',
      'requests/s',
      'p50 ms',
      'p99 ms',
      'resident MB',
    ],
    contenders.map(({ name }, at) => [
      name,
      of(at, cpu).toFixed(0),
      Math.min(...outcomes[at]!.map(cpu)).toFixed(0),
      Math.max(...outcomes[at]!.map(cpu)).toFixed(0),
      `${(of(at, cpu) / of(0, cpu)).toFixed(3)}x`,
      of(at, ({ engineCpuUs }) => engineCpuUs).toFixed(0),
      `${(of(at, ownCpu) / of(0, ownCpu)).toFixed(3)}x`,
      of(at, ({ perSecond }) => perSecond).toFixed(0),
      of(at, ({ p50 }) => p50).toFixed(2),
      of(at, ({ p99 }) => p99).toFixed(2),
      of(at, (outcome) => outcome.residentMb).toFixed(0),
    ]),
  )
  console.log(`\n${(delivered / 2 ** 20).toFixed(1)} MiB were delivered to the collector`)
} finally {
  await servers.stop()
  collector.closeAllConnections()
  collector.close()
  await behind.close()
}
