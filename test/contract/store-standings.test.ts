// What a payer may still claim: its open claims against its balance, whatever comes in between; on every engine.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Claimed } from '../../src/store/commands/claims.ts'
import type { Funds, NewPaymentClaim, Store } from '../../src/store/ports.ts'
import { newClaim, NOW, type Place, settling, submission, times } from '../support/store.ts'
import { createPlaceWith, PLACES } from '../support/useless-locks.ts'
import { cites } from '../requirements.ts'

const NOTHING_SETTLED = '0'
/** More than 64 bits hold: 20 of a token with 18 decimals. */
const LARGE = 20n * 10n ** 18n

const moving = (id: string, to: 'pending' | 'unknown' | 'failed') => ({
  id,
  to,
  reason: 'somehow',
  transaction: null,
  now: NOW + 2,
})
const cancellation = (id: string, bootId: string) => ({ id, bootId, reason: 'work_failed', now: NOW + 1 })

describe.each(PLACES)('what a payer may still claim in %s with locks that are %s', (...kind) => {
  const [engine] = kind
  let place: Place
  /** Two processes where the engine lets them share a database. */
  let stores: readonly { readonly store: Store; readonly bootId: string }[]
  let store: Store
  beforeAll(async () => {
    place = await createPlaceWith(kind, 'standings')
    const boots = engine === 'postgres' ? ['boot-1', 'boot-2'] : ['boot-1']
    stores = await Promise.all(boots.map(async (bootId) => ({ store: await place.open(bootId), bootId })))
    store = stores[0]!.store
  })
  afterAll(() => place.remove())

  const payerOf = ({ network, asset, payer }: NewPaymentClaim) => ({ network, asset, payer })
  const another = (claim: NewPaymentClaim, over: Partial<NewPaymentClaim> = {}) =>
    newClaim({ ...payerOf(claim), ...over })
  const claim = (one: NewPaymentClaim, funds?: Funds, maxOpen?: number, at = 0): Promise<Claimed> => {
    const { store: via, bootId } = stores[at % stores.length]!
    return via.claimPayment({ claim: one, bootId, funds, maxOpen })
  }
  const holding = (balance: bigint, settled: string = NOTHING_SETTLED): Funds => ({
    balance: balance.toString(),
    settled,
  })
  const submit = (id: string) => store.submitClaim(submission(id, 'boot-1'))

  it('is its balance less what is open, to the last unit and beyond 64 bits', async () => {
    const first = newClaim({ amount: LARGE.toString() })
    expect((await claim(first, holding(LARGE * 2n))).ok).toBe(true)
    const more = another(first, { amount: (LARGE + 1n).toString() })
    expect(await claim(more, holding(LARGE * 2n))).toEqual({ ok: false, reason: 'funds' })
    expect((await claim(another(first, { amount: LARGE.toString() }), holding(LARGE * 2n))).ok).toBe(true)
    expect(await store.findStanding(payerOf(first))).toEqual({
      open: { count: 2, amount: (LARGE * 2n).toString(), submitted: 0, working: 2 },
      settled: NOTHING_SETTLED,
    })
  })

  it('is counted by payer, network and asset', async () => {
    const first = newClaim()
    await claim(first, holding(1000n))
    for (const over of [
      { payer: newClaim().payer },
      { network: 'eip155:8453' },
      { asset: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913' },
    ])
      expect((await claim(another(first, over), holding(1000n))).ok).toBe(true)
    expect((await claim(another(first), holding(1000n))).ok).toBe(false)
  })

  it('counts a claim from its beginning until it is decided, in whatever state', async () => {
    const first = newClaim()
    const { id } = first
    const isBound = async () => !(await claim(another(first, { amount: '1' }), holding(1000n))).ok
    await claim(first, holding(1000n))
    expect(await isBound()).toBe(true)
    await submit(id)
    expect(await isBound()).toBe(true)
    for (const state of ['pending', 'unknown'] as const) {
      await store.moveClaim(moving(id, state))
      expect(await isBound()).toBe(true)
    }
    await store.moveClaim(moving(id, 'failed'))
    expect(await isBound()).toBe(false)
    const canceled = newClaim()
    await claim(canceled, holding(1000n))
    await store.cancelClaim(cancellation(canceled.id, 'boot-1'))
    expect((await claim(another(canceled), holding(1000n))).ok).toBe(true)
  })

  it('counts what was settled after it was asked what had been settled, and nothing before', async () => {
    const first = newClaim()
    const before = await store.findStanding(payerOf(first))
    // The balance is read now: it holds the first payment still.
    const stale = holding(1000n, before.settled)
    await claim(first, stale)
    await submit(first.id)
    await store.settleClaim(settling(first.id))
    expect(await claim(another(first), stale)).toEqual({ ok: false, reason: 'funds' })
    const after = await store.findStanding(payerOf(first))
    expect(after).toEqual({ open: { count: 0, amount: '0', submitted: 0, working: 0 }, settled: '1000' })
    expect((await claim(another(first), holding(1000n, after.settled))).ok).toBe(true)
  })

  it('does not count a claim that awaits confirmations: the balance is without it already', async () => {
    const first = newClaim()
    const before = await store.findStanding(payerOf(first))
    await claim(first, holding(1000n))
    await submit(first.id)
    const seen = { ...moving(first.id, 'pending'), reason: 'awaiting_confirmations' }
    await store.moveClaim(seen)
    // Whoever read the balance before the block was seen may have read it with that amount.
    expect((await claim(another(first), holding(1000n, before.settled))).ok).toBe(false)
    const after = await store.findStanding(payerOf(first))
    expect(after).toEqual({ open: { count: 0, amount: '0', submitted: 0, working: 0 }, settled: '1000' })
    expect((await claim(another(first), holding(1000n, after.settled))).ok).toBe(true)
    await store.moveClaim(moving(first.id, 'unknown'))
    expect((await store.findStanding(payerOf(first))).open.count).toBe(2)
  })

  it('adds up what is settled, also late and with credits, and also beyond 64 bits', async () => {
    const first = newClaim({ amount: LARGE.toString() })
    const claims = [first, ...times(3, () => another(first, { amount: LARGE.toString() }))]
    for (const one of claims) {
      await claim(one)
      await submit(one.id)
    }
    const late = settling(claims[3]!.id)
    await Promise.all([
      ...claims.slice(0, 3).map((one, i) => stores[i % stores.length]!.store.settleClaim(settling(one.id))),
      // After an hour PostgreSQL settles step by step, to keep the result longer.
      store.settleClaim({ ...late, now: NOW + 2 * 3_600_000 }),
    ])
    expect((await store.findStanding(payerOf(first))).settled).toBe((LARGE * 4n).toString())
    await store.settleClaim(settling(first.id))
    expect((await store.findStanding(payerOf(first))).settled).toBe((LARGE * 4n).toString())
  })

  it('names the claim of a copy first, whatever is open', async () => {
    const first = newClaim({ identifier: 'identifier-1' })
    await claim(first, holding(1000n), 1)
    const copy = { ...first, id: newClaim().id }
    expect(await claim(copy, holding(1000n), 1)).toMatchObject({ reason: 'payment', claim: { id: first.id } })
    const identified = another(first, { identifier: 'identifier-1' })
    expect(await claim(identified, holding(1000n), 1)).toMatchObject({ reason: 'identifier' })
  })

  it(
    cites('x402:claim:limit', 'ends at a number of open claims, and goes on as they are decided'),
    async () => {
      const first = newClaim()
      const rich = holding(10n ** 9n)
      const claims = [first, ...times(2, () => another(first))]
      for (const one of claims) expect((await claim(one, rich, 3)).ok).toBe(true)
      expect(await claim(another(first), rich, 3)).toEqual({ ok: false, reason: 'open_claims' })
      await submit(first.id)
      await store.moveClaim(moving(first.id, 'unknown'))
      expect(await claim(another(first), rich, 3)).toEqual({ ok: false, reason: 'open_claims' })
      await store.moveClaim(moving(first.id, 'failed'))
      expect((await claim(another(first), rich, 3)).ok).toBe(true)
    },
  )

  it('ends sooner where only so many may be worked on, and what waits for its chain is none of those', async () => {
    const first = newClaim()
    const next = another(first)
    const room = (one: NewPaymentClaim) =>
      store.claimPayment({ claim: one, bootId: 'boot-1', maxOpen: 3, maxWorking: 1 })
    expect((await room(first)).ok).toBe(true)
    expect(await room(next)).toEqual({ ok: false, reason: 'open_claims' })
    await submit(first.id)
    expect(await room(next)).toEqual({ ok: false, reason: 'open_claims' })
    await store.moveClaim(moving(first.id, 'unknown'))
    expect((await room(next)).ok).toBe(true)
  })

  it('does not bind payers that nobody knows to each other', async () => {
    for (const one of times(3, () => newClaim({ payer: '' })))
      expect((await claim(one, holding(1000n), 1)).ok).toBe(true)
  })

  it('is taken once, of a hundred claims at once from every process', async () => {
    const first = newClaim({ amount: '7' })
    const all = times(100, (i) => (i === 0 ? first : another(first, { amount: '7' })))
    const results = await Promise.all(all.map((one, i) => claim(one, holding(100n), undefined, i)))
    expect(results.filter(({ ok }) => ok)).toHaveLength(Math.floor(100 / 7))
    expect((await store.findStanding(payerOf(first))).open).toMatchObject({ count: 14, amount: '98' })
  })

  it(
    cites('x402:claim:funds', 'is never more than the chain pays, in whatever order everybody goes on'),
    async () => {
      let [reverted, paid, refused] = [0, 0, 0]
      await fc.assert(
        fc.asyncProperty(
          fc.bigInt(0n, 40n),
          fc.array(fc.bigInt(1n, 12n), { minLength: 2, maxLength: 6 }),
          fc.array(fc.tuple(fc.nat(5), fc.nat(9)), { minLength: 20, maxLength: 60 }),
          async (deposit, amounts, steps) => {
            const first = newClaim()
            const chain = { balance: deposit }
            const walks = amounts.map((amount) => walk(chain, amount, first))
            for (const [which, choice] of steps) await walks[which % walks.length]!.next(choice)
            // Whoever is still under way ends, so that nothing is left unseen.
            for (const one of walks) for (let i = 0; i < 8; i++) await one.next(9)
            expect(chain.balance).toBeGreaterThanOrEqual(0n)
          },
        ),
        { numRuns: engine === 'postgres' ? 60 : 150 },
      )
      expect(reverted).toBe(0)
      expect(Math.min(paid, refused)).toBeGreaterThan(20)

      /** A payment as it goes through the gateway, a step at a time: what `choice` is decides how it fails, if it does. */
      async function* walk(
        chain: { balance: bigint },
        amount: bigint,
        first: NewPaymentClaim,
      ): AsyncGenerator<undefined, undefined, number> {
        const one = another(first, { amount: amount.toString() })
        const { settled } = await store.findStanding(payerOf(one))
        yield
        const { balance } = chain
        yield
        const claimed = await claim(one, holding(balance, settled), undefined, 0)
        if (!claimed.ok) {
          refused++
          return
        }
        if ((yield) === 0) {
          await store.cancelClaim(cancellation(one.id, 'boot-1'))
          return
        }
        await submit(one.id)
        if ((yield) === 1) {
          await store.moveClaim(moving(one.id, 'failed'))
          return
        }
        if (chain.balance < amount) reverted++
        else chain.balance -= amount
        paid++
        const choice = yield
        if (choice === 2) await store.moveClaim(moving(one.id, 'unknown'))
        if (choice === 3)
          await store.moveClaim({ ...moving(one.id, 'pending'), reason: 'awaiting_confirmations' })
        yield
        await store.settleClaim(settling(one.id))
      }
    },
  )
})
