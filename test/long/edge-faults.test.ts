// What a buyer is told when the merchant's answer cannot be had, who pays for it, and that it never learns whose account it is.
import { connect } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { EDGE_NAME, type EdgeAnswer, type EdgeGateway, startEdgeGateway } from '../support/edge.ts'
import { UPSTREAM_HOST } from '../support/gateway.ts'

let edge: EdgeGateway
afterEach(() => edge?.close())

const start = async (env: Readonly<Record<string, string>> = {}) =>
  (edge = await startEdgeGateway({ env: { GATEWAY_SERVICE_KEY_CREDITS: '10', ...env } }))

/** Nothing of the merchant's account, and no talk of a credential: there is none. */
function expectDiscreet({ body, headers }: EdgeAnswer): void {
  const text = body.toString() + JSON.stringify(headers)
  expect(text).not.toMatch(/acct_|"balance"|credential|max_bytes|capability/)
}

const attemptOf = async (id: string) => (await edge.rest('GET', `/v1/egress/attempts/${id}`)).body

describe('credits of the merchant', () => {
  it('run out: 402 without its account, its balance or an offer in its name, and nothing is sent', async () => {
    await start({ GATEWAY_SERVICE_KEY_CREDITS: '1' })
    expect((await edge.send(`${edge.merchant}/v1`)).status).toBe(200)
    const answer = await edge.send(`${edge.merchant}/v1`)
    expect([answer.status, answer.problem.code]).toEqual([402, 'credits_required'])
    expectDiscreet(answer)
    for (const name of ['accepts', 'offer', 'top_up', 'credits'])
      expect(answer.problem).not.toHaveProperty(name)
    // How a buyer tells it from a 402 of the merchant.
    for (const name of ['x-gateway-attempt', 'payment-required']) expect(answer.header(name)).toBeUndefined()
    expect(edge.upstream.requests).toHaveLength(1)
  })

  it('are spent once for each call, by many calls at the same time', async () => {
    await start({ GATEWAY_SERVICE_KEY_CREDITS: '7' })
    const answers = await Promise.all(Array.from({ length: 20 }, () => edge.send(`${edge.merchant}/v1`)))
    expect(answers.map(({ status }) => status).sort()).toEqual([
      ...Array(7).fill(200),
      ...Array(13).fill(402),
    ])
    expect(edge.upstream.requests).toHaveLength(7)
    expect(await edge.balance()).toBe(0)
    const { ledger } = (await edge.rest('GET', '/v1/credits')).body
    expect(ledger.filter(({ kind }: { kind: string }) => kind === 'edge')).toHaveLength(7)
  })
})

describe('nothing was sent', () => {
  it.each<[string, readonly string[]]>([
    ['a private address', ['10.1.2.3']],
    ['one private address among public ones', ['93.184.215.14', '10.1.2.3']],
    ['the metadata service', ['169.254.169.254']],
  ])('and the credit is back where the consenting host leads to %s', async (_, addresses) => {
    await start()
    edge.dns.set(UPSTREAM_HOST, { A: addresses, ttl: 0 })
    const answer = await edge.send(`${edge.merchant}/v1`)
    expect([answer.status, answer.problem.code]).toEqual([403, 'target_blocked'])
    expectDiscreet(answer)
    expect(await attemptOf(answer.problem.attempt_id)).toMatchObject({
      state: 'refunded',
      outcome: 'dns_refused',
    })
    expect(await edge.balance()).toBe(10)
  })

  it.each<[string, () => Promise<unknown> | void]>([
    ['has no address', () => edge.dns.set(UPSTREAM_HOST, { ttl: 0 })],
    ['is not resolved', () => edge.dns.set(UPSTREAM_HOST, { rcode: 2 })],
    ['takes no connection', () => edge.upstream.close()],
  ])('and the credit is back where the host %s', async (_, breakIt) => {
    await start()
    await breakIt()
    const answer = await edge.send(`${edge.merchant}/v1`, { headers: [['Idempotency-Key', 'mine']] })
    expect([answer.status, answer.problem.code]).toEqual([503, 'upstream_unreachable'])
    expectDiscreet(answer)
    expect(await attemptOf(answer.problem.attempt_id)).toMatchObject({ state: 'refunded' })
    expect(await edge.balance()).toBe(10)
  })

  it('and nothing is charged without a record, and after it was taken away', async () => {
    await start()
    expect((await edge.send(`${edge.merchant}/v1`)).status).toBe(200)
    await edge.publish()
    const answer = await edge.send(`${edge.merchant}/v1`)
    expect([answer.status, answer.problem.code, answer.problem.refusal]).toEqual([
      403,
      'edge_not_authorized',
      'absent',
    ])
    expect(edge.upstream.requests).toHaveLength(1)
    expect(await edge.balance()).toBe(9)
  })

  it.each<[string, string, string]>([
    ['other paths', 'paths=/v2', 'path_not_covered'],
    ['other methods', 'methods=GET', 'method_not_covered'],
  ])('and nothing is charged where the record is for %s', async (_, terms, refusal) => {
    await start()
    await edge.publish(`${edge.record.replace(/; (?:paths|methods)=.*$/, '')}; ${terms}`)
    const answer = await edge.send(`${edge.merchant}/v1`)
    expect([answer.status, answer.problem.refusal]).toEqual([403, refusal])
    expect(edge.upstream.requests).toHaveLength(0)
    expect(await edge.balance()).toBe(10)
  })

  it('and nothing is charged while a body does not arrive whole', async () => {
    await start()
    const socket = connect(edge.gateway.port, '127.0.0.1')
    socket.on('error', () => {})
    socket.end(`POST ${edge.merchant}/v1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc`)
    await new Promise((resolve) => socket.on('close', resolve).resume())
    expect(edge.upstream.requests).toHaveLength(0)
    expect(await edge.balance()).toBe(10)
  })
})

