// Facilitators that time out, lie or break after they got a payment, in front of a real chain: the answer is what the
// chain says, nothing is sent to anybody a second time, and nothing is settled twice.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { PaymentPayloadV2 } from '../../schemas/x402.ts'
import { noFault } from '../../src/lib/fault-points.ts'
import { createLogger } from '../../src/lib/log.ts'
import { createChain } from '../../src/payments/adapters/chain.ts'
import { createHttpUpstream } from '../../src/payments/adapters/http-upstream.ts'
import { createNetworks } from '../../src/core/networks.ts'
import { createRouter } from '../../src/payments/router.ts'
import { createSettlements } from '../../src/payments/settlements.ts'
import { decodeFacilitatorRequest } from '../../src/payments/wire.ts'
import {
  requirementsOf,
  signPayment,
  startTestChain,
  type TestChain,
  transferCalldata,
} from '../support/chain.ts'
import {
  type FacilitatorBehaviour,
  type FacilitatorServer,
  reply,
  startFacilitator,
} from '../support/facilitator-server.ts'
import { type RestAnswer, startTestGateway, type TestGateway } from '../support/gateway.ts'
import { claimFor, exactKind } from '../support/payment-fakes.ts'
import { type RpcProxy, startRpcProxy } from '../support/rpc-proxy.ts'
import { openTempStore, type TempStore } from '../support/temp-store.ts'

const SELLER = '0x0000000000000000000000000000000000C0FFEE'
const NETWORK = 'eip155:84532'
const WRONG_TX = `0x${'9'.repeat(64)}`

let chain: TestChain
let rpc: RpcProxy
let facilitator: FacilitatorServer
let second: FacilitatorServer
let gateway: TestGateway
beforeAll(async () => {
  chain = await startTestChain(84532)
  rpc = await startRpcProxy(chain.rpcUrl)
  // No kind of the embedded chain: only what these facilitators say is taken.
  const kinds = [exactKind(NETWORK)]
  facilitator = await startFacilitator({ kinds })
  second = await startFacilitator({ kinds })
})
beforeEach(async () => {
  rpc.mode = 'ok'
  for (const server of [facilitator, second]) server.calls.splice(0)
  second.onSettle = (call, res) => honest(call, res)
  // A gateway of its own for each: what one facilitator did must not open the breaker of the next test.
  gateway = await start(facilitator)
})
afterEach(() => gateway.close())
afterAll(async () => {
  await Promise.all([facilitator.close(), second.close(), rpc.close()])
  await chain.close()
})

const start = (...servers: readonly Pick<FacilitatorServer, 'url'>[]) => startAt(Date.now, ...servers)
const startAt = (now: () => number, ...servers: readonly Pick<FacilitatorServer, 'url'>[]) =>
  startTestGateway({
    now,
    env: {
      GATEWAY_RPC_84532: rpc.url,
      GATEWAY_RPC_8453: 'http://127.0.0.1:1',
      GATEWAY_PAY_TO: chain.payTo,
      GATEWAY_FACILITATORS: servers.map(({ url }) => url).join(','),
    },
  })

const settleOnChain = (payload: PaymentPayloadV2) => chain.preempt(payload)
const honest: FacilitatorBehaviour = async (call, res) => {
  const transaction = await settleOnChain(call.body.paymentPayload)
  return reply({ success: true, transaction, network: NETWORK })(call, res)
}
/** Settles, then answers like this. */
const after =
  (answer: FacilitatorBehaviour): FacilitatorBehaviour =>
  async (call, res) => {
    await settleOnChain(call.body.paymentPayload)
    return answer(call, res)
  }
const drop: FacilitatorBehaviour = (_call, res) => void res.destroy()
const declined = (errorReason: string) =>
  reply({ success: false, errorReason, transaction: '', network: NETWORK })

/** @param at the gateway's clock */
async function makeBody(payer = 0, at = Date.now()) {
  const requirements = { ...requirementsOf(chain, '1000'), payTo: SELLER }
  const paymentPayload = await signPayment({
    account: chain.payers[payer]!,
    requirements,
    overrides: { validBefore: String(Math.floor(at / 1000) + 300) },
  })
  return { x402Version: 2, paymentPayload, paymentRequirements: requirements }
}
const settle = (body: unknown): Promise<RestAnswer> => gateway.rest('POST', '/settle', body, '')
const settleCalls = () => facilitator.to('/settle').length + second.to('/settle').length

/** Runs one payment and says what moved. */
async function run(behaviour: FacilitatorBehaviour) {
  facilitator.onSettle = behaviour
  const body = await makeBody()
  const before = await chain.transfersTo(SELLER)
  const answer = await settle(body)
  return { body, answer, moved: (await chain.transfersTo(SELLER)) - before, before }
}

