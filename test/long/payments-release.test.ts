// What a buyer bought stays the buyer's, on a real chain: strangers rebuild the payments of v1, Faremeter and stock v2 buyers
// from calldata and try them at every door; the payer's signature gets the result.
import { createPaymentHandler } from '@faremeter/payment-evm/exact'
import { wrap as wrapFaremeter } from '@faremeter/fetch'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import type { Hex, PrivateKeyAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SignInChallenge } from '../../schemas/sign-in.ts'
import type { PaymentRequired, SettleResponse } from '../../schemas/x402.ts'
import { message, rpc } from '../support/a2a-door.ts'
import { createBuyer } from '../support/buyer.ts'
import { asV1, asV2, readPayment } from '../support/calldata.ts'
import { requirementsOf, signPaymentV1, startTestChain, type TestChain, toHeader } from '../support/chain.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { get, post } from '../support/paid-tools.ts'
import { fromHeader } from '../support/rest-buyer.ts'
import { signIn, signInAs, signInHeader } from '../support/sign-in.ts'
import { cites } from '../requirements.ts'

const FETCH = '/v1/tools/web.fetch/testnet'
const PAGE = 'the page that somebody paid for'

let chain: TestChain
let gw: TestGateway
beforeAll(async () => {
  chain = await startTestChain(84532)
  gw = await startTestGateway({ env: chain.env })
  gw.upstream.respond((_, res) => res.writeHead(200, { 'content-type': 'text/plain' }).end(PAGE))
})
afterAll(async () => {
  await gw?.close()
  await chain?.close()
})

interface Bought {
  readonly url: string
  readonly text: string
  readonly transaction: string
}
type Buy = (url: string, account: PrivateKeyAccount) => Promise<Response>

const request = (url: string, headers: Record<string, string> = {}) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify({ url }),
})

const buyWithV1: Buy = async (url, account) => {
  const payment = await signPaymentV1({ account, requirements: requirementsOf(chain) })
  return fetch(gw.baseUrl + FETCH, request(url, { 'x-payment': toHeader(payment) }))
}
const buyWithFaremeter: Buy = (url, account) => {
  const wallet = {
    chain: { id: 84532, name: 'Base Sepolia' },
    address: account.address,
    account: { signTypedData: (data: never) => account.signTypedData(data) },
  }
  return wrapFaremeter(fetch, { handlers: [createPaymentHandler(wallet as never)] })(
    gw.baseUrl + FETCH,
    request(url),
  )
}
const buyWithStockV2: Buy = (url, account) => {
  const client = new x402Client().register('eip155:*', new ExactEvmScheme(account))
  return wrapFetchWithPayment(fetch, client)(gw.baseUrl + FETCH, request(url))
}

const BUYERS: readonly [string, Buy][] = [
  ['v1', buyWithV1],
  ['@faremeter/fetch', buyWithFaremeter],
  ['@x402/fetch', buyWithStockV2],
]

async function buy(how: Buy, index: number): Promise<Bought> {
  const url = gw.url(`/bought-${how.name}-${index}?secret=what-was-asked`)
  const answer = await how(url, chain.payers[index]!)
  const text = await answer.text()
  expect(answer.status, text).toBe(200)
  const { transaction } = fromHeader<SettleResponse>(answer.headers.get('payment-response'))
  return { url, text, transaction }
}

/** Every form in which a stranger can put the payment together: it asks for the same page's price itself. */
async function rebuild(transaction: string, url: string) {
  const payload = await readPayment(chain, transaction)
  const { required } = await post(gw.baseUrl + FETCH, { url })
  const { accepts, resource, extensions } = required as PaymentRequired
  const accepted = accepts[0]!
  const v1 = asV1(payload)
  const v2 = [
    asV2(payload, accepted),
    asV2(payload, accepted, { resource }),
    asV2(payload, accepted, { extensions: extensions! }),
    asV2(payload, accepted, { resource, extensions: extensions! }),
    asV2(payload, requirementsOf(chain)),
  ]
  return {
    payload,
    accepted,
    v1,
    v2,
    headers: [{ 'x-payment': toHeader(v1) }, ...v2.map((one) => ({ 'payment-signature': toHeader(one) }))],
  }
}

const callMcp = async (name: string, input: object, meta: object) =>
  post(
    `${gw.baseUrl}/mcp`,
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input, _meta: meta } },
    { accept: 'application/json' },
  )

