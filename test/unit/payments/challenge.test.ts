import { extractDiscoveryInfo, validateDiscoveryExtension } from '@x402/extensions/bazaar'
import {
  extractOffersFromPaymentRequired,
  findAcceptsObjectFromSignedOffer,
  verifyOfferSignatureJWS,
  verifyReceiptSignatureJWS,
} from '@x402/extensions/offer-receipt'
import {
  declarePaymentIdentifierExtension,
  validatePaymentIdentifier,
} from '@x402/extensions/payment-identifier'
import { isPaymentRequiredV1, isPaymentRequiredV2 } from '@x402/core/schemas'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { PaymentRequired, PaymentRequirementsV1 } from '../../../schemas/x402.ts'
import { KNOWN_NETWORKS } from '../../../src/core/networks.ts'
import { MAX_HEAD_BYTES, MIN_QUOTE_ROOM } from '../../../src/payments/head-size.ts'
import { decodePayment } from '../../../src/payments/wire.ts'
import type { UpstreamState } from '../../../src/payments/ports.ts'
import { paymentFactsOf, type Challenge, type PaidCall } from '../../../src/core/charging.ts'
import { JWS_TYPES, decodeJws } from '../../../src/receipts/types.ts'
import { toHeader } from '../../support/chain.ts'
import { fromHeader } from '../../support/rest-buyer.ts'
import {
  BASE_URL,
  callOf,
  type OpenGate,
  openGate,
  PAY_TO,
  present,
  refusalOf,
  RESOURCE,
  TOOL,
} from '../../support/payment-gate.ts'

let open: OpenGate
let jwk: Record<string, unknown>
beforeAll(async () => {
  open = await openGate({ chainIds: [8453, 84532] })
  jwk = JSON.parse((await open.store.listPublishedKeys())[0]!.jwk) as Record<string, unknown>
})
afterAll(() => open.close())
afterEach(() => void vi.restoreAllMocks())

async function challengeOf(over: Parameters<typeof callOf>[0] = {}, gate = open): Promise<Challenge> {
  return paymentFactsOf(await refusalOf(gate.gate.run(callOf(over)))).challenge!
}

/** What a challenge alone holds. */
const ownOf = ({ extensions }: PaymentRequired) =>
  (extensions!['offer-receipt'] as { info: { challenge: string } }).info.challenge

