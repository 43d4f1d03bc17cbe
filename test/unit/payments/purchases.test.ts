import { beforeEach, describe, expect, it } from 'vitest'
import { paymentFactsOf } from '../../../src/core/charging.ts'
import { PaymentRequired } from '../../../schemas/x402.ts'
import { createNetworks } from '../../../src/core/networks.ts'
import { toCanonicalJson } from '../../../src/lib/canonical-json.ts'
import { createPurchases, type PurchaseParts } from '../../../src/payments/purchases.ts'
import type { PurchaseRequest, Purchases } from '../../../src/payments/purchases.ts'
import type { Caller } from '../../../src/core/caller.ts'

const START = Date.parse('2026-11-21T12:00:00.000Z')
const BASE = 'https://gateway.example'
const PAY_TO = '0x00000000000000000000000000000000ca5cade5'

/** A signer whose signatures are the text itself: what is tested is what gets signed and what is taken back. */
const encode = (typ: string, payload: object) =>
  `${typ}.${Buffer.from(toCanonicalJson(payload)).toString('base64url')}.sig`
const fakeSigner = {
  kid: 'k1',
  environment: 'production' as const,
  sign: encode,
  verifyOwn(jws: string, typ: string) {
    const [head, body, signature] = jws.split('.')
    if (head !== typ || signature !== 'sig') return undefined
    return JSON.parse(Buffer.from(body!, 'base64url').toString('utf8')) as Record<string, unknown>
  },
}

const anonymous: Caller = { kind: 'anonymous', id: 'anonymous', address: '127.0.0.1' }
const operatorOf = (accountId: string): Caller => ({
  kind: 'operator',
  id: 'key_1',
  accountId,
  admin: false,
  role: 'operator',
  address: '127.0.0.1',
})

let now: number
let taken: Map<string, { id: string; state: 'claimed' | 'settled' | 'failed' }>
beforeEach(() => {
  now = START
  taken = new Map()
})

function purchasesWith(over: Partial<PurchaseParts> = {}): Purchases {
  return createPurchases({
    config: { creditPriceAtomic: 1000n },
    store: {
      balance: async (accountId) => (accountId === 'acct_gone' ? undefined : 5),
      takeReference: async ({ id, claimId }) => {
        const holder = taken.get(id)
        if (holder && holder.id !== claimId && holder.state !== 'failed') return { ok: false, claim: holder }
        taken.set(id, { id: claimId, state: 'claimed' })
        return { ok: true }
      },
    },
    networks: createNetworks([8453, 84532]),
    signer: fakeSigner,
    verifyOwn: fakeSigner.verifyOwn,
    payTo: PAY_TO,
    baseUrl: BASE,
    now: () => now,
    ...over,
  })
}

const termsOf = async (purchases: Purchases, ...asked: Parameters<Purchases['plan']>) =>
  (await purchases.plan(...asked)).charge
const complete = async (purchases: Purchases, request: PurchaseRequest, caller: Caller, claimId: string) =>
  (await purchases.plan(request, caller)).run({ claimId })

interface Offer {
  readonly accepts: readonly { readonly network: string; readonly amount: string }[]
  readonly request: { readonly url: string; readonly body: { credits: number; account_reference: string } }
  readonly cost: { readonly amount: string }
  readonly expires_at: string
}

async function offerFrom(purchases: Purchases, need = 1, accountId = 'acct_a'): Promise<Offer> {
  const error = await purchases.creditsRequired({ accountId, balance: 0, need, what: 'It costs' })
  return error.extras['offer'] as Offer
}

/** Real money, but perhaps no dollars. */
const NAMED = { chainId: 4689, address: `0x${'12'.repeat(20)}`, revenue: true }

