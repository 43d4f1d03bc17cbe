// More than a gateway on PostgreSQL can do: how much it still does at once, twice and five times as many calls as it can answer, and how soon the
// others hear that they should come again. Gateway, upstream and database are processes of their own on this machine, and so are the callers:
// where they want more than its cores, that shows as well. `node bench/overload.ts`
import { createFetchWorld } from './fetch-world.ts'
import { type Answers, flood, type FloodResult } from './peers/flood.ts'
import { cpuSeconds, percentile, printTable } from './support.ts'

const CLIENTS = 64
const ACCOUNTS = 64
const SECONDS = 8
const TIMES = [1, 2, 5]

const world = await createFetchWorld('overload')
try {
  const gateway = await world.startGateway()
  const shots = (await world.callers(gateway, ACCOUNTS)).map(({ fetch }) => fetch)
  const { hostname: host, port } = new URL(gateway.url)
  const to = { host, port: Number(port), shots }
  await flood({ ...to, seconds: 4, connections: CLIENTS })
  const peak = good(await flood({ ...to, seconds: SECONDS, connections: CLIENTS }))
  const rows: (string | number)[][] = []
  for (const times of TIMES) {
    const before = cpuSeconds(gateway.pid)
    const perSecond = peak * times
    const result = await flood({
      ...to,
      seconds: SECONDS,
      perSecond,
      connections: CLIENTS,
      mostConnections: 4000,
    })
    const refused = result.answers.filter(({ status }) => status === 503 || status === 429)
    const others = result.answers.filter(({ status }) => status !== 200 && status !== 503 && status !== 429)
    const waits = together(refused)
    rows.push([
      `${times} times`,
      perSecond.toFixed(0),
      good(result).toFixed(0),
      `${((100 * good(result)) / peak).toFixed(0)} %`,
      percentile([...together(result.answers.filter(({ status }) => status === 200))], 0.5).toFixed(0),
      (count(refused) / result.seconds).toFixed(0),
      percentile([...waits], 0.5).toFixed(1),
      percentile([...waits], 0.99).toFixed(1),
      refused.every(({ saysWhen }) => saysWhen) ? 'all' : 'NOT ALL',
      count(others) + result.lost,
      result.unsent,
      ((cpuSeconds(gateway.pid) - before) / result.seconds).toFixed(2),
    ])
    await new Promise((resolve) => setTimeout(resolve, 1000))
  }
  printTable(
    `Offered more than ${peak.toFixed(0)} fetches a second, which is what it does at ${CLIENTS} connections (target at 5 times: 80 % of that, the rest refused within 20 ms with Retry-After)`,
    [
      '',
      'offered/s',
      'answered/s',
      'of the peak',
      'p50 ms',
      'refused/s',
      'p50 ms',
      'p99 ms',
      'Retry-After',
      'failed',
      'not sent',
      'cores',
    ],
    rows,
  )
} finally {
  await world.close()
}

function count(answers: readonly Answers[]): number {
  return answers.reduce((sum, { latenciesMs }) => sum + latenciesMs.length, 0)
}
function good({ answers }: FloodResult): number {
  return count(answers.filter(({ status }) => status === 200)) / SECONDS
}
function together(answers: readonly Answers[]): Float32Array {
  return Float32Array.from(answers.flatMap(({ latenciesMs }) => [...latenciesMs])).toSorted()
}
