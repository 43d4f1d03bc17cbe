// Every instrument, once: what is measured, in which unit, under which labels. The SDK, the Prometheus names, docs/metrics.md, the dashboard
// and the alert rules (by a test) are derived from this list. Labels have values from lists of this house: labels.ts.
import { FAULT_KINDS } from '../core/faults.ts'

export interface Instrument {
  /** `counter` only grows; a `level`, which goes up and down with what begins and ends, and a `gauge` are read when somebody collects. */
  readonly kind: 'counter' | 'histogram' | 'level' | 'gauge' | 'observed_counter'
  /** UCUM, as OpenTelemetry writes it: `s`, `By`, `1`, or a noun in braces. */
  readonly unit: string
  readonly description: string
  readonly labels: readonly string[]
  /** Upper bounds, of a histogram. */
  readonly buckets?: readonly number[]
}

/** Semantic conventions, HTTP: seconds. */
const HTTP_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
/** Semantic conventions, MCP: seconds. */
const MCP_BUCKETS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]
/** Semantic conventions, databases: seconds. */
const DATABASE_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10]
/** A settlement waits for a block: seconds. */
const SETTLEMENT_BUCKETS = [0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60]

export const INSTRUMENTS = {
  'http.server.request.duration': {
    kind: 'histogram',
    unit: 's',
    description:
      'Requests to any door, from their head to the end of their answer; of a connection that is taken over, to its beginning. The route of all that goes through the proxy is `proxy`',
    labels: ['http.request.method', 'url.scheme', 'http.route', 'http.response.status_code', 'error.type'],
    buckets: HTTP_BUCKETS,
  },
  'http.server.active_requests': {
    kind: 'level',
    unit: '{request}',
    description: 'Requests that are being answered',
    labels: ['http.request.method'],
  },
  'agent_gateway.connections.open': {
    kind: 'level',
    unit: '{connection}',
    description:
      'Connections that were taken over: WebSockets, and those of the proxy by their way (credential, inspect, tunnel)',
    labels: ['agent_gateway.connection'],
  },
  'mcp.server.operation.duration': {
    kind: 'histogram',
    unit: 's',
    description: 'Requests of MCP, by method; calls by tool',
    labels: ['mcp.method.name', 'gen_ai.tool.name', 'gen_ai.operation.name', 'error.type'],
    buckets: MCP_BUCKETS,
  },
  'agent_gateway.calls': {
    kind: 'counter',
    unit: '{call}',
    description: 'Calls of tools that ended, by the code that they ended in; `ok` delivered',
    labels: ['gen_ai.tool.name', 'agent_gateway.door', 'agent_gateway.code'],
  },
  'agent_gateway.calls.ended': {
    kind: 'counter',
    unit: '{call}',
    description:
      'Calls of tools that ended, by their code where it is a fault of the gateway; `_OTHER` are all the rest. It begins at 0 with the process, so that a rate has the first of each',
    labels: ['agent_gateway.code'],
  },
  'agent_gateway.call.duration': {
    kind: 'histogram',
    unit: 's',
    description:
      'Calls of tools, as the call path saw them. `outcome`: ok, refused (the caller can mend it) or failed',
    labels: ['gen_ai.tool.name', 'agent_gateway.door', 'agent_gateway.outcome'],
    buckets: HTTP_BUCKETS,
  },
  'agent_gateway.calls.in_flight': {
    kind: 'gauge',
    unit: '{call}',
    description: 'Calls that are being handled; at 640 further ones are refused with 503',
    labels: [],
  },
  'agent_gateway.credits.charged': {
    kind: 'counter',
    unit: '{credit}',
    description: 'Credits that calls which delivered took',
    labels: ['gen_ai.tool.name'],
  },
  'agent_gateway.payments': {
    kind: 'counter',
    unit: '{payment}',
    description: 'Calls that were paid with x402. `outcome`: settled, or replayed from the stored answer',
    labels: ['gen_ai.tool.name', 'agent_gateway.network', 'agent_gateway.outcome'],
  },
  'agent_gateway.payments.open': {
    kind: 'gauge',
    unit: '{payment}',
    description: 'Payments that nobody has decided yet: pending on their chain, or unknown',
    labels: ['agent_gateway.state'],
  },
  'agent_gateway.faults': {
    kind: 'counter',
    unit: '{fault}',
    description: `Losses of money and records, and work of its own that the gateway could not do; the log says more of each. Each begins at 0: ${FAULT_KINDS.join(', ')}`,
    labels: ['agent_gateway.fault'],
  },
  'agent_gateway.payment.verify.duration': {
    kind: 'histogram',
    unit: 's',
    description: 'A facilitator judges a payment. `outcome`: valid, invalid or failed',
    labels: ['agent_gateway.facilitator', 'agent_gateway.network', 'agent_gateway.outcome'],
    buckets: HTTP_BUCKETS,
  },
  'agent_gateway.settlement.duration': {
    kind: 'histogram',
    unit: 's',
    description: 'A facilitator settles a payment. `outcome`: settled, pending, refused, failed or unknown',
    labels: ['agent_gateway.facilitator', 'agent_gateway.network', 'agent_gateway.outcome'],
    buckets: SETTLEMENT_BUCKETS,
  },
  'agent_gateway.settlements': {
    kind: 'counter',
    unit: '{settlement}',
    description:
      'Settlements by a facilitator that ended, as in their duration. It begins at 0 with the process for each network, so that a rate has the first of each',
    labels: ['agent_gateway.network', 'agent_gateway.outcome'],
  },
  'agent_gateway.settler.settlements_left': {
    kind: 'gauge',
    unit: '{settlement}',
    description:
      'Settlements that the gas of an account of the settler pays for, 0 where a node says that it is out of gas; accounts have numbers, in the order of the files',
    labels: ['agent_gateway.network', 'agent_gateway.settler'],
  },
  'agent_gateway.settler.waiting': {
    kind: 'gauge',
    unit: '{transaction}',
    description: 'Transactions of the settler that are in no block yet',
    labels: ['agent_gateway.network', 'agent_gateway.settler'],
  },
  'agent_gateway.settler.oldest': {
    kind: 'gauge',
    unit: 's',
    description: 'How long the oldest of them waits',
    labels: ['agent_gateway.network', 'agent_gateway.settler'],
  },
  'agent_gateway.facilitator.up': {
    kind: 'gauge',
    unit: '{facilitator}',
    description: '1 while a facilitator works, 0 while it fails; they have numbers, in the order of the list',
    labels: ['agent_gateway.number'],
  },
  'agent_gateway.chain.up': {
    kind: 'gauge',
    unit: '{chain}',
    description: '1 while payments are taken on a chain, 0 while its node fails or its token is not proven',
    labels: ['agent_gateway.network'],
  },
  'agent_gateway.payable': {
    kind: 'gauge',
    unit: '{network}',
    description:
      '1 while a facilitator takes payments on a network and its last ones did not fail, 0 while none does: no gas, gas above the limit, a node or facilitators that are away',
    labels: ['agent_gateway.network'],
  },
  'http.client.request.duration': {
    kind: 'histogram',
    unit: 's',
    description:
      'Requests that the gateway sends, to the head of a streamed answer or the end of a whole one; never by host',
    labels: [
      'http.request.method',
      'agent_gateway.egress.purpose',
      'http.response.status_code',
      'error.type',
    ],
    buckets: HTTP_BUCKETS,
  },
  'agent_gateway.egress.active_requests': {
    kind: 'level',
    unit: '{request}',
    description: 'Requests that the gateway has sent and waits for',
    labels: ['agent_gateway.egress.purpose'],
  },
  'db.client.operation.duration': {
    kind: 'histogram',
    unit: 's',
    description: 'Commands of the store, their wait and their commit included',
    labels: ['db.system.name', 'db.operation.name', 'error.type'],
    buckets: DATABASE_BUCKETS,
  },
  'agent_gateway.ready': {
    kind: 'gauge',
    unit: '{process}',
    description:
      '1 while `/readyz` answers 200, 0 while it names a part that fails; a process that shuts down counts as 1',
    labels: [],
  },
  'agent_gateway.analyses.active': {
    kind: 'gauge',
    unit: '{page}',
    description: 'Pages that are being read',
    labels: [],
  },
  'agent_gateway.analyses.waiting': {
    kind: 'gauge',
    unit: '{page}',
    description: 'Pages that wait to be read; 256 at most',
    labels: [],
  },
  'nodejs.eventloop.utilization': {
    kind: 'gauge',
    unit: '1',
    description: 'Share of the last 15 seconds in which the event loop worked',
    labels: [],
  },
  'nodejs.eventloop.delay.p99': {
    kind: 'gauge',
    unit: 's',
    description: 'How late the event loop came to its timers in the last 15 seconds, of 99 in 100 samples',
    labels: [],
  },
  'process.cpu.time': {
    kind: 'observed_counter',
    unit: 's',
    description: 'Processor time of the process, its threads included',
    labels: ['cpu.mode'],
  },
  'process.memory.usage': {
    kind: 'gauge',
    unit: 'By',
    description: 'Resident memory of the process',
    labels: [],
  },
  'v8js.memory.heap.used': {
    kind: 'gauge',
    unit: 'By',
    description: 'Heap that is in use in the main thread',
    labels: [],
  },
  'process.uptime': {
    kind: 'gauge',
    unit: 's',
    description: 'How long the process has been running',
    labels: [],
  },
} as const satisfies Record<string, Instrument>