describe.each(BUYERS)('a buyer with %s', (_, how) => {
  const index = BUYERS.findIndex(([, other]) => other === how)

  it(
    cites(
      'x402:release:rebuilt',
      'keeps the page, and what page it was, from whoever rebuilds the payment, over REST, MCP and A2A',
    ),
    async () => {
      const { url, text, transaction } = await buy(how, index)
      const fetched = gw.upstream.requests.length
      const { headers, v1, v2, accepted } = await rebuild(transaction, gw.url('/another'))
      const same = await rebuild(transaction, url)
      const told: string[] = []
      const claims = new Set<string>()
      // The stranger guesses the page, or does not.
      for (const [page, shown] of [
        [url, same.headers],
        [gw.url('/another'), headers],
      ] as const)
        for (const header of shown) {
          const copy = await post(gw.baseUrl + FETCH, { url: page }, header)
          expect([copy.status, copy.body.code], copy.text).toEqual([409, 'payment_claimed'])
          claims.add(copy.body.claim_id)
          told.push(copy.text)
          const state = await get(copy.body.payment_url, header)
          told.push(state.text)
          if (state.status === 200)
            expect(state.body).toMatchObject({
              tool: null,
              method: null,
              resource: null,
              receipt: null,
              result: null,
            })
          else expect(state.status).toBe(404)
        }
      expect(claims.size).toBe(1)
      const [claim_id] = claims
      for (const payment of [v1, ...v2, ...same.v2]) {
        const meta = { 'x402/payment': payment }
        told.push((await callMcp('gateway.web.fetch', { url: gw.url('/another'), testnet: true }, meta)).text)
        told.push((await callMcp('gateway.payments.get', { claim_id }, meta)).text)
        const asked = message({ skill: 'web-fetch', input: { url: gw.url('/another'), testnet: true } })
        const metadata = { 'x402.payment.status': 'payment-submitted', 'x402.payment.payload': payment }
        told.push(
          JSON.stringify((await rpc({ url: gw.baseUrl }, 'SendMessage', { message: asked, metadata })).body),
        )
        const paid = { x402Version: payment.x402Version, paymentPayload: payment }
        const settle = await post(`${gw.baseUrl}/settle`, {
          ...paid,
          paymentRequirements: requirementsFor(payment, accepted),
        })
        expect(settle.body).toMatchObject({ success: false })
        expect(settle.text).not.toContain('rcp_')
        told.push(settle.text)
        told.push(
          (
            await post(`${gw.baseUrl}/verify`, {
              ...paid,
              paymentRequirements: requirementsFor(payment, accepted),
            })
          ).text,
        )
      }
      const { receipt, ...result } = JSON.parse(text)
      for (const answer of told) {
        expect(answer).not.toContain(PAGE)
        expect(answer).not.toContain('what-was-asked')
        expect(answer).not.toContain(receipt.receipt_id)
        expect(answer).not.toMatch(/request_digest|result_sha256|web\.fetch"/)
      }
      expect(Object.keys(result)).not.toHaveLength(0)
      expect(gw.upstream.requests).toHaveLength(fetched)
    },
  )

  it(
    cites('x402:release:payer', 'gets the page byte for byte with a fresh signature of its wallet, once'),
    async () => {
      const { text, transaction } = await buy(how, index + 3)
      const { headers } = await rebuild(transaction, gw.url('/another'))
      const payer = chain.payers[index + 3]!
      const copy = await post(gw.baseUrl + FETCH, { url: gw.url('/another') }, headers[0])
      const { sign_in, payment_url, claim_id } = copy.body
      const proof = await signIn(payer, sign_in)
      for (const stranger of [chain.payers[9]!, chain.payers[8]!])
        expect((await get(payment_url, signInHeader(await signIn(stranger, sign_in)))).status).toBe(404)
      const shown = await get(payment_url, signInHeader(proof))
      expect(shown.status, shown.text).toBe(200)
      expect(JSON.stringify(shown.body.result)).toBe(text)
      expect(shown.body).toMatchObject({ state: 'settled', tool: 'gateway.web.fetch', sign_in: null })
      expect(shown.headers.get('cache-control')).toBe('no-store')

      const again = await get(payment_url, signInHeader(proof))
      expect([again.status, again.body.code, again.body.invalid_reason]).toEqual([
        403,
        'sign_in_refused',
        'used',
      ])
      // Over MCP, from the fresh challenge that the refusal brings.
      const over = await callMcp(
        'gateway.payments.get',
        { claim_id },
        { 'x402/sign-in-with-x': await signIn(payer, again.body.sign_in) },
      )
      expect(JSON.stringify(over.body.result.structuredContent.result)).toBe(text)
      expect(gw.log()).not.toContain(proof.signature.slice(2, 40))
    },
  )
})

describe('a signature of the payer', () => {
  it(cites('x402:release:once', 'is good for one domain, one payment and five minutes'), async () => {
    const payer = chain.payers[6]!
    const claims = []
    for (let i = 0; i < 2; i++) {
      const payment = toHeader(await signPaymentV1({ account: payer, requirements: requirementsOf(chain) }))
      const header = { 'x-payment': payment }
      const bought = await post(gw.baseUrl + FETCH, { url: gw.url(`/twice-${i}`) }, header)
      expect(bought.status, bought.text).toBe(200)
      claims.push((await post(gw.baseUrl + FETCH, { url: gw.url(`/twice-${i}`) }, header)).body)
    }
    const [one, other] = claims
    const moved = {
      ...one.sign_in,
      info: {
        ...one.sign_in.info,
        domain: 'evil.example',
        uri: `https://evil.example/v1/payments/${one.claim_id}`,
      },
    }
    const old = Date.now() - 300_000
    const stale = {
      issuedAt: new Date(old).toISOString(),
      expirationTime: new Date(old + 300_000).toISOString(),
    }
    for (const [proof, url, reason] of [
      [await signIn(payer, one.sign_in), other.payment_url, 'other_payment'],
      [await signIn(payer, moved), one.payment_url, 'other_domain'],
      [await signIn(payer, one.sign_in, stale), one.payment_url, 'expired'],
    ] as const) {
      const refused = await get(url, signInHeader(proof))
      expect([refused.status, refused.body.invalid_reason], refused.text).toEqual([403, reason])
      expect(refused.text).not.toContain(PAGE)
      expect(refused.body.sign_in.info.uri).toBe(url)
    }
  })

  it(cites('x402:release:payer', 'of a contract wallet is judged by the contract (ERC-1271)'), async () => {
    const owner = chain.payers[7]!
    const wallet = '0x00000000000000000000000000000000001271aa' as Hex
    await chain.rpc('anvil_setCode', [wallet, walletOf(owner.address)])
    await chain.fund(wallet, 1_000_000n)
    const payment = await signPaymentV1({
      account: owner,
      requirements: requirementsOf(chain),
      overrides: { from: wallet },
    })
    // 65 bytes are v, r and s to the token, and of the wallet's address they are not: wallets send more.
    payment.payload['signature'] = `${String(payment.payload['signature'])}00`
    const header = { 'x-payment': toHeader(payment) }
    const bought = await post(gw.baseUrl + FETCH, { url: gw.url('/wallet') }, header)
    expect(bought.status, bought.text).toBe(200)
    const copy = await post(gw.baseUrl + FETCH, { url: gw.url('/wallet') }, header)
    expect(copy.body).toMatchObject({ code: 'payment_claimed' })
    const forged = await signInAs(wallet, chain.payers[8]!, copy.body.sign_in)
    expect((await get(copy.body.payment_url, signInHeader(forged))).body.invalid_reason).toBe('signature')
    const proof = await signInAs(wallet, owner, copy.body.sign_in)
    const shown = await get(copy.body.payment_url, signInHeader(proof))
    expect(shown.status, shown.text).toBe(200)
    expect(JSON.stringify(shown.body.result)).toBe(bought.text)
  })
})

it(
  cites(
    'x402:release:rebuilt',
    'a copy from the mempool gets nothing of the work or the page that it pays for',
  ),
  async () => {
    const account = chain.payers[8]!
    const header = {
      'x-payment': toHeader(await signPaymentV1({ account, requirements: requirementsOf(chain) })),
    }
    await chain.setAutomine(false)
    try {
      const buying = post(gw.baseUrl + FETCH, { url: gw.url('/in-flight') }, header)
      const pending = async () =>
        ((await chain.rpc('eth_getBlockByNumber', ['pending', false])) as { transactions: string[] })
          .transactions
      await expect.poll(pending).toHaveLength(1)
      const [transaction] = await pending()
      const { headers } = await rebuild(transaction!, gw.url('/in-flight'))
      let challenge: SignInChallenge | undefined
      for (const copied of headers) {
        const copy = await post(gw.baseUrl + FETCH, { url: gw.url('/in-flight') }, copied)
        expect(copy.status, copy.text).toBe(409)
        expect(copy.text).not.toContain(PAGE)
        challenge = copy.body.sign_in as SignInChallenge
      }
      await chain.mine()
      const bought = await buying
      expect([bought.status, bought.text]).toEqual([200, expect.stringContaining(PAGE)])
      // The buyer whose answer was lost was told the same, and what it signs is good now.
      const proof = await signIn(account, challenge!)
      const shown = await get(proof.uri, signInHeader(proof))
      expect(JSON.stringify(shown.body.result)).toBe(bought.text)
    } finally {
      await chain.setAutomine(true)
    }
  },
)

const requirementsFor = (
  { x402Version }: { readonly x402Version: number },
  { amount, ...rest }: PaymentRequired['accepts'][number],
) =>
  x402Version === 2
    ? { ...rest, amount }
    : {
        ...rest,
        network: 'base-sepolia',
        maxAmountRequired: amount,
        resource: `${gw.baseUrl}${FETCH}`,
        description: '',
        mimeType: '',
      }

describe('two replicas', () => {
  let one: TestGateway
  let other: TestGateway
  beforeAll(async () => {
    one = await startTestGateway({ env: chain.env, engine: 'postgres' })
    one.upstream.respond((_, res) => res.writeHead(200, { 'content-type': 'text/plain' }).end(PAGE))
    other = await startTestGateway({
      world: { ...one, close: async () => undefined, env: { ...one.env, GATEWAY_BASE_URL: one.baseUrl } },
    })
  })
  afterAll(async () => {
    await other?.close()
    await one?.close()
  })

  it(
    cites(
      ['x402:release:payer', 'x402:release:once'],
      'take the challenge of one at the other, a signature once between them, and the secrets of either',
    ),
    async () => {
      const account = chain.payers[9]!
      const payment = toHeader(await signPaymentV1({ account, requirements: requirementsOf(chain) }))
      const header = { 'x-payment': payment }
      const bought = await post(one.baseUrl + FETCH, { url: one.url('/replicas') }, header)
      expect(bought.status, bought.text).toBe(200)
      const copy = await post(other.baseUrl + FETCH, { url: one.url('/replicas') }, header)
      const proof = signInHeader(await signIn(account, copy.body.sign_in))
      const path = `/v1/payments/${copy.body.claim_id}`
      const shown = await Promise.all(
        Array.from({ length: 8 }, (_, i) => get((i % 2 === 0 ? one : other).baseUrl + path, proof)),
      )
      const won = shown.filter(({ status }) => status === 200)
      expect(won.map(({ body }) => JSON.stringify(body.result))).toEqual([bought.text])
      for (const { status, body } of shown.filter((answer) => answer.status !== 200))
        expect([status, body.invalid_reason]).toEqual([403, 'used'])

      // The challenge of one replica is the secret of a payment that the other one took.
      const { required } = await post(one.baseUrl + FETCH, { url: one.url('/echoed') })
      const echoing = await createBuyer(account)(required)
      const paid = { 'payment-signature': toHeader(echoing) }
      const page = await post(other.baseUrl + FETCH, { url: one.url('/echoed') }, paid)
      expect(page.status, page.text).toBe(200)
      const again = await post(one.baseUrl + FETCH, { url: one.url('/echoed') }, paid)
      const { body } = await get(one.baseUrl + `/v1/payments/${again.body.claim_id}`, paid)
      expect(JSON.stringify(body.result)).toBe(page.text)
    },
  )
})

/**
 * A wallet of one owner: `isValidSignature` recovers the signer of the first 65 bytes, and answers the magic value when that is
 * the owner. Hand-written, so that the test needs no compiler.
 */
function walletOf(owner: string): Hex {
  const code = [
    // ecrecover(digest, v, r, s) from calldata: digest at 4, bytes at 0x64 (r), 0x84 (s), 0xa4 (v).
    '600435600052', // mstore(0, digest)
    '60a43560f81c602052', // mstore(32, v)
    '606435604052', // mstore(64, r)
    '608435606052', // mstore(96, s)
    '602060806080600060015afa50', // staticcall(gas, 1, 0, 128, 128, 32)
    `73${owner.slice(2).toLowerCase()}`, // push owner
    '60805114', // == mload(128)
    '631626ba7e60e01b02', // * magic
    '60005260206000f3',
  ]
  return `0x${code.join('')}`
}