describe('a settlement that happened', () => {
  it.each<[string, FacilitatorBehaviour]>([
    ['is answered honestly', honest],
    ['has no answer', after(drop)],
    ['is answered with status 500', after(reply({ error: 'internal' }, 500))],
    ['is answered with status 502 and success', after(reply({ success: true, transaction: WRONG_TX }, 502))],
    ['is answered with garbage', after(reply('<html>'))],
    ['is answered with 100 KiB', after(reply({ success: true, padding: 'x'.repeat(100_000) }))],
    ['is answered with a redirect', after(reply('', 307, { location: '/again/settle' }))],
    ['is answered with success and no transaction', after(reply({ success: true, transaction: '' }))],
    ['is answered under another transaction', after(reply({ success: true, transaction: WRONG_TX }))],
    ['is denied', after(declined('invalid_exact_evm_transaction_failed'))],
    ['was made by somebody else', after(declined('invalid_exact_evm_nonce_already_used'))],
    [
      'is called pending',
      after(
        reply({
          success: false,
          errorReason: 'settlement_pending',
          transaction: WRONG_TX,
          network: NETWORK,
        }),
      ),
    ],
    ['asks for payment again', after(reply({ x402Version: 1, accepts: [] }, 402))],
  ])('and %s, counts, once, under its own transaction', async (_name, behaviour) => {
    const { answer, body, moved, before } = await run(behaviour)
    expect([answer.status, answer.body.detail]).toEqual([200, undefined])
    expect(answer.body.transaction).toMatch(/^0x[0-9a-f]{64}$/)
    expect(answer.body.transaction).not.toBe(WRONG_TX)
    expect(moved).toBe(1)
    const again = await settle(body)
    expect([again.status, again.body.code]).toEqual([400, 'settlement_replayed'])
    expect(again.body.claim_id).toBe(answer.body.extra.claim_id)
    expect(settleCalls()).toBe(1)
    expect((await chain.transfersTo(SELLER)) - before).toBe(1)
  })
})

describe('a settlement that did not happen', () => {
  it.each<[string, FacilitatorBehaviour]>([
    ['success', reply({ success: true, transaction: WRONG_TX, network: NETWORK })],
    ['success without a transaction', reply({ success: true, transaction: '', network: NETWORK })],
    ['status 503', reply({ success: false, errorReason: 'unexpected_settle_error' }, 503)],
    ['nothing', drop],
    ['status 402', reply({ x402Version: 1, accepts: [] }, 402)],
    ['a word that it was used', declined('invalid_exact_evm_nonce_already_used')],
    ['a redirect', reply('', 302, { location: '/again/settle' })],
  ])('and is answered with %s, is not known, and is never sent again', async (_name, behaviour) => {
    const { answer, body, moved } = await run(behaviour)
    expect([answer.status, answer.body.code]).toEqual([503, 'settlement_unknown'])
    expect(answer.body).toMatchObject({
      success: false,
      errorReason: 'unexpected_settle_error',
      transaction: '',
      extra: { claim_id: answer.body.claim_id, state: 'unknown' },
    })
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(moved).toBe(0)
    const again = await settle(body)
    expect([again.status, again.body.claim_id]).toEqual([503, answer.body.claim_id])
    expect(settleCalls()).toBe(1)
    expect(facilitator.calls.map(({ path }) => path)).not.toContain('/again/settle')
  })

  it('and is declined though the chain would take it, goes to the same facilitator once more, and is then not known', async () => {
    const { answer, body, moved } = await run(declined('insufficient_funds'))
    expect([answer.status, answer.body.code, answer.body.extra.state]).toEqual([
      503,
      'settlement_unknown',
      'unknown',
    ])
    expect(moved).toBe(0)
    expect((await settle(body)).status).toBe(503)
    expect(settleCalls()).toBe(2)
  })

  it('is not settled by the transaction of another payment', async () => {
    let cached: unknown
    const first = await run(async (call, res) => {
      cached = { success: true, transaction: await settleOnChain(call.body.paymentPayload), network: NETWORK }
      return reply(cached)(call, res)
    })
    expect(first.answer.status).toBe(200)
    const { answer, moved } = await run(reply(cached))
    expect([answer.status, answer.body.code, moved]).toEqual([503, 'settlement_unknown', 0])
  })

  it('fails for good once the payment has expired', async () => {
    const { answer, body } = await run(declined('insufficient_funds'))
    expect(answer.status).toBe(503)
    const { validBefore } = body.paymentPayload.payload['authorization'] as { validBefore: string }
    const snapshot = await chain.snapshot()
    await chain.rpc('evm_setNextBlockTimestamp', [Number(validBefore) + 61])
    await chain.mine()
    const over = await settle(body)
    expect([over.status, over.body.code, over.body.errorReason]).toEqual([
      400,
      'payment_blocked',
      'authorization_expired',
    ])
    expect(settleCalls()).toBe(2)
    await chain.revert(snapshot)
  })
})

