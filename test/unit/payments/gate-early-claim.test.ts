// The claim of a regular buyer is written while the chain looks at the payment: what others see of that, and what not.
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { ChainError, type ChainProbe } from '../../../src/payments/ports.ts'
import { buyers, callOf, type OpenGate, openGate, present, refusalOf } from '../../support/payment-gate.ts'

let open: OpenGate
beforeAll(async () => void (open = await openGate()))
beforeEach(() => open.reset())
afterEach(() => void vi.restoreAllMocks())
afterAll(() => open.close())

const GOOD: ChainProbe = { nonceUsed: false, balance: null, payerHasCode: false, revert: null }
const USED: ChainProbe = { ...GOOD, nonceUsed: true, revert: 'used' }
const POOR: ChainProbe = { ...GOOD, balance: 1n, revert: 'exceeds balance' }

/** A chain that answers when it is told to. */
function hold() {
  const answer = Promise.withResolvers<ChainProbe>()
  open.world.probe = answer.promise
  return answer
}

/** So that the next payment of this buyer is a regular's. */
async function makeRegular(account = buyers[0]!) {
  open.world.probe = GOOD
  await open.gate.run(callOf({ payment: present(await open.sign({ account })) }))
  open.reset()
}

const identified = (id: string) => ({ 'payment-identifier': { info: { required: false, id }, schema: {} } })
const work = vi.fn(async () => ({ text: 'hello', receipt: null }))
beforeEach(() => void work.mockClear())
const isClaimed = () => expect.poll(() => open.states()).toEqual(['claimed'])

describe('a payment of a regular buyer, while the chain looks at it', () => {
  it('is claimed already, and no work starts before the chain has found it good', async () => {
    await makeRegular()
    const chain = hold()
    const bought = open.gate.run(callOf({ payment: present(await open.sign()), work }))
    await isClaimed()
    expect([work.mock.calls.length, open.world.probes, open.world.prepared]).toEqual([0, 1, 0])
    chain.resolve(GOOD)
    expect((await bought).replayed).toBe(false)
    expect([work.mock.calls.length, open.world.prepared]).toEqual([1, 1])
    expect(await open.states()).toEqual(['settled'])
  })

  it.each<[string, ChainProbe | Error, string, number]>([
    ['its nonce is used up', USED, 'payment_rejected', 402],
    ['its payer has too little', POOR, 'payment_rejected', 402],
    ['it would fail', { ...GOOD, balance: 10n ** 9n, revert: 'paused' }, 'payment_rejected', 402],
    ['nobody answers', new ChainError('timeout', 'eip155:84532'), 'payments_unavailable', 503],
  ])('is refused, and free again, when %s: in the words of anybody else', async (_, answer, code, status) => {
    const stranger = buyers[1]!
    const settleTo = ({ resolve, reject }: PromiseWithResolvers<ChainProbe>) =>
      answer instanceof Error ? reject(answer) : resolve(answer)
    const plain = hold()
    settleTo(plain)
    const expected = await refusalOf(
      open.gate.run(callOf({ payment: present(await open.sign({ account: stranger })), work })),
    )
    expect(await open.states()).toEqual([])

    await makeRegular()
    const chain = hold()
    const payment = present(await open.sign())
    const refused = refusalOf(open.gate.run(callOf({ payment, work })))
    await isClaimed()
    settleTo(chain)
    const error = await refused
    expect([error.code, error.status, error.reason, error.message]).toEqual([
      code,
      status,
      expected.reason,
      expected.message.replaceAll(stranger.address.toLowerCase(), buyers[0]!.address.toLowerCase()),
    ])
    expect(await open.states()).toEqual(['canceled'])
    expect([work.mock.calls.length, open.world.settles]).toEqual([0, 0])
    open.world.probe = GOOD
    expect((await open.gate.run(callOf({ payment, work }))).replayed).toBe(false)
  })

  it('is given back when the verifier itself fails', async () => {
    await makeRegular()
    const chain = hold()
    const failed = open.gate.run(callOf({ payment: present(await open.sign()), work }))
    await isClaimed()
    chain.reject(new TypeError('a bug'))
    await expect(failed).rejects.toThrow(TypeError)
    await expect.poll(() => open.states()).toEqual(['canceled'])
    expect(work).not.toHaveBeenCalled()
  })

  it('is free again when the process dies then, and bought once', async () => {
    await makeRegular()
    const payment = present(await open.sign())
    const chain = hold()
    const dead = open.gate.run(callOf({ payment, work })).catch(() => 'dead')
    await isClaimed()
    const { clock, store } = open
    expect(await store.recoverClaims({ bootId: randomUUID(), now: clock.now })).toEqual({
      canceled: 1,
      unknown: 0,
    })
    open.world.probe = GOOD
    const paid = await open.sibling().run(callOf({ payment }))
    expect(await open.states()).toEqual(['canceled', 'settled'])
    // What was dead comes back to life and hears that all is well: it sells nothing.
    chain.resolve(GOOD)
    expect(await dead).toBe('dead')
    expect(await store.getClaim(paid.claimId)).toMatchObject({ state: 'settled' })
    expect(await open.states()).toEqual(['canceled', 'settled'])
  })

  it('is refused for what is wrong with it even when the store takes no claim', async () => {
    await makeRegular()
    const chain = hold()
    const claim = vi.spyOn(open.store, 'claimPayment').mockRejectedValue(new Error('the disk is full'))
    const refused = refusalOf(open.gate.run(callOf({ payment: present(await open.sign()), work })))
    await expect.poll(() => claim.mock.calls.length).toBe(1)
    chain.resolve(POOR)
    expect((await refused).code).toBe('payment_rejected')
  })

  it('is not worked on when the store takes no claim, however good it is', async () => {
    await makeRegular()
    vi.spyOn(open.store, 'claimPayment').mockRejectedValue(new Error('the disk is full'))
    open.world.probe = GOOD
    await expect(open.gate.run(callOf({ payment: present(await open.sign()), work }))).rejects.toThrow(/disk/)
    expect([work.mock.calls.length, open.world.settles]).toEqual([0, 0])
  })
})

