// What is read when somebody collects: the parts of the gateway as they stand, the event loop and the process.
import { type EventLoopUtilization, monitorEventLoopDelay, performance as clock } from 'node:perf_hooks'
import type { CallPath } from '../core/call.ts'
import type { Networks } from '../core/networks.ts'
import type { Readiness } from '../doors/http/probes.ts'
import type { AnalyserLoad } from '../outcomes/ports.ts'
import type { Chain } from '../payments/chain-ports.ts'
import type { SettlerState, UpstreamState } from '../payments/ports.ts'
import type { Reading, Telemetry } from './port.ts'

export interface StateParts {
  readonly calls: Pick<CallPath, 'inFlight'>
  readonly readiness: Readiness
  readonly networks: Pick<Networks, 'all' | 'find' | 'hindrance'>
  readonly payTo: string | undefined
  readonly router: {
    states(): readonly Pick<UpstreamState, 'state' | 'kinds' | 'settlers'>[]
    look(): Promise<void>
  }
  readonly chains: ReadonlyMap<string, Pick<Chain, 'state'>>
  readonly store: { countOpenClaims(): Promise<{ readonly pending: number; readonly unknown: number }> }
  readonly analyses: () => AnalyserLoad
}

export function observeParts(telemetry: Telemetry, parts: StateParts): void {
  const { calls, readiness, router, chains, store, analyses } = parts
  telemetry.observe('agent_gateway.calls.in_flight', () => one(calls.inFlight))
  telemetry.observe('agent_gateway.ready', async () => {
    const { status, failing } = await readiness.report()
    // Whoever shuts down is in no trouble, and what it sends last stands for minutes after it: with no reading, what was read before.
    const isDraining = failing.some(({ part }) => part === 'draining')
    return one(status === 'ready' || isDraining ? 1 : 0)
  })
  telemetry.observe('agent_gateway.analyses.active', () => one(analyses().busy))
  telemetry.observe('agent_gateway.analyses.waiting', () => one(analyses().waiting))
  telemetry.observe('agent_gateway.payments.open', async () => {
    const { pending, unknown } = await store.countOpenClaims()
    return Object.entries({ pending, unknown }).map(([state, value]) => ({
      value,
      labels: { 'agent_gateway.state': state },
    }))
  })
  telemetry.observe('agent_gateway.facilitator.up', () =>
    router.states().map(({ state }, i) => ({
      value: state === 'failing' ? 0 : 1,
      labels: { 'agent_gateway.number': i + 1 },
    })),
  )
  telemetry.observe('agent_gateway.chain.up', () =>
    [...chains].map(([network, chain]) => ({
      value: chain.state().state === 'failing' ? 0 : 1,
      labels: { 'agent_gateway.network': network },
    })),
  )
  telemetry.observe('agent_gateway.payable', () => payableReadings(parts))
  const settlers = (read: (settler: SettlerState) => number | null) => () => settlerReadings(router, read)
  telemetry.observe(
    'agent_gateway.settler.settlements_left',
    // The node that refused for want of gas is believed before a balance is read again: no figure would end the alert.
    settlers(({ state, settlements_left: left }) => (state === 'out_of_gas' ? 0 : left)),
  )
  telemetry.observe(
    'agent_gateway.settler.waiting',
    settlers(({ waiting }) => waiting),
  )
  telemetry.observe(
    'agent_gateway.settler.oldest',
    settlers(({ oldest_ms: ms }) => (ms ?? 0) / 1000),
  )
}

/**
 * What the last questions and settlements said of each network. A gateway without facilitators, or without an account that is paid, takes no
 * payment by its configuration, and has no reading.
 */
