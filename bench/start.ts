// Cold start to the first 200 of /healthz, and resident memory over 100,000 calls. `node bench/start.ts`
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { closedLoop, median, printTable, residentMb, START_FLAGS, startServer } from './support.ts'

const STARTS = 7
const CALLS = 100_000
const main = new URL('../dist/main.js', import.meta.url).pathname
const directory = await mkdtemp(join(tmpdir(), 'gateway-bench-'))

async function start(name: string) {
  const started = performance.now()
  const server = await startServer(
    main,
    {
      PORT: '0',
      GATEWAY_DATA_DIR: join(directory, name),
      GATEWAY_LOG_LEVEL: 'error',
      GATEWAY_RATE_LIMIT: '0',
    },
    START_FLAGS,
  )
  const answer = await fetch(`${server.url}/healthz`)
  if (answer.status !== 200) throw new Error(`/healthz: ${answer.status}`)
  await answer.arrayBuffer()
  return { server, ms: performance.now() - started }
}

try {
  const first: number[] = []
  const later: number[] = []
  for (let i = 0; i < STARTS; i++) {
    for (const times of [first, later]) {
      const { server, ms } = await start(`data-${i}`)
      times.push(ms)
      await server.stop()
    }
  }
  printTable(
    `Cold start to /healthz 200, ${STARTS} starts each (target: under 1000 ms)`,
    ['', 'min ms', 'median ms', 'max ms'],
    [
      [
        'empty data directory',
        Math.min(...first).toFixed(0),
        median(first).toFixed(0),
        Math.max(...first).toFixed(0),
      ],
      [
        'existing data directory',
        Math.min(...later).toFixed(0),
        median(later).toFixed(0),
        Math.max(...later).toFixed(0),
      ],
    ],
  )

  const { server } = await start('data-memory')
  const shot = {
    path: '/v1/execute',
    method: 'POST' as const,
    headers: { 'content-type': 'application/json' },
    body: '{"intent":"demo"}',
  }
  const rows: (string | number)[][] = [['at start', residentMb(server.pid).toFixed(0)]]
  for (let done = 0; done < CALLS;) {
    await closedLoop(server, shot, { connections: 16, requests: CALLS / 5 })
    done += CALLS / 5
    rows.push([`after ${done.toLocaleString('en')} calls`, residentMb(server.pid).toFixed(0)])
  }
  await server.stop()
  printTable('Resident memory (goal: 150 MB, flat after warm-up)', ['', 'MB'], rows)
} finally {
  await rm(directory, { recursive: true, force: true })
}
