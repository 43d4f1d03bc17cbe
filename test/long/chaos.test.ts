// `npm run chaos` is too long for every change: one cheap fault of it, and that its check fails where it has to.
import { describe, expect, it } from 'vitest'
import { openCalls } from '../../chaos/calls.ts'
import { isSound, tryFault } from '../../chaos/fault.ts'
import { faults } from '../../chaos/faults/replicas.ts'
import { loseReceipt, doubleOrder, takeCredit } from '../../chaos/spoil.ts'
import { must } from '../../src/lib/must.ts'

/** Nothing fails here that would have to be waited for. */
const PATIENCE_MS = 60_000

describe('npm run chaos', () => {
  it('finds nothing after a gateway was killed, and what was changed behind its back', async () => {
    const row = await tryFault(must(faults[0], 'the first fault'))
    expect(row).toMatchObject({ failures: [], lost: 0, doubled: 0 })
    expect(row.acknowledged).toBeGreaterThan(200)
    expect(row.control).toMatch(/: 1 of \d+ lost$/)
  })

  it('sees a lost receipt, an order that was sent twice and a credit that is gone, each by itself', async () => {
    const scene = await openCalls({ engine: 'sqlite' })
    try {
      await scene.load.acknowledge(20)
      await scene.load.stop(PATIENCE_MS)
      expect(isSound(await scene.check(PATIENCE_MS))).toBe(true)
      await doubleOrder.spoil(scene)
      expect(await scene.check(PATIENCE_MS)).toMatchObject({
        lost: [],
        doubled: [expect.any(String)],
        problems: [],
      })
      await loseReceipt.spoil(scene)
      expect((await scene.check(PATIENCE_MS)).lost).toHaveLength(1)
      await takeCredit.spoil(scene)
      const { problems } = await scene.check(PATIENCE_MS)
      expect(problems).toEqual([
        expect.stringMatching(/^a ledger sums up to/),
        expect.stringMatching(/^a balance is/),
      ])
    } finally {
      await scene.close()
    }
  })
})
