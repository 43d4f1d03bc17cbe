// The parts of a gateway as they are read, without a gateway.
import { describe, expect, it } from 'vitest'
import { createNetworks } from '../../../src/core/networks.ts'
import type { SettlerState } from '../../../src/payments/ports.ts'
import type { ObservedName } from '../../../src/telemetry/instruments.ts'
import { observeParts, type StateParts } from '../../../src/telemetry/observe-state.ts'
import type { Reading } from '../../../src/telemetry/port.ts'

/** @returns what a collection reads of one instrument */
function readingsOf(parts: Partial<StateParts>): (name: ObservedName) => Promise<readonly Reading[]> {
  const reads = new Map<ObservedName, () => readonly Reading[] | Promise<readonly Reading[]>>()
  observeParts(
    {
      add: () => {},
      record: () => {},
      observe: (name, read) => void reads.set(name, read),
      tracing: undefined,
    },
    {
      calls: { inFlight: 0 },
      readiness: { report: async () => ({ status: 'ready', failing: [], degraded: [] }) },
      networks: createNetworks([8453]),
      payTo: '0x1',
      router: { states: () => [], look: async () => {} },
      chains: new Map(),
      store: { countOpenClaims: async () => ({ pending: 0, unknown: 0 }) },
      analyses: () => ({ processes: 0, busy: 0, waiting: 0 }),
      ...parts,
    },
  )
  return async (name) => reads.get(name)!()
}

describe('agent_gateway.ready', () => {
  it.each([
    ['ready', [], [{ value: 1 }]],
    ['unready', [{ part: 'database', cannot: 'answer' }], [{ value: 0 }]],
    ['unready', [{ part: 'starting', cannot: 'answer' }], [{ value: 0 }]],
    ['unready', [{ part: 'draining', cannot: 'answer' }], [{ value: 1 }]],
  ] as const)('of a report that is %s for %j is %j', async (status, failing, expected) => {
    const report = async () => ({ status, failing: [...failing], degraded: [] })
    expect(await readingsOf({ readiness: { report } })('agent_gateway.ready')).toEqual(expected)
  })
})

describe('agent_gateway.settler.settlements_left', () => {
  const settler = (state: SettlerState['state'], left: number | null): SettlerState => ({
    address: '0x1',
    network: 'eip155:8453',
    state,
    waiting: 0,
    oldest_ms: null,
    gas_wei: null,
    settlements_left: left,
  })

  it('is 0 for an account that its node calls out of gas, and no figure for one that nobody asked about', async () => {
    const settlers = [
      settler('out_of_gas', null),
      settler('unknown', null),
      settler('low_on_gas', 7),
      settler('out_of_gas', 20),
    ]
    const states = () => [{ state: 'ok' as const, kinds: [], settlers }]
    const read = readingsOf({ router: { states, look: async () => {} } })
    const left = await read('agent_gateway.settler.settlements_left')
    expect(left.map(({ value, labels }) => [labels!['agent_gateway.settler'], value])).toEqual([
      [1, 0],
      [3, 7],
      [4, 0],
    ])
  })
})
