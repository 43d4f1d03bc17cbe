// Other sellers' payments through POST /verify and /settle, on a real chain: settled once, refused in x402's own words.
import { HTTPFacilitatorClient } from '@x402/core/server'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PaymentRequirements } from '../../schemas/x402.ts'
import { JWS_TYPES, verifyJws } from '../../src/receipts/types.ts'
import {
  requirementsOf,
  signPayment,
  signPaymentV1,
  startTestChain,
  type TestChain,
} from '../support/chain.ts'
import {
  type Engine,
  ENGINES,
  type RestAnswer,
  startTestGateway,
  type TestGateway,
} from '../support/gateway.ts'
import { cites } from '../requirements.ts'

const SELLER = '0x0000000000000000000000000000000000C0FFEE'

let chain: TestChain
beforeAll(async () => void (chain = await startTestChain(84532)))
afterAll(() => chain.close())

const start = (engine: Engine, env: Readonly<Record<string, string>> = {}) =>
  startTestGateway({ engine, env: { ...chain.env, ...env } })

/** What this seller asks for: payTo is the seller's own, never the gateway's. */
const wanted = (overrides: Partial<PaymentRequirements> = {}): PaymentRequirements => ({
  ...requirementsOf(chain, '1000'),
  payTo: SELLER,
  ...overrides,
})
async function signed(
  overrides: Parameters<typeof signPayment>[0]['overrides'] = {},
  requirements = wanted(),
  payer = 0,
) {
  const paymentPayload = await signPayment({ account: chain.payers[payer]!, requirements, overrides })
  return { x402Version: 2, paymentPayload, paymentRequirements: requirements }
}
const post = (gateway: TestGateway, path: string, body: unknown, token = ''): Promise<RestAnswer> =>
  gateway.rest('POST', path, body, token)

