// Payment claims: claim, submit, settle, move, cancel, recover; on every engine.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/lib/ids.ts'
import { MAX_BALANCE } from '../../src/store/migrations.ts'
import type { ClaimState, NewPaymentClaim, PaymentClaim, Store } from '../../src/store/ports.ts'
import {
  addAccount,
  claimed,
  createPlace,
  ENGINES,
  newClaim,
  NOW,
  type Place,
  resultOf,
  settling,
  submission,
  sumOfLedger,
  times,
  unbalancedAccounts,
} from '../support/store.ts'
import { createPlaceWith, PLACES, SHARED_PLACES } from '../support/useless-locks.ts'

const BOOT = 'boot-1'
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const STATES = ['claimed', 'submitted', 'pending', 'settled', 'failed', 'canceled', 'unknown'] as const

const cancellation = (id: string, bootId = BOOT) => ({ id, bootId, reason: 'work_failed', now: NOW + 1 })
const moving = (id: string, to: 'pending' | 'unknown' | 'failed') => ({
  id,
  to,
  reason: to === 'pending' ? null : 'timeout',
  transaction: null,
  now: NOW + 2,
})

describe.each(ENGINES)('claims in %s', (engine) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await createPlace(engine, 'claims')
    store = await place.open(BOOT)
  })
  afterAll(async () => {
    expect(await sumOfLedger(place)).toBe(0)
    expect(await unbalancedAccounts(place)).toEqual([])
    await place.remove()
  })

  const claim = async (over: Partial<NewPaymentClaim> = {}): Promise<NewPaymentClaim> => {
    const input = newClaim(over)
    expect(await store.claimPayment({ claim: input, bootId: BOOT })).toEqual({
      ok: true,
      claim: claimed(input),
    })
    return input
  }
  /** A claim that was walked to `state`. */
  async function claimIn(state: ClaimState, over: Partial<NewPaymentClaim> = {}): Promise<NewPaymentClaim> {
    const input = await claim(over)
    const { id } = input
    if (state === 'canceled') expect(await store.cancelClaim(cancellation(id))).toBe(true)
    if (state === 'claimed' || state === 'canceled') return input
    expect(await store.submitClaim(submission(id, BOOT))).toBe(true)
    if (state === 'settled') expect(await store.settleClaim(settling(id))).toMatchObject({ state })
    else if (state !== 'submitted') expect(await store.moveClaim(moving(id, state))).toMatchObject({ state })
    return input
  }

  it('walks from claimed over submitted to settled, with the result and one receipt', async () => {
    const input = await claim({ identifier: 'order-0123456789' })
    const { id } = input
    expect(await store.getClaim(id)).toEqual(claimed(input))
    expect(await store.getClaimResult(id)).toBeUndefined()

    const result = resultOf('{"content":"grüße","receipt":null}')
    expect(await store.submitClaim({ ...submission(id, BOOT), result })).toBe(true)
    const submitted: PaymentClaim = {
      ...claimed(input),
      state: 'submitted',
      upstream: 'local',
      resultSha256: result.sha256,
      submittedAt: NOW + 1,
    }
    expect(await store.getClaim(id)).toEqual(submitted)
    expect(await store.getClaimResult(id)).toEqual(result)

    const end = settling(id)
    const settled: PaymentClaim = {
      ...submitted,
      state: 'settled',
      transaction: end.transaction,
      receiptId: end.receipt.id,
      finishedAt: NOW + 2,
    }
    expect(await store.settleClaim(end)).toEqual(settled)
    expect(await store.getClaim(id)).toEqual(settled)
    expect(await store.findClaim(input)).toEqual(settled)
    expect(await store.findIdentifiedClaim({ ...input, identifier: 'order-0123456789' })).toEqual(settled)
    expect(await store.getReceipt(end.receipt.id)).toEqual(end.receipt)
    expect(await store.getClaimResult(id)).toEqual(result)
    expect(await store.getClaim('clm_none')).toBeUndefined()
    expect(await store.getClaimResult('clm_none')).toBeUndefined()
  })

  it('keeps every field of a claim, a purchase among them', async () => {
    const accountId = await addAccount(store, 0)
    const input = await claim({
      origin: 'settle',
      tool: 'settle',
      validBefore: null,
      amount: '9'.repeat(78),
      purchase: { accountId, credits: 7 },
      accountId,
    })
    expect(await store.getClaim(input.id)).toEqual(claimed(input))
  })

  // Legal steps, by the state they start from; every other pair is refused and changes nothing.
  const steps = {
    submit: { from: ['claimed'], to: 'submitted' },
    cancel: { from: ['claimed'], to: 'canceled' },
    settle: { from: ['submitted', 'pending', 'unknown'], to: 'settled' },
    pending: { from: ['submitted', 'pending', 'unknown'], to: 'pending' },
    unknown: { from: ['submitted', 'pending', 'unknown'], to: 'unknown' },
    failed: { from: ['submitted', 'pending', 'unknown'], to: 'failed' },
  } as const satisfies Record<string, { from: readonly ClaimState[]; to: ClaimState }>
  const pairs = STATES.flatMap((from) =>
    (Object.keys(steps) as (keyof typeof steps)[]).map((step) => {
      const isLegal = (steps[step].from as readonly ClaimState[]).includes(from)
      return [isLegal ? 'takes' : 'refuses', step, from, isLegal] as const
    }),
  )
  it.each(pairs)('%s the step "%s" from %s', async (_word, step, from, isLegal) => {
    const { id } = await claimIn(from)
    const before = await store.getClaim(id)
    const end = settling(id)
    const run = {
      submit: () => store.submitClaim({ ...submission(id, BOOT), result: resultOf('"other"') }),
      cancel: () => store.cancelClaim(cancellation(id)),
      settle: async () => (await store.settleClaim(end)) !== undefined,
      pending: async () => (await store.moveClaim(moving(id, 'pending'))) !== undefined,
      unknown: async () => (await store.moveClaim(moving(id, 'unknown'))) !== undefined,
      failed: async () => (await store.moveClaim(moving(id, 'failed'))) !== undefined,
    }
    expect(await run[step]()).toBe(isLegal)
    const after = await store.getClaim(id)
    if (isLegal) expect(after!.state).toBe(steps[step].to)
    else {
      expect(after).toEqual(before)
      expect(await store.getReceipt(end.receipt.id)).toBeUndefined()
      expect((await store.getClaimResult(id))?.json).not.toBe('"other"')
    }
  })

  it.each(['submit', 'cancel'] as const)('lets no other process %s it', async (step) => {
    const { id } = await claim()
    const done =
      step === 'submit'
        ? await store.submitClaim(submission(id, 'boot-else'))
        : await store.cancelClaim(cancellation(id, 'boot-else'))
    expect(done).toBe(false)
    expect((await store.getClaim(id))!.state).toBe('claimed')
  })

  it('gives a payment to one claim of sixty-four, and shows the others the winner', async () => {
    const payment = newClaim()
    const inputs = times(64, (i) => ({ ...payment, id: newId('clm', NOW), resource: `/r/${i % 2}` }))
    const results = await Promise.all(
      inputs.map((input) => store.claimPayment({ claim: input, bootId: BOOT })),
    )
    const winners = results.filter((result) => result.ok)
    expect(winners).toHaveLength(1)
    const [winner] = winners
    for (const result of results) {
      expect(result.claim).toEqual(winner!.claim)
      if (!result.ok) expect(result.reason).toBe('payment')
    }
    const rows = await place.query(`SELECT id FROM payment_claims WHERE nonce = '${payment.nonce}'`)
    expect(rows).toEqual([{ id: winner!.claim.id }])
  })

  it('keeps what the payment is recognised by, also once it is settled or canceled', async () => {
    for (const state of ['claimed', 'settled', 'canceled'] as const) {
      const input = await claimIn(state, { presentationDigest: `presented-${state}` })
      expect((await store.getClaim(input.id))!.presentationDigest).toBe(`presented-${state}`)
    }
  })

  it('keeps which part of a payment is the secret', async () => {
    for (const secret of ['challenge', 'identifier', null] as const) {
      const input = await claimIn('settled', { secret })
      expect((await store.getClaim(input.id))!.secret).toBe(secret)
    }
  })

  it('takes a signature of its payer once, of sixteen at once, and none that is as old or older', async () => {
    const { id } = await claimIn('settled')
    const other = await claimIn('settled')
    const taken = await Promise.all(times(16, () => store.acceptSignIn({ id, issuedAt: 1000 })))
    expect(taken.filter(Boolean)).toHaveLength(1)
    expect(await store.acceptSignIn({ id, issuedAt: 1000 })).toBe(false)
    expect(await store.acceptSignIn({ id, issuedAt: 999 })).toBe(false)
    expect(await store.acceptSignIn({ id, issuedAt: 1001 })).toBe(true)
    expect(await store.acceptSignIn({ id: other.id, issuedAt: 999 })).toBe(true)
    expect(await store.acceptSignIn({ id: newId('clm', NOW), issuedAt: 999 })).toBe(false)
  })

  it('gives an identifier to one claim of twenty different payments of one payer', async () => {
    const { payer } = newClaim()
    const inputs = times(20, () => newClaim({ payer, identifier: 'identifier-0001' }))
    const results = await Promise.all(
      inputs.map((input) => store.claimPayment({ claim: input, bootId: BOOT })),
    )
    const [winner] = results.filter((result) => result.ok)
    for (const result of results) {
      expect(result.claim).toEqual(winner!.claim)
      if (!result.ok) expect(result.reason).toBe('identifier')
    }
    expect(results.filter((result) => result.ok)).toHaveLength(1)
  })

  it('tells a used payment from a used identifier, the payment first', async () => {
    const first = await claim({ identifier: 'identifier-0002' })
    const again = async (over: Partial<NewPaymentClaim>) => {
      const input = { ...newClaim(), payer: first.payer, identifier: 'identifier-0002', ...over }
      return store.claimPayment({ claim: input, bootId: BOOT })
    }
    expect(await again({ nonce: first.nonce })).toMatchObject({ ok: false, reason: 'payment' })
    expect(await again({ nonce: first.nonce, identifier: null })).toMatchObject({ reason: 'payment' })
    expect(await again({})).toMatchObject({ ok: false, reason: 'identifier', claim: { id: first.id } })
  })

  const nearly: readonly [string, Partial<NewPaymentClaim>][] = [
    ['network', { network: 'eip155:8453' }],
    ['asset', { asset: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913' }],
    ['payer', { payer: `0x${'1'.repeat(40)}` }],
    ['nonce', { nonce: `0x${'2'.repeat(64)}` }],
  ]
  it.each(nearly)('holds the same payment on another %s for another payment', async (_word, over) => {
    const first = await claim()
    await claim({ ...first, ...over, id: newId('clm', NOW) })
    expect((await store.findClaim(first))!.id).toBe(first.id)
  })

  it('binds an identifier to its tool and payer', async () => {
    const identifier = 'identifier-0003'
    const first = await claim({ identifier })
    await claim({ identifier, payer: first.payer, tool: 'gateway.execute' })
    await claim({ identifier })
    expect((await store.findIdentifiedClaim({ ...first, identifier }))!.id).toBe(first.id)
    expect(await store.findIdentifiedClaim({ ...first, identifier: 'identifier-000' })).toBeUndefined()
  })

  it('frees payment and identifier when a claim is canceled, and finds that one by id only', async () => {
    const first = await claimIn('canceled', { identifier: 'identifier-0004' })
    expect(await store.getClaim(first.id)).toEqual({
      ...claimed(first),
      state: 'canceled',
      reason: 'work_failed',
      finishedAt: NOW + 1,
    })
    expect(await store.findClaim(first)).toBeUndefined()
    expect(await store.findIdentifiedClaim({ ...first, identifier: 'identifier-0004' })).toBeUndefined()
    const second = await claim({ ...first, id: newId('clm', NOW) })
    expect((await store.findClaim(first))!.id).toBe(second.id)
    await store.cancelClaim(cancellation(second.id))
    await claim({ ...first, id: newId('clm', NOW) })
  })

  it.each(['submitted', 'pending', 'unknown', 'failed', 'settled'] as const)(
    'keeps the payment of a %s claim for good',
    async (state) => {
      const first = await claimIn(state)
      const again = { ...first, id: newId('clm', NOW) }
      const result = await store.claimPayment({ claim: again, bootId: BOOT })
      expect(result).toMatchObject({ ok: false, reason: 'payment', claim: { id: first.id, state } })
    },
  )

  it('answers every claim while winners come and go at the same time', async () => {
    const payment = newClaim()
    const held = new Set<string>()
    await Promise.all(
      times(24, async () => {
        for (let round = 0; round < 4; round++) {
          const input = { ...payment, id: newId('clm', NOW) }
          const result = await store.claimPayment({ claim: input, bootId: BOOT })
          if (!result.ok) {
            expect(result.claim?.id).not.toBe(input.id)
            continue
          }
          held.add(input.id)
          expect(await store.cancelClaim(cancellation(input.id))).toBe(true)
        }
      }),
    )
    const rows = await place.query(`SELECT id, state FROM payment_claims WHERE nonce = '${payment.nonce}'`)
    expect(new Set(rows.map((row) => row['id']))).toEqual(held)
    expect(rows.every((row) => row['state'] === 'canceled')).toBe(true)
  })

  it('refuses an id that is taken, and what no account can be sold', async () => {
    const first = await claim()
    await expect(
      store.claimPayment({ claim: { ...newClaim(), id: first.id }, bootId: BOOT }),
    ).rejects.toMatchObject({ code: 'state_conflict' })
    const accountId = await addAccount(store, 0)
    for (const credits of [0, -1, 1.5, 2 ** 53])
      await expect(
        store.claimPayment({ claim: newClaim({ purchase: { accountId, credits } }), bootId: BOOT }),
      ).rejects.toMatchObject({ code: 'input_invalid' })
  })

  it.each(['asset', 'payer', 'nonce', 'payTo', 'resource'] as const)(
    'refuses a NUL in %s, which one engine could not hold',
    async (field) => {
      const input = newClaim({ [field]: 'a\0b' })
      await expect(store.claimPayment({ claim: input, bootId: BOOT })).rejects.toMatchObject({
        code: 'input_invalid',
      })
      await claim(newClaim({ [field]: `${field} \u0001 \u{1f4b8} ü` }))
    },
  )

  it('submits once and settles once, of thirty that try', async () => {
    const { id } = await claim()
    const submitted = await Promise.all(times(30, () => store.submitClaim(submission(id, BOOT))))
    expect(submitted.filter(Boolean)).toHaveLength(1)
    const ends = times(30, () => settling(id))
    const settled = await Promise.all(ends.map((end) => store.settleClaim(end)))
    expect(settled.filter(Boolean)).toHaveLength(1)
    const winner = ends[settled.findIndex(Boolean)]!
    expect(await store.getClaim(id)).toMatchObject({
      transaction: winner.transaction,
      receiptId: winner.receipt.id,
    })
    const receipts = await Promise.all(ends.map((end) => store.getReceipt(end.receipt.id)))
    expect(receipts.filter(Boolean)).toEqual([winner.receipt])
  })

  describe("by an upstream's word alone", () => {
    const trusting = (id: string, transaction: string) => ({
      ...settling(id),
      transaction,
      upstream: 'far.example',
      isTrusted: true,
    })

    it('settle one for each transaction, of twenty at once: the others stay undecided, and nothing of theirs is written', async () => {
      const ids = (await Promise.all(times(20, () => claimIn('submitted')))).map(({ id }) => id)
      const ends = ids.map((id) => trusting(id, '0xAB'))
      const ended = await Promise.all(ends.map((end) => store.settleClaim(end)))
      expect(ended.filter((one) => one?.state === 'settled')).toHaveLength(1)
      const others = ends.filter((_, i) => ended[i]?.state !== 'settled')
      for (const { id, receipt } of others) {
        expect(await store.getClaim(id)).toMatchObject({
          state: 'unknown',
          reason: 'settlement_unproven',
          transaction: null,
          receiptId: null,
          upstream: 'far.example',
          finishedAt: null,
        })
        expect(await store.getReceipt(receipt.id)).toBeUndefined()
      }
      // Each has what it was told to hold: another transaction of its own settles it.
      const [first] = others
      expect(await store.settleClaim(trusting(first!.id, '0xac'))).toMatchObject({ state: 'settled' })
    })

    it('take the digits of an address space in either case, the words of another as they are, and a network for itself', async () => {
      const solana = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
      const settle = async (transaction: string, network: string) => {
        const { id } = await claimIn('submitted', { network })
        return (await store.settleClaim(trusting(id, transaction)))?.state
      }
      expect(await settle('0xCd', 'eip155:43114')).toBe('settled')
      expect(await settle('0xcD', 'eip155:43114')).toBe('unknown')
      expect(await settle('0xcd', 'eip155:43113')).toBe('settled')
      expect(await settle('5Nf', solana)).toBe('settled')
      expect(await settle('5nf', solana)).toBe('settled')
      expect(await settle('5Nf', solana)).toBe('unknown')
    })

    it('leave what ended before as it is, and its transaction to whom it is of', async () => {
      const [failed, settled, next] = [
        await claimIn('failed'),
        await claimIn('settled'),
        await claimIn('submitted'),
      ]
      const before = await store.getClaim(settled.id)
      for (const { id } of [failed, settled])
        expect(await store.settleClaim(trusting(id, '0xef'))).toBeUndefined()
      expect(await store.getClaim(settled.id)).toEqual(before)
      expect(await store.settleClaim(trusting(next.id, '0xef'))).toMatchObject({ state: 'settled' })
      expect(await store.settleClaim(trusting(next.id, '0xef'))).toBeUndefined()
    })
  })

  it('submits without a result when there is none to release', async () => {
    const { id } = await claim()
    expect(await store.submitClaim({ ...submission(id, BOOT), result: null })).toBe(true)
    expect(await store.getClaim(id)).toMatchObject({ state: 'submitted', resultSha256: null })
    expect(await store.getClaimResult(id)).toBeUndefined()
  })

  it('remembers a transaction once known and where it was settled, and forgets the reason once settled', async () => {
    const { id } = await claimIn('submitted')
    await store.moveClaim({ ...moving(id, 'pending'), transaction: '0xaa' })
    expect(await store.moveClaim({ ...moving(id, 'unknown'), upstream: 'other.example' })).toMatchObject({
      state: 'unknown',
      reason: 'timeout',
      transaction: '0xaa',
      upstream: 'other.example',
      finishedAt: null,
    })
    expect(
      await store.settleClaim({ ...settling(id), transaction: '0xbb', upstream: 'third.example' }),
    ).toMatchObject({ reason: null, transaction: '0xbb', upstream: 'third.example', finishedAt: NOW + 2 })
  })

  it('deletes the result of a payment that failed, and of no other', async () => {
    const [failed, doubtful] = [await claimIn('failed'), await claimIn('unknown')]
    expect(await store.getClaim(failed.id)).toMatchObject({ reason: 'timeout', finishedAt: NOW + 2 })
    expect(await store.getClaimResult(failed.id)).toBeUndefined()
    expect(await store.getClaimResult(doubtful.id)).toEqual(resultOf())
  })

  it('gives the buyer of a payment that settled late a day from then on', async () => {
    const [prompt, late] = [await claimIn('unknown'), await claimIn('unknown')]
    const now = NOW + 1 + HOUR_MS
    await store.settleClaim({ ...settling(prompt.id), now: now - 1 })
    await store.settleClaim({ ...settling(late.id), now })
    expect(await store.getClaimResult(prompt.id)).toEqual(resultOf())
    expect(await store.getClaimResult(late.id)).toEqual({ ...resultOf(), expiresAt: now + DAY_MS })
  })

  it('keeps results while they may be needed: a day, and as long as the payment is undecided', async () => {
    const gone = await claimIn('settled')
    const kept = await Promise.all(
      (['submitted', 'pending', 'unknown'] as const).map((state) => claimIn(state)),
    )
    const young = await claim()
    const result = { ...resultOf(), expiresAt: NOW + DAY_MS + 1 }
    await store.submitClaim({ ...submission(young.id, BOOT), result })
    await store.settleClaim(settling(young.id))
    await store.sweep(NOW + DAY_MS - 1)
    expect(await store.getClaimResult(gone.id)).toEqual(resultOf())
    expect((await store.sweep(NOW + DAY_MS))['results']).toBeGreaterThan(0)
    expect(await store.getClaimResult(gone.id)).toBeUndefined()
    for (const { id } of kept) expect(await store.getClaimResult(id)).toEqual(resultOf())
    expect(await store.getClaimResult(young.id)).toEqual(result)
    expect(await store.getClaim(gone.id)).toMatchObject({ state: 'settled' })
  })

  it('grants what a payment bought, once, of twenty settlements at once', async () => {
    const accountId = await addAccount(store, 3)
    const { id } = await claimIn('submitted', { purchase: { accountId, credits: 100 } })
    const settled = await Promise.all(times(20, () => store.settleClaim(settling(id))))
    expect(settled.filter(Boolean)).toEqual([
      expect.objectContaining({ state: 'settled', reason: null, purchase: { accountId, credits: 100 } }),
    ])
    expect(await store.balance(accountId)).toBe(103)
    const [entry, ...rest] = (await store.ledger(accountId, { limit: 10 })).items
    expect(entry).toMatchObject({ amount: 100, kind: 'purchase', reference: id, createdAt: NOW + 2 })
    expect(rest).toHaveLength(1)
    const other = await place.query(
      `SELECT account, amount FROM ledger_entries WHERE transaction_id = '${entry!.transactionId}' AND amount < 0`,
    )
    expect(other).toMatchObject([{ account: 'system:purchase' }])
  })

  it.each(['submitted', 'pending', 'unknown'] as const)('grants from %s', async (state) => {
    const accountId = await addAccount(store, 0)
    const { id } = await claimIn(state, { purchase: { accountId, credits: 5 } })
    await store.settleClaim(settling(id))
    expect(await store.balance(accountId)).toBe(5)
  })

  it.each(['failed', 'canceled'] as const)('grants nothing for a %s claim', async (state) => {
    const accountId = await addAccount(store, 0)
    const { id } = await claimIn(state, { purchase: { accountId, credits: 5 } })
    expect(await store.settleClaim(settling(id))).toBeUndefined()
    expect(await store.balance(accountId)).toBe(0)
  })

  it('settles a purchase that no account can take, and keeps its credits for the operator', async () => {
    const full = await addAccount(store, MAX_BALANCE - 4)
    for (const accountId of ['acct_gone', full]) {
      const { id } = await claimIn('submitted', { purchase: { accountId, credits: 5 } })
      const settled = await store.settleClaim(settling(id))
      expect(settled).toMatchObject({ state: 'settled', reason: 'purchase_unclaimed' })
      expect(await store.getClaim(id)).toEqual(settled)
      const entries = await place.query(
        `SELECT account, CAST(amount AS INTEGER) AS amount FROM ledger_entries WHERE reference = '${id}' ORDER BY account`,
      )
      expect(entries).toEqual([
        { account: 'system:purchase', amount: -5 },
        { account: 'system:unclaimed', amount: 5 },
      ])
    }
    expect(await store.balance(full)).toBe(MAX_BALANCE - 4)
    // The nearest that fits: exactly full.
    const { id } = await claimIn('submitted', { purchase: { accountId: full, credits: 4 } })
    expect(await store.settleClaim(settling(id))).toMatchObject({ reason: null })
    expect(await store.balance(full)).toBe(MAX_BALANCE)
  })
})

