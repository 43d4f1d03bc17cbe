// A load that costs little itself: prepared requests over plain sockets, on a schedule or as fast as they are answered, from a thread of its own.
import { connect, type Socket } from 'node:net'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

export interface FloodShot {
  /** What it is called in the result. */
  readonly kind: string
  /** All of an HTTP/1.1 request that keeps its connection. */
  readonly bytes: string
}

export interface Flood {
  readonly host: string
  readonly port: number
  /** Sent in turn. */
  readonly shots: readonly FloodShot[]
  readonly seconds: number
  /** Requests a second, whether earlier ones were answered or not; undefined: each connection sends its next one at once. */
  readonly perSecond?: number | undefined
  /** Connections; with a schedule as many more are opened as it takes, up to `mostConnections`. */
  readonly connections: number
  readonly mostConnections?: number
}

export interface Answers {
  readonly kind: string
  readonly status: number
  /** Every one of them had `Retry-After`. */
  readonly saysWhen: boolean
  /** Milliseconds from the moment that the schedule named, sorted. */
  readonly latenciesMs: Float32Array
}

export interface FloodResult {
  readonly seconds: number
  readonly answers: readonly Answers[]
  /** Connections that ended before their answer; their requests. */
  readonly lost: number
  /** Requests of the schedule for which there was no connection. */
  readonly unsent: number
}

/** Runs a load in a thread of its own. */
export function flood(load: Flood): Promise<FloodResult> {
  const worker = new Worker(new URL(import.meta.url), { workerData: load })
  return new Promise((resolve, reject) => {
    worker.once('message', (result: FloodResult) => {
      resolve(result)
      void worker.terminate()
    })
    worker.once('error', reject)
  })
}

if (!isMainThread) {
  const result = await run(workerData as Flood)
  parentPort!.postMessage(result, [])
}

interface Line {
  readonly socket: Socket
  shot: FloodShot
  due: number
  isBusy: boolean
  rest: Buffer
}

interface Tally {
  readonly kind: string
  readonly status: number
  saysWhen: boolean
  latencies: number[]
}

async function run(load: Flood): Promise<FloodResult> {
  const { shots, perSecond } = load
  const tallies = new Map<string, Tally>()
  const idle: Line[] = []
  const lines = new Set<Line>()
  let [next, sent, lost, unsent, busy] = [0, 0, 0, 0, 0]
  const most = load.mostConnections ?? load.connections
  const started = performance.now()
  const until = started + load.seconds * 1000
  let finish: () => void
  const finished = new Promise<void>((resolve) => (finish = resolve))

  function open(): Line {
    const socket = connect(load.port, load.host).setNoDelay(true)
    const line: Line = { socket, shot: shots[0]!, due: 0, isBusy: false, rest: Buffer.alloc(0) }
    lines.add(line)
    socket.on('data', (chunk) => receive(line, chunk))
    socket.on('error', () => {})
    socket.on('close', () => {
      lines.delete(line)
      if (line.isBusy) {
        lost++
        busy--
        if (perSecond === undefined && performance.now() < until) send(open(), performance.now())
      } else {
        const at = idle.indexOf(line)
        if (at >= 0) idle.splice(at, 1)
      }
      if (performance.now() >= until && busy === 0) finish()
    })
    return line
  }
  function send(line: Line, due: number): void {
    line.shot = shots[next++ % shots.length]!
    line.due = due
    line.isBusy = true
    busy++
    line.socket.write(line.shot.bytes, 'latin1')
  }
  function receive(line: Line, chunk: Buffer): void {
    line.rest = line.rest.length === 0 ? chunk : Buffer.concat([line.rest, chunk])
    const end = line.rest.indexOf('\r\n\r\n')
    if (end < 0) return
    const head = line.rest.toString('latin1', 0, end).toLowerCase()
    const length = Number(/\r\ncontent-length: (\d+)/.exec(head)?.[1] ?? 0)
    if (line.rest.length < end + 4 + length) return
    line.rest = line.rest.subarray(end + 4 + length)
    line.isBusy = false
    busy--
    const now = performance.now()
    record(line.shot.kind, Number(head.slice(9, 12)), head.includes('\r\nretry-after: '), now - line.due)
    if (now >= until) {
      if (busy === 0) finish()
    } else if (perSecond === undefined) send(line, now)
    else idle.push(line)
  }
  function record(kind: string, status: number, saysWhen: boolean, ms: number): void {
    const name = `${kind} ${status}`
    let tally = tallies.get(name)
    if (!tally) tallies.set(name, (tally = { kind, status, saysWhen: true, latencies: [] }))
    tally.saysWhen &&= saysWhen
    tally.latencies.push(ms)
  }
  function tick(): void {
    const now = performance.now()
    if (now >= until) {
      if (busy === 0) finish()
      return
    }
    const due = ((Math.min(now, until) - started) / 1000) * perSecond!
    while (sent < due) {
      const at = started + (sent / perSecond!) * 1000
      sent++
      const line = idle.pop() ?? (lines.size < most ? open() : undefined)
      if (line) send(line, at)
      else unsent++
    }
    setTimeout(tick, 1)
  }

  for (let i = 0; i < load.connections; i++) {
    const line = open()
    if (perSecond === undefined) send(line, performance.now())
    else idle.push(line)
  }
  if (perSecond !== undefined) tick()
  // What is never answered is lost.
  const patience = setTimeout(() => finish(), load.seconds * 1000 + 20_000)
  await finished
  clearTimeout(patience)
  lost += busy
  for (const { socket } of lines) socket.destroy()
  return {
    seconds: (performance.now() - started) / 1000,
    answers: Array.from(tallies.values(), ({ kind, status, saysWhen, latencies }) => ({
      kind,
      status,
      saysWhen,
      latenciesMs: Float32Array.from(latencies).toSorted(),
    })),
    lost,
    unsent,
  }
}