describe('a copy of a payment of a regular buyer', () => {
  it.each<[string, ChainProbe]>([
    ['says that the nonce is used', USED],
    ['has not seen it yet', GOOD],
  ])('that was settled since we looked is told as such, when the chain %s', async (_, probe) => {
    await makeRegular()
    const payment = present(await open.sign())
    const { claimPayment } = open.store
    let settledId = ''
    vi.spyOn(open.store, 'claimPayment').mockImplementationOnce(async (input) => {
      open.world.probe = GOOD
      settledId = (await open.sibling().run(callOf({ payment }))).claimId
      return claimPayment(input)
    })
    const chain = hold()
    const refused = refusalOf(open.gate.run(callOf({ payment, work })))
    await expect.poll(() => settledId).not.toBe('')
    chain.resolve(probe)
    const error = await refused
    expect([error.code, error.extras['claim_id']]).toEqual(['payment_claimed', settledId])
    expect(work).not.toHaveBeenCalled()
    expect(await open.states()).toEqual(['settled'])
  })

  it('waits for it with an identifier, runs nothing, and gets the same bytes', async () => {
    await makeRegular()
    const payment = present(await open.sign({ extensions: identified('regular_0123456789abcdef_1') }))
    const chain = hold()
    const first = open.gate.run(callOf({ payment, work }))
    await isClaimed()
    const second = open.gate.run(callOf({ payment, work }))
    chain.resolve(GOOD)
    const [a, b] = await Promise.all([first, second])
    expect([a.replayed, b.replayed, b.json === a.json]).toEqual([false, true, true])
    expect(work).toHaveBeenCalledTimes(1)
    expect(open.world.settles).toBe(1)
  })

  it('without an identifier is refused once the chain has found the first one good', async () => {
    await makeRegular()
    const payment = present(await open.sign())
    const chain = hold()
    const first = open.gate.run(callOf({ payment, work }))
    await isClaimed()
    const copy = refusalOf(open.gate.run(callOf({ payment, work })))
    chain.resolve(GOOD)
    const { claimId } = await first
    const error = await copy
    expect([error.code, error.extras['claim_id']]).toEqual(['payment_claimed', claimId])
    expect(work).toHaveBeenCalledTimes(1)
  })

  it.each<[string, ChainProbe | Error, Readonly<Record<string, unknown>>]>([
    ['nobody answered for the first one', new ChainError('timeout', 'eip155:84532'), {}],
    [
      'nobody answered for the first one, with an identifier',
      new Error('a bug'),
      identified('again_0123456789abcdef_1'),
    ],
    ['the first one would have failed', { ...GOOD, revert: 'paused' }, {}],
  ])('is looked at on its own, and paid, when %s', async (_, answer, extensions) => {
    await makeRegular()
    const payment = present(await open.sign({ extensions }))
    const chain = hold()
    const first = open.gate.run(callOf({ payment, work })).catch(() => 'refused')
    await isClaimed()
    const copy = open.gate.run(callOf({ payment, work }))
    open.world.probe = GOOD
    if (answer instanceof Error) chain.reject(answer)
    else chain.resolve(answer)
    expect([await first, (await copy).replayed]).toEqual(['refused', false])
    expect(await open.states()).toEqual(['canceled', 'settled'])
    expect([work.mock.calls.length, open.world.settles]).toEqual([1, 1])
  })
})