describe.each(ENGINES)('the facilitator (%s)', (engine) => {
  let gateway: TestGateway
  beforeAll(async () => void (gateway = await start(engine)))
  afterAll(() => gateway.close())

  describe('POST /verify', () => {
    it(cites('x402:verify:payer', 'says who pays, and claims nothing'), async () => {
      const body = await signed()
      for (let i = 0; i < 2; i++) {
        const { status, body: answer } = await post(gateway, '/verify', body)
        expect([status, answer]).toEqual([
          200,
          { isValid: true, payer: chain.payers[0]!.address.toLowerCase() },
        ])
      }
    })

    const seconds = () => Math.floor(Date.now() / 1000)
    it.each<[string, () => ReturnType<typeof signed>, string]>([
      ['another amount', () => signed({ value: '999' }), 'amount'],
      ['another payee', () => signed({ to: '0x000000000000000000000000000000000000dEaD' }), 'pay_to'],
      ['an expired window', () => signed({ validBefore: String(seconds() - 10) }), 'window'],
      [
        'a window of a hundred years',
        () => signed({ validBefore: String(seconds() + 3_153_600_000) }),
        'window',
      ],
      ['another domain', () => signed({ domain: { name: 'USD Coin' } }), 'signature'],
      ['another chain', () => signed({}, wanted({ network: 'eip155:1' })), 'network'],
      [
        'a token of its own',
        () => signed({}, wanted({ asset: '0x000000000000000000000000000000000000dEaD' })),
        'asset',
      ],
      ['less accepted than asked', () => signed({ accepted: { amount: '1' } }), 'accepted'],
    ])(cites('x402:verify:refused', 'refuses %s and names the check'), async (_name, make, check) => {
      const { status, body } = await post(gateway, '/verify', await make())
      expect([status, body.code]).toEqual([400, 'payment_blocked'])
      expect(body).toMatchObject({
        isValid: false,
        check,
        invalidReason: expect.stringMatching(/^[a-z0-9_]+$/),
      })
      expect(body.detail).toBe(body.invalidMessage)
    })

    it('refuses what a stock client signs for Permit2, and says what to sign instead', async () => {
      const paymentRequirements = wanted()
      paymentRequirements.extra = { ...paymentRequirements.extra, assetTransferMethod: 'permit2' }
      const client = new ExactEvmScheme(chain.payers[0]!)
      const { payload } = await client.createPaymentPayload(2, paymentRequirements as never)
      expect(payload).toHaveProperty('permit2Authorization')
      const paymentPayload = { x402Version: 2, accepted: paymentRequirements, payload }
      for (const [path, reason] of [
        ['/verify', 'invalidReason'],
        ['/settle', 'errorReason'],
      ] as const) {
        const { status, body } = await post(gateway, path, {
          x402Version: 2,
          paymentPayload,
          paymentRequirements,
        })
        expect([status, body.code, body[reason]]).toEqual([
          400,
          'payment_blocked',
          'unsupported_payload_type',
        ])
        expect(body.detail).toContain('Sign an EIP-3009 authorization')
      }
    })

    it(
      cites('x402:verify:scheme', 'of a scheme that nobody takes is not the fault of the payment'),
      async () => {
        for (const [path, reason] of [
          ['/verify', 'invalidReason'],
          ['/settle', 'errorReason'],
        ] as const) {
          const { status, body } = await post(gateway, path, await signed({}, wanted({ scheme: 'upto' })))
          expect([status, body.code, body.check]).toEqual([503, 'no_route', 'route'])
          expect(body[reason]).toMatch(/^[a-z_]+$/)
        }
      },
    )

    it.for<[string, unknown, string?]>([
      [
        'a version to come',
        { x402Version: 99, paymentPayload: { x402Version: 99 }, paymentRequirements: {} },
        'invalid_x402_version',
      ],
      ['an empty object', {}],
      ['a payment that is text', { x402Version: 2, paymentPayload: 'x', paymentRequirements: {} }],
      ['a float as amount', { paymentPayload: { x402Version: 2 }, paymentRequirements: { amount: 1.5 } }],
    ])(
      cites('x402:verify:words', 'refuses %s in words that stock clients read too'),
      async ([, body, reason = 'invalid_payload']) => {
        for (const [path, members] of [
          ['/verify', { isValid: false, invalidReason: reason }],
          ['/settle', { success: false, errorReason: reason, transaction: '', network: '' }],
        ] as const) {
          const answer = await post(gateway, path, body)
          expect([answer.status, answer.body.code]).toEqual([400, 'payment_invalid'])
          expect(answer.body).toMatchObject(members)
        }
      },
    )
  })

  describe('POST /settle', () => {
    it(cites('x402:settle:once', 'moves the money once, with a receipt that verifies'), async () => {
      const body = await signed()
      const before = await chain.usdcOf(SELLER)
      const { status, body: answer } = await post(gateway, '/settle', body)
      expect(status).toBe(200)
      expect(answer).toEqual({
        success: true,
        payer: chain.payers[0]!.address.toLowerCase(),
        transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
        network: 'eip155:84532',
        amount: '1000',
        extra: {
          claim_id: expect.stringMatching(/^clm_/),
          receipt_id: expect.stringMatching(/^rcp_/),
          receipt_url: `${gateway.baseUrl}/v1/receipts/${answer.extra.receipt_id}`,
        },
      })
      expect((await chain.usdcOf(SELLER)) - before).toBe(1000n)
      const { jws } = (await gateway.rest('GET', `/v1/receipts/${answer.extra.receipt_id}`, undefined, ''))
        .body
      const jwks = (await gateway.rest('GET', '/.well-known/gateway-egress-key.json', undefined, '')).body
      expect(await verifyJws(jws, jwks, JWS_TYPES.receipt)).toMatchObject({
        ok: true,
        payload: {
          kind: 'payment',
          claim_id: answer.extra.claim_id,
          transaction: answer.transaction,
          amount: '1000',
          pay_to: SELLER,
          upstream: 'local',
          revenue: false,
        },
      })
    })

    it(
      cites(
        'x402:settle:replay',
        'of a settled payment is refused and names the receipt, to who holds the payment only',
      ),
      async () => {
        const body = await signed()
        const first = (await post(gateway, '/settle', body)).body
        const before = await chain.usdcOf(SELLER)
        const again = await post(gateway, '/settle', body)
        expect([again.status, again.body.code]).toEqual([400, 'settlement_replayed'])
        expect(again.body).toMatchObject({
          success: false,
          errorReason: 'invalid_exact_evm_nonce_already_used',
          transaction: '',
          network: 'eip155:84532',
          receipt_id: first.extra.receipt_id,
          claim_id: first.extra.claim_id,
          extra: first.extra,
        })
        // Whoever reads the chain can rebuild payer, nonce and signature, and is told of no receipt.
        const rebuilt = { ...body, paymentPayload: { ...body.paymentPayload, extensions: {} } }
        const copy = await post(gateway, '/settle', rebuilt)
        expect([copy.status, copy.body.code]).toEqual([400, 'settlement_replayed'])
        expect(copy.body.claim_id).toBe(first.extra.claim_id)
        expect(copy.text).not.toContain(first.extra.receipt_id)
        // The nonce of a settled payment is on the chain for everybody to read; its signature by a stranger is not.
        const { nonce, validBefore } = body.paymentPayload.payload['authorization'] as Record<string, string>
        const from = chain.payers[0]!.address
        const stranger = await signed(
          { from, nonce: nonce as `0x${string}`, validBefore: validBefore! },
          wanted(),
          1,
        )
        const forged = await post(gateway, '/settle', stranger)
        expect([forged.status, forged.body.code, forged.body.check]).toEqual([
          400,
          'payment_blocked',
          'signature',
        ])
        expect(forged.text).not.toContain(first.extra.receipt_id)
        expect(forged.text).not.toContain(first.extra.claim_id)
        expect((await post(gateway, '/verify', body)).body).toMatchObject({
          code: 'payment_blocked',
          check: 'claim',
        })
        expect(await chain.usdcOf(SELLER)).toBe(before)
      },
    )

    it(cites('x402:settle:v1', 'takes the form of v1, and answers in it'), async () => {
      const requirements = wanted()
      const paymentPayload = await signPaymentV1({ account: chain.payers[0]!, requirements })
      const { amount, ...rest } = requirements
      const paymentRequirements = {
        ...rest,
        network: 'base-sepolia',
        maxAmountRequired: amount,
        resource: 'https://shop.example/report?user=7',
        description: '',
        mimeType: '',
      }
      const { status, body } = await post(gateway, '/settle', {
        x402Version: 1,
        paymentPayload,
        paymentRequirements,
      })
      expect([status, body.success, body.network]).toEqual([200, true, 'base-sepolia'])
      const receipt = (await gateway.rest('GET', `/v1/receipts/${body.extra.receipt_id}`, undefined, '')).body
      expect(receipt.claims).toMatchObject({ resource: 'shop.example/report', network: 'eip155:84532' })
      expect(JSON.stringify(receipt)).not.toContain('user=7')
    })

    it(cites('x402:settle:canceled', 'refuses what the payer canceled, and moves nothing'), async () => {
      const body = await signed()
      const { nonce } = body.paymentPayload.payload['authorization'] as Record<string, string>
      await chain.cancelAuthorization(chain.payers[0]!, nonce!)
      const before = await chain.usdcOf(SELLER)
      const { status, body: answer } = await post(gateway, '/settle', body)
      expect([status, answer.code, answer.check]).toEqual([400, 'payment_blocked', 'authorization_state'])
      expect(answer).toMatchObject({ success: false, transaction: '', network: 'eip155:84532' })
      expect(await chain.usdcOf(SELLER)).toBe(before)
    })

    it.each([8, 64])(
      cites('x402:settle:copies', 'of %i copies at once settles one; the others name its claim'),
      async (copies) => {
        const body = await signed()
        const before = await chain.usdcOf(SELLER)
        const transfers = await chain.transfersTo(SELLER)
        const answers = await Promise.all(
          Array.from({ length: copies }, () => post(gateway, '/settle', body)),
        )
        const [won, ...others] = answers.toSorted((a, b) => a.status - b.status)
        expect(won!.status).toBe(200)
        for (const { status, body: answer } of others) {
          expect([status, answer.code]).toEqual([400, 'settlement_replayed'])
          expect(answer.claim_id).toBe(won!.body.extra.claim_id)
          expect(answer.success).toBe(false)
        }
        expect((await chain.usdcOf(SELLER)) - before).toBe(1000n)
        expect((await chain.transfersTo(SELLER)) - transfers).toBe(1)
      },
    )

    it(cites('x402:settle:parallel', 'of 20 payments at once settles 20'), async () => {
      const bodies = await Promise.all(Array.from({ length: 20 }, (_, i) => signed({}, wanted(), i % 10)))
      const transfers = await chain.transfersTo(SELLER)
      const answers = await Promise.all(bodies.map((body) => post(gateway, '/settle', body)))
      expect(answers.map(({ status, body }) => `${status} ${body.detail ?? ''}`)).toEqual(
        Array(20).fill('200 '),
      )
      expect(new Set(answers.map(({ body }) => body.transaction)).size).toBe(20)
      expect((await chain.transfersTo(SELLER)) - transfers).toBe(20)
    })
  })

  it(cites('x402:settle:secret', 'never writes a signature anywhere that it keeps or says'), async () => {
    const body = await signed()
    await post(gateway, '/settle', body)
    await post(gateway, '/settle', body)
    const { signature } = body.paymentPayload.payload as { signature: string }
    expect(gateway.log()).not.toContain(signature.slice(2, 40))
  })
})