describe('a challenge', () => {
  it('is a valid PaymentRequired of v2, in our words and in those of the protocol', async () => {
    const { required, json, header } = await challengeOf({ networks: ['eip155:8453', 'eip155:84532'] })
    expect(PaymentRequired.parse(JSON.parse(json))).toEqual(JSON.parse(json))
    expect(isPaymentRequiredV2(JSON.parse(json))).toBe(true)
    expect(Buffer.from(header, 'base64').toString()).toBe(json)
    expect(JSON.parse(json)).toEqual(required)
    expect(required.accepts).toEqual([
      {
        scheme: 'exact',
        network: 'eip155:8453',
        amount: '1000',
        asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
        payTo: PAY_TO,
        maxTimeoutSeconds: 300,
        extra: { name: 'USD Coin', version: '2' },
      },
      {
        scheme: 'exact',
        network: 'eip155:84532',
        amount: '1000',
        asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
        payTo: PAY_TO,
        maxTimeoutSeconds: 300,
        extra: { name: 'USDC', version: '2' },
      },
    ])
    expect(required.resource).toEqual({
      url: RESOURCE.url,
      description: TOOL.summary,
      mimeType: 'application/json',
    })
  })

  it('says the same to buyers of v1', async () => {
    const { acceptsV1 } = await challengeOf({ networks: ['eip155:8453', 'eip155:84532'] })
    expect(acceptsV1.map(({ network }) => network)).toEqual(['base', 'base-sepolia'])
    for (const accept of acceptsV1) {
      expect(PaymentRequirementsV1.parse(accept)).toEqual(accept)
      expect(accept).toMatchObject({ maxAmountRequired: '1000', resource: RESOURCE.url, payTo: PAY_TO })
    }
    expect(isPaymentRequiredV1({ x402Version: 1, accepts: acceptsV1, error: 'x' })).toBe(true)
  })

  it('speaks of the job where a tool sells several at one price and address, and of the tool otherwise', async () => {
    const networks = ['eip155:8453']
    const terms = (shown?: PaidCall['terms']['shown']) => ({
      amountAtomic: 1000n,
      networks,
      requestDigest: 'digest-1',
      shown,
    })
    const of = async (shown?: PaidCall['terms']['shown']) => {
      const { required, acceptsV1 } = await challengeOf({ terms: terms(shown) })
      const { info } = required.extensions!['bazaar'] as { info: { input: { body: unknown } } }
      expect(acceptsV1[0]!['description']).toBe(required.resource.description)
      return [required.resource.description, info.input.body]
    }
    const jobs = ['one', 'two'].map((text) => ({ key: text, description: `Job ${text}`, example: { text } }))
    for (const job of [...jobs, ...jobs]) expect(await of(job)).toEqual([job.description, job.example])
    expect(await of()).toEqual([TOOL.summary, expect.anything()])
  })

  it('is the same in base64 as in JSON, whatever its length and its letters', async () => {
    for (const end of ['', 'a', 'ab', 'abc', 'ü', '€', '\u{1f600}', 'x€', 'xy\u{1f600}']) {
      const resource = { url: `${BASE_URL}/v1/${end}`, method: 'POST' }
      const { error, header, json, required } = await challengeOf({ resource })
      expect(Buffer.from(header, 'base64').toString('base64')).toBe(header)
      expect(Buffer.from(header, 'base64').toString()).toBe(json)
      expect(json).toBe(JSON.stringify(required))
      expect(required).toMatchObject({ error, resource: { url: resource.url } })
    }
  })

  it('asks for nothing on a network that the call may not be paid on', async () => {
    const { required } = await challengeOf({ networks: ['eip155:84532'] })
    expect(required.accepts.map(({ network }) => network)).toEqual(['eip155:84532'])
  })

  it('is never the same twice, so that nobody else can say what its buyer will send back', async () => {
    const url = `${BASE_URL}/v1/${'~'.repeat(40)}`
    const call = { networks: ['eip155:8453'], resource: { url, method: 'POST' } }
    const own = new Set<unknown>()
    for (let times = 0; times < 20; times++) {
      const { required, json, header } = await challengeOf(call)
      expect(JSON.parse(json)).toEqual(required)
      expect(Buffer.from(header, 'base64').toString()).toBe(json)
      expect(required.resource.url).toBe(url)
      own.add(ownOf(required))
    }
    expect(own.size).toBe(20)
    for (const one of own) expect(one).toMatch(/^[\w-]{32}$/)
  })

  it('is put together and signed once a second', async () => {
    const call = { networks: ['eip155:8453'], resource: { url: `${BASE_URL}/v1/once`, method: 'POST' } }
    const first = await challengeOf(call)
    const sign = vi.spyOn(open.signer, 'sign')
    open.clock.now = Math.floor(open.clock.now / 1000) * 1000 + 999
    const again = await challengeOf(call)
    expect(again.json.replace(ownOf(again.required), ownOf(first.required))).toBe(first.json)
    expect(sign).not.toHaveBeenCalled()
    open.clock.now += 1
    expect((await challengeOf(call)).header).not.toBe(first.header)
    expect(sign).toHaveBeenCalledOnce()
  })

  it('is never that of another price, resource, method or network', async () => {
    const seen = new Set<string>()
    const calls = [
      {},
      { terms: { ...callOf().terms, amountAtomic: 1001n } },
      { resource: { url: `${BASE_URL}/v1/x`, method: 'POST' } },
      { resource: { url: RESOURCE.url, method: 'GET' } },
      { networks: ['eip155:8453'] },
      { tool: { ...TOOL, name: 'gateway.other', summary: 'Something else.' } },
    ]
    for (const call of calls) seen.add((await challengeOf(call)).header)
    expect(seen.size).toBe(calls.length)
  })
})