describe('a payment whose claim is given back between two looks at it', () => {
  it('is paid: nobody tells its buyer to sign another', async () => {
    const payment = present(await open.sign())
    const gone = await open.gate.run(callOf({ payment: present(await open.sign()) }))
    const claim = await open.store.getClaim(gone.claimId)
    const find = vi.spyOn(open.store, 'findClaim')
    // The gate finds none, the verifier one.
    find.mockResolvedValueOnce(undefined).mockResolvedValueOnce(claim).mockResolvedValueOnce(undefined)
    expect((await open.gate.run(callOf({ payment, work }))).replayed).toBe(false)
    expect(work).toHaveBeenCalledTimes(1)
  })

  it('is refused when that happens again', async () => {
    const payment = present(await open.sign())
    const gone = await open.gate.run(callOf({ payment: present(await open.sign()) }))
    const claim = await open.store.getClaim(gone.claimId)
    const find = vi.spyOn(open.store, 'findClaim')
    for (let look = 0; look < 2; look++)
      find.mockResolvedValueOnce(undefined).mockResolvedValueOnce(claim).mockResolvedValueOnce(undefined)
    const error = await refusalOf(open.gate.run(callOf({ payment, work })))
    expect([error.code, error.extras['check']]).toEqual(['payment_rejected', 'claim'])
    expect(work).not.toHaveBeenCalled()
  })
})

describe('another payment of a regular buyer under the same identifier', () => {
  it.each<[string, string]>([
    ['the same request', 'digest-1'],
    ['another request', 'digest-2'],
  ])('for %s is paid when the first one is bad, and told nothing of that', async (_, digest) => {
    await makeRegular()
    const extensions = identified(`shared_0123456789abcdef_${digest}`)
    const chain = hold()
    const bad = refusalOf(open.gate.run(callOf({ payment: present(await open.sign({ extensions })), work })))
    await isClaimed()
    const good = open.gate.run(callOf({ payment: present(await open.sign({ extensions })), digest, work }))
    open.world.probe = GOOD
    chain.resolve(USED)
    expect((await bad).code).toBe('payment_rejected')
    expect((await good).replayed).toBe(false)
    expect(await open.states()).toEqual(['canceled', 'settled'])
    expect(work).toHaveBeenCalledTimes(1)
  })
})

describe('many payments of a regular buyer who has no money left', () => {
  it('leave a bounded number of claims behind, and are refused one and all', async () => {
    await makeRegular()
    const payments = await Promise.all(Array.from({ length: 80 }, () => open.sign()))
    const chain = hold()
    const refused = payments.map((payment) =>
      refusalOf(open.gate.run(callOf({ payment: present(payment), work }))),
    )
    await expect.poll(() => open.world.probes).toBe(80)
    chain.resolve(POOR)
    const codes = (await Promise.all(refused)).map(({ code }) => code)
    expect(new Set(codes)).toEqual(new Set(['payment_rejected']))
    expect(await open.states()).toEqual(Array.from({ length: 64 }, () => 'canceled'))
    expect(work).not.toHaveBeenCalled()
  })
})

describe('who is no regular', () => {
  const stranger = buyers[2]!
  const offer = async (over: Parameters<OpenGate['sign']>[0] = {}) =>
    refusalOf(
      open.gate.run(callOf({ payment: present(await open.sign({ account: stranger, ...over })), work })),
    )

  it('leaves no claim behind when the chain finds the payment bad', async () => {
    const claim = vi.spyOn(open.store, 'claimPayment')
    open.world.probe = POOR
    await offer()
    await offer()
    expect(claim).not.toHaveBeenCalled()
  })

  it('is one again only after a good payment: a bad one ends it, as do ten minutes', async () => {
    await makeRegular(stranger)
    open.world.probe = POOR
    await offer()
    expect(await open.states()).toEqual(['canceled'])
    await offer()
    expect(await open.states()).toEqual(['canceled'])
    await makeRegular(stranger)
    open.clock.now += 10 * 60_000
    open.world.probe = POOR
    await offer()
    expect(await open.states()).toEqual([])
  })

  it('does not end it for another with a payment that the other did not sign', async () => {
    await makeRegular(stranger)
    open.world.probe = POOR
    const payload = await open.sign({ account: stranger })
    const { signature } = (await open.sign({ account: buyers[0]! })).payload as { signature: string }
    const forged = { ...payload, payload: { ...payload.payload, signature } }
    const claim = vi.spyOn(open.store, 'claimPayment')
    await refusalOf(open.gate.run(callOf({ payment: present(forged), work })))
    expect(claim).not.toHaveBeenCalled()
    await offer()
    expect(claim).toHaveBeenCalledTimes(1)
  })
})