describe('a settlement of which nothing is heard in time', () => {
  let temp: TempStore
  let parts: Parts
  beforeAll(async () => void (temp = await openTempStore()))
  beforeEach(() => void (parts = compose(temp)))
  afterEach(() => parts.close())
  afterAll(() => temp.close())

  /** The payment parts as the gateway composes them, with an upstream that has three seconds, in which nobody asks the chain. */
  function compose({ store }: TempStore) {
    const networks = createNetworks([84532])
    const log = createLogger('silent')
    const now = Date.now
    const router = createRouter({
      upstreams: [createHttpUpstream({ url: facilitator.url, networks, now })],
      networks,
      now,
      log,
    })
    const onChain = createChain({ network: chain.network, rpcUrl: async () => rpc.url, now })
    const settlements = createSettlements({
      store,
      router,
      networks,
      chains: new Map([[NETWORK, onChain]]),
      signer: { kid: 'k', environment: 'production', sign: (_typ, payload) => JSON.stringify(payload) },
      baseUrl: 'https://gateway.test',
      bootId: 'boot_test',
      now,
      log,
      fault: noFault,
      // Connecting counts as well, and a payment that has not left is another case.
      upstreamMs: 3_000,
      pause: async () => false,
    })
    return {
      networks,
      settlements,
      async close() {
        await settlements.close()
        await Promise.all([router.close(), onChain.close()])
      },
    }
  }
  type Parts = ReturnType<typeof compose>

  async function settleDirectly() {
    const body = await makeBody()
    const { payment, requirements } = decodeFacilitatorRequest(body, parts.networks)
    const { payTo } = requirements
    const claim = await claimFor(temp.store, payment, 'boot_test', { payTo })
    const before = await chain.transfersTo(SELLER)
    const settlement = await parts.settlements.settle({ claim, payment, requirements, result: null })
    return { settlement, claim, body, moved: (await chain.transfersTo(SELLER)) - before, before }
  }

  it('and which happened is settled by what the chain says', async () => {
    facilitator.onSettle = after(() => {})
    const { settlement, moved } = await settleDirectly()
    expect([settlement.state, moved]).toEqual(['settled', 1])
    expect(facilitator.to('/settle')).toHaveLength(1)
  })

  it('and which happens afterwards is settled by the reconciler, without another word to anybody', async () => {
    const late = Promise.withResolvers<void>()
    const done = Promise.withResolvers<void>()
    facilitator.onSettle = async (call, res) => {
      await late.promise
      await settleOnChain(call.body.paymentPayload)
      // The answer comes long after nobody waits for it.
      res.destroy()
      done.resolve()
    }
    const { settlement, claim, moved, before } = await settleDirectly()
    expect([settlement.state, moved]).toEqual(['unknown', 0])
    late.resolve()
    await done.promise
    await parts.settlements.reconcile()
    expect((await temp.store.getClaim(claim.id))?.state).toBe('settled')
    expect((await chain.transfersTo(SELLER)) - before).toBe(1)
    expect(facilitator.to('/settle')).toHaveLength(1)
  })
})

describe('a settlement that happens late', () => {
  it('is found when its owner asks again, and was sent once', async () => {
    const { answer, body, before } = await run(drop)
    expect(answer.status).toBe(503)
    await settleOnChain(body.paymentPayload)
    const again = await settle(body)
    expect([again.status, again.body.code]).toEqual([400, 'settlement_replayed'])
    expect(again.body.claim_id).toBe(answer.body.claim_id)
    expect(again.body.receipt_id).toMatch(/^rcp_/)
    expect(settleCalls()).toBe(1)
    expect((await chain.transfersTo(SELLER)) - before).toBe(1)
  })

  it('is waited for while its transaction is pending', async () => {
    await chain.setAutomine(false)
    try {
      let unmined = 0
      facilitator.onSettle = async (call, res) => {
        const from = '0x0000000000000000000000000000000000057414'
        await chain.rpc('anvil_setBalance', [from, '0xde0b6b3a7640000'])
        await chain.rpc('anvil_impersonateAccount', [from])
        const to = chain.network.asset.address
        const data = transferCalldata(call.body.paymentPayload)
        const transaction = await chain.rpc('eth_sendTransaction', [{ from, to, data, gas: '0x30d40' }])
        unmined = await chain.transfersTo(SELLER)
        await reply({ success: false, errorReason: 'settlement_pending', transaction, network: NETWORK })(
          call,
          res,
        )
        await chain.mine()
      }
      const answer = await settle(await makeBody())
      expect([answer.status, answer.body.detail]).toEqual([200, undefined])
      expect((await chain.transfersTo(SELLER)) - unmined).toBe(1)
    } finally {
      await chain.setAutomine(true)
    }
  })

  it('by the payer taking it back fails, and moves nothing', async () => {
    const { answer, body } = await run(async (call, res) => {
      const { from, nonce } = call.body.paymentPayload.payload.authorization
      const payer = chain.payers.find(({ address }) => address.toLowerCase() === from.toLowerCase())!
      await chain.cancelAuthorization(payer, nonce)
      return declined('invalid_exact_evm_nonce_already_used')(call, res)
    })
    expect([answer.status, answer.body.code, answer.body.errorReason]).toEqual([
      400,
      'payment_blocked',
      'authorization_canceled',
    ])
    expect((await settle(body)).body.errorReason).toBe('authorization_canceled')
  })
})

