// A2A SendMessage of a trivial skill over JSON-RPC: the gateway (a message, and a task that is on disk before the answer)
// against bare node:http and against the SDK's DefaultRequestHandler, which keeps its tasks in memory. `node bench/a2a.ts`
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  closedLoop,
  type LoadResult,
  median,
  percentile,
  printTable,
  type ServerProcess,
  type Shot,
  startServer,
} from './support.ts'

const ROUNDS = 5
// CPU is read in ticks of 10 ms: a round must be long enough for the floor to be more than a few of them.
const REQUESTS = 5000
const CONNECTIONS = 16
const here = (path: string) => new URL(path, import.meta.url).pathname

/** 130 bytes of input, as an agent would send them. */
const input = {
  text: 'The quick brown fox jumps over the lazy dog',
  times: 2,
  tags: ['first', 'second', 'third'],
}
const shot = (skill: string): Shot => ({
  path: '/a2a',
  method: 'POST',
  headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
  body: JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'SendMessage',
    params: { message: { messageId: 'bench', role: 'ROLE_USER', parts: [{ data: { skill, input } }] } },
  }),
})

/** A fast wrong answer would win: each server shows first that it answers what is asked. */
async function checkAnswer(
  server: ServerProcess,
  { path, ...rest }: Shot,
  kind: 'message' | 'task',
): Promise<void> {
  const text = await (await fetch(server.url + path, rest)).text()
  const { result } = JSON.parse(text) as {
    result?: {
      message?: { parts: { data: unknown }[] }
      task?: { artifacts: { parts: { data: unknown }[] }[] }
    }
  }
  const [part] =
    kind === 'message' ? (result?.message?.parts ?? []) : (result?.task?.artifacts[0]?.parts ?? [])
  if (JSON.stringify(part?.data) !== JSON.stringify(input))
    throw new Error(`${server.url} answers ${text.slice(0, 500)}`)
}

const directory = await mkdtemp(join(tmpdir(), 'gateway-bench-'))
const servers: ServerProcess[] = []
try {
  const bare = await startServer(here('./peers/a2a-bare.ts'))
  servers.push(bare)
  const sdk = await startServer(here('./peers/a2a-sdk.ts'))
  servers.push(sdk)
  const gateway = await startServer(here('./peers/a2a-gateway.ts'), {
    PORT: '0',
    GATEWAY_DATA_DIR: join(directory, 'data'),
    GATEWAY_LOG_LEVEL: 'error',
    GATEWAY_RATE_LIMIT: '0',
  })
  servers.push(gateway)

  const rows = [
    { who: 'bare node:http, message', server: bare, shot: shot('echo'), kind: 'message', target: 1 },
    { who: 'gateway, message', server: gateway, shot: shot('echo'), kind: 'message', target: 5 },
    { who: 'SDK default handler, message', server: sdk, shot: shot('echo'), kind: 'message' },
    { who: 'gateway, task in SQLite', server: gateway, shot: shot('task'), kind: 'task', target: 7 },
    { who: 'SDK default handler, task in memory', server: sdk, shot: shot('task'), kind: 'task' },
  ] as const
  const results = new Map<string, LoadResult[]>(rows.map(({ who }) => [who, []]))
  const load = { connections: CONNECTIONS, requests: REQUESTS }
  for (const row of rows) {
    await checkAnswer(row.server, row.shot, row.kind)
    await closedLoop(row.server, row.shot, load)
  }
  for (let round = 0; round < ROUNDS; round++)
    for (const row of rows) results.get(row.who)!.push(await closedLoop(row.server, row.shot, load))

  const cpu = (who: string) => median(results.get(who)!.map(({ cpuUs }) => cpuUs))
  const floor = cpu(rows[0].who)
  printTable(
    `SendMessage of a trivial skill: ${CONNECTIONS} connections, medians of ${ROUNDS} interleaved rounds of ${REQUESTS}`,
    ['', 'CPU us/req', 'vs bare', 'at most', 'req/CPU-s', 'p50 ms', 'p99 ms'],
    rows.map((row) => {
      const rounds = results.get(row.who)!
      const latency = (p: number) =>
        median(rounds.map(({ latenciesMs }) => percentile(latenciesMs, p))).toFixed(1)
      return [
        row.who,
        cpu(row.who).toFixed(0),
        `${(cpu(row.who) / floor).toFixed(2)}x`,
        'target' in row ? `${row.target}x` : '',
        (1e6 / cpu(row.who)).toFixed(0),
        latency(0.5),
        latency(0.99),
      ]
    }),
  )
} finally {
  await Promise.all(servers.map((server) => server.stop()))
  await rm(directory, { recursive: true, force: true })
}
