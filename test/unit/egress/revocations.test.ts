import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createRevocations } from '../../../src/egress/revocations.ts'
import { createLogger } from '../../../src/lib/log.ts'
import type { SealedCredential } from '../../../src/store/ports.ts'

const STANDING: Partial<SealedCredential> = { revokedAt: null }

function looking(
  standing: (ids: readonly string[]) => readonly string[] = (ids) => ids,
  inForce: readonly string[] = [],
) {
  const asked: (readonly string[])[] = []
  const clock = { now: 1_000 }
  const revocations = createRevocations({
    store: {
      listStanding: async (ids) => {
        asked.push(ids)
        return standing(ids)
      },
      getCredential: async (id) => (inForce.includes(id) ? (STANDING as SealedCredential) : undefined),
    },
    log: createLogger('silent'),
    now: () => clock.now,
    everyMs: 5,
  })
  return { revocations, asked, clock }
}
const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) =>
    signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve()),
  )

describe('looking for what was revoked', () => {
  it('asks nothing while nothing is open, nor once nothing is', async () => {
    const { revocations, asked } = looking()
    await sleep(30)
    expect(asked).toEqual([])
    const watched = revocations.watch('cap_1')
    await expect.poll(() => asked.length).toBeGreaterThan(0)
    watched.leave()
    await sleep(20)
    const before = asked.length
    await sleep(50)
    expect(asked.length).toBe(before)
  })

  it('asks once for all that is open, and for each capability once', async () => {
    const { revocations, asked } = looking()
    const watched = ['cap_1', 'cap_1', 'cap_2'].map((id) => revocations.watch(id))
    await expect.poll(() => asked.length).toBeGreaterThan(0)
    expect(asked[0]).toEqual(['cap_1', 'cap_2'])
    for (const one of watched) one.leave()
  })

  it('tells all that stand on what is gone, and nobody else', async () => {
    const { revocations } = looking((ids) => ids.filter((id) => id !== 'cap_1'))
    const [one, another, other] = ['cap_1', 'cap_1', 'cap_2'].map((id) => revocations.watch(id))
    await Promise.all([aborted(one!.signal), aborted(another!.signal)])
    expect(other!.signal.aborted).toBe(false)
    for (const watched of [one, another, other]) watched!.leave()
  })

  it('tells a call on a capability, and one on a permit of whose credential nothing is left', async () => {
    const { revocations, asked } = looking(() => [], ['cred_2'])
    const accountId = 'acc_1'
    const calls = [
      { accountId, capabilityId: 'cap_1', credentialId: 'cred_2' },
      { accountId, capabilityId: null, credentialId: 'cred_1' },
      { accountId, capabilityId: null, credentialId: 'cred_2' },
      { accountId, capabilityId: null, credentialId: null },
    ].map((call) => revocations.watchCall(call))
    await Promise.all(calls.slice(0, 2).map(({ signal }) => aborted(signal)))
    const looks = asked.length
    expect(looks).toBe(1)
    expect(calls.map(({ signal }) => signal.aborted)).toEqual([true, true, false, false])
    for (const call of calls) call.leave()
  })

  it('asks nothing for a call that is over at once', async () => {
    const { revocations, asked } = looking()
    revocations.watchCall({ accountId: 'acc_1', capabilityId: 'cap_1', credentialId: 'cred_1' }).leave()
    await sleep(50)
    expect(asked).toEqual([])
  })

  it('goes on when the store fails, and ends nothing for it', async () => {
    let isFailing = true
    const { revocations, asked } = looking(() => {
      if (isFailing) throw new Error('no store')
      return []
    })
    const watched = revocations.watch('cap_1')
    await expect.poll(() => asked.length).toBeGreaterThan(2)
    expect(watched.signal.aborted).toBe(false)
    isFailing = false
    await aborted(watched.signal)
    watched.leave()
  })

  it('tells what ends with the time of its capability, and nothing else that stands on it', async () => {
    const { revocations, asked, clock } = looking()
    const ending = revocations.watch('cap_1', 2_000)
    const [request, longer] = [revocations.watch('cap_1'), revocations.watch('cap_2', 2_001)]
    clock.now = 1_999
    const looks = asked.length
    await expect.poll(() => asked.length).toBeGreaterThan(looks + 1)
    expect(ending.signal.aborted).toBe(false)
    clock.now = 2_000
    await aborted(ending.signal)
    expect([request.signal.aborted, longer.signal.aborted]).toEqual([false, false])
    for (const watched of [ending, request, longer]) watched.leave()
  })

  it('tells of an end while the store fails, and asks nothing once nothing is open', async () => {
    const { revocations, asked, clock } = looking(() => {
      throw new Error('no store')
    })
    const watched = revocations.watch('cap_1', 2_000)
    await expect.poll(() => asked.length).toBeGreaterThan(1)
    clock.now = 2_000
    await aborted(watched.signal)
    const before = asked.length
    await sleep(50)
    expect(asked.length).toBe(before)
    watched.leave()
  })
})