describe('a chain that does not say', () => {
  it.each(['down', 'garbage', 'lying'] as const)(
    'because it is %s, leaves the settlement unknown until it does',
    async (mode) => {
      const { answer, body, moved } = await run(async (call, res) => {
        rpc.mode = mode
        return honest(call, res)
      })
      expect([answer.status, answer.body.code]).toEqual([503, 'settlement_unknown'])
      expect(moved).toBe(1)
      const meanwhile = await settle(body)
      expect(meanwhile.status).toBe(503)
      rpc.mode = 'ok'
      const later = await settle(body)
      expect([later.status, later.body.code]).toEqual([400, 'settlement_replayed'])
      expect(settleCalls()).toBe(1)
    },
  )

  it('because the block was replaced, leaves it unknown until the transfer is in another', async () => {
    const { answer, body } = await run(async (call, res) => {
      const transaction = await settleOnChain(call.body.paymentPayload)
      await chain.reorg(1)
      return reply({ success: true, transaction, network: NETWORK })(call, res)
    })
    expect([answer.status, answer.body.code]).toEqual([503, 'settlement_unknown'])
    await settleOnChain(body.paymentPayload)
    expect((await settle(body)).body.code).toBe('settlement_replayed')
    expect(settleCalls()).toBe(1)
  })

  it('before anything is sent, refuses nothing as invalid and sends nothing', async () => {
    rpc.mode = 'down'
    const body = await makeBody()
    const answer = await settle(body)
    expect([answer.status, answer.body.code]).toEqual([503, 'payments_unavailable'])
    expect(settleCalls()).toBe(0)
    rpc.mode = 'ok'
    facilitator.onSettle = honest
    expect((await settle(body)).status).toBe(200)
  })
})

describe('of two facilitators', () => {
  it('the second gets the payment when the first cannot be reached, and only then', async () => {
    const gone = await startFacilitator()
    await gone.close()
    const other = await start(gone, second)
    try {
      const { status, body } = await other.rest('POST', '/settle', await makeBody(), '')
      expect(status).toBe(200)
      const receipt = await other.rest('GET', `/v1/receipts/${body.extra.receipt_id}`, undefined, '')
      expect(receipt.body.claims.upstream).toBe(second.host)
      const { kinds } = (await other.rest('GET', '/supported', undefined, '')).body
      expect(kinds).toEqual([exactKind(NETWORK)])
      const states = (await other.rest('GET', '/healthz', undefined, '')).body.facilitators
      expect(states.map(({ state }: { state: string }) => state)).toEqual(['failing', 'ok'])
    } finally {
      await other.close()
    }
  })

  it('the second never gets a payment that the first has got', async () => {
    const both = await start(facilitator, second)
    try {
      const answers: number[] = []
      facilitator.onSettle = drop
      second.onSettle = drop
      for (let payer = 0; payer < 2; payer++)
        answers.push((await both.rest('POST', '/settle', await makeBody(payer), '')).status)
      expect(answers).toEqual([503, 503])
      expect(settleCalls()).toBe(2)
    } finally {
      await both.close()
    }
  })
})

it('a facilitator that keeps failing is left alone after three payments', async () => {
  // It is left alone for five seconds, of which the chain is asked for three: by a clock that stands still they do not pass.
  const startedAt = Date.now()
  const still = await startAt(() => startedAt, facilitator)
  const pay = async (payer: number) => still.rest('POST', '/settle', await makeBody(payer, startedAt), '')
  try {
    facilitator.onSettle = reply('', 500)
    await Promise.all([0, 1, 2].map(pay))
    expect(facilitator.to('/settle').length).toBe(3)
    const fourth = await pay(3)
    expect([fourth.status, fourth.body.code, facilitator.to('/settle').length]).toEqual([503, 'no_route', 3])
    expect((await still.rest('GET', '/supported', undefined, '')).body.kinds).toEqual([])
    const { facilitators } = (await still.rest('GET', '/healthz', undefined, '')).body
    expect(facilitators).toMatchObject([{ id: facilitator.host, state: 'failing', breaker: 'open' }])
  } finally {
    await still.close()
  }
})
