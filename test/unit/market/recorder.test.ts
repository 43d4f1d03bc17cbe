import { describe, expect, it } from 'vitest'
import { createRecorder } from '../../../src/market/trust/recorder.ts'
import type { ServiceOutcome } from '../../../src/store/ports.ts'
import { log } from '../../support/store.ts'

const call = {
  sellerId: 'acme',
  serviceId: 'quotes',
  environment: 'live',
  kind: 'settled',
  claimId: 'clm_1',
  payer: '0xa',
  amount: 1,
  latencyMs: 5,
  isSelf: false,
} as const

function recorderOver(write: (batch: readonly ServiceOutcome[]) => Promise<void>) {
  const recordServiceOutcomes = (input: { outcomes: readonly ServiceOutcome[] }) => write(input.outcomes)
  return createRecorder({ store: { recordServiceOutcomes }, log, now: () => 7 })
}

describe('the recorder of outcomes', () => {
  it('writes the calls of a moment together, each with its time', async () => {
    const batches: (readonly ServiceOutcome[])[] = []
    const recorder = recorderOver(async (batch) => void batches.push(batch))
    for (let i = 0; i < 5; i++) recorder.record(call)
    await recorder.close()
    expect(batches).toEqual([Array.from({ length: 5 }, () => ({ ...call, at: 7 }))])
  })

  it('tries again what the store refused, and loses nothing by it', async () => {
    const written: ServiceOutcome[] = []
    let isDown = true
    const recorder = recorderOver(async (batch) => {
      if (isDown) throw new Error('away')
      written.push(...batch)
    })
    recorder.record(call)
    await recorder.flush()
    isDown = false
    recorder.record({ ...call, payer: '0xb' })
    await recorder.flush()
    expect(written.map((one) => one.kind === 'settled' && one.payer)).toEqual(['0xa', '0xb'])
  })

  it('holds a bounded number while the store is away', async () => {
    let most = 0
    const recorder = recorderOver(async (batch) => {
      most = Math.max(most, batch.length)
      throw new Error('away')
    })
    for (let i = 0; i < 30_000; i++) recorder.record(call)
    await recorder.close()
    expect(most).toBe(200)
  })
})