describe('the free allowance', () => {
  let gateway: TestGateway
  beforeAll(
    async () =>
      void (gateway = await start('sqlite', {
        GATEWAY_SETTLE_FREE_ALLOWANCE: '2',
        GATEWAY_SERVICE_KEY_CREDITS: '1',
      })),
  )
  afterAll(() => gateway.close())

  it('is counted per payee and per payer without a key; beyond it a key with credits is asked for', async () => {
    for (let i = 0; i < 2; i++) expect((await post(gateway, '/settle', await signed())).status).toBe(200)
    const third = await signed()
    const refused = await post(gateway, '/settle', third)
    expect([refused.status, refused.body.code]).toEqual([402, 'credits_required'])
    expect(refused.body).toMatchObject({ success: false, transaction: '', network: 'eip155:84532' })
    expect(refused.headers.get('payment-required')).toBeNull()
    // Another payee has an allowance of its own, its payer has not, and the payment that was refused is still good.
    const other = wanted({ payTo: '0x000000000000000000000000000000000000dEaD' })
    const samePayer = await post(gateway, '/settle', await signed({}, other))
    expect([samePayer.status, samePayer.body.code]).toEqual([402, 'credits_required'])
    expect((await post(gateway, '/settle', await signed({}, other, 1))).status).toBe(200)
    expect((await post(gateway, '/settle', third, gateway.operatorKey)).status).toBe(200)
  })

  it('is counted per account with a key, then costs a credit, then asks for more with an offer', async () => {
    expect((await post(gateway, '/settle', await signed(), gateway.operatorKey)).status).toBe(200)
    expect(await gateway.balance()).toBe(1)
    const paid = await post(gateway, '/settle', await signed(), gateway.operatorKey)
    expect(paid.status).toBe(200)
    expect(await gateway.balance()).toBe(0)
    const { ledger } = (await gateway.rest('GET', '/v1/credits')).body
    expect(ledger[0]).toMatchObject({ kind: 'settlement', amount: -1, reference: paid.body.extra.claim_id })

    const refused = await post(gateway, '/settle', await signed(), gateway.operatorKey)
    expect([refused.status, refused.body.code]).toEqual([402, 'credits_required'])
    expect(refused.body.top_up).toBeDefined()
    expect(refused.headers.get('payment-required')).toBeNull()
  })

  it('is not used up by payments that are refused or copied', async () => {
    const requirements = wanted({ payTo: '0x00000000000000000000000000000000000a110c' })
    const payer = 2
    const body = await signed({}, requirements, payer)
    await Promise.all(Array.from({ length: 8 }, () => post(gateway, '/settle', body)))
    await post(gateway, '/settle', await signed({ value: '1' }, requirements, payer))
    const second = await post(gateway, '/settle', await signed({}, requirements, payer))
    expect([second.status, second.body.detail]).toEqual([200, undefined])
    expect((await post(gateway, '/settle', await signed({}, requirements, payer))).status).toBe(402)
  })
})

