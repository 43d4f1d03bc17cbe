// Losses and faults are counted by their kind, from 0 on: a rule that looks for an increase sees the first of each.
import { expect, it } from 'vitest'
import { FAULT_KINDS } from '../../../src/core/faults.ts'
import { createLogger } from '../../../src/lib/log.ts'
import { openTelemetry } from '../../../src/telemetry/adapters/open.ts'
import { observeFaults } from '../../../src/telemetry/observe-faults.ts'

it('shows every kind before the first of it, and counts those that parts tell of', async () => {
  const telemetry = await openTelemetry(
    {
      service: 'test',
      resource: {},
      traces: undefined,
      metrics: undefined,
      prometheus: { host: '127.0.0.1', port: 0 },
    },
    createLogger('silent'),
    { version: '1', instanceId: 'i' },
  )
  try {
    const read = async () => {
      const text = await (await fetch(telemetry.metricsUrl!)).text()
      const series = text.matchAll(/^agent_gateway_faults_total\{.*agent_gateway_fault="(\w+)".*\} (\d+)/gm)
      return Object.fromEntries([...series].map(([, kind, value]) => [kind!, Number(value)]))
    }
    const onFault = observeFaults(telemetry)
    const none = Object.fromEntries(FAULT_KINDS.map((kind) => [kind, 0]))
    expect(await read()).toEqual(none)
    onFault('payment_lost')
    onFault('audit_broken')
    onFault('audit_broken')
    expect(await read()).toEqual({ ...none, payment_lost: 1, audit_broken: 2 })
  } finally {
    await telemetry.close()
  }
})
