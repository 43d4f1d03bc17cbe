import { createHash } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { paymentFactsOf } from '../../../src/core/charging.ts'
import { GatewayError } from '../../../src/core/errors.ts'
import { toCanonicalJson } from '../../../src/lib/canonical-json.ts'
import { ChainError, type ChainProbe } from '../../../src/payments/chain-ports.ts'
import { Secret } from '../../../src/lib/secret.ts'
import type { PaymentClaim } from '../../../src/store/ports.ts'
import {
  BASE_URL,
  buyers,
  callOf,
  type OpenGate,
  openGate,
  outcomeOf,
  present,
  refusalOf,
  RESOURCE,
  TOOL,
} from '../../support/payment-gate.ts'

let tests = 0
const identified = (id = `pay_7f3a9c2e1b8d4f6a_${tests}`) => ({
  'payment-identifier': { info: { required: false, id }, schema: {} },
})

let open: OpenGate
beforeAll(async () => {
  open = await openGate()
})
beforeEach(() => {
  tests++
  open.reset()
})
afterEach(() => void vi.restoreAllMocks())
afterAll(() => open.close())

describe('a call without payment', () => {
  it('is challenged and does no work', async () => {
    const work = vi.fn()
    const error = await refusalOf(open.gate.run(callOf({ work })))
    expect(error.code).toBe('payment_required')
    expect(paymentFactsOf(error).challenge?.required).toMatchObject({
      x402Version: 2,
      resource: { url: RESOURCE.url },
      accepts: [{ scheme: 'exact', network: 'eip155:84532', amount: '1000', maxTimeoutSeconds: 300 }],
    })
    expect(work).not.toHaveBeenCalled()
  })
})