describe('what the facilitator says about itself', () => {
  let gateway: TestGateway
  beforeAll(async () => void (gateway = await start('sqlite')))
  afterAll(() => gateway.close())
  const get = (path: string) => gateway.rest('GET', path, undefined, '')

  it(cites('x402:supported:kinds', 'lists the kinds that are taken now'), async () => {
    const { status, body } = await get('/supported')
    expect(status).toBe(200)
    expect(body.kinds).toContainEqual(
      expect.objectContaining({ x402Version: 2, scheme: 'exact', network: 'eip155:84532' }),
    )
    expect(body.signers['eip155:*']?.length).toBeGreaterThan(0)
  })

  it('recommends a live route, by either name of the network, with reasons', async () => {
    for (const network of ['eip155:84532', 'base-sepolia']) {
      const { status, body } = await get(`/v1/facilitator/route?network=${network}&scheme=exact`)
      expect(status).toBe(200)
      expect(body).toMatchObject({
        network: 'eip155:84532',
        scheme: 'exact',
        recommended: { upstream: 'local', fee_atomic: '0', kind: { scheme: 'exact' } },
        reasons: [expect.any(String)],
        alternatives: [],
      })
    }
  })

  it.each([
    'network=eip155:10',
    'network=solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
    'network=eip155:84532&scheme=upto',
  ])('has no route for %s', async (query) => {
    const { status, body } = await get(`/v1/facilitator/route?${query}`)
    expect([status, body.code]).toEqual([503, 'no_route'])
  })

  it('names networks, upstreams, limits and where its keys are', async () => {
    const { status, body } = await get('/facilitator')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      mode: 'sandbox',
      x402_versions: [1, 2],
      schemes: ['exact'],
      networks: expect.arrayContaining([
        expect.objectContaining({ network: 'eip155:84532', v1_name: 'base-sepolia', revenue: false }),
      ]),
      upstreams: [{ id: 'local', state: 'ok', breaker: 'closed' }],
      policies: { settle: { free_allowance_per_month: 1000 } },
      receipts: { typ: 'gw-receipt+jws', keys: `${gateway.baseUrl}/.well-known/gateway-egress-key.json` },
    })
    const health = (await get('/healthz')).body
    expect(health.facilitators).toMatchObject([{ id: 'local', state: 'ok' }])
  })

  it(cites('x402:supported:stock', 'is understood by the stock client'), async () => {
    const client = new HTTPFacilitatorClient({ url: gateway.baseUrl })
    const { paymentPayload, paymentRequirements } = await signed()
    const args = [paymentPayload, paymentRequirements] as unknown as Parameters<typeof client.verify>
    expect((await client.getSupported()).kinds.length).toBeGreaterThan(0)
    expect(await client.verify(...args)).toMatchObject({ isValid: true })
    expect(await client.settle(...args)).toMatchObject({ success: true, network: 'eip155:84532' })
    await expect(client.settle(...args)).rejects.toMatchObject({
      statusCode: 400,
      errorReason: 'invalid_exact_evm_nonce_already_used',
    })
    await expect(client.verify(...args)).rejects.toMatchObject({
      statusCode: 400,
      invalidReason: 'invalid_exact_evm_nonce_already_used',
    })
  })
})