describe('bazaar', () => {
  const extensionOf = ({ required }: Challenge) =>
    required.extensions!['bazaar'] as { info: Record<string, unknown>; schema: Record<string, unknown> }

  it('tells how to call a POST route, so that a facilitator can list it', async () => {
    const challenge = await challengeOf()
    const { required } = challenge
    const extension = extensionOf(challenge)
    expect(extension.info).toEqual({
      input: { type: 'http', method: 'POST', bodyType: 'json', body: { text: 'hello' } },
      output: { type: 'json', example: { text: 'hello', receipt: null } },
    })
    expect(validateDiscoveryExtension(extension as never)).toEqual({ valid: true })
    const payload = await open.sign({ resource: required.resource, extensions: required.extensions! })
    expect(extractDiscoveryInfo(payload as never, required.accepts[0] as never, true)).toMatchObject({
      resourceUrl: RESOURCE.url,
      method: 'POST',
      discoveryInfo: { input: { body: { text: 'hello' } } },
    })
  })

  it.each([
    [
      'a GET route',
      { url: RESOURCE.url, method: 'GET' },
      { type: 'http', method: 'GET', queryParams: { text: 'hello' } },
    ],
    [
      'an MCP tool',
      { url: 'mcp://tool/gateway.paid', method: 'POST' },
      expect.objectContaining({ type: 'mcp', toolName: 'gateway.paid', example: { text: 'hello' } }),
    ],
  ])('tells how to call %s', async (_, resource, input) => {
    const extension = extensionOf(await challengeOf({ resource }))
    expect(extension.info['input']).toEqual(input)
    expect(validateDiscoveryExtension(extension as never)).toEqual({ valid: true })
  })

  it('is left out where there is no form for it', async () => {
    const { required } = await challengeOf({ resource: { url: `${BASE_URL}/a2a`, method: 'message/send' } })
    expect(Object.keys(required.extensions!)).toEqual(['payment-identifier', 'offer-receipt'])
  })

  it.each([
    ['many described fields', z.strictObject(Object.fromEntries(manyFields(60)))],
    ['more names than fit', z.strictObject(Object.fromEntries(manyFields(400)))],
    ['a schema that refers to itself', recursive()],
    ['a schema nested deeper than a payment may be', nested(12)],
  ])('says less of %s: a payment with its echo still fits into a header', async (name, input) => {
    const tool = { ...TOOL, name: `gateway.${name.replaceAll(' ', '_')}`, input, examples: [] }
    const challenge = await challengeOf({ tool, networks: ['eip155:8453', 'eip155:84532'] })
    const extension = extensionOf(challenge)
    expect(validateDiscoveryExtension(extension as never)).toEqual({ valid: true })
    expect(JSON.stringify(extension)).not.toMatch(/"\$(?:ref|id)"/)
    expect(challenge.header.length).toBeLessThan(6000)
    const payload = await open.sign({
      resource: challenge.required.resource,
      extensions: {
        ...challenge.required.extensions,
        'payment-identifier': { info: { required: false, id: 'x'.repeat(128) }, schema: {} },
      },
    })
    expect(toHeader(payload).length).toBeLessThan(8192)
    expect(decodePayment(present(payload)).extensions).toHaveProperty('bazaar')
  })

  function manyFields(count: number) {
    const field = z.string().describe('What is said about it takes some room in a header.').optional()
    return Array.from({ length: count }, (_, i) => [`field_number_${i}`, field] as const)
  }
  function recursive() {
    const node: z.ZodType = z.lazy(() => z.object({ children: z.array(node).optional() }))
    return z.object({ root: node })
  }
  function nested(depth: number): z.ZodType {
    return depth === 0 ? z.string() : z.object({ text: nested(depth - 1).optional() })
  }
})