describe('a good payment', () => {
  it('buys one result, with its receipt as the last member', async () => {
    const result = await open.gate.run(callOf({ payment: present(await open.sign()) }))
    expect(result.replayed).toBe(false)
    expect(result.json).toMatch(/^\{"text":"hello","receipt":\{"receipt_id":"rcp_[^{}]+"\}\}$/)
    expect(JSON.parse(result.json)).toEqual(result.output)
    expect(result.settlement).toMatchObject({
      success: true,
      network: 'eip155:84532',
      payer: buyers[0]!.address.toLowerCase(),
      amount: '1000',
    })
    expect(await open.states()).toEqual(['settled'])
  })

  it('of which the store did not say whether it has the claim is free again soon, and no work is done', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const work = vi.fn()
    open.world.isClaimAnswerLost = true
    const run = open.gate.run(callOf({ payment: present(await open.sign()), work }))
    await expect(run).rejects.toMatchObject({ code: 'store_unavailable' })
    expect(await open.states()).toEqual(['claimed'])
    await vi.advanceTimersByTimeAsync(1000)
    await vi.waitFor(async () => expect(await open.states()).toEqual(['canceled']), { timeout: 60_000 })
    expect(work).not.toHaveBeenCalled()
  })

  it('is claimed before the work starts, bound to the request', async () => {
    let seen: PaymentClaim | undefined
    const result = await open.gate.run(
      callOf({
        payment: present(await open.sign()),
        work: async (claimId) => {
          seen = await open.store.getClaim(claimId)
          return { receipt: null }
        },
      }),
    )
    expect(seen).toMatchObject({
      id: result.claimId,
      state: 'claimed',
      tool: 'gateway.paid',
      method: 'POST',
      resource: RESOURCE.url,
      requestDigest: 'digest-1',
      amount: '1000',
      identifier: null,
      purchase: null,
    })
    expect(result.json).toMatch(/^\{"receipt":\{/)
  })

  it('is not settled before the result is there, nor released before it is settled', async () => {
    const steps: string[] = []
    open.world.fault = async (point) => void steps.push(point)
    await open.gate.run(
      callOf({
        payment: present(await open.sign()),
        work: async () => {
          steps.push(`work, settles: ${open.world.settles}`)
          return { receipt: null }
        },
      }),
    )
    expect(steps).toEqual(['before_claim', 'after_claim', 'work, settles: 0', 'after_work', 'before_release'])
    expect(open.world.settles).toBe(1)
  })

  it('carries what it buys into the claim', async () => {
    const call = callOf({ payment: present(await open.sign()) })
    const purchase = { accountId: 'acct_1', credits: 7 }
    const { claimId } = await open.gate.run({ ...call, terms: { ...call.terms, purchase } })
    expect(await open.store.getClaim(claimId)).toMatchObject({ purchase })
  })
})

describe('work that fails', () => {
  const failing = async () => {
    throw new GatewayError('upstream_unreachable', 'nobody there')
  }

  it('is not charged, and its payment is free again', async () => {
    const payment = present(await open.sign({ extensions: identified() }))
    expect((await refusalOf(open.gate.run(callOf({ payment, work: failing })))).code).toBe(
      'upstream_unreachable',
    )
    expect(open.world.settles).toBe(0)
    expect(await open.states()).toEqual(['canceled'])
    expect((await open.gate.run(callOf({ payment }))).replayed).toBe(false)
  })

  it.each([
    ['a list', async () => [1]],
    ['nothing', async () => undefined],
  ])('charges nothing for an output that is %s', async (_, work) => {
    await expect(open.gate.run(callOf({ payment: present(await open.sign()), work }))).rejects.toThrow(
      TypeError,
    )
    expect(open.world.settles).toBe(0)
    expect(await open.states()).toEqual(['canceled'])
  })

  it('is given back later when the store fails at that moment', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    try {
      vi.spyOn(open.store, 'cancelClaim').mockRejectedValueOnce(new Error('the disk is full'))
      const call = callOf({ payment: present(await open.sign()), work: failing })
      expect((await refusalOf(open.gate.run(call))).code).toBe('upstream_unreachable')
      expect(await open.states()).toEqual(['claimed'])
      await vi.advanceTimersByTimeAsync(1000)
      await vi.waitFor(async () => expect(await open.states()).toEqual(['canceled']), { timeout: 60_000 })
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('settlements that do not end well', () => {
  it('says that nothing was charged when it failed, with a fresh challenge and the facts', async () => {
    open.world.ending = 'failed'
    const payment = present(await open.sign())
    for (const attempt of ['first', 'again']) {
      const error = await refusalOf(open.gate.run(callOf({ payment })))
      expect(error.code, attempt).toBe('settlement_failed')
      expect(error.extras).toMatchObject({ invalid_reason: 'somehow', claim_id: /^clm_/ })
      expect(paymentFactsOf(error).settlement).toMatchObject({
        success: false,
        errorReason: 'somehow',
        transaction: '',
      })
      expect(paymentFactsOf(error).challenge?.required.error).toBe('somehow')
    }
    expect(open.world.settles).toBe(1)
  })

  it.each(['pending', 'unknown'] as const)(
    'never invites a second payment while it is %s',
    async (ending) => {
      open.world.ending = ending
      const payment = present(await open.sign({ extensions: identified() }))
      const error = await refusalOf(open.gate.run(callOf({ payment })))
      expect(error.code).toBe('settlement_unknown')
      const claimId = error.extras['claim_id'] as string
      expect(error.extras).toMatchObject({
        payment_url: `${BASE_URL}/v1/payments/${claimId}`,
        retry_after_seconds: expect.any(Number),
        state: ending,
      })
      expect(paymentFactsOf(error).challenge).toBeUndefined()
      expect(paymentFactsOf(error).settlement?.errorReason).toBe(
        ending === 'pending' ? 'settlement_pending' : undefined,
      )

      // Asking again looks at the chain, and pays nothing.
      const again = await refusalOf(open.gate.run(callOf({ payment })))
      expect(again.code).toBe('settlement_unknown')
      expect(open.world.reconciled).toEqual([claimId])
      expect(open.world.settles).toBe(1)
    },
  )

  it('gives a payment back when settling threw before anything was submitted', async () => {
    open.world.ending = () => Promise.reject(new GatewayError('no_route', 'nobody'))
    const payment = present(await open.sign())
    expect((await refusalOf(open.gate.run(callOf({ payment })))).code).toBe('no_route')
    expect(await open.states()).toEqual(['canceled'])
  })

  it('leaves the refusal of settlements that gave the payment back themselves', async () => {
    const cancel = open.store.cancelClaim
    vi.spyOn(open.store, 'cancelClaim').mockImplementation(async (input) => {
      await cancel(input)
      return cancel(input)
    })
    open.world.ending = () => Promise.reject(new GatewayError('no_route', 'nobody'))
    const error = await refusalOf(open.gate.run(callOf({ payment: present(await open.sign()) })))
    expect(error.code).toBe('no_route')
  })

  it('does not call a payment free that was submitted when settling threw', async () => {
    open.world.ending = () => Promise.reject(new Error('lost'))
    vi.spyOn(open.store, 'cancelClaim').mockResolvedValue(false)
    const error = await refusalOf(open.gate.run(callOf({ payment: present(await open.sign()) })))
    expect(error.code).toBe('settlement_unknown')
    expect(paymentFactsOf(error).challenge).toBeUndefined()
  })
})

describe('a copy of a used payment', () => {
  it('is refused, naming the claim, and does no work', async () => {
    const payment = present(await open.sign())
    const { claimId } = await open.gate.run(callOf({ payment }))
    const work = vi.fn()
    for (const call of [
      callOf({ payment, work }),
      callOf({ payment, work, digest: 'another' }),
      callOf({ payment, work, resource: { url: `${BASE_URL}/v1/other`, method: 'POST' } }),
    ]) {
      const error = await refusalOf(open.gate.run(call))
      expect(error.code).toBe('payment_claimed')
      expect(error.extras).toEqual({
        claim_id: claimId,
        state: 'settled',
        payment_url: `${BASE_URL}/v1/payments/${claimId}`,
        sign_in: expect.objectContaining({ info: expect.anything() as unknown }) as unknown,
      })
    }
    expect(work).not.toHaveBeenCalled()
  })

  it('is refused also long after it expired, and after the price changed', async () => {
    const payment = present(await open.sign())
    await open.gate.run(callOf({ payment }))
    open.clock.now += 3_600_000
    const call = callOf({ payment })
    const dearer = { ...call, terms: { ...call.terms, amountAtomic: 2000n } }
    expect((await refusalOf(open.gate.run(dearer))).code).toBe('payment_claimed')
  })

  it('is told nothing when its signature is not of the payer', async () => {
    const payload = await open.sign()
    await open.gate.run(callOf({ payment: present(payload) }))
    const { signature } = await signedBy(1, payload)
    const forged = { ...payload, payload: { ...payload.payload, signature } }
    const error = await refusalOf(open.gate.run(callOf({ payment: present(forged) })))
    expect(error.code).toBe('payment_rejected')
    expect(error.extras).not.toHaveProperty('claim_id')
  })

  it.each<[string, ChainProbe]>([
    ['its nonce is used', { nonceUsed: true, balance: 10n ** 9n, payerHasCode: false, revert: null }],
    ['the money is gone', { nonceUsed: false, balance: 0n, payerHasCode: false, revert: null }],
    [
      'the transfer would fail',
      { nonceUsed: false, balance: 10n ** 9n, payerHasCode: false, revert: 'used' },
    ],
  ])('is refused the same way when the first one was settled while it was checked: %s', async (_, probe) => {
    const payment = present(await open.sign())
    const { claimId } = await open.gate.run(callOf({ payment }))
    // Gate and verifier look before the claim is there, the chain is asked after.
    vi.spyOn(open.store, 'findClaim').mockResolvedValueOnce(undefined).mockResolvedValueOnce(undefined)
    open.world.probe = probe
    const error = await refusalOf(open.gate.run(callOf({ payment })))
    expect(error).toMatchObject({ code: 'payment_claimed', extras: { claim_id: claimId } })
  })

  it('leaves one winner of 32 at the same time', async () => {
    const payment = present(await open.sign())
    const work = vi.fn(async () => ({ receipt: null }))
    const outcomes = await Promise.all(
      Array.from({ length: 32 }, () => outcomeOf(open.gate.run(callOf({ payment, work })))),
    )
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1)
    for (const outcome of outcomes)
      if (!outcome.ok)
        expect(outcome.error).toMatchObject({ code: 'payment_claimed', extras: { claim_id: /^clm_/ } })
    expect(work).toHaveBeenCalledOnce()
  })
})

const signedBy = async (buyer: number, payload: Awaited<ReturnType<OpenGate['sign']>>) => {
  const authorization = payload.payload['authorization'] as { nonce: `0x${string}` }
  const other = await open.sign({ account: buyers[buyer]!, overrides: { nonce: authorization.nonce } })
  return other.payload as { signature: string }
}

describe('an idempotency key', () => {
  const key = () => `5f0c9a7e-1b3d-4e62-8a94-d7c6b0e1${String(tests).padStart(4, '0')}`

  it('gets the same payer the same bytes for the same request, whatever it pays with', async () => {
    const payment = present(await open.sign())
    const idempotencyKey = key()
    const first = await open.gate.run({ ...callOf({ payment }), idempotencyKey })
    for (const again of [payment, present(await open.sign())])
      expect(await open.gate.run({ ...callOf({ payment: again }), idempotencyKey })).toEqual({
        ...first,
        replayed: true,
      })
    expect(open.world.settles).toBe(1)
    expect((await open.store.getClaim(first.claimId))?.identifier).toMatch(/^key-[\w-]{43}$/)
  })

  it('opens nothing where anybody could guess it, and still nothing is paid twice', async () => {
    const weak = { idempotencyKey: `order-${tests}` }
    await open.gate.run({ ...callOf({ payment: present(await open.sign()) }), ...weak })
    const again = open.gate.run({ ...callOf({ payment: present(await open.sign()) }), ...weak })
    expect((await refusalOf(again)).code).toBe('payment_claimed')
    expect(open.world.settles).toBe(1)
  })

  it('is not asked where the payment has an identifier, and opens no claim that was made without it', async () => {
    const payment = present(await open.sign())
    await open.gate.run(callOf({ payment }))
    const copy = open.gate.run({ ...callOf({ payment }), idempotencyKey: key() })
    expect((await refusalOf(copy)).code).toBe('payment_claimed')
    const named = present(await open.sign({ extensions: identified() }))
    const first = await open.gate.run({ ...callOf({ payment: named }), idempotencyKey: key() })
    const second = await open.gate.run(
      callOf({ payment: present(await open.sign({ extensions: identified() })) }),
    )
    expect(second).toEqual({ ...first, replayed: true })
  })

  it('refuses another request under it, naming the claim', async () => {
    const idempotencyKey = key()
    const { claimId } = await open.gate.run({
      ...callOf({ payment: present(await open.sign()) }),
      idempotencyKey,
    })
    const other = open.gate.run({
      ...callOf({ payment: present(await open.sign()), digest: 'another' }),
      idempotencyKey,
    })
    expect(await refusalOf(other)).toMatchObject({
      code: 'idempotency_key_reused',
      extras: { claim_id: claimId },
    })
  })
})

describe('a payment identifier', () => {
  it('gets the same payer the same bytes for the same request', async () => {
    const payment = present(await open.sign({ extensions: identified() }))
    const first = await open.gate.run(callOf({ payment }))
    const work = vi.fn()
    const second = await open.gate.run(callOf({ payment, work }))
    expect(second).toEqual({ ...first, replayed: true })
    expect(work).not.toHaveBeenCalled()
    expect(open.world.settles).toBe(1)
  })

  it('does so for a new payment too, and charges nothing for it', async () => {
    const extensions = identified()
    const first = await open.gate.run(callOf({ payment: present(await open.sign({ extensions })) }))
    open.world.probe = { nonceUsed: false, balance: 0n, payerHasCode: false, revert: null }
    const second = await open.gate.run(callOf({ payment: present(await open.sign({ extensions })) }))
    expect(second.json).toBe(first.json)
    expect(second.replayed).toBe(true)
    expect(open.world.settles).toBe(1)
  })

  it('after a restart, and after the payment expired', async () => {
    const payment = present(await open.sign({ extensions: identified() }))
    const first = await open.gate.run(callOf({ payment }))
    open.clock.now += 20 * 3_600_000
    expect(await open.sibling().run(callOf({ payment }))).toEqual({ ...first, replayed: true })
  })

  it('refuses another request, naming the claim', async () => {
    const payment = present(await open.sign({ extensions: identified() }))
    const { claimId } = await open.gate.run(callOf({ payment }))
    for (const call of [
      callOf({ payment, digest: 'another' }),
      callOf({ payment: present(await open.sign({ extensions: identified() })), digest: 'another' }),
    ])
      expect(await refusalOf(open.gate.run(call))).toMatchObject({
        code: 'payment_identifier_conflict',
        extras: { claim_id: claimId },
      })
  })

  it('alone gets another payer nothing but its own result', async () => {
    const first = await open.gate.run(
      callOf({ payment: present(await open.sign({ extensions: identified() })) }),
    )
    const other = await open.gate.run(
      callOf({
        payment: present(await open.sign({ account: buyers[1]!, extensions: identified() })),
        work: async () => ({ text: 'for the other', receipt: null }),
      }),
    )
    expect(other.claimId).not.toBe(first.claimId)
    expect(other.json).toContain('for the other')
    expect(open.world.settles).toBe(2)
  })

  it('that differs from the one of the claim is a copy like any other', async () => {
    const payload = await open.sign({ extensions: identified() })
    await open.gate.run(callOf({ payment: present(payload) }))
    for (const extensions of [identified('pay_another_0123456'), undefined]) {
      const { extensions: _, ...rest } = payload
      const copy = present(extensions ? { ...rest, extensions } : rest)
      expect((await refusalOf(open.gate.run(callOf({ payment: copy })))).code).toBe('payment_claimed')
    }
  })

  it('makes copies wait for the one that works, and all get its bytes', async () => {
    const payment = present(await open.sign({ extensions: identified() }))
    const work = vi.fn(async () => ({ text: 'once', receipt: null }))
    const results = await Promise.all(
      Array.from({ length: 16 }, () => open.gate.run(callOf({ payment, work }))),
    )
    expect(new Set(results.map(({ json }) => json)).size).toBe(1)
    expect(results.filter(({ replayed }) => !replayed)).toHaveLength(1)
    expect(work).toHaveBeenCalledOnce()
    expect(open.world.settles).toBe(1)
  })

  it('makes copies in another process wait for it through the store', async () => {
    const payment = present(await open.sign({ extensions: identified() }))
    let begin = () => {}
    const begun = new Promise<void>((resolve) => (begin = resolve))
    let release = () => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    const first = open.gate.run(
      callOf({
        payment,
        work: async () => {
          begin()
          await released
          return { text: 'late', receipt: null }
        },
      }),
    )
    await begun
    const polled = vi.spyOn(open.store, 'getClaim')
    const second = open.sibling().run(callOf({ payment }))
    await vi.waitFor(() => expect(polled).toHaveBeenCalled(), { timeout: 60_000 })
    release()
    expect((await second).json).toBe((await first).json)
  })

  it('shares the failure of the work with the copies that waited', async () => {
    const payment = present(await open.sign({ extensions: identified() }))
    const work = vi.fn(async () => {
      throw new GatewayError('upstream_unreachable', 'nobody there')
    })
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, () => outcomeOf(open.gate.run(callOf({ payment, work })))),
    )
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ ok: false, error: { code: 'upstream_unreachable' } })
    expect(work).toHaveBeenCalledOnce()
  })

  it('of a settlement that failed asks for a new one', async () => {
    open.world.ending = 'failed'
    await refusalOf(
      open.gate.run(callOf({ payment: present(await open.sign({ extensions: identified() })) })),
    )
    const error = await refusalOf(
      open.gate.run(callOf({ payment: present(await open.sign({ extensions: identified() })) })),
    )
    expect(error.code).toBe('settlement_failed')
    expect(error.message).toContain('new payment identifier')
  })

  it('has 16 to 128 characters', async () => {
    for (const id of ['x'.repeat(15), 'x'.repeat(129), 'sixteen chars ok?', '']) {
      const error = await refusalOf(
        open.gate.run(callOf({ payment: present(await open.sign({ extensions: identified(id) })) })),
      )
      expect(error.code, id).toBe('payment_invalid')
    }
    for (const id of ['x'.repeat(16), 'x'.repeat(128)])
      expect(
        (await open.gate.run(callOf({ payment: present(await open.sign({ extensions: identified(id) })) })))
          .claimId,
      ).toMatch(/^clm_/)
  })
})

