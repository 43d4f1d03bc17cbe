// Shared by the benchmarks: servers in processes of their own, CPU read from the kernel, one load client, one table.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { appendFileSync, readdirSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Client } from 'undici'

const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))

export interface ServerProcess {
  readonly pid: number
  readonly url: string
  stop(): Promise<void>
}

/** What `npm start` gives Node. */
export const START_FLAGS = ['--max-semi-space-size=4', '--no-parallel-scavenge']

/** Starts `node <flags> <file>`; the server is up when it prints `listening on <url>` on stdout or stderr. */
export async function startServer(
  file: string,
  env: Record<string, string> = {},
  flags: readonly string[] = [],
): Promise<ServerProcess> {
  const child = spawn(process.execPath, [...flags, file], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const url = await firstAddress(child, file)
  return {
    pid: child.pid!,
    url,
    async stop() {
      if (child.exitCode !== null) return
      const exited = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      const force = setTimeout(() => child.kill('SIGKILL'), 5000)
      await exited
      clearTimeout(force)
    },
  }
}

interface Servers {
  /** @param file relative to this directory */
  start(file: string, env?: Record<string, string>, flags?: readonly string[]): Promise<ServerProcess>
  /** Stops all that were started. */
  stop(): Promise<void>
}

/** The servers of one benchmark. */
export function createServers(): Servers {
  const started: ServerProcess[] = []
  return {
    async start(file, env, flags) {
      const server = await startServer(new URL(file, import.meta.url).pathname, env, flags)
      started.push(server)
      return server
    },
    async stop() {
      await Promise.all(started.map((server) => server.stop()))
    },
  }
}

function firstAddress(child: ChildProcess, file: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const said: string[] = []
    const onLine = (line: string) => {
      said.push(line)
      const match = /listening on (https?:\/\/\S+)/.exec(line)
      if (match) resolve(match[1]!)
    }
    createInterface({ input: child.stdout! }).on('line', onLine)
    createInterface({ input: child.stderr! }).on('line', onLine)
    child.once('exit', (code) =>
      reject(new Error(`${file} exited with ${code}:\n${said.slice(-20).join('\n')}`)),
    )
  })
}

/** What follows the name in `/proc/PID/stat` (proc(5)), from the state on. */
function statOf(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}
/** User and system time of all threads of a process, in seconds (fields 14 and 15). */
export function cpuSeconds(pid: number): number {
  const fields = statOf(pid)
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

/**
 * CPU of the threads that V8 keeps for itself, in seconds: it compiles and collects garbage there, and a profile of the main thread shows none of it.
 */
export function engineCpuSeconds(pid: number): number {
  let nanoseconds = 0
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const file = (name: string) => readFileSync(`/proc/${pid}/task/${thread}/${name}`, 'utf8')
    try {
      if (file('comm').startsWith('V8Worker')) nanoseconds += Number(file('schedstat').split(' ')[0])
    } catch {
      // It has ended meanwhile.
    }
  }
  return nanoseconds / 1e9
}

/** The same of a process and of its children that are alive, and of those that have ended (fields 16 and 17): a database server. */
export function cpuSecondsOfFamily(pid: number): number {
  let ticks = Number(statOf(pid)[13]) + Number(statOf(pid)[14])
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    try {
      const fields = statOf(Number(entry))
      if (Number(entry) === pid || Number(fields[1]) === pid) ticks += Number(fields[11]) + Number(fields[12])
    } catch {
      // It has ended meanwhile.
    }
  }
  return ticks / TICKS_PER_SECOND
}

/** Resident memory in MB. */
export function residentMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024
}

export interface Shot {
  readonly path: string
  readonly method: 'GET' | 'POST'
  readonly headers?: Record<string, string>
  readonly body?: string
  /** Of a good answer; 200 unless it is something else. */
  readonly status?: number
}

export interface LoadResult {
  readonly requests: number
  readonly seconds: number
  /** Server CPU, microseconds per request. */
  readonly cpuUs: number
  /** What the engine's own threads took of it. */
  readonly engineCpuUs: number
  /** Sorted, milliseconds. */
  readonly latenciesMs: readonly number[]
}

async function fire(client: Client, shot: Shot): Promise<void> {
  const { statusCode, body } = await client.request({
    path: shot.path,
    method: shot.method,
    headers: shot.headers ?? {},
    ...(shot.body === undefined ? {} : { body: shot.body }),
  })
  const text = await body.text()
  if (statusCode !== (shot.status ?? 200))
    throw new Error(`${shot.path}: ${statusCode} ${text.slice(0, 300)}`)
}