describe('the room in a header', () => {
  const NETWORKS = KNOWN_NETWORKS.map(({ network }) => network)
  const quoteOf = (length: number) => () => ({ jws: 'q'.repeat(length), expiresAt: 0 })
  let everywhere: OpenGate
  beforeAll(
    async () => (everywhere = await openGate({ chainIds: KNOWN_NETWORKS.map(({ chainId }) => chainId) })),
  )
  afterAll(() => everywhere.close())
  const asked = (networks: readonly string[], quote?: ReturnType<typeof quoteOf>, url = RESOURCE.url) =>
    challengeOf(
      {
        terms: { amountAtomic: 1000n, networks, requestDigest: 'digest-1', quote },
        resource: { url, method: 'POST' },
      },
      everywhere,
    )
  const sizeOf = ({ header, quote }: Challenge) => header.length + (quote?.length ?? 0)

  it.each([
    ['without a quote', undefined, 7],
    ['with a quote', quoteOf(MIN_QUOTE_ROOM), 4],
  ])('holds every set of networks %s', async (_, quote, most) => {
    for (let set = 1; set < 2 ** NETWORKS.length; set++) {
      const networks = NETWORKS.filter((_network, at) => (set >> at) % 2 === 1)
      if (networks.length > most) continue
      const challenge = await asked(networks, quote)
      expect(challenge.required.accepts.map(({ network }) => network)).toEqual(networks)
      expect(sizeOf(challenge), networks.join()).toBeLessThanOrEqual(MAX_HEAD_BYTES - 600)
      expect(ownOf(challenge.required)).toMatch(/^[\w-]{32}$/)
    }
  })

  it('is given to as many offers as fit, the rest of it to how to call, and none of that is left out for no reason', async () => {
    const offersIn = ({ required }: Challenge) => extractOffersFromPaymentRequired(required as never).length
    expect(offersIn(await asked(NETWORKS.slice(0, 1)))).toBe(1)
    expect(offersIn(await asked(NETWORKS.slice(0, 2)))).toBe(2)
    expect(offersIn(await asked(NETWORKS.slice(0, 7)))).toBe(0)
    expect(offersIn(await asked(NETWORKS.slice(0, 1), quoteOf(MIN_QUOTE_ROOM)))).toBe(1)
    const { required } = await asked(NETWORKS.slice(0, 1))
    expect(required.extensions!['bazaar']).toMatchObject({
      schema: { properties: { input: { properties: { body: { properties: { times: { minimum: 1 } } } } } } },
    })
  })

  it('is not taken up by what a door without headers says', async () => {
    const { required } = await asked(NETWORKS.slice(0, 2), quoteOf(MIN_QUOTE_ROOM), 'mcp://tool/gateway.paid')
    expect(extractOffersFromPaymentRequired(required as never)).toHaveLength(2)
    expect(JSON.stringify(required).length).toBeGreaterThan(2000)
  })

  it.each([2048, 1900])('is left to a presented quote of %i characters', async (length) => {
    const challenge = await asked(NETWORKS.slice(0, 1), quoteOf(length))
    expect(challenge.quote).toHaveLength(length)
    expect(sizeOf(challenge)).toBeLessThanOrEqual(MAX_HEAD_BYTES - 600)
    expect(ownOf(fromHeader(challenge.header))).toBe(ownOf(fromHeader(challenge.brief)))
  })

  it('is too little for a longer one, which its buyer has', async () => {
    const challenge = await asked(NETWORKS.slice(0, 1), quoteOf(2049))
    expect(challenge.quote).toBeUndefined()
    expect(sizeOf(challenge)).toBeLessThanOrEqual(MAX_HEAD_BYTES - 600)
  })

  it.each([40, 80, 140])('holds at an address of %i characters, with how to call', async (length) => {
    const baseUrl = `https://${'gw.'.repeat(50)}`.slice(0, length - 8) + '.example'
    const gate = await openGate({ chainIds: [8453], baseUrl })
    try {
      const call = {
        terms: {
          amountAtomic: 1000n,
          networks: ['eip155:8453'],
          requestDigest: 'digest-1',
          quote: quoteOf(MIN_QUOTE_ROOM),
        },
        resource: { url: `${baseUrl}/v1/tools/web.fetch/testnet`, method: 'POST' },
      }
      const challenge = await challengeOf(call, gate)
      expect(sizeOf(challenge)).toBeLessThanOrEqual(MAX_HEAD_BYTES - 600)
      expect(Object.keys(fromHeader<PaymentRequired>(challenge.header).extensions!)).toContain('bazaar')
    } finally {
      await gate.close()
    }
  })

  it('is shared out anew when a facilitator takes one network more', async () => {
    const kind = (network: string) => ({ x402Version: 2, scheme: 'exact', network })
    const state = {
      id: 'u',
      url: null,
      state: 'ok',
      detail: '',
      age_ms: 0,
      latency_ms: null,
      breaker: 'closed',
    } as const
    let kinds = [kind(NETWORKS[0]!)]
    const gate = await openGate({
      chainIds: KNOWN_NETWORKS.map(({ chainId }) => chainId),
      states: () => [{ ...state, kinds }],
    })
    try {
      const call = { terms: { amountAtomic: 1000n, networks: NETWORKS, requestDigest: 'digest-1' } }
      expect((await challengeOf(call, gate)).required.accepts).toHaveLength(1)
      kinds = NETWORKS.map(kind)
      gate.clock.now += 1000
      const challenge = await challengeOf(call, gate)
      expect(challenge.required.accepts).toHaveLength(7)
      expect(sizeOf(challenge)).toBeLessThanOrEqual(MAX_HEAD_BYTES - 600)
    } finally {
      await gate.close()
    }
  })
})

