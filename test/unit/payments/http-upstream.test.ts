import { createServer } from 'node:http'
import { createServer as createTcpServer, type AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ServerResponse } from 'node:http'
import { toRequestBody } from '../../../src/payments/adapters/facilitator-wire.ts'
import { createHttpUpstream, nameFacilitators } from '../../../src/payments/adapters/http-upstream.ts'
import type { Payment, Upstream, UpstreamSettlement } from '../../../src/payments/ports.ts'
import { Secret } from '../../../src/lib/secret.ts'
import { cites } from '../../requirements.ts'
import { createTestCa } from '../../support/ca.ts'
import {
  type FacilitatorBehaviour,
  type FacilitatorServer,
  reply,
  startFacilitator,
} from '../../support/facilitator-server.ts'
import {
  exactKind,
  hash,
  makeForeignPayment,
  makePayment,
  networks,
  requirements,
  sepolia,
  SOLANA,
} from '../../support/payment-fakes.ts'

const TX = hash('a')
const NETWORK = sepolia.network
const success = { success: true, transaction: TX, network: NETWORK }
const refusal = { success: false, errorReason: 'insufficient_funds', transaction: '', network: NETWORK }
const unknown = (reason: string, transaction?: string): UpstreamSettlement => ({
  state: 'unknown',
  reason,
  ...(transaction !== undefined && { transaction }),
})

let facilitator: FacilitatorServer
let upstream: Upstream
beforeAll(async () => {
  facilitator = await startFacilitator()
  upstream = createHttpUpstream({ url: facilitator.url, networks, now: Date.now })
})
afterAll(() => facilitator.close())
beforeEach(() => void facilitator.calls.splice(0))

const request = (payment: Payment = makePayment(Date.now()), deadlineMs = 5_000) => ({
  payment,
  requirements: { ...requirements, network: payment.network },
  deadlineMs,
})

