// The paid door before pages that are none: a real payment of a real chain, real HTTPS, and for each reason the answer says why, and the
// payment stays its payer's.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Coverage } from '../../schemas/sources.ts'
import { POOR_DETAILS, POOR_REASONS, type PoorReason } from '../../src/outcomes/extract/poor/reasons.ts'
import { startTestChain, type TestChain } from '../support/chain.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { readLabelledPages } from '../support/poor-pages.ts'
import { createRestBuyer } from '../support/rest-buyer.ts'

const pages = new Map(readLabelledPages().map((page) => [`/${page.name}`, page]))
const firstOf = (reason: string) => [...pages.values()].find(({ label }) => label === reason)!

let chain: TestChain
let gw: TestGateway
beforeAll(async () => {
  chain = await startTestChain(8453)
  gw = await startTestGateway({ env: chain.env })
  gw.upstream.respond(({ target }, res) => {
    const page = pages.get(target)
    if (page) res.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page.html)
    else res.writeHead(404).end()
  })
})
afterAll(async () => {
  await gw?.close()
  await chain?.close()
})

const payer = () => chain.payers[0]!
const money = async () => [
  await chain.usdcOf(payer().address),
  await chain.usdcOf(chain.payTo),
  await chain.transfersTo(chain.payTo),
]

/** Pays for three sources at once, as many as a request has. */
async function buy(capability: string, reasons: readonly string[]) {
  const { send, sign } = createRestBuyer(gw.baseUrl, payer())
  const input = { capability, urls: reasons.map((reason) => gw.url(`/${firstOf(reason).name}`)) }
  const challenge = await send('/v1/execute', input)
  expect(challenge.status, challenge.text).toBe(402)
  return send('/v1/execute', input, await sign(challenge))
}

const threes = POOR_REASONS.flatMap((_, at) => (at % 3 === 0 ? [POOR_REASONS.slice(at, at + 3)] : []))
const asked: [string, readonly PoorReason[]][] = [
  ...threes.map((three): [string, readonly PoorReason[]] => ['web-extraction', three]),
  ['product-offers', ['captcha', 'soft_404', 'empty_listing']],
  ['feed-digest', ['captcha', 'login_wall', 'server_error']],
]

describe('a page that is none', () => {
  it.each(asked)('%s: %j', async (capability, reasons) => {
    const before = await money()
    const { status, headers, body } = await buy(capability, reasons)
    expect({ status, code: body.code }).toEqual({ status: 502, code: 'sources_unusable' })
    const { sources } = Coverage.parse(body.coverage)
    expect(sources.map(({ reason }) => reason)).toEqual(reasons)
    expect(sources.map(({ attempts }) => attempts[0]!.detail)).toEqual(
      reasons.map((reason) => POOR_DETAILS[reason]),
    )
    expect(headers.get('payment-response')).toBeNull()
    expect(await money()).toEqual(before)
  })

  it('does not take an ordinary page with it, which is sold with how it was made', async () => {
    const { status, body } = await buy('web-extraction', ['captcha', 'ordinary'])
    expect(status, JSON.stringify(body)).toBe(200)
    expect(body.result.coverage).toMatchObject({ usable: 1, failed: 1 })
    const [document] = body.result.documents
    expect(document.quality).toMatchObject({ mode: document.mode, words: document.document.word_count })
  })
})
