// Reports (POST /v1/test) and inspections (POST /v1/inspect): CPU in this process over every fixture, large bodies
// (commerce-large.ts), and what the REST door gives per CPU-second. `node bench/commerce.ts`; with `--base DIR` inspections are also
// compared with those of another checkout (commerce-base.ts).
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Transaction } from '../schemas/commerce.ts'
import { SAMPLES } from '../test/data/commerce/samples.ts'
import { wire } from '../test/support/commerce.ts'
import { compareWithBase } from './commerce-base.ts'
import { WORKS, type Work } from './commerce-works.ts'
import { closedLoop, median, percentile, printTable, START_FLAGS, type Shot, startServer } from './support.ts'

const WARM_UP = 300
const RUNS = 300
const TARGET_US = 1000
const TARGET_PER_CPU_SECOND = 1500

/** Sorted, microseconds of CPU of single runs, collection of garbage included: others on the machine do not count. */
async function measure(work: Work, sample: Transaction): Promise<number[]> {
  for (let i = 0; i < WARM_UP; i++) await work(sample)
  const times: number[] = []
  for (let i = 0; i < RUNS; i++) {
    const before = process.cpuUsage()
    await work(sample)
    const { user, system } = process.cpuUsage(before)
    times.push(user + system)
  }
  return times.toSorted((a, b) => a - b)
}

const us = (value: number) => value.toFixed(0)

const samples = Object.entries(SAMPLES).map(([name, sample]) => [name, wire(sample)] as const)
const p50s: number[] = []
const rows: string[][] = []
for (const [name, sample] of samples) {
  const row = [name]
  for (const [, work] of WORKS) {
    const times = await measure(work, sample)
    p50s.push(percentile(times, 0.5))
    row.push(us(percentile(times, 0.5)), us(percentile(times, 0.99)))
  }
  rows.push(row)
}
printTable(
  `CPU per sample, us (target: p50 under ${TARGET_US}; worst here ${us(Math.max(...p50s))})`,
  ['sample', ...WORKS.flatMap(([name]) => [`${name} p50`, 'p99'])],
  rows,
)

const baseAt = process.argv.indexOf('--base')
if (baseAt !== -1) compareWithBase(process.argv[baseAt + 1])

// With the flags of the server, which a process has from its start.
const { status } = spawnSync(
  process.execPath,
  [...START_FLAGS, join(import.meta.dirname, 'commerce-large.ts')],
  { stdio: 'inherit' },
)
if (status !== 0) throw new Error('the large bodies could not be measured')

// The median sample of the fixtures, by what it costs.
const costs = rows.map(([name, , , inspection]) => ({ name: name!, cost: Number(inspection) }))
const middle = costs.toSorted((a, b) => a.cost - b.cost)[Math.floor(costs.length / 2)]!.name
const sample = samples.find(([name]) => name === middle)![1]

const directory = await mkdtemp(join(tmpdir(), 'gateway-bench-'))
const server = await startServer(
  new URL('../src/cli/main.ts', import.meta.url).pathname,
  {
    PORT: '0',
    GATEWAY_DATA_DIR: join(directory, 'data'),
    GATEWAY_LOG_LEVEL: 'error',
    GATEWAY_RATE_LIMIT: '0',
  },
  START_FLAGS,
)
try {
  const shotAt = (path: string): Shot => ({
    path,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(sample),
  })
  const door: string[][] = []
  for (const path of ['/v1/inspect', '/v1/test']) {
    await closedLoop(server, shotAt(path), { connections: 8, requests: 4000 })
    const rounds = []
    for (let round = 0; round < 5; round++)
      rounds.push(await closedLoop(server, shotAt(path), { connections: 8, requests: 2000 }))
    const cpuUs = median(rounds.map((result) => result.cpuUs))
    door.push([
      path,
      us(cpuUs),
      (1e6 / cpuUs).toFixed(0),
      percentile(rounds[2]!.latenciesMs, 0.5).toFixed(2),
      percentile(rounds[2]!.latenciesMs, 0.99).toFixed(2),
    ])
  }
  printTable(
    `REST door, sample ${middle}, 8 connections (target: at least ${TARGET_PER_CPU_SECOND} inspections per CPU-second)`,
    ['path', 'CPU us', 'per CPU-second', 'p50 ms', 'p99 ms'],
    door,
  )
} finally {
  await server.stop()
  await rm(directory, { recursive: true, force: true })
}