function payableReadings({
  networks,
  router,
  payTo,
}: Pick<StateParts, 'networks' | 'router' | 'payTo'>): readonly Reading[] {
  const states = router.states()
  if (payTo === undefined || states.length === 0) return []
  const taken = new Set(
    states.flatMap(({ kinds }) => kinds).map(({ network }) => networks.find(network)?.network),
  )
  // It may take anything, and the first question to a chain of the sandbox starts that.
  const isAnyUnasked = states.some(({ state }) => state === 'unknown')
  const readings = networks.all.map(({ network }) => {
    const isPayable = (isAnyUnasked || taken.has(network)) && networks.hindrance(network) === undefined
    return { value: isPayable ? 1 : 0, labels: { 'agent_gateway.network': network } }
  })
  // Facilitators are asked when somebody pays: where nobody does, this would be 0, and an account out of gas, for long after the trouble is
  // over. One of the next readings has the answer.
  const isTroubled =
    readings.some(({ value }) => value === 0) ||
    states.some(({ settlers = [] }) => settlers.some(({ state }) => state === 'out_of_gas'))
  if (!isAnyUnasked && isTroubled) void router.look()
  return readings
}

/** An account has the number of its place among those of its chain: its address is nobody's business here. */
function settlerReadings(
  router: StateParts['router'],
  read: (settler: SettlerState) => number | null,
): readonly Reading[] {
  const seen = new Map<string, number>()
  return router
    .states()
    .flatMap(({ settlers = [] }) => settlers)
    .flatMap((settler) => {
      const number = (seen.get(settler.network) ?? 0) + 1
      seen.set(settler.network, number)
      const value = read(settler)
      if (value === null) return []
      return { value, labels: { 'agent_gateway.network': settler.network, 'agent_gateway.settler': number } }
    })
}

/** How often the delay of the event loop is sampled. */
const SAMPLE_MS = 20
/** As often as a scraper comes, as a rule. */
const WINDOW_MS = 15_000

/** What Node tells of its event loop. */
export interface EventLoopHooks {
  eventLoopUtilization(since?: EventLoopUtilization): EventLoopUtilization
  monitorEventLoopDelay(options: { readonly resolution: number }): DelayMonitor
}
type DelayMonitor = Pick<
  ReturnType<typeof monitorEventLoopDelay>,
  'enable' | 'disable' | 'reset' | 'count' | 'percentile'
>

const NODE: EventLoopHooks = {
  eventLoopUtilization: (since) => clock.eventLoopUtilization(since),
  monitorEventLoopDelay,
}

/** @returns what ends the watch */
export function observeProcess(telemetry: Telemetry, hooks: EventLoopHooks = NODE): () => void {
  const eventLoop = watchEventLoop(hooks)
  telemetry.observe('nodejs.eventloop.utilization', () => one(eventLoop.read().utilization))
  telemetry.observe('nodejs.eventloop.delay.p99', () => one(eventLoop.read().delayP99))
  telemetry.observe('process.cpu.time', () => {
    const { user, system } = process.cpuUsage()
    return [
      { value: user / 1e6, labels: { 'cpu.mode': 'user' } },
      { value: system / 1e6, labels: { 'cpu.mode': 'system' } },
    ]
  })
  telemetry.observe('process.memory.usage', () => one(process.memoryUsage.rss()))
  telemetry.observe('v8js.memory.heap.used', () => one(process.memoryUsage().heapUsed))
  telemetry.observe('process.uptime', () => one(process.uptime()))
  return eventLoop.stop
}

interface EventLoopFigures {
  readonly utilization: number
  /** Seconds. */
  readonly delayP99: number
}

/**
 * In windows of its own: many may read, and none of them takes from another what happened since.
 * @returns `read` for the last whole window; for the time so far before there is one
 */
function watchEventLoop(hooks: EventLoopHooks): { read(): EventLoopFigures; stop(): void } {
  const delay = hooks.monitorEventLoopDelay({ resolution: SAMPLE_MS })
  delay.enable()
  let begun = hooks.eventLoopUtilization()
  let last: EventLoopFigures | undefined

  function soFar(): EventLoopFigures {
    // A sample is the whole interval, of which what was asked for is no delay.
    const late = delay.count === 0 ? 0 : delay.percentile(99) / 1e9 - SAMPLE_MS / 1000
    return { utilization: hooks.eventLoopUtilization(begun).utilization, delayP99: Math.max(0, late) }
  }

  const timer = setInterval(() => {
    last = soFar()
    begun = hooks.eventLoopUtilization()
    delay.reset()
  }, WINDOW_MS).unref()

  return {
    read: () => last ?? soFar(),
    stop() {
      clearInterval(timer)
      delay.disable()
    },
  }
}

const one = (value: number): readonly Reading[] => [{ value }]
