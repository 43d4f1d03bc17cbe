// Nothing that a sandbox signs or answers can be mistaken for real money: each signed document says `environment: sandbox`.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { decodeJws, JWS_TYPES } from '../../src/receipts/types.ts'
import { startTestChain, type TestChain } from '../support/chain.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { createRestBuyer } from '../support/rest-buyer.ts'

let chain: TestChain
let gw: TestGateway
beforeAll(async () => {
  chain = await startTestChain(8453)
  gw = await startTestGateway({ env: chain.env })
  gw.upstream.respond(
    (_request, res) => void res.writeHead(200, { 'content-type': 'text/plain' }).end('page'),
  )
})
afterAll(async () => {
  await gw?.close()
  await chain?.close()
})

const COMPACT_JWS = /eyJ[\w-]+\.[\w-]+\.[\w-]{86}/g

/** Signed documents in a text, also those inside base64 and inside other signed documents. */
function documentsIn(text: string): { typ: string; environment: unknown }[] {
  const inside = [...text.matchAll(/[A-Za-z0-9+/]{200,}={0,2}/g)].map(([run]) =>
    Buffer.from(run, 'base64').toString(),
  )
  return [text, ...inside].flatMap((place) =>
    [...place.matchAll(COMPACT_JWS)].map(([jws]) => {
      const { header, payload } = decodeJws(jws)
      return { typ: String(header['typ']), environment: payload['environment'] }
    }),
  )
}

it('each signed document says where it was made, and no answer speaks of revenue', async () => {
  const buyer = createRestBuyer(gw.baseUrl, chain.payers[0]!)
  const seen: string[] = []
  const note = ({ text, headers }: { text: string; headers: Headers }) =>
    void seen.push(text, ...[...headers].map(([, value]) => value))

  const page = { url: gw.url('/page') }
  note(await gw.rest('POST', '/v1/pricing/quote', page))
  note(await gw.rest('POST', '/v1/preflight', page))
  note(await gw.rest('GET', '/v1/pricing'))
  note(await gw.rest('GET', '/facilitator'))
  note(await buyer.send('/v1/tools/web.fetch', page))
  const bought = await buyer.buy('/v1/tools/web.fetch', page)
  expect(bought.status, bought.text).toBe(200)
  note(bought)
  note(await buyer.send('/v1/credits/purchase', {}, { authorization: `Bearer ${gw.operatorKey}` }))
  const read = await gw.rest('GET', `/v1/receipts/${bought.body.receipt.receipt_id}`)
  expect(read.body.claims).toMatchObject({ environment: 'sandbox', revenue: false })
  note(read)

  const { capability, credentialId } = await gw.grant()
  const fetched = await gw.fetch(capability, { url: gw.url('/page'), method: 'GET' })
  expect(fetched.status, fetched.text).toBe(200)
  note(fetched)
  const permit = await gw.rest('POST', '/v1/actions/permits', {
    credential_id: credentialId,
    request: { url: gw.url('/act'), method: 'POST', headers: {}, body: '{}' },
    mandate: {
      purpose: 'test',
      credential_id: credentialId,
      host: 'api.example.com',
      path_prefix: '/',
      methods: ['POST'],
      max_calls: 1,
      expires_at: new Date(Date.now() + 600_000).toISOString(),
    },
  })
  expect(permit.status, permit.text).toBe(201)
  note(permit)

  const target = 'https://shop.example/mcp'
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'brew', arguments: {} } }
  const scored = await gw.rest('POST', '/v1/test', { target, method: 'POST', body: call, badge: true })
  expect(scored.status, scored.text).toBe(200)
  note(scored)
  const picture = await fetch(scored.body.badge.url)
  expect(await picture.text()).toContain('<title>sandbox: pasted mcp sample: ')

  const documents = seen.flatMap(documentsIn).filter(({ typ }) => typ.startsWith('gw-'))
  expect(new Set(documents.map(({ typ }) => typ))).toEqual(
    new Set([
      JWS_TYPES.receipt,
      JWS_TYPES.quote,
      JWS_TYPES.offer,
      JWS_TYPES.evidence,
      JWS_TYPES.permit,
      JWS_TYPES.x402Receipt,
      JWS_TYPES.testReport,
    ]),
  )
  for (const { typ, environment } of documents) expect([typ, environment]).toEqual([typ, 'sandbox'])
  for (const text of seen) expect(text).not.toMatch(/"revenue":\s*true/)
})
