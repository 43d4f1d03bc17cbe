// The figures of the event loop, which more than one may read.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type EventLoopHooks, observeProcess } from '../../../src/telemetry/observe-state.ts'
import type { Telemetry } from '../../../src/telemetry/port.ts'

/** What the event loop did so far, as Node would tell it. */
let totals: { active: number; idle: number }
let delays: number[]
let isWatched: boolean

const hooks: EventLoopHooks = {
  eventLoopUtilization(since = { active: 0, idle: 0, utilization: 0 }) {
    const active = totals.active - since.active
    const idle = totals.idle - since.idle
    return { active, idle, utilization: active / (active + idle) }
  },
  monitorEventLoopDelay: () => ({
    enable: () => (isWatched = true),
    disable: () => !(isWatched = false),
    get count() {
      return delays.length
    },
    percentile: () => Math.max(...delays),
    reset: () => void (delays = []),
  }),
}

let reads: Map<string, Parameters<Telemetry['observe']>[1]>
let stop: () => void

/** Utilization, and the delay of 99 in 100 samples in milliseconds. */
async function read(): Promise<readonly number[]> {
  const [utilization] = await reads.get('nodejs.eventloop.utilization')!()
  const [delay] = await reads.get('nodejs.eventloop.delay.p99')!()
  return [utilization!.value, Math.round(delay!.value * 1000)]
}

/** @param lateMs of a timer of the event loop */
function spend(active: number, idle: number, lateMs: number): void {
  totals.active += active
  totals.idle += idle
  delays.push((20 + lateMs) * 1e6)
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  totals = { active: 0, idle: 0 }
  delays = []
  reads = new Map()
  const telemetry: Telemetry = {
    add() {},
    record() {},
    observe: (name, read) => void reads.set(name, read),
    tracing: undefined,
  }
  stop = observeProcess(telemetry, hooks)
})
afterEach(() => {
  stop()
  vi.useRealTimers()
})

describe('the figures of the event loop', () => {
  it('are those so far before the first window is over, for whoever reads', async () => {
    spend(30, 10, 7)
    expect(await read()).toEqual([0.75, 7])
    expect(await read()).toEqual([0.75, 7])
  })

  it('are those of the last whole window, for whoever reads', async () => {
    spend(30, 10, 7)
    vi.advanceTimersByTime(15_000)
    spend(10, 30, 2)
    for (let reader = 0; reader < 2; reader++) expect(await read()).toEqual([0.75, 7])
    vi.advanceTimersByTime(15_000)
    for (let reader = 0; reader < 2; reader++) expect(await read()).toEqual([0.25, 2])
  })

  it('are watched no longer than somebody asks for', () => {
    expect(isWatched).toBe(true)
    stop()
    expect(isWatched).toBe(false)
    expect(vi.getTimerCount()).toBe(0)
  })
})
