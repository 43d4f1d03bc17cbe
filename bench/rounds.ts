// Closed-loop rounds against a store: what is asked of it by how many clients, and how long it takes them.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { median, percentile } from './support.ts'

export const ROUNDS = 5
const ROUND_MS = 1000

/** One operation of one client; false where it has nothing left to ask, which ends its part of the round. */
export type Ask<S> = (setting: S) => Promise<unknown>

export interface Round {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly cpuMs: number
  readonly loopP99Ms: number
}

export interface Candidate<S> {
  /** One of each client. */
  readonly settings: readonly S[]
  readonly debit: Ask<S>
  /** What its rounds use up, made before each: not measured. */
  readonly fill?: () => Promise<unknown>
}

/** Closed loop: every client asks again when it was answered. CPU is of this whole process, threads included. */
async function runRound<S>({ settings, debit, fill }: Candidate<S>, durationMs: number): Promise<Round> {
  await fill?.()
  const latencies: number[] = []
  const loop = monitorEventLoopDelay({ resolution: 1 })
  const cpu = process.cpuUsage()
  const started = performance.now()
  const end = started + durationMs
  loop.enable()
  await Promise.all(
    settings.map(async (setting) => {
      while (performance.now() < end) {
        const at = performance.now()
        if ((await debit(setting)) === false) break
        latencies.push(performance.now() - at)
      }
    }),
  )
  loop.disable()
  const seconds = (performance.now() - started) / 1000
  const { user, system } = process.cpuUsage(cpu)
  const sorted = latencies.toSorted((a, b) => a - b)
  return {
    perSecond: sorted.length / seconds,
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
    cpuMs: (user + system) / 1000 / sorted.length,
    loopP99Ms: loop.percentile(99) / 1e6,
  }
}

/** Rounds of all candidates in turn, so that a busy moment of the machine hits each; medians of every figure. */
export async function compare<S>(candidates: readonly Candidate<S>[]): Promise<Round[]> {
  const rounds: Round[][] = candidates.map(() => [])
  for (const candidate of candidates) await runRound(candidate, ROUND_MS / 4)
  for (let i = 0; i < ROUNDS; i++)
    for (const [k, candidate] of candidates.entries()) rounds[k]!.push(await runRound(candidate, ROUND_MS))
  return rounds.map((all) => ({
    perSecond: median(all.map((round) => round.perSecond)),
    p50Ms: median(all.map((round) => round.p50Ms)),
    p99Ms: median(all.map((round) => round.p99Ms)),
    cpuMs: median(all.map((round) => round.cpuMs)),
    loopP99Ms: median(all.map((round) => round.loopP99Ms)),
  }))
}

export const cells = (name: string, r: Round, ratio = '', digits = 2) => [
  name,
  r.perSecond.toFixed(0),
  ratio,
  r.p50Ms.toFixed(digits),
  r.p99Ms.toFixed(2),
  r.cpuMs.toFixed(3),
  r.loopP99Ms.toFixed(1),
]
export const head = ['', 'op/s', 'ratio', 'p50 ms', 'p99 ms', 'CPU ms/op', 'loop p99 ms']
