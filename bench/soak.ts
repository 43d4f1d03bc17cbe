// Hours of an ordinary day in half an hour: mixed calls on PostgreSQL at 70 % of what the gateway can do, with what goes wrong, how long answers take and
// how much memory there is, by spans. `node bench/soak.ts`; BENCH_MINUTES for another length.
import { bytesOf, createFetchWorld } from './fetch-world.ts'
import { flood, type FloodResult } from './peers/flood.ts'
import { percentile, printTable, residentMb } from './support.ts'

const CLIENTS = 64
const ACCOUNTS = 64
const SHARE = 0.7
const MINUTES = Number(process.env['BENCH_MINUTES'] ?? 30)
const SPANS = 6
/** Of ten calls. */
const FETCHES = 6

const world = await createFetchWorld('soak')
try {
  const gateway = await world.startGateway()
  const callers = await world.callers(gateway, ACCOUNTS)
  const get = (kind: string, path: string, token: string) => ({
    kind,
    bytes: bytesOf(gateway, { method: 'GET', path, token }),
  })
  const shots = callers.flatMap(({ fetch, key }) => [
    ...Array.from({ length: FETCHES }, () => fetch),
    get('attempts', '/v1/egress/attempts?limit=20', key),
    get('balance', '/v1/credits', key),
    get('capabilities', '/v1/egress/capabilities', key),
    get('manifest', '/v1/egress', key),
  ])
  // In another order, so that nobody's calls come together.
  const mixed = shots.map((_, i) => shots[(i * 37) % shots.length]!)
  const { hostname: host, port } = new URL(gateway.url)
  const to = { host, port: Number(port), shots: mixed, connections: CLIENTS }
  await flood({ ...to, seconds: 5 })
  const most = await flood({ ...to, seconds: 10 })
  const perSecond = (SHARE * count(most, () => true)) / 10
  const rows: (string | number)[][] = []
  for (let span = 0; span < SPANS; span++) {
    const result = await flood({ ...to, perSecond, seconds: (MINUTES * 60) / SPANS, mostConnections: 1000 })
    const latencies = Float32Array.from(
      result.answers.flatMap(({ latenciesMs }) => [...latenciesMs]),
    ).toSorted()
    const [p50, p99] = [percentile([...latencies], 0.5), percentile([...latencies], 0.99)]
    const wrong = result.answers.filter(({ status }) => ![200, 429, 503].includes(status))
    rows.push([
      `minutes ${((span * MINUTES) / SPANS).toFixed(0)} to ${(((span + 1) * MINUTES) / SPANS).toFixed(0)}`,
      count(result, () => true),
      count(result, (status) => status === 429 || status === 503),
      [
        ...wrong.map(({ kind, status, latenciesMs }) => `${latenciesMs.length} ${kind} ${status}`),
        ...(result.lost > 0 ? [`${result.lost} lost`] : []),
        ...(result.unsent > 0 ? [`${result.unsent} not sent`] : []),
      ].join(', ') || 'none',
      p50.toFixed(1),
      p99.toFixed(1),
      `${(p99 / p50).toFixed(1)}x`,
      residentMb(gateway.pid).toFixed(0),
    ])
  }
  printTable(
    `${MINUTES} minutes of mixed calls at ${perSecond.toFixed(0)} a second, ${SHARE * 100} % of the most at ${CLIENTS} connections (target: no error but 429 and 503, flat memory, p99 within 3 times p50)`,
    ['', 'calls', '429, 503', 'errors', 'p50 ms', 'p99 ms', 'ratio', 'MB'],
    rows,
  )
} finally {
  await world.close()
}

function count({ answers }: FloodResult, isCounted: (status: number) => boolean): number {
  return answers.reduce(
    (sum, { status, latenciesMs }) => sum + (isCounted(status) ? latenciesMs.length : 0),
    0,
  )
}