describe.each(PLACES)('claims of several processes in %s with locks that are %s', (...kind) => {
  let place: Place
  beforeAll(async () => {
    place = await createPlaceWith(kind, 'claims2')
  })
  afterAll(() => place.remove())

  it('recovers what dead processes left, and only that', async () => {
    const dead = await place.open('boot-dead')
    const inputs = times(4, () => newClaim({ identifier: newId('clm', NOW) }))
    for (const claim of inputs) await dead.claimPayment({ claim, bootId: 'boot-dead' })
    const [left, sent, done, doubtful] = inputs
    for (const { id } of [sent!, done!, doubtful!]) await dead.submitClaim(submission(id, 'boot-dead'))
    await dead.settleClaim(settling(done!.id))
    await dead.moveClaim(moving(doubtful!.id, 'pending'))
    await dead.close()

    const store = await place.open('boot-living')
    const [mine, submitted] = times(2, () => newClaim())
    for (const claim of [mine!, submitted!]) await store.claimPayment({ claim, bootId: 'boot-living' })
    await store.submitClaim(submission(submitted!.id, 'boot-living'))
    const [first, second] = [left!.id, sent!.id].toSorted()
    const list = (after: string, limit: number) =>
      store.listUnfinishedClaims({ bootId: 'boot-dead', after, limit })
    expect(await list('', 1)).toEqual([{ id: first }])
    expect(await list(first!, 9)).toEqual([{ id: second }])
    const alone = { bootId: 'boot-living', now: NOW + 9 }
    for (const id of [mine!.id, submitted!.id, done!.id])
      expect(await store.recoverClaims({ ...alone, id })).toEqual({ canceled: 0, unknown: 0 })
    expect(await store.recoverClaims({ ...alone, id: sent!.id })).toEqual({ canceled: 0, unknown: 1 })
    expect(await store.recoverClaims(alone)).toEqual({ canceled: 1, unknown: 0 })
    expect(await store.getClaim(left!.id)).toMatchObject({
      state: 'canceled',
      reason: 'crashed',
      finishedAt: NOW + 9,
    })
    expect(await store.getClaim(sent!.id)).toMatchObject({
      state: 'unknown',
      reason: 'crashed',
      finishedAt: null,
    })
    expect(await store.getClaimResult(sent!.id)).toEqual(resultOf())
    expect((await store.getClaim(done!.id))!.state).toBe('settled')
    expect((await store.getClaim(doubtful!.id))!.state).toBe('pending')
    expect((await store.getClaim(mine!.id))!.state).toBe('claimed')
    expect((await store.getClaim(submitted!.id))!.state).toBe('submitted')
    // The payment is free again, under the same identifier.
    const again = { ...left!, id: newId('clm', NOW) }
    expect((await store.claimPayment({ claim: again, bootId: 'boot-living' })).ok).toBe(true)
    // Whoever was given up for dead can no longer submit.
    expect(await store.submitClaim(submission(left!.id, 'boot-dead'))).toBe(false)
    expect(await store.recoverClaims({ bootId: 'boot-living', now: NOW + 9 })).toEqual({
      canceled: 0,
      unknown: 0,
    })
    expect(await store.countOpenClaims()).toEqual({ pending: 1, unknown: 1 })
    await store.close()
  })

  it('finds the claims of a dead process also after its attempts were recovered', async () => {
    const dead = await place.open('boot-dead2')
    const claim = newClaim()
    await dead.claimPayment({ claim, bootId: 'boot-dead2' })
    await dead.close()
    const store = await place.open('boot-next')
    await store.recoverAttempts({ bootId: 'boot-next', now: NOW })
    await store.recoverClaims({ bootId: 'boot-next', now: NOW })
    expect((await store.getClaim(claim.id))!.state).toBe('canceled')
    await store.close()
  })

  it('watches a claim that failed while it could still be used, until it settles or cannot', async () => {
    const store = await place.open('boot-watcher')
    const watched = async () => {
      const claim = newClaim()
      await store.claimPayment({ claim, bootId: 'boot-watcher' })
      await store.submitClaim({ ...submission(claim.id, 'boot-watcher'), result: resultOf() })
      const failed = await store.moveClaim({ ...moving(claim.id, 'failed'), isWatched: true })
      expect(failed).toMatchObject({ state: 'failed', reason: 'timeout', finishedAt: null })
      return claim
    }
    const [late, over] = [await watched(), await watched()]
    const take = async (now: number, limit = 9) =>
      (await store.takeWatchedClaims({ limit, now })).map(({ id }) => id)
    expect(await take(NOW + 20, 1)).toHaveLength(1)
    expect(await take(NOW + 20)).toHaveLength(1)
    expect(await take(NOW + 20)).toEqual([])
    expect((await take(NOW + 21)).toSorted()).toEqual([late.id, over.id].toSorted())
    expect(await take(NOW + DAY_MS, 1)).toHaveLength(1)
    expect((await take(NOW + 22)).toSorted()).toEqual([late.id, over.id].toSorted())
    // It is decided as far as anybody waits for it, and nothing but a settlement moves it.
    expect(await store.moveClaim(moving(late.id, 'unknown'))).toBeUndefined()
    await store.sweep(NOW + 2 * DAY_MS)
    expect(await store.getClaimResult(late.id)).toBeDefined()

    expect(await store.settleClaim(settling(late.id))).toMatchObject({
      state: 'settled',
      finishedAt: NOW + 2,
    })
    expect(await store.getClaimResult(late.id)).toBeDefined()
    expect(await store.endWatch(late.id, NOW + 30)).toBeUndefined()
    expect(await store.endWatch(over.id, NOW + 30)).toMatchObject({ state: 'failed', finishedAt: NOW + 30 })
    expect(await store.getClaimResult(over.id)).toBeUndefined()
    expect(await store.settleClaim(settling(over.id))).toBeUndefined()
    expect(await take(NOW + 40)).toEqual([])
    await store.close()
  })

  it('hands out doubtful claims, the longest without a look first, each once for a time', async () => {
    const store = await place.open('boot-looker')
    const before = await store.takeDoubtfulClaims({ limit: 100, now: NOW })
    for (const { id } of before) await store.settleClaim(settling(id))
    const inputs = times(5, (i) => newClaim({ id: newId('clm', NOW + i) }))
    for (const [i, claim] of inputs.entries()) {
      await store.claimPayment({ claim, bootId: 'boot-looker' })
      await store.submitClaim(submission(claim.id, 'boot-looker'))
      if (i < 4) await store.moveClaim(moving(claim.id, i % 2 === 0 ? 'unknown' : 'pending'))
    }
    const ids = inputs.map(({ id }) => id)
    expect(await store.countOpenClaims()).toEqual({ pending: 2, unknown: 2 })
    const take = async (limit: number, now: number) =>
      (await store.takeDoubtfulClaims({ limit, now })).map(({ id }) => id)
    expect(await take(1, NOW + 10)).toEqual([ids[0]])
    expect(await take(9, NOW + 10)).toEqual([ids[1], ids[2], ids[3]])
    expect(await take(9, NOW + 10)).toEqual([])
    await store.moveClaim(moving(ids[1]!, 'failed'))
    expect(await take(9, NOW + 11)).toEqual([ids[0], ids[2], ids[3]])
    const whole = await store.takeDoubtfulClaims({ limit: 1, now: NOW + 12 })
    expect(whole).toEqual([await store.getClaim(ids[0]!)])
    const [a, b] = await Promise.all([take(2, NOW + 13), take(2, NOW + 13)])
    expect([...a, ...b].toSorted()).toEqual([ids[0], ids[2], ids[3]].toSorted())
    // A process whose clock goes a day ahead has looked at two of them, and hides them from nobody.
    expect(await take(2, NOW + DAY_MS)).toHaveLength(2)
    expect((await take(9, NOW + 14)).toSorted()).toEqual([ids[0], ids[2], ids[3]].toSorted())
    expect(await take(9, NOW + 14)).toEqual([])
    await store.close()
  })
})

