// `npm run chaos` is too long for every change: one cheap fault of it, and that its check fails where it has to.
import { describe, expect, it } from 'vitest'
import { openCalls } from '../../chaos/calls.ts'
import { type Fault, isSound, type Scene, tryFault, type Verdict } from '../../chaos/fault.ts'
import { faults } from '../../chaos/faults/replicas.ts'
import { doubleOrder, leakSecret, loseReceipt, takeCredit } from '../../chaos/spoil.ts'
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

  it('sees a lost receipt, an order that was sent twice, a credit that is gone and a secret in clear', async () => {
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
      await leakSecret.spoil(scene)
      const [leak] = (await scene.check(PATIENCE_MS)).problems.slice(problems.length)
      expect(leak).toBe('the secret is in clear in what the gateway has stored')
    } finally {
      await scene.close()
    }
  })
})

describe('a row fails', () => {
  const sound: Verdict = { acknowledged: 3, lost: [], doubled: [], unknown: 0, problems: [] }
  const lossy: Verdict = { ...sound, lost: ['/orders/1: its receipt is not there (404)'] }
  const done = async () => {}
  /** @param verdicts of the fault, and of its control */
  function fakeFault(verdicts: readonly [Verdict, Verdict], missing?: string): Fault {
    let checks = 0
    const load = { stretch: 1, acknowledge: done, recover: done, stop: done }
    const check = async () => must(verdicts[checks++], 'a verdict')
    const scene: Scene = { load, check, close: done }
    return {
      name: 'a fault',
      command: 'kill',
      promise: 'nothing is lost',
      notCovered: 'the rest',
      missing: async () => missing,
      open: async () => scene,
      inject: done,
      control: { what: 'one receipt deleted', spoil: done },
    }
  }

  it('not, where the promise was kept and the control was not', async () => {
    const row = await tryFault(fakeFault([sound, lossy]))
    expect(row).toMatchObject({ failures: [], lost: 0, control: 'one receipt deleted: 1 of 3 lost' })
  })

  it('where something was lost', async () => {
    const row = await tryFault(fakeFault([lossy, lossy]))
    expect(row).toMatchObject({ failures: [`lost: ${lossy.lost[0]}`], lost: 1, control: 'not run' })
  })

  it('where the control found nothing', async () => {
    const { failures } = await tryFault(fakeFault([sound, sound]))
    expect(failures).toEqual(['the control found nothing: one receipt deleted'])
  })

  it('where the machine lacks what it needs, and says so', async () => {
    const row = await tryFault(fakeFault([sound, lossy], 'there is no xfs_io'))
    expect(row).toMatchObject({ failures: ['not run: there is no xfs_io'], recoverySeconds: null })
  })
})