describe('payment-identifier', () => {
  it('is advertised as the protocol advertises it, and optional', async () => {
    const { required } = await challengeOf()
    const ours = required.extensions!['payment-identifier'] as {
      info: unknown
      schema: Record<string, unknown>
    }
    const { $schema: _dialect, ...schema } = declarePaymentIdentifierExtension(false)
      .schema as unknown as Record<string, unknown>
    expect(ours).toEqual({ info: { required: false }, schema })
    expect(validatePaymentIdentifier(ours)).toEqual({ valid: true })
  })
})

describe('offer-receipt', () => {
  it('signs each way to pay, for as long as it may be taken', async () => {
    const { required } = await challengeOf({ networks: ['eip155:8453', 'eip155:84532'] })
    const offers = extractOffersFromPaymentRequired(required as never)
    expect(offers).toHaveLength(2)
    for (const [at, offer] of offers.entries()) {
      const payload = await verifyOfferSignatureJWS(offer as never, jwk as never)
      expect(payload).toMatchObject({
        version: 1,
        resourceUrl: RESOURCE.url,
        validUntil: Math.floor(open.clock.now / 1000) + 300,
      })
      expect(findAcceptsObjectFromSignedOffer(offer, required.accepts as never)).toEqual(required.accepts[at])
      const { header } = decodeJws(offer.signature)
      expect(header).toEqual({
        alg: 'EdDSA',
        kid: `did:web:127.0.0.1%3A8402#${open.signer.kid}`,
        typ: JWS_TYPES.offer,
      })
    }
  })

  it('signs a receipt that a replay carries unchanged, told apart from an offer by its type', async () => {
    const payment = present(
      await open.sign({
        extensions: { 'payment-identifier': { info: { required: false, id: 'receipt_4e0b9f7c21d84a6f' } } },
      }),
    )
    const work = async () => {
      open.clock.now += 5000
      return { receipt: null }
    }
    const call = callOf({ payment, networks: ['eip155:8453'], work })
    const { settlement } = await open.gate.run(call)
    open.clock.now += 60_000
    expect((await open.gate.run(call)).settlement).toEqual(settlement)
    const { receipt } = (settlement.extensions!['offer-receipt'] as { info: { receipt: never } }).info
    expect(await verifyReceiptSignatureJWS(receipt, jwk as never)).toEqual({
      version: 1,
      network: 'eip155:8453',
      resourceUrl: RESOURCE.url,
      payer: settlement.payer,
      issuedAt: Math.floor((open.clock.now - 60_000) / 1000),
      transaction: settlement.transaction,
      environment: 'production',
    })
    expect(decodeJws((receipt as { signature: string }).signature).header['typ']).toBe(JWS_TYPES.x402Receipt)
  })
})

