// The signing key is rotated under load and then revoked: quotes, permits, receipts and stored results from before go on as
// promised, on every replica.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { JWS_TYPES, type KeyDocument, verifyJws } from '../../src/receipts/types.ts'
import { createActionsClient } from '../support/actions.ts'
import { startTestChain, type TestChain } from '../support/chain.ts'
import { createWorld, ENGINES, startTestGateway, type TestGateway, type World } from '../support/gateway.ts'
import { createRestBuyer } from '../support/rest-buyer.ts'

const FETCH = '/v1/tools/web.fetch/testnet'

let chain: TestChain
beforeAll(async () => {
  chain = await startTestChain(84532)
})
afterAll(() => chain.close())

describe.each(ENGINES)('the signing key (%s)', (engine) => {
  let world: World
  let gateways: TestGateway[]
  let gw: TestGateway
  let other: TestGateway
  beforeAll(async () => {
    world = await createWorld({ engine, env: { ...chain.env, GATEWAY_SERVICE_KEY_CREDITS: '10000' } })
    world.upstream.respond((_request, res) => res.writeHead(200, { 'content-type': 'text/plain' }).end('ok'))
    gateways = [await startTestGateway({ world })]
    if (engine === 'postgres') gateways.push(await startTestGateway({ world }))
    gw = gateways[0]!
    other = gateways.at(-1)!
  })
  afterAll(async () => {
    await Promise.all(gateways.map((gateway) => gateway.close()))
    await world.close()
  })

  const keyDocument = async (): Promise<KeyDocument> =>
    (await gw.rest('GET', '/.well-known/gateway-egress-key.json', undefined, '')).body
  const verdictOf = async (jws: string) => {
    const verdict = await verifyJws(jws, await keyDocument(), JWS_TYPES.receipt)
    return verdict.ok ? 'ok' : verdict.reason
  }
  const kidOf = (jws: string): string =>
    JSON.parse(Buffer.from(jws.split('.')[0]!, 'base64url').toString()).kid
  const signing = async () => {
    const { keys } = (await gw.rest('GET', '/v1/signing-keys')).body
    return keys.find(({ state }: { state: string }) => state === 'signing').kid as string
  }
  const cardKid = async (gateway: TestGateway): Promise<string> => {
    const card = (await gateway.rest('GET', '/.well-known/agent-card.json', undefined, '')).body
    return JSON.parse(Buffer.from(card.signatures[0].protected, 'base64url').toString()).kid
  }

  /** A purchase on one gateway, and the way to its stored result on another one. */
  async function buyPage(payer: number, path: string) {
    const buyer = createRestBuyer(gw.baseUrl, chain.payers[payer]!)
    const body = { url: gw.url(path) }
    const payment = await buyer.sign(await buyer.send(FETCH, body))
    const answer = await buyer.send(FETCH, body, payment)
    expect(answer.status, answer.text).toBe(200)
    const copy = await createRestBuyer(other.baseUrl, chain.payers[payer]!).send(FETCH, body, payment)
    expect(copy.body.code).toBe('payment_claimed')
    return {
      receipt: answer.body.receipt as { receipt_id: string; jws: string },
      async stored(from: TestGateway) {
        const url = `${from.baseUrl}/v1/payments/${copy.body.claim_id}`
        return (await fetch(url, { headers: payment })).json() as Promise<{
          state: string
          result: { receipt: { jws: string } } | null
          receipt: { jws: string } | null
        }>
      },
    }
  }

  it('rotates under load: nothing is refused, and what was handed out before still counts', async () => {
    const first = await signing()
    const actions = await createActionsClient(gw, gw.url)
    const [quoted, prepared] = await Promise.all([buyPage(0, '/before'), actions.prepare()])
    const asker = createRestBuyer(gw.baseUrl, chain.payers[1]!)
    const body = { url: gw.url('/quoted') }
    const challenge = await asker.send(FETCH, body)
    const quote = challenge.headers.get('x-gateway-quote')!
    expect(kidOf(quote)).toBe(first)

    const { capability } = await gw.grant()
    const load = { isOver: false }
    const receipts: string[] = []
    const traffic = [gw, other].map(async (gateway) => {
      const statuses = new Set<number>()
      do {
        const answer = await gateway.fetch(capability, { url: gateway.url('/load'), method: 'GET' })
        statuses.add(answer.status)
        receipts.push(answer.body.receipt.jws)
      } while (!load.isOver)
      return [...statuses]
    })
    const kids = () => receipts.map(kidOf)
    // A rotation may be done before the first answer is there.
    await vi.waitFor(() => expect(kids()).toContain(first), 60_000)
    const rotated = await gw.rest('POST', '/v1/signing-keys/rotate', {})
    const again = await other.rest('POST', '/v1/signing-keys/rotate', {})
    await vi.waitFor(
      async () => expect([await signing(), await cardKid(other)]).toEqual([again.body.kid, again.body.kid]),
      60_000,
    )
    await vi.waitFor(() => expect(kids()).toContain(again.body.kid), 60_000)
    load.isOver = true
    expect((await Promise.all(traffic)).flat()).toEqual([200, 200])
    expect([rotated.status, again.status]).toEqual([200, 200])
    expect(rotated.body.retired).toEqual([first])
    expect(new Set(kids()).size).toBeGreaterThan(1)
    const known = await keyDocument()
    for (const jws of [...receipts, quoted.receipt.jws])
      expect(await verifyJws(jws, known, JWS_TYPES.receipt)).toMatchObject({ ok: true })

    // The other replica takes the quote too; it is paid where the payment names the address.
    const seen = await createRestBuyer(other.baseUrl, chain.payers[1]!).send(FETCH, body, {
      'x-gateway-quote': quote,
    })
    expect([seen.status, seen.headers.get('x-gateway-quote')]).toEqual([402, quote])
    const paid = await asker.send(FETCH, body, {
      ...(await asker.sign(challenge)),
      'x-gateway-quote': quote,
    })
    expect(paid.status, paid.text).toBe(200)
    expect((await actions.execute(prepared.permit)).status).toBe(200)
    for (const gateway of gateways)
      expect((await quoted.stored(gateway)).result?.receipt).toEqual(quoted.receipt)
  })

  it('revokes a stolen key: nothing of it verifies, and every stored result is still its buyer’s', async () => {
    const bought = await buyPage(2, '/bought')
    const stolen = await signing()
    expect(kidOf(bought.receipt.jws)).toBe(stolen)
    const challenge = await createRestBuyer(gw.baseUrl, chain.payers[3]!).send(FETCH, { url: gw.url('/q') })
    const quote = challenge.headers.get('x-gateway-quote')!
    const revoked = await other.rest('POST', `/v1/signing-keys/${stolen}/revoke`, { reason: 'stolen' })
    expect(revoked.body).toMatchObject({ kid: stolen, state: 'revoked', reason: 'stolen' })
    await vi.waitFor(async () => expect(await signing()).not.toBe(stolen), 60_000)

    expect(await verdictOf(bought.receipt.jws)).toBe('key_revoked')
    const { revoked_keys } = await keyDocument()
    expect(revoked_keys).toMatchObject([{ kid: stolen, reason: 'stolen' }])
    for (const gateway of gateways) {
      // A replica may take another key since the stolen one is retired, and read that it is revoked a refresh later.
      const { result, receipt } = await vi.waitFor(async () => {
        const stored = await bought.stored(gateway)
        expect(await verdictOf(stored.receipt!.jws)).toBe('ok')
        return stored
      }, 60_000)
      expect(receipt).toEqual(result!.receipt)
      const path = `/v1/receipts/${bought.receipt.receipt_id}`
      const shown = (await gateway.rest('GET', path, undefined, '')).body
      expect(shown.revoked_key).toMatchObject({ kid: stolen, reason: 'stolen' })
      expect(await verdictOf(shown.jws)).toBe('ok')
      const refused = await createRestBuyer(gateway.baseUrl, chain.payers[3]!).send(
        FETCH,
        { url: gw.url('/q') },
        { 'x-gateway-quote': quote },
      )
      expect([refused.status, refused.body.code]).toEqual([400, 'quote_invalid'])
    }
    const did = (await gw.rest('GET', '/.well-known/did.json', undefined, '')).text
    expect(did).not.toContain(stolen)
  })

  it('is for administrators alone', async () => {
    const made = await gw.rest('POST', '/v1/keys', { account: 'new', name: 'team' })
    const { key } = made.body
    for (const [method, path, body] of [
      ['GET', '/v1/signing-keys', undefined],
      ['POST', '/v1/signing-keys/rotate', {}],
      ['POST', `/v1/signing-keys/${await signing()}/revoke`, { reason: 'mine' }],
    ] as const)
      expect((await gw.rest(method, path, body, key)).body.code).toBe('admin_required')
  })
})

