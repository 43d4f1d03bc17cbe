// Counters that rules take a rate of, as Prometheus reads them: a series that begins with what it counts has no rate of its first.
import { afterEach, expect, it } from 'vitest'
import type { CallPath, CallRequest, CallResult } from '../../../src/core/call.ts'
import { createLogger } from '../../../src/lib/log.ts'
import type { Upstream, UpstreamRequest, UpstreamSettlement } from '../../../src/payments/ports.ts'
import { type OpenTelemetry, openTelemetry } from '../../../src/telemetry/adapters/open.ts'
import { observeCalls } from '../../../src/telemetry/observe-calls.ts'
import { beginSettlements, observeUpstream } from '../../../src/telemetry/observe-upstream.ts'

const opened: OpenTelemetry[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
})

async function open(): Promise<OpenTelemetry> {
  const telemetry = await openTelemetry(
    {
      service: 'test',
      resource: {},
      traces: undefined,
      metrics: undefined,
      prometheus: { host: '127.0.0.1', port: 0 },
    },
    createLogger('fatal', { write: () => {} }),
    { version: '1', instanceId: 'i' },
  )
  opened.push(telemetry)
  return telemetry
}

/** Values of one series, by the values of these labels. */
async function read(
  telemetry: OpenTelemetry,
  series: string,
  labels: readonly string[],
): Promise<Record<string, number>> {
  const text = await (await fetch(telemetry.metricsUrl!)).text()
  const found = text.split('\n').filter((line) => line.startsWith(`${series}{`))
  return Object.fromEntries(
    found.map((line) => [
      labels.map((label) => new RegExp(`[{,]${label}="([^"]*)"`).exec(line)![1]).join(' '),
      Number(line.slice(line.lastIndexOf(' ') + 1)),
    ]),
  )
}

it('calls that ended are counted from 0 on, by their code where it is a fault of the gateway', async () => {
  const telemetry = await open()
  const codes = ['internal', 'scope_denied', 'ok', 'internal']
  const calls = observeCalls(
    telemetry,
    {
      call: async () => {
        const code = codes.pop()!
        return (code === 'ok'
          ? { ok: true }
          : { ok: false, error: { code, status: 500 } }) as unknown as CallResult
      },
    } as unknown as CallPath,
    () => true,
  )
  const ended = () => read(telemetry, 'agent_gateway_calls_ended_total', ['agent_gateway_code'])
  const none = { internal: 0, store_unavailable: 0, overloaded: 0, credential_unavailable: 0, _OTHER: 0 }
  expect(await ended()).toEqual(none)
  while (codes.length > 0) await calls.call({ tool: { name: 't' }, door: 'rest' } as unknown as CallRequest)
  expect(await ended()).toEqual({ ...none, internal: 2, _OTHER: 2 })
})

it('settlements are counted from 0 on, by the end of each on each network', async () => {
  const telemetry = await open()
  beginSettlements(telemetry, ['eip155:1', 'eip155:8453'])
  const settlements = () =>
    read(telemetry, 'agent_gateway_settlements_total', ['agent_gateway_network', 'agent_gateway_outcome'])
  const none = Object.fromEntries(
    ['eip155:1', 'eip155:8453'].flatMap((network) =>
      ['settled', 'pending', 'refused', 'failed', 'unknown'].map((end) => [`${network} ${end}`, 0]),
    ),
  )
  expect(await settlements()).toEqual(none)
  const answers: (() => Promise<UpstreamSettlement>)[] = [
    async () => ({ state: 'unknown', reason: 'r' }),
    async () => Promise.reject(new Error('a fault of ours')),
  ]
  const upstream = observeUpstream(
    telemetry,
    { url: null, settle: async () => answers.pop()!() } as unknown as Upstream,
    (network) => (network === 'base' ? 'eip155:8453' : undefined),
  )
  const settle = (network: string) =>
    upstream.settle({ requirements: { network } } as unknown as UpstreamRequest)
  await expect(settle('base')).rejects.toThrow('a fault of ours')
  await settle('made-up')
  expect(await settlements()).toEqual({ ...none, 'eip155:8453 failed': 1, '_OTHER unknown': 1 })
})