describe.each(SHARED_PLACES)('claims of living processes in %s with locks that are %s', (...kind) => {
  it('are not touched by the recovery of another, and a payment is claimed once among them', async () => {
    const place = await createPlaceWith(kind, 'claims3')
    try {
      const stores = await Promise.all(['boot-a', 'boot-b', 'boot-c'].map((bootId) => place.open(bootId)))
      const boots = ['boot-a', 'boot-b', 'boot-c']
      const payment = newClaim()
      const results = await Promise.all(
        times(30, (i) =>
          stores[i % 3]!.claimPayment({
            claim: { ...payment, id: newId('clm', NOW) },
            bootId: boots[i % 3]!,
          }),
        ),
      )
      expect(results.filter((result) => result.ok)).toHaveLength(1)
      expect(new Set(results.map((result) => result.claim!.id)).size).toBe(1)
      for (const [i, store] of stores.entries())
        expect(await store.recoverClaims({ bootId: boots[i]!, now: NOW })).toEqual({
          canceled: 0,
          unknown: 0,
        })
      expect((await stores[0]!.findClaim(payment))!.state).toBe('claimed')

      const doubtful = times(6, () => newClaim())
      for (const claim of doubtful) {
        await stores[0]!.claimPayment({ claim, bootId: 'boot-a' })
        await stores[0]!.submitClaim(submission(claim.id, 'boot-a'))
        await stores[0]!.moveClaim(moving(claim.id, 'unknown'))
      }
      const taken = await Promise.all(
        times(9, (i) => stores[i % 3]!.takeDoubtfulClaims({ limit: 4, now: NOW + 5 })),
      )
      const ids = taken.flat().map(({ id }) => id)
      expect(new Set(ids).size).toBe(ids.length)
    } finally {
      await place.remove()
    }
  })
})