describe('an installation of an earlier release', () => {
  it('derives from its signing key as before, and still releases what it stored after that key is revoked', async () => {
    const world = await createWorld({ env: chain.env })
    world.upstream.respond((_request, res) => res.writeHead(200, { 'content-type': 'text/plain' }).end('ok'))
    const data = (name: string) => join(world.env['GATEWAY_DATA_DIR']!, name)
    let gw = await startTestGateway({ world })
    const restart = async (prepare: () => Promise<void>) => {
      await gw.close()
      await prepare()
      gw = await startTestGateway({ world })
    }
    // As it was: one key file, and no note of a second one.
    await restart(async () => {
      await rm(data('derivation.jwk'))
      await rm(data('derivation-key-check.json'))
    })
    const buyer = createRestBuyer(gw.baseUrl, chain.payers[4]!)
    const body = { url: gw.url('/old') }
    const payment = await buyer.sign(await buyer.send(FETCH, body))
    expect((await buyer.send(FETCH, body, payment)).status).toBe(200)
    const claim = (await buyer.send(FETCH, body, payment)).body.claim_id as string

    await restart(() => rm(data('derivation.jwk')))
    const { kid } = (await gw.rest('GET', '/v1/signing-keys')).body.keys[0]
    await gw.rest('POST', `/v1/signing-keys/${kid}/revoke`, { reason: 'stolen' })
    await restart(async () => {})
    const shown = await fetch(`${gw.baseUrl}/v1/payments/${claim}`, { headers: payment })
    expect(await shown.json()).toMatchObject({
      state: 'settled',
      result: { receipt: { jws: expect.any(String) } },
    })
    await gw.close()
    await world.close()
  })
})
