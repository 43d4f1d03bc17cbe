import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  INSTRUMENTS,
  type InstrumentName,
  prometheusName,
  seriesOf,
} from '../../../src/telemetry/instruments.ts'

const root = new URL('../../../', import.meta.url)
const names = Object.keys(INSTRUMENTS) as InstrumentName[]

describe('the list of instruments', () => {
  it('has names that stay apart in Prometheus', () => {
    const series = names.flatMap(seriesOf)
    expect(new Set(series).size).toBe(series.length)
  })

  it.each([
    ['http.server.request.duration', 's', 'http_server_request_duration_seconds'],
    ['process.memory.usage', 'By', 'process_memory_usage_bytes'],
    ['nodejs.eventloop.utilization', '1', 'nodejs_eventloop_utilization_ratio'],
    ['agent_gateway.calls.in_flight', '{call}', 'agent_gateway_calls_in_flight'],
  ])('shows %s in %s as %s', (name, unit, expected) => {
    expect(prometheusName(name, unit)).toBe(expected)
  })

  it('knows of each how its series are called', () => {
    expect(seriesOf('process.cpu.time')).toEqual(['process_cpu_time_seconds_total'])
    expect(seriesOf('agent_gateway.chain.up')).toEqual(['agent_gateway_chain_up'])
    expect(seriesOf('db.client.operation.duration')).toContain('db_client_operation_duration_seconds_bucket')
  })

  it('is used whole: each instrument is written to by an observer', () => {
    const observers = globSync('src/telemetry/observe-*.ts', { cwd: root.pathname })
    const text = observers.map((path) => readFileSync(new URL(path, root), 'utf8')).join('')
    expect(names.filter((name) => !text.includes(`'${name}'`))).toEqual([])
  })
})

describe('OpenTelemetry', () => {
  const files = globSync('{src,tools,schemas}/**/*.{ts,tsx}', { cwd: root.pathname })
  const importing = (what: RegExp) =>
    files.filter((path) => what.test(readFileSync(new URL(path, root), 'utf8'))).sort()

  it('is imported by the adapters of this folder alone', () => {
    const found = importing(/from '@opentelemetry\/|import\('@opentelemetry\//)
    expect(found.length).toBeGreaterThan(2)
    expect(found.filter((path) => !path.startsWith('src/telemetry/adapters/'))).toEqual([])
  })

  it('is loaded where it is configured: outside of the adapters only types of them are imported at the start', () => {
    const found = importing(/^import (?!type).*telemetry\/adapters\//m)
    expect(found).toEqual([])
    expect(importing(/import\('\.\.\/telemetry\/adapters\/open\.ts'\)/)).toEqual(['src/app/telemetry.ts'])
  })
})