export type InstrumentName = keyof typeof INSTRUMENTS

type OfKind<K extends Instrument['kind']> = {
  [N in InstrumentName]: (typeof INSTRUMENTS)[N]['kind'] extends K ? N : never
}[InstrumentName]
export type CounterName = OfKind<'counter'>
export type HistogramName = OfKind<'histogram'>
export type ObservedName = OfKind<'gauge' | 'level' | 'observed_counter'>

const PROMETHEUS_UNITS: Readonly<Record<string, string>> = { s: 'seconds', By: 'bytes', '1': 'ratio' }

/** The unit as Prometheus writes it behind a name; empty where it writes none. */
export const prometheusUnit = (unit: string): string => PROMETHEUS_UNITS[unit] ?? ''

/** The name as Prometheus has it, without `_total`, `_bucket`, `_sum` and `_count`. */
export function prometheusName(name: string, unit: string): string {
  const plain = name.replaceAll(/[^a-zA-Z0-9]+/g, '_')
  const suffix = prometheusUnit(unit)
  return suffix === '' ? plain : `${plain}_${suffix}`
}

/** Every series name of an instrument. */
export function seriesOf(name: InstrumentName): readonly string[] {
  const { kind, unit }: Instrument = INSTRUMENTS[name]
  const base = prometheusName(name, unit)
  switch (kind) {
    case 'histogram':
      return [`${base}_bucket`, `${base}_sum`, `${base}_count`]
    case 'counter':
    case 'observed_counter':
      return [`${base}_total`]
    default:
      return [base]
  }
}

/** A row of docs/metrics.md. */
interface MetricRow {
  readonly name: string
  readonly series: string
  readonly kind: string
  readonly unit: string
  readonly labels: readonly string[]
  readonly description: string
}

const KIND_WORDS: Readonly<Record<Instrument['kind'], string>> = {
  counter: 'counter',
  observed_counter: 'counter',
  histogram: 'histogram',
  level: 'up-down counter',
  gauge: 'gauge',
}

/** The table of docs/metrics.md. */
export const metricRows = (): readonly MetricRow[] =>
  (Object.keys(INSTRUMENTS) as InstrumentName[]).map((name) => {
    const { kind, unit, labels, description }: Instrument = INSTRUMENTS[name]
    const [first = ''] = seriesOf(name)
    return { name, series: first.replace(/_bucket$/, ''), kind: KIND_WORDS[kind], unit, labels, description }
  })