describe('the offer of a 402 for credits', () => {
  it('is a PaymentRequired for the purchase, with the body to send there', async () => {
    const error = await purchasesWith().creditsRequired({
      accountId: 'acct_a',
      balance: 0,
      need: 1,
      what: 'One attempt costs 1 credit',
    })
    expect(error).toMatchObject({ code: 'credits_required', status: 402 })
    expect(paymentFactsOf(error)).toEqual({})
    const offer = error.extras['offer'] as Offer
    expect(PaymentRequired.parse(offer)).toMatchObject({
      x402Version: 2,
      resource: { url: `${BASE}/v1/credits/purchase` },
      accepts: [{ scheme: 'exact', network: 'eip155:8453', amount: '100000', payTo: PAY_TO }],
    })
    expect(offer.accepts).toHaveLength(1)
    expect(error.extras.accepts).toEqual(offer.accepts)
    expect(offer.request).toMatchObject({
      method: 'POST',
      url: `${BASE}/v1/credits/purchase`,
      body: { credits: 100, account_reference: expect.any(String) },
    })
    expect(offer.expires_at).toBe('2026-11-21T12:15:00.000Z')
    expect(error.extras).toMatchObject({ balance: 0, top_up: { account: 'acct_a' } })
    expect(error.extras['x402Version']).toBeUndefined()
  })

  it.each<[string, { need: number; price: bigint }, { credits: number; amount: string }]>([
    ['a hundred where less is needed', { need: 1, price: 1000n }, { credits: 100, amount: '0.100000' }],
    [
      'as many as are needed where that is more',
      { need: 101, price: 1000n },
      { credits: 101, amount: '0.101000' },
    ],
    [
      'a dollar where a hundred cost a dollar',
      { need: 1, price: 10_000n },
      { credits: 100, amount: '1.000000' },
    ],
    ['no more than a dollar', { need: 1, price: 10_001n }, { credits: 99, amount: '0.990099' }],
    ['what is needed even beyond a dollar', { need: 3, price: 700_000n }, { credits: 3, amount: '2.100000' }],
    [
      'one where one is dearer than a dollar',
      { need: 1, price: 2_000_000n },
      { credits: 1, amount: '2.000000' },
    ],
  ])('is for %s', async (_, { need, price }, expected) => {
    const offer = await offerFrom(purchasesWith({ config: { creditPriceAtomic: price } }), need)
    expect({ credits: offer.request.body.credits, amount: offer.cost.amount }).toEqual(expected)
    expect(offer.accepts[0]!.amount).toBe(String(BigInt(expected.credits) * price))
  })

  it('names the networks alone whose token is proven, and none where no token is', async () => {
    const networks = createNetworks([8453, 137])
    networks.report('eip155:137', { ok: false, why: 'the node gives no answer' })
    const purchases = purchasesWith({ networks })
    expect((await offerFrom(purchases, 1)).accepts.map(({ network }) => network)).toEqual(['eip155:8453'])
    networks.report('eip155:8453', { ok: false, why: 'the node gives no answer' })
    expect(await offerFrom(purchases, 1)).toBeUndefined()
    networks.report('eip155:137', { ok: true, name: 'USD Coin', version: '2' })
    expect((await offerFrom(purchases, 1)).accepts.map(({ network }) => network)).toEqual(['eip155:137'])
  })

  it.each<[string, Partial<PurchaseParts>]>([
    ['nobody is paid', { payTo: undefined }],
    ['credits have no price', { config: { creditPriceAtomic: 0n } }],
    ['only test money could pay', { networks: createNetworks([84532]) }],
    ['only a token that the operator named could pay', { networks: createNetworks([4689], [NAMED]) }],
  ])('is left out where %s, and the purchase is refused', async (_, over) => {
    const purchases = purchasesWith(over)
    const error = await purchases.creditsRequired({
      accountId: 'acct_a',
      balance: 0,
      need: 1,
      what: 'It costs',
    })
    expect(error.extras['offer']).toBeUndefined()
    expect(error.message).toContain('operator')
    await expect(termsOf(purchases, { credits: 1 }, operatorOf('acct_a'))).rejects.toMatchObject({
      code: 'payments_unavailable',
    })
  })
})