describe('payments that cannot be taken', () => {
  const state = (over: Partial<UpstreamState>): UpstreamState => ({
    id: 'u',
    url: null,
    state: 'ok',
    detail: '',
    age_ms: 0,
    kinds: [{ x402Version: 2, scheme: 'exact', network: 'eip155:84532' }],
    latency_ms: null,
    breaker: 'closed',
    ...over,
  })
  const over = async (
    options: Parameters<typeof openGate>[0],
    check: (gate: OpenGate) => Promise<void>,
    call: Partial<PaidCall> = {},
  ) => {
    const gate = await openGate(options)
    try {
      const error = await refusalOf(gate.gate.run(callOf(call)))
      expect(error.code).toBe('payments_unavailable')
      expect(paymentFactsOf(error)).toEqual({})
      await check(gate)
    } finally {
      await gate.close()
    }
  }

  it('says so when nobody is to be paid', () => over({ payTo: undefined }, async () => undefined))
  it('says so when no chain is set up', () => over({ chainIds: [8453] }, async () => undefined))
  it.each([
    // The router names the kinds alone that are taken now.
    ['is failing', state({ state: 'failing', kinds: [] })],
    ['has its breaker open', state({ state: 'failing', breaker: 'open', kinds: [] })],
    [
      'takes another network',
      state({ kinds: [{ x402Version: 2, scheme: 'exact', network: 'eip155:8453' }] }),
    ],
    ['takes another scheme', state({ kinds: [{ x402Version: 2, scheme: 'upto', network: 'eip155:84532' }] })],
  ])('says so when the only facilitator %s, and has it looked at again', (_, only) =>
    over({ states: () => [only] }, async ({ world }) => expect(world.routesAsked).toBe(1)),
  )
  it('says so when there is no facilitator', () => over({ states: () => [] }, async () => undefined))

  it.each([
    ['that is alive', state({})],
    ['that was never asked', state({ state: 'unknown', kinds: [] })],
    ['whose last calls failed on another network', state({ state: 'failing', breaker: 'open' })],
  ])('asks for money when there is a facilitator %s', async (_, only) => {
    const gate = await openGate({ states: () => [state({ state: 'failing', kinds: [] }), only] })
    try {
      expect((await challengeOf({}, gate)).required.accepts).toHaveLength(1)
    } finally {
      await gate.close()
    }
  })

  it('takes nothing back of what was paid while the facilitator was alive', async () => {
    let states = [state({})]
    const gate = await openGate({ states: () => states })
    try {
      const payment = present(
        await gate.sign({
          extensions: {
            'payment-identifier': { info: { required: false, id: 'was_alive_4e0b9f7c21d84a6f' } },
          },
        }),
      )
      const first = await gate.gate.run(callOf({ payment }))
      states = [state({ state: 'failing', kinds: [] })]
      gate.clock.now += 2000
      expect((await gate.gate.run(callOf({ payment }))).json).toBe(first.json)
    } finally {
      await gate.close()
    }
  })
})