describe('a payment that does not fit', () => {
  const base = { network: 'eip155:8453', asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' }
  it.each([
    ['another amount', { accepted: { amount: '1' } }, 'accepted'],
    ['another payee', { accepted: { payTo: '0x000000000000000000000000000000000000dEaD' } }, 'accepted'],
    ['another network', { accepted: base }, 'network'],
    ['another scheme', { accepted: { scheme: 'upto' } }, 'scheme'],
    ['a smaller value', { value: '999' }, 'amount'],
    ['a window that is over', { validBefore: '1700000000' }, 'window'],
    ['a window without end', { validBefore: '99999999999' }, 'window'],
    ['a window that has not begun', { validAfter: '99999999990' }, 'window'],
  ])('%s is 402 with a fresh challenge that says why', async (_, overrides, check) => {
    const work = vi.fn()
    const payment = present(await open.sign({ overrides }))
    const error = await refusalOf(open.gate.run(callOf({ payment, work })))
    expect(error).toMatchObject({ code: 'payment_rejected', extras: { check } })
    expect(paymentFactsOf(error).challenge?.required.error).toBe(error.extras['invalid_reason'])
    expect(work).not.toHaveBeenCalled()
    expect(await open.states()).toEqual([])
  })

  it.each([
    ['the usual time', {}, 30],
    ['the time of its tool', { maxDurationMs: 60_000 }, 60],
  ])(
    'with too little left for %s and its settlement is refused before any work',
    async (_, more, seconds) => {
      const tool = { ...TOOL, ...more }
      const ending = (left: number) => ({ validBefore: String(Math.floor(open.clock.now / 1000) + left) })
      const work = vi.fn(async () => ({ text: 'hello', receipt: null }))
      const short = present(await open.sign({ overrides: ending(seconds + 5) }))
      expect(await refusalOf(open.gate.run(callOf({ payment: short, tool, work })))).toMatchObject({
        code: 'payment_rejected',
        extras: { check: 'window' },
      })
      expect(work).not.toHaveBeenCalled()
      const long = present(await open.sign({ overrides: ending(seconds + 6) }))
      expect((await outcomeOf(open.gate.run(callOf({ payment: long, tool, work })))).ok).toBe(true)
    },
  )

  it('for another resource is refused', async () => {
    const resource = { url: `${BASE_URL}/v1/other` }
    const error = await refusalOf(open.gate.run(callOf({ payment: present(await open.sign({ resource })) })))
    expect(error).toMatchObject({ code: 'payment_rejected', extras: { check: 'resource' } })
    const extensions = identified()
    const ours = present(await open.sign({ resource: { url: RESOURCE.url }, extensions }))
    expect((await outcomeOf(open.gate.run(callOf({ payment: ours })))).ok).toBe(true)
    // Nor does it fetch what was paid for here.
    const elsewhere = callOf({ payment: present(await open.sign({ resource, extensions })) })
    expect((await refusalOf(open.gate.run(elsewhere))).code).toBe('payment_rejected')
  })

  it('with an extension changed is refused; with members added it is not', async () => {
    const advertised = paymentFactsOf(await refusalOf(open.gate.run(callOf()))).challenge!.required
      .extensions!
    const echo = structuredClone(advertised) as Record<string, { info: Record<string, unknown> }>
    const good = present(await open.sign({ extensions: { ...echo, ...identified() } }))
    expect((await outcomeOf(open.gate.run(callOf({ payment: good })))).ok).toBe(true)
    echo['bazaar']!.info = { input: { type: 'http', method: 'GET' } }
    const error = await refusalOf(
      open.gate.run(callOf({ payment: present(await open.sign({ extensions: echo })) })),
    )
    expect(error).toMatchObject({
      code: 'payment_rejected',
      extras: { invalid_reason: 'extension_echo_mismatch' },
    })
  })

  it('is not called invalid when the chain does not answer', async () => {
    open.world.probe = Promise.reject(new ChainError('timeout', 'eip155:84532'))
    const error = await refusalOf(open.gate.run(callOf({ payment: present(await open.sign()) })))
    expect(error.code).toBe('payments_unavailable')
    expect(paymentFactsOf(error)).toEqual({})
  })

  it('cannot be read: 400', async () => {
    const error = await refusalOf(open.gate.run(callOf({ payment: present({ x402Version: 2 }) })))
    expect(error.code).toBe('payment_invalid')
  })
})

describe('a quote', () => {
  const quoted = (fresh: string) => ({
    quote: vi.fn((presented: string | undefined) => {
      if (presented === 'of another request') throw new GatewayError('quote_invalid', 'of another request')
      return { jws: presented === 'good' ? 'good' : fresh, expiresAt: 0 }
    }),
  })
  const withQuote = async (quote: string | undefined, payload?: unknown) => {
    const call = callOf({ quote, payment: payload === undefined ? undefined : present(payload) })
    return { ...call, terms: { ...call.terms, ...quoted('fresh') } }
  }

  it('comes with the challenge', async () => {
    const error = await refusalOf(open.gate.run(await withQuote(undefined)))
    expect(paymentFactsOf(error).challenge?.quote).toBe('fresh')
  })

  it('need not come with the payment; where it does it must be of this request and not expired', async () => {
    expect((await outcomeOf(open.gate.run(await withQuote(undefined, await open.sign())))).ok).toBe(true)
    expect((await outcomeOf(open.gate.run(await withQuote('good', await open.sign())))).ok).toBe(true)
    const expired = await refusalOf(open.gate.run(await withQuote('expired', await open.sign())))
    expect(expired).toMatchObject({ code: 'payment_required', payment: { challenge: { quote: 'fresh' } } })
    const wrong = await refusalOf(open.gate.run(await withQuote('of another request', await open.sign())))
    expect(wrong.code).toBe('quote_invalid')
    expect(open.world.settles).toBe(2)
  })

  it('that expired meanwhile invites nobody to pay for what was paid', async () => {
    const payload = await open.sign()
    await open.gate.run(await withQuote('good', payload))
    expect((await refusalOf(open.gate.run(await withQuote('expired', payload)))).code).toBe('payment_claimed')
  })
})

describe('reading a claim', () => {
  it('shows state, receipt and released bytes to whoever shows the payment, also long after it expired', async () => {
    const payment = present(await open.sign({ extensions: open.echoed() }))
    const { claimId, json } = await open.gate.run(callOf({ payment }))
    open.clock.now += 3_600_000
    const found = await open.gate.claim(claimId, { payment })
    expect(found.claim.state).toBe('settled')
    expect(found.result).toBe(json)
    expect(found.receipt).toEqual(JSON.parse(json).receipt)
  })

  it('is 404 for everybody else', async () => {
    const payload = await open.sign()
    const { claimId } = await open.gate.run(callOf({ payment: present(payload) }))
    const other = await open.sign({ account: buyers[1]! })
    const forged = {
      ...payload,
      payload: { ...payload.payload, signature: (await signedBy(1, payload)).signature },
    }
    for (const [id, presented] of [
      [claimId, undefined],
      [claimId, present(other)],
      [claimId, present(forged)],
      [claimId, present(await open.sign())],
      ['clm_00000000000000000000000000000000000', present(payload)],
    ] as const)
      await expect(open.gate.claim(id, { payment: presented })).rejects.toMatchObject({
        code: 'payment_not_found',
      })
  })

  it('needs every member of the payment: payer, nonce and signature can be read on the chain', async () => {
    const extensions = { ...identified(), 'x-seen': { info: { offers: ['signed this second'] } } }
    const payload = await open.sign({ extensions, resource: { url: RESOURCE.url, description: 'one' } })
    const payment = present(payload)
    const { claimId, json } = await open.gate.run(callOf({ payment }))
    const authorization = payload.payload['authorization'] as Record<string, unknown>
    const copies: Record<string, unknown> = {
      'without extensions': { ...payload, extensions: undefined },
      'with an extension more': { ...payload, extensions: { ...extensions, more: {} } },
      'with another echo': { ...payload, extensions: { ...extensions, 'x-seen': { info: { offers: [] } } } },
      'without its resource': { ...payload, resource: undefined },
      'with another description': { ...payload, resource: { url: RESOURCE.url, description: 'two' } },
      'with a member that nobody reads': { ...payload, note: 1 },
      'with a member in the authorization': {
        ...payload,
        payload: { ...payload.payload, authorization: { ...authorization, note: 1 } },
      },
    }
    for (const [how, copy] of Object.entries(copies)) {
      const rebuilt = present(copy)
      await expect(open.gate.claim(claimId, { payment: rebuilt }), how).rejects.toMatchObject({
        code: 'payment_not_found',
      })
      const error = await refusalOf(open.gate.run(callOf({ payment: rebuilt })))
      expect([how, error.code, error.extras['claim_id']]).toEqual([how, 'payment_claimed', claimId])
    }
    // How its JSON was written, and through which door it came, is not the payment.
    const reversed = Object.fromEntries(Object.entries(payload).toReversed())
    for (const same of [
      payment,
      present(reversed),
      { form: 'object', value: new Secret(payload) } as const,
    ]) {
      expect((await open.gate.claim(claimId, { payment: same })).result).toBe(json)
      expect((await open.gate.run(callOf({ payment: same }))).json).toBe(json)
    }
  })

  it('of a contract wallet is read and refused like any other: its signature is not recovered here again', async () => {
    const payload = await open.sign({ extensions: open.echoed() })
    const { claimId, json } = await open.gate.run(callOf({ payment: present(payload) }))
    const made = (await open.store.getClaim(claimId))!
    const signature = `0x${'5a'.repeat(97)}`
    const wallet = { ...payload, payload: { ...payload.payload, signature } }
    const presentationDigest = open.presentations.digest({ presented: new Secret(wallet) })
    // As it would stand had the wallet paid.
    vi.spyOn(open.store, 'getClaim').mockResolvedValue({ ...made, presentationDigest })
    vi.spyOn(open.store, 'findClaim').mockResolvedValue({ ...made, presentationDigest })
    expect((await open.gate.claim(claimId, { payment: present(wallet) })).result).toBe(json)
    const error = await refusalOf(open.gate.run(callOf({ payment: present(wallet) })))
    expect([error.code, error.extras['claim_id']]).toEqual(['payment_claimed', claimId])
  })

  it('is asked with the key of this installation, and the row reveals nothing', async () => {
    const payload = await open.sign()
    const { claimId } = await open.gate.run(callOf({ payment: present(payload) }))
    const row = (await open.store.getClaim(claimId))!
    expect(JSON.stringify(row)).not.toContain(
      (payload.payload as { signature: string }).signature.slice(2, 40),
    )
    const plain = createHash('sha256').update(toCanonicalJson(payload)).digest('base64url')
    expect(row.presentationDigest).toMatch(/^[\w-]{43}$/)
    expect(row.presentationDigest).not.toBe(plain)
  })

  it('needs the identifier where there is one: the rest can be read on the chain', async () => {
    const payload = await open.sign({ extensions: identified() })
    const { claimId } = await open.gate.run(callOf({ payment: present(payload) }))
    const { extensions: _, ...bare } = payload
    await expect(open.gate.claim(claimId, { payment: present(bare) })).rejects.toMatchObject({
      code: 'payment_not_found',
    })
    expect((await open.gate.claim(claimId, { payment: present(payload) })).claim.id).toBe(claimId)
  })

  it('releases nothing that is not settled, and looks at the chain when in doubt', async () => {
    open.world.ending = 'unknown'
    const payment = present(await open.sign({ extensions: open.echoed() }))
    const error = await refusalOf(open.gate.run(callOf({ payment })))
    const claimId = error.extras['claim_id'] as string
    expect(await open.gate.claim(claimId, { payment })).toMatchObject({
      claim: { state: 'unknown' },
      result: null,
      receipt: null,
    })
    expect(open.world.reconciled).toEqual([claimId])
    await open.finish((await open.store.getClaim(claimId))!)
    expect((await open.gate.claim(claimId, { payment })).result).toContain('"text":"hello"')
  })
})

describe('what became of a call whose settlement is pending', () => {
  it('is told as paid, with the released bytes and the settlement, once the chain has decided', async () => {
    open.world.ending = 'unknown'
    const error = await refusalOf(open.gate.run(callOf({ payment: present(await open.sign()) })))
    const claimId = error.extras['claim_id'] as string
    expect(await open.gate.outcome(claimId)).toMatchObject({ claim: { state: 'unknown' }, paid: null })
    expect(open.world.reconciled).toEqual([claimId])
    await open.finish((await open.store.getClaim(claimId))!)
    const { claim, paid } = await open.gate.outcome(claimId)
    expect(claim.state).toBe('settled')
    expect(paid).toMatchObject({ claimId, replayed: true, settlement: { success: true } })
    expect(JSON.parse(paid!.json)).toEqual(paid!.output)
    expect(paid!.output).toMatchObject({
      text: 'hello',
      receipt: { receipt_id: expect.any(String) as string },
    })
  })

  it('is not told of a claim that does not exist', async () => {
    await expect(open.gate.outcome('clm_00000000000000000000000000000000000')).rejects.toMatchObject({
      code: 'payment_not_found',
    })
  })
})