describe('an answer to a settlement', () => {
  const cases: [string, FacilitatorBehaviour, UpstreamSettlement][] = [
    ['success', reply(success), { state: 'settled', transaction: TX }],
    [
      'success that bears witness of itself',
      reply({ ...success, isWitnessed: true }),
      { state: 'settled', transaction: TX },
    ],
    [
      'success with the payer',
      reply({ ...success, payer: '0x00000000000000000000000000000000000000AA' }),
      { state: 'settled', transaction: TX, payer: '0x00000000000000000000000000000000000000AA' },
    ],
    [
      'success under the v1 name of the network',
      reply({ ...success, network: 'base-sepolia' }),
      { state: 'settled', transaction: TX },
    ],
    [
      'success that names no network',
      reply({ success: true, transaction: TX }),
      { state: 'settled', transaction: TX },
    ],
    [
      'upper-case transaction',
      reply({ ...success, transaction: `0x${'A'.repeat(64)}` }),
      { state: 'settled', transaction: TX },
    ],
    ['success without a transaction', reply({ ...success, transaction: '' }), unknown('upstream_malformed')],
    [
      'success with half a transaction',
      reply({ ...success, transaction: TX.slice(0, 65) }),
      unknown('upstream_malformed'),
    ],
    [
      'success on another network',
      reply({ ...success, network: 'eip155:8453' }),
      unknown('upstream_other_payment', TX),
    ],
    [
      'success of another payer',
      reply({ ...success, payer: hash('b') }),
      unknown('upstream_other_payment', TX),
    ],
    ['success with status 402', reply(success, 402), unknown('upstream_malformed', TX)],
    ['success with status 500', reply(success, 500), unknown('upstream_failed', TX)],
    ['success as text', reply({ ...success, success: 'true' }), unknown('upstream_malformed')],
    ['refusal', reply(refusal), { state: 'failed', reason: 'insufficient_funds' }],
    ['refusal with status 400', reply(refusal, 400), { state: 'failed', reason: 'insufficient_funds' }],
    ['refusal with status 502', reply(refusal, 502), unknown('upstream_failed')],
    [
      'refusal in words of its own',
      reply({ ...refusal, errorReason: 'Key 0xdeadbeef rejected!' }),
      { state: 'failed', reason: 'unexpected_settle_error' },
    ],
    [
      'pending with a transaction',
      reply({ ...refusal, errorReason: 'settlement_pending', transaction: TX }),
      { state: 'pending', transaction: TX },
    ],
    [
      'pending without one',
      reply({ ...refusal, errorReason: 'settlement_pending' }),
      unknown('settlement_pending'),
    ],
    ['status 402 without a word', reply('{}', 402), unknown('upstream_malformed')],
    ['status 404 as a page', reply('<html>', 404), unknown('upstream_malformed')],
    ['garbage', reply('{"success":tru'), unknown('upstream_malformed')],
    ['an array', reply([success]), unknown('upstream_malformed')],
    ['too deep', reply(`${'['.repeat(64)}${']'.repeat(64)}`), unknown('upstream_malformed')],
    [
      'a body of 65 KiB',
      reply({ ...success, padding: 'x'.repeat(65 * 1024) }),
      unknown('upstream_too_large'),
    ],
    ['an encoded body', reply(success, 200, { 'content-encoding': 'gzip' }), unknown('upstream_encoded')],
    ['nothing and a closed connection', (_call, res) => void res.destroy(), unknown('upstream_reset')],
    [
      'half an answer',
      (_call, res) => {
        res.writeHead(200, { 'content-length': '1000' }).write('{"success":true')
        setImmediate(() => res.destroy())
      },
      unknown('upstream_reset'),
    ],
  ]
  it.each(cases)('%s is judged as it must be', async (_name, behaviour, expected) => {
    facilitator.onSettle = behaviour
    expect(await upstream.settle(request())).toEqual(expected)
    expect(facilitator.to('/settle')).toHaveLength(1)
  })

  it('is unknown when it does not come in time', async () => {
    let held: ServerResponse | undefined
    facilitator.onSettle = (_call, res) => void (held = res)
    expect(await upstream.settle(request(undefined, 200))).toEqual(unknown('upstream_timeout'))
    held!.destroy()
  })

  it('is not fetched from where a redirect points', async () => {
    facilitator.onSettle = reply('', 307, { location: `${facilitator.url}/elsewhere/settle` })
    expect(await upstream.settle(request())).toEqual(unknown('upstream_malformed'))
    expect(facilitator.calls.map(({ path }) => path)).toEqual(['/settle'])
  })

  it('is a transaction of Solana where the payment is', async () => {
    const transaction = '5'.repeat(88)
    facilitator.onSettle = reply({ success: true, transaction, network: SOLANA, payer: 'Payer1' })
    expect(await upstream.settle(request(makeForeignPayment(Date.now())))).toEqual({
      state: 'settled',
      transaction,
      payer: 'Payer1',
    })
    facilitator.onSettle = reply({ success: true, transaction: TX, network: SOLANA })
    expect(await upstream.settle(request(makeForeignPayment(Date.now())))).toEqual(
      unknown('upstream_malformed'),
    )
  })
})