describe('what a purchase costs and whose it is', () => {
  it('is the account of the token, at the price of one credit each', async () => {
    const terms = await termsOf(purchasesWith(), { credits: 250 }, operatorOf('acct_a'))
    expect(terms).toMatchObject({
      amountAtomic: 250_000n,
      networks: ['eip155:8453'],
      purchase: { accountId: 'acct_a', credits: 250 },
    })
  })

  it('is the account of the reference where there is no token', async () => {
    const purchases = purchasesWith()
    const { request } = await offerFrom(purchases)
    expect(await termsOf(purchases, request.body, anonymous)).toMatchObject({
      purchase: { accountId: 'acct_a', credits: 100 },
    })
  })

  it('binds account, credits and reference into the digest', async () => {
    const purchases = purchasesWith()
    const [one, two] = [await offerFrom(purchases), await offerFrom(purchases)]
    const digests = await Promise.all(
      [
        termsOf(purchases, { credits: 100 }, operatorOf('acct_a')),
        termsOf(purchases, { credits: 101 }, operatorOf('acct_a')),
        termsOf(purchases, { credits: 100 }, operatorOf('acct_b')),
        termsOf(purchases, one.request.body, operatorOf('acct_a')),
        termsOf(purchases, two.request.body, operatorOf('acct_a')),
      ].map(async (terms) => (await terms).requestDigest),
    )
    expect(new Set(digests).size).toBe(digests.length)
    expect((await termsOf(purchases, one.request.body, anonymous)).requestDigest).toBe(digests[3])
  })

  const forge = (over: Record<string, unknown>, typ = 'gw-top-up+jws') =>
    encode(typ, {
      iss: BASE,
      account: 'acct_a',
      minimum: 1,
      jti: 'x',
      iat: START / 1000,
      exp: START / 1000 + 900,
      ...over,
    })
  it.each<[string, string, string]>([
    ['another kind of document', forge({}, 'gw-quote+jws'), 'input_invalid'],
    ['another gateway', forge({ iss: 'https://other.example' }), 'input_invalid'],
    ['a reference that expired', forge({ exp: START / 1000 }), 'state_conflict'],
    ['a reference without an end', forge({ exp: null }), 'state_conflict'],
    ['text that is nothing', 'x', 'input_invalid'],
    ['less than the refused call needs', forge({ minimum: 101 }), 'input_invalid'],
    ['an account that is gone', forge({ account: 'acct_gone' }), 'account_not_found'],
  ])('refuses %s', async (_, account_reference, code) => {
    await expect(
      termsOf(purchasesWith(), { credits: 100, account_reference }, anonymous),
    ).rejects.toMatchObject({ code })
  })

  it('takes the same reference a moment before it expires', async () => {
    const account_reference = forge({ exp: START / 1000 + 1 })
    await expect(
      termsOf(purchasesWith(), { credits: 1, account_reference }, anonymous),
    ).resolves.toMatchObject({
      amountAtomic: 1000n,
    })
  })

  it('refuses a caller that says nothing about an account', async () => {
    await expect(termsOf(purchasesWith(), { credits: 1 }, anonymous)).rejects.toMatchObject({
      code: 'key_required',
    })
  })

  it('refuses a reference of another account than the token', async () => {
    const purchases = purchasesWith()
    const { request } = await offerFrom(purchases)
    await expect(termsOf(purchases, request.body, operatorOf('acct_b'))).rejects.toMatchObject({
      code: 'input_conflict',
    })
    await expect(termsOf(purchases, request.body, operatorOf('acct_a'))).resolves.toBeDefined()
  })
})

describe('what the buyer gets', () => {
  it('names the account only to its own holder', async () => {
    const purchases = purchasesWith()
    const { request } = await offerFrom(purchases)
    expect(await complete(purchases, request.body, anonymous, 'clm_1')).toEqual({
      credits_granted: 100,
      account_id: null,
      claim_id: 'clm_1',
      payment_url: `${BASE}/v1/payments/clm_1`,
      balance_url: `${BASE}/v1/credits`,
      cost: {
        amount_atomic: '100000',
        amount: '0.100000',
        currency: 'USDC',
        decimals: 6,
        credit_price_atomic: '1000',
      },
    })
    expect(await complete(purchases, { credits: 1 }, operatorOf('acct_a'), 'clm_2')).toMatchObject({
      account_id: 'acct_a',
    })
  })

  it('refuses a reference that another payment holds, with that payment and its state', async () => {
    const purchases = purchasesWith()
    const { request } = await offerFrom(purchases)
    await complete(purchases, request.body, anonymous, 'clm_1')
    const [reference] = taken.keys()
    taken.set(reference!, { id: 'clm_1', state: 'settled' })
    await expect(complete(purchases, request.body, anonymous, 'clm_2')).rejects.toMatchObject({
      code: 'state_conflict',
      extras: { claim_id: 'clm_1', state: 'settled', payment_url: `${BASE}/v1/payments/clm_1` },
    })
    taken.set(reference!, { id: 'clm_1', state: 'failed' })
    await expect(complete(purchases, request.body, anonymous, 'clm_2')).resolves.toMatchObject({
      credits_granted: 100,
    })
  })
})
