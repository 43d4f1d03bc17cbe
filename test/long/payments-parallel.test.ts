// Many copies of one signed payment at the same time, half of them on another route: one run of a handler, one transfer,
// one result. With an identifier the same payer gets that one result as often as it asks.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { requirementsOf, signPayment, startTestChain, type TestChain, toHeader } from '../support/chain.ts'
import { ENGINES, startTestGateway, type TestGateway } from '../support/gateway.ts'
import { unguessableIdentifier } from '../support/identifiers.ts'
import { createPaidTools, get, OTHER, PAID, post, PRICE } from '../support/paid-tools.ts'

let chain: TestChain
beforeAll(async () => {
  chain = await startTestChain(84532)
})
afterAll(() => chain?.close())

describe.each(ENGINES)('copies of one payment (%s)', (engine) => {
  let gw: TestGateway
  /** A second replica on the same database; the same process where the store is embedded. */
  let replica: TestGateway
  const paid = createPaidTools()

  beforeAll(async () => {
    gw = await startTestGateway({ engine, env: chain.env, tools: paid.tools })
    const world = { ...gw, close: async () => undefined }
    replica =
      engine === 'postgres'
        ? await startTestGateway({
            world: { ...world, env: { ...gw.env, GATEWAY_BASE_URL: gw.baseUrl } },
            tools: paid.tools,
          })
        : gw
  })
  afterAll(async () => {
    if (replica !== gw) await replica?.close()
    await gw?.close()
  })

  const measure = async () => ({
    runs: paid.runs.length,
    transfers: await chain.transfersTo(chain.payTo),
    income: await chain.usdcOf(chain.payTo),
  })

  it.each([8, 64])(
    '%i without identifier: one gets the result, the rest a refusal that names the claim',
    async (count) => {
      const { required } = await post(gw.baseUrl + PAID, { text: 'unpaid' })
      const payload = await signPayment({
        account: chain.payers[count % 8]!,
        requirements: requirementsOf(chain),
        // The secret that shows whose the result is; the rest of what clients echo is of one address alone.
        extensions: { 'offer-receipt': required!.extensions!['offer-receipt'] },
      })
      const header = { 'payment-signature': toHeader(payload) }
      const before = await measure()
      const answers = await Promise.all(
        Array.from({ length: count }, (_, i) =>
          post(
            (i % 4 < 2 ? gw : replica).baseUrl + (i % 2 === 0 ? PAID : OTHER),
            { text: `copy ${i}` },
            header,
          ),
        ),
      )
      const won = answers.filter(({ status }) => status === 200)
      expect(won).toHaveLength(1)
      expect(await measure()).toEqual({
        runs: before.runs + 1,
        transfers: before.transfers + 1,
        income: before.income + PRICE,
      })
      expect(won[0]!.body.text).toBe(paid.runs.at(-1))
      const claims = new Set<string>()
      for (const { status, body } of answers.filter((answer) => answer !== won[0])) {
        expect([status, body.code], body.detail).toEqual([409, 'payment_claimed'])
        claims.add(body.claim_id)
      }
      expect(claims.size).toBe(1)
      const read = await get(`${gw.baseUrl}/v1/payments/${[...claims][0]}`, header)
      expect(read.body).toMatchObject({ state: 'settled', result: won[0]!.body })
    },
  )

  it.each([8, 64])(
    '%i with an identifier: the same bytes for the same request, a conflict for another',
    async (count) => {
      const payload = await signPayment({
        account: chain.payers[count % 8]!,
        requirements: requirementsOf(chain),
        extensions: {
          'payment-identifier': {
            info: { required: false, id: `parallel_${engine}_${unguessableIdentifier()}` },
            schema: {},
          },
        },
      })
      const header = { 'payment-signature': toHeader(payload) }
      const before = await measure()
      const answers = await Promise.all(
        Array.from({ length: count }, (_, i) =>
          post(
            (i % 4 < 2 ? gw : replica).baseUrl + (i % 2 === 0 ? PAID : OTHER),
            { text: 'the same' },
            header,
          ),
        ),
      )
      expect(await measure()).toEqual({
        runs: before.runs + 1,
        transfers: before.transfers + 1,
        income: before.income + PRICE,
      })
      const won = answers.filter(({ status }) => status === 200)
      expect(won.length).toBe(count / 2)
      expect(new Set(won.map(({ text }) => text)).size).toBe(1)
      expect(new Set(won.map(({ headers }) => headers.get('payment-response'))).size).toBe(1)
      for (const { status, body } of answers.filter((answer) => answer.status !== 200))
        expect([status, body.code], body.detail).toEqual([409, 'payment_identifier_conflict'])
    },
  )

  it('different payments at the same time do not disturb each other', async () => {
    const before = await measure()
    const payloads = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        signPayment({ account: chain.payers[i % 8]!, requirements: requirementsOf(chain) }),
      ),
    )
    const answers = await Promise.all(
      payloads.map((payload, i) =>
        post(gw.baseUrl + PAID, { text: `own ${i}` }, { 'payment-signature': toHeader(payload) }),
      ),
    )
    expect(answers.map(({ status, body }) => `${status} ${body.text}`)).toEqual(
      payloads.map((_, i) => `200 own ${i}`),
    )
    expect(await measure()).toEqual({
      runs: before.runs + 12,
      transfers: before.transfers + 12,
      income: before.income + 12n * PRICE,
    })
  })
})