/**
 * Closed loop: every connection sends its next request when the last one was answered.
 * @param shot one for all, or what gives the next one
 * @param options.ca PEM of the authority of a server over TLS
 * @param options.awake the client never waits in the kernel. To wake a process that does is work for whoever writes to it,
 *   5 to 15 us on a virtual machine, and the slower of two servers has to do it more often
 * @param options.seconds it ends then at the latest
 */
export async function closedLoop(
  server: Pick<ServerProcess, 'pid' | 'url'>,
  shot: Shot | (() => Shot),
  options: { connections: number; requests: number; ca?: string; awake?: boolean; seconds?: number },
): Promise<LoadResult> {
  const { ca } = options
  let isAwake = options.awake === true
  const stayAwake = () => {
    if (isAwake) setImmediate(stayAwake)
  }
  const clients = Array.from(
    { length: options.connections },
    () => new Client(server.url, { pipelining: 1, ...(ca !== undefined && { connect: { ca } }) }),
  )
  const latenciesMs: number[] = []
  let left = options.requests
  stayAwake()
  const end = beginMeasuring(server)
  const started = performance.now()
  const until = started + (options.seconds ?? Number.POSITIVE_INFINITY) * 1000
  await Promise.all(
    clients.map(async (client) => {
      while (left-- > 0 && performance.now() < until) {
        const next = typeof shot === 'function' ? shot() : shot
        const at = performance.now()
        await fire(client, next)
        latenciesMs.push(performance.now() - at)
      }
    }),
  )
  const result = end(latenciesMs)
  isAwake = false
  await Promise.all(clients.map((client) => client.close()))
  return result
}

/** @returns ends the measurement, of requests that took so long */
function beginMeasuring({ pid }: Pick<ServerProcess, 'pid'>): (latenciesMs: readonly number[]) => LoadResult {
  const cpuBefore = cpuSeconds(pid)
  const engineBefore = engineCpuSeconds(pid)
  const started = performance.now()
  return (latenciesMs) => ({
    requests: latenciesMs.length,
    seconds: (performance.now() - started) / 1000,
    cpuUs: ((cpuSeconds(pid) - cpuBefore) * 1e6) / latenciesMs.length,
    engineCpuUs: ((engineCpuSeconds(pid) - engineBefore) * 1e6) / latenciesMs.length,
    latenciesMs: latenciesMs.toSorted((a, b) => a - b),
  })
}

/** Open loop: requests leave on a schedule whether or not earlier ones were answered; latency counts from the schedule. */
export async function openLoop(
  server: ServerProcess,
  shot: Shot,
  options: { connections: number; perSecond: number; requests: number },
): Promise<LoadResult> {
  const clients = Array.from({ length: options.connections }, () => new Client(server.url, { pipelining: 1 }))
  const idle = [...clients]
  const waiting: ((client: Client) => void)[] = []
  const take = () => {
    const client = idle.pop()
    return client ? Promise.resolve(client) : new Promise<Client>((resolve) => waiting.push(resolve))
  }
  const give = (client: Client) => {
    const next = waiting.shift()
    if (next) next(client)
    else idle.push(client)
  }
  const latenciesMs: number[] = []
  const end = beginMeasuring(server)
  const started = performance.now()
  const running: Promise<void>[] = []
  for (let i = 0; i < options.requests; i++) {
    const due = started + (i * 1000) / options.perSecond
    const wait = due - performance.now()
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
    running.push(
      (async () => {
        const client = await take()
        await fire(client, shot)
        give(client)
        latenciesMs.push(performance.now() - due)
      })(),
    )
  }
  await Promise.all(running)
  const result = end(latenciesMs)
  await Promise.all(clients.map((client) => client.close()))
  return result
}

export const percentile = (sorted: readonly number[], p: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))] ?? Number.NaN

export const median = (values: readonly number[]) =>
  percentile(
    values.toSorted((a, b) => a - b),
    0.5,
  )

/** Columns padded to their widest cell; numbers to the right. Also a line of JSON in the file that `BENCH_TABLES` names. */
export function printTable(
  title: string,
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): void {
  const cells = [head, ...rows.map((row) => row.map(String))]
  const widths = head.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)))
  const line = (row: readonly string[]) =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  ')
  console.log(`\n${title}`)
  console.log(line(head))
  console.log(widths.map((width) => '-'.repeat(width)).join('  '))
  for (const row of cells.slice(1)) console.log(line(row))
  const file = process.env['BENCH_TABLES']
  if (file !== undefined) appendFileSync(file, `${JSON.stringify({ title, head, rows })}\n`)
}