describe('the answer is lost', () => {
  it('is charged, ambiguous, and names the key to ask the merchant with', async () => {
    await start()
    edge.upstream.respond((_request, res) => void res.destroy())
    const own = await edge.send(`${edge.merchant}/v1`, { headers: [['Idempotency-Key', 'mine']] })
    const added = await edge.send(`${edge.merchant}/v1`)
    const sent = edge.upstream.requests.map(
      ({ headers }) => headers.find(([name]) => name === 'idempotency-key')![1],
    )
    expect([own, added].map(({ problem }) => problem.idempotency_key)).toEqual(sent)
    for (const answer of [own, added]) {
      expect([answer.status, answer.problem.code]).toEqual([503, 'outcome_ambiguous'])
      expectDiscreet(answer)
      expect(answer.problem.receipt.jws).toMatch(/^eyJ/)
      expect(await attemptOf(answer.problem.attempt_id)).toMatchObject({ state: 'ambiguous' })
    }
    expect(await edge.balance()).toBe(8)
    expect(edge.upstream.requests).toHaveLength(2)
  })

  it('to a buyer that went away: the merchant is answered for all the same', async () => {
    await start()
    const arrived = Promise.withResolvers<() => void>()
    edge.upstream.respond((_request, res) => arrived.resolve(() => res.end('done')))
    const socket = connect(edge.gateway.port, '127.0.0.1')
    socket.write(`POST ${edge.merchant}/v1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n`)
    const answer = await arrived.promise
    socket.destroy()
    answer()
    await vi.waitFor(
      async () => {
        const { attempts } = (await edge.rest('GET', '/v1/egress/attempts')).body
        expect(attempts).toMatchObject([
          { kind: 'edge', state: 'settled', outcome: 'delivered', upstream_status: 200 },
        ])
      },
      { timeout: 60_000 },
    )
    expect(await edge.balance()).toBe(9)
  })

  it('not while the gateway shuts down: what runs is finished', async () => {
    await start()
    const arrived = Promise.withResolvers<() => void>()
    edge.upstream.respond((_request, res) => arrived.resolve(() => res.end('done')))
    const sending = edge.send(`${edge.merchant}/v1`)
    const answer = await arrived.promise
    const closing = edge.gateway.close()
    answer()
    expect((await sending).body.toString()).toBe('done')
    await closing
  })
})

describe('too many calls', () => {
  it('are refused before DNS is asked', async () => {
    await start({ GATEWAY_RATE_LIMIT: '3' })
    for (let call = 0; call < 3; call++) expect((await edge.send(`${edge.merchant}/v1`)).status).toBe(200)
    const asked = edge.dns.queries.length
    const answer = await edge.send(`${edge.merchant}/v1`)
    expect([answer.status, answer.problem.code]).toEqual([429, 'rate_limited'])
    expect(answer.header('ratelimit')).toMatch(/r=0/)
    expect(Number(answer.header('retry-after'))).toBeGreaterThan(0)
    expect(edge.dns.queries.length).toBe(asked)
  })
})

describe('a circle', () => {
  it('ends where it comes back', async () => {
    await start()
    const answer = await edge.send(`${edge.merchant}/v1`, { headers: [['Via', `1.1 ${EDGE_NAME}`]] })
    expect([answer.status, answer.problem.code]).toEqual([403, 'target_blocked'])
    expect(edge.upstream.requests).toHaveLength(0)
  })
})
