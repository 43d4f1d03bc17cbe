// What the terms of a call bring besides their price: a check of the request after the price, and a sale beside the claim.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { GatewayError } from '../../../src/core/errors.ts'
import { paymentFactsOf } from '../../../src/core/charging.ts'
import type { Sale } from '../../../src/store/ports.ts'
import { callOf, type OpenGate, openGate, present, refusalOf } from '../../support/payment-gate.ts'

let open: OpenGate
beforeAll(async () => void (open = await openGate()))
beforeEach(() => open.reset())
afterEach(() => void vi.restoreAllMocks())
afterAll(() => open.close())

const identified = (id: string) => ({ 'payment-identifier': { info: { required: false, id }, schema: {} } })
const refusing = async () => {
  throw new GatewayError('input_invalid', 'the request fits no schema')
}
function checked(check: () => void | Promise<void>, over: Parameters<typeof callOf>[0] = {}) {
  const call = callOf(over)
  return { ...call, terms: { ...call.terms, check } }
}

const sale: Sale = {
  sellerId: 'weather',
  serviceId: 'today',
  listingVersion: 3,
  route: 'GET /',
  fee: { bps: 300, fixedAtomic: 0, minimumAtomic: 0 },
  feeAtomic: '30',
  proceedsAtomic: '970',
  payoutMode: 'batched_onchain',
}

describe('the check of a request', () => {
  it('is not asked of whoever pays nothing: the price comes first', async () => {
    const error = await refusalOf(open.gate.run(checked(refusing)))
    expect(error.code).toBe('payment_required')
  })

  it('refuses before anything is claimed, and before the chain is asked', async () => {
    const work = vi.fn()
    const payment = present(await open.sign())
    const error = await refusalOf(open.gate.run(checked(refusing, { payment, work })))
    expect(error.code).toBe('input_invalid')
    expect([await open.states(), open.world.probes, open.world.settles]).toEqual([[], 0, 0])
    expect(work).not.toHaveBeenCalled()
    // The payment was not used: it buys what is asked for rightly.
    expect((await open.gate.run(callOf({ payment }))).replayed).toBe(false)
  })

  it('is not asked of a payment that does not fit the price', async () => {
    const check = vi.fn()
    const payment = present(await open.sign({ overrides: { value: '999' } }))
    const call = checked(check, { payment })
    const dearer = { ...call, terms: { ...call.terms, networks: ['eip155:8453'] } }
    expect((await refusalOf(open.gate.run(dearer))).code).not.toBe('input_invalid')
    expect(check).not.toHaveBeenCalled()
  })

  it('does not take back what was paid for: the stored answer comes first', async () => {
    const payment = present(await open.sign({ extensions: identified('pay_7f3a9c2e1b8d4f6a0c5e') }))
    const bought = await open.gate.run(checked(() => undefined, { payment }))
    const again = await open.gate.run(checked(refusing, { payment }))
    expect(again).toMatchObject({ replayed: true, json: bought.json })
    // Another payment of the same payer under the same identifier asks for the same answer.
    const second = present(await open.sign({ extensions: identified('pay_7f3a9c2e1b8d4f6a0c5e') }))
    expect(await open.gate.run(checked(refusing, { payment: second }))).toMatchObject({
      replayed: true,
      json: bought.json,
    })
  })
})

describe('a sale', () => {
  it('goes to the store with the claim that pays for it', async () => {
    const claim = vi.spyOn(open.store, 'claimPayment')
    const call = callOf({ payment: present(await open.sign()) })
    await open.gate.run({ ...call, terms: { ...call.terms, sale } })
    expect(claim).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ sale }))
  })
})

describe('what is sold at one address among many', () => {
  const shown = {
    key: 'weather/today v3',
    description: 'The weather of today',
    example: { city: 'Oslo' },
    schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    extensions: {
      marketplace: { info: { seller: 'weather', service_id: 'today' }, schema: { type: 'object' } },
    },
  }
  const call = (over: Parameters<typeof callOf>[0] = {}) => {
    const plain = callOf({
      resource: { url: 'http://127.0.0.1:8402/p/weather/today/', method: 'GET' },
      ...over,
    })
    return { ...plain, terms: { ...plain.terms, shown } }
  }

  it('is challenged with its own schema and its own extensions', async () => {
    const error = await refusalOf(open.gate.run(call()))
    const required = paymentFactsOf(error).challenge?.required
    expect(required?.resource).toMatchObject({ description: 'The weather of today' })
    expect(required?.extensions).toMatchObject({
      marketplace: shown.extensions.marketplace,
      bazaar: {
        info: { input: { type: 'http', method: 'GET', queryParams: { city: 'Oslo' } } },
        schema: { properties: { input: { properties: { queryParams: shown.schema } } } },
      },
    })
  })

  it('takes no payment whose echo names another seller', async () => {
    const payment = present(
      await open.sign({
        extensions: { marketplace: { info: { seller: 'another', service_id: 'today' }, schema: {} } },
      }),
    )
    const error = await refusalOf(open.gate.run(call({ payment })))
    expect(error.extras['invalid_reason']).toBe('extension_echo_mismatch')
  })
})