describe('before a byte of a settlement left', () => {
  it('nobody listening is a refusal', async () => {
    const server = createTcpServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    await new Promise((resolve) => server.close(resolve))
    const dead = createHttpUpstream({ url: `http://127.0.0.1:${port}`, networks, now: Date.now })
    expect(await dead.settle(request())).toEqual({ state: 'refused', reason: 'upstream_unreachable' })
    await expect(dead.supported(1_000)).rejects.toThrow('unsent')
  })

  it('a certificate that is not for this host is a refusal, and nothing is sent', async () => {
    const ca = await createTestCa()
    const { createServer: createTlsServer } = await import('node:https')
    let requests = 0
    const server = createTlsServer(await ca.leaf('other.example'), (_req, res) => {
      requests++
      res.end()
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    const url = `https://localhost:${port}`
    const wrong = createHttpUpstream({ url, networks, ca: [ca.pem], now: Date.now })
    expect(await wrong.settle(request())).toEqual({ state: 'refused', reason: 'upstream_unreachable' })
    expect(requests).toBe(0)
    server.setSecureContext(await ca.leaf('localhost'))
    expect(await wrong.settle(request())).toEqual(unknown('upstream_malformed'))
    expect(requests).toBe(1)
    await new Promise((resolve) => server.close(resolve))
  })

  it('a host that accepts and never speaks TLS is a refusal when the time is over', async () => {
    const server = createTcpServer(() => {}).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    const silent = createHttpUpstream({ url: `https://127.0.0.1:${port}`, networks, now: Date.now })
    expect(await silent.settle(request(undefined, 200))).toEqual({
      state: 'refused',
      reason: 'upstream_timeout',
    })
    server.close()
  })
})

describe('what is said', () => {
  it('is the payment as it was signed, with the requirement', async () => {
    facilitator.kinds = [exactKind()]
    await upstream.supported(1_000)
    facilitator.onSettle = reply(success)
    const payment = makePayment(Date.now())
    await upstream.settle(request(payment))
    expect(facilitator.to('/settle')[0]!.body).toEqual({
      x402Version: 2,
      paymentPayload: payment.wire.use((wire) => wire),
      paymentRequirements: requirements,
    })
  })

  it('is v1 to a facilitator that knows only v1', async () => {
    facilitator.kinds = [{ x402Version: 1, scheme: 'exact', network: 'base-sepolia' }]
    await upstream.supported(1_000)
    facilitator.onVerify = reply({ isValid: true })
    const payment = makePayment(Date.now(), { resourceUrl: 'https://shop.example/report' })
    expect(await upstream.verify(request(payment))).toEqual({ ok: true, payer: payment.payer })
    expect(facilitator.to('/verify')[0]!.body).toMatchObject({
      x402Version: 1,
      paymentPayload: {
        x402Version: 1,
        scheme: 'exact',
        network: 'base-sepolia',
        payload: payment.wire.use(({ payload }) => payload),
      },
      paymentRequirements: {
        network: 'base-sepolia',
        maxAmountRequired: '1000',
        resource: 'https://shop.example/report',
        asset: sepolia.asset.address,
      },
    })
  })

  it('is v2 for a payment of v1 to a facilitator that knows only v2', async () => {
    facilitator.kinds = [exactKind()]
    await upstream.supported(1_000)
    const { payload } = makePayment(Date.now()).wire.use((wire) => wire)
    const v1 = { x402Version: 1 as const, scheme: 'exact', network: 'base-sepolia', payload }
    await upstream.verify(request(makePayment(Date.now(), { x402Version: 1, wire: new Secret(v1) })))
    expect(facilitator.to('/verify')[0]!.body.paymentPayload).toEqual({
      x402Version: 2,
      accepted: requirements,
      payload,
    })
  })

  it('leaves out what a facilitator is known to refuse', () => {
    const wire = makePayment(Date.now()).wire.use((value) => value)
    const body = toRequestBody({ ...wire, resource: { url: 'https://a.example' } } as never, requirements, {
      version: 2,
      v1Name: undefined,
      resourceUrl: null,
      quirks: { payloadMembers: ['x402Version', 'accepted', 'payload'] },
    })
    expect(Object.keys(JSON.parse(body).paymentPayload)).toEqual(['x402Version', 'accepted', 'payload'])
  })

  it(
    cites('x402:release:facilitator', 'keeps what releases the result to itself, and passes the rest on'),
    () => {
      const wire = makePayment(Date.now()).wire.use((value) => value)
      const bazaar = { info: { input: { type: 'http' } } }
      const extensions = {
        bazaar,
        'offer-receipt': { info: { offers: [], challenge: 'known-to-the-buyer' } },
        'payment-identifier': { info: { required: false, id: 'known-to-the-buyer' } },
      }
      const target = { version: 2, v1Name: undefined, resourceUrl: null, quirks: {} } as const
      const body = toRequestBody({ ...wire, extensions } as never, requirements, target)
      expect(body).not.toContain('known-to-the-buyer')
      expect(JSON.parse(body).paymentPayload).toEqual({ ...wire, extensions: { bazaar } })
      const echoes = { 'offer-receipt': extensions['offer-receipt'] }
      const bare = toRequestBody({ ...wire, extensions: echoes } as never, requirements, target)
      expect(JSON.parse(bare).paymentPayload).toEqual(wire)
    },
  )

  it('goes to the path of the given address, which may hold a key and is shown to nobody', async () => {
    const below = createHttpUpstream({ url: `${facilitator.url}/x402/v2/`, networks, now: Date.now })
    expect([below.id, below.url]).toEqual([facilitator.host, facilitator.url])
    await below.supported(1_000)
    expect(facilitator.calls.map(({ path }) => path)).toEqual(['/x402/v2/supported'])
  })

  it('has a number in its name where another one is at the same host', () => {
    const urls = ['https://a.example/x', 'https://b.example', 'https://a.example/y', 'https://a.example:444']
    expect(nameFacilitators(urls)).toEqual(['a.example', 'b.example', 'a.example#2', 'a.example:444'])
  })
})

describe('an answer to a verification', () => {
  const payer = '0x00000000000000000000000000000000000000aa'
  const valid = { ok: true, payer }
  const invalid = { ok: false, check: 'route', reason: 'insufficient_funds', isRetryable: false }
  const retryable = { ok: false, check: 'route', reason: 'unexpected_verify_error', isRetryable: true }
  const cases: [string, FacilitatorBehaviour, Readonly<Record<string, unknown>>][] = [
    ['valid', reply({ isValid: true, payer }), valid],
    ['valid without a payer', reply({ isValid: true }), valid],
    ['valid for another payer', reply({ isValid: true, payer: hash('c') }), retryable],
    ['valid with status 402', reply({ isValid: true }, 402), retryable],
    ['invalid', reply({ isValid: false, invalidReason: 'insufficient_funds' }), invalid],
    ['invalid with status 400', reply({ isValid: false, invalidReason: 'insufficient_funds' }, 400), invalid],
    ['invalid without a reason', reply({ isValid: false }), retryable],
    [
      'not able to tell',
      reply({ isValid: false, invalidReason: 'unexpected_verify_error' }),
      { ...retryable, isOfThisPayment: true },
    ],
    ['status 503', reply({ isValid: false, invalidReason: 'insufficient_funds' }, 503), retryable],
    ['garbage', reply('no'), retryable],
    ['nothing', (_call, res) => void res.destroy(), retryable],
  ]
  it.each(cases)('%s is passed on as it must be', async (_name, behaviour, expected) => {
    facilitator.onVerify = behaviour
    expect(await upstream.verify(request())).toMatchObject(expected)
  })

  it('never carries the words of a stranger', async () => {
    facilitator.onVerify = reply({ isValid: false, invalidReason: 'x', invalidMessage: 'visit evil.example' })
    expect(JSON.stringify(await upstream.verify(request()))).not.toContain('evil')
  })
})

describe('what it takes', () => {
  it.each<[string, unknown, unknown]>([
    ['of v2', { kinds: [exactKind()], extensions: ['bazaar'], signers: { 'eip155:*': ['0x1'] } }, undefined],
    [
      'of v1, which has fewer members',
      { kinds: [exactKind()] },
      { kinds: [exactKind()], extensions: [], signers: {} },
    ],
    [
      'with kinds that cannot be read',
      { kinds: [{ scheme: 1 }, exactKind(), null] },
      { kinds: [exactKind()], extensions: [], signers: {} },
    ],
  ])('%s is read', async (_name, answer, expected) => {
    const server = createServer((_req, res) => void res.end(JSON.stringify(answer))).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const other = createHttpUpstream({ url, networks, now: Date.now })
    expect(await other.supported(1_000)).toEqual(expected ?? answer)
    server.closeAllConnections()
    server.close()
  })

  it.each<[string, number, string]>([
    ['status 500', 500, JSON.stringify({ kinds: [] })],
    ['no list', 200, '{}'],
    ['garbage', 200, '<html>'],
  ])('%s is no answer', async (_name, status, body) => {
    const server = createServer((_req, res) => void res.writeHead(status).end(body)).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    await expect(createHttpUpstream({ url, networks, now: Date.now }).supported(1_000)).rejects.toThrow()
    server.closeAllConnections()
    server.close()
  })
})
