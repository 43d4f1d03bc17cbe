// A node that is gone, silent, broken or another chain's during a whole payment, through the door: whatever it does,
// one transaction leaves for a payment, money moves once at most, and who paid gets what was paid for.
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest'
import type { PaymentPayloadV2 } from '../../schemas/x402.ts'
import { requirementsOf, signPayment, startTestChain, type TestChain, toHeader } from '../support/chain.ts'
import { type ChainProxy, startChainProxy } from '../support/chain-proxy.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { unguessableIdentifier } from '../support/identifiers.ts'
import { answerLate, NODE_FAULTS, type NodeFault } from '../support/node-faults.ts'
import { get, type PaidAnswer, post, PRICE } from '../support/paid-tools.ts'
import { removeFolder } from '../support/remove-folder.ts'

let chain: TestChain
let folder: string
let benches = 0
beforeAll(async () => {
  chain = await startTestChain(84532)
  folder = await mkdtemp(join(tmpdir(), 'agent-gateway-rpc-'))
})
afterAll(async () => {
  await removeFolder(folder)
  await chain.close()
})

/** A gateway with a settler and a payee of its own, in front of a node that may misbehave. */
interface Bench {
  readonly gateway: TestGateway
  readonly node: ChainProxy
  readonly payTo: string
  /** How many transactions were handed to the node, whatever it did with them. */
  readonly sent: () => number
  /** What the payee got, in atomic units. */
  readonly income: () => Promise<bigint>
  /** The gateway's clock is so much later from here on: what it remembers of a failure is forgotten. */
  skip(ms: number): void
}

async function openBench({ onTestFinished }: TestContext): Promise<Bench> {
  const at = ++benches
  const payTo = `0x${(0xbeef_0000_0000n + BigInt(at)).toString(16).padStart(40, '0')}`
  const settler = generatePrivateKey()
  const keyFile = join(folder, `settler-${at}.key`)
  await writeFile(keyFile, settler, { mode: 0o600 })
  await chain.rpc('anvil_setBalance', [privateKeyToAddress(settler), '0xde0b6b3a7640000'])
  const node = await startChainProxy(chain.rpcUrl)
  let skipped = 0
  const gateway = await startTestGateway({
    now: () => Date.now() + skipped,
    env: {
      GATEWAY_RPC_84532: node.url,
      GATEWAY_RPC_8453: 'http://127.0.0.1:1',
      GATEWAY_PAY_TO: payTo,
      GATEWAY_SETTLER_KEY_FILE: keyFile,
    },
  })
  onTestFinished(async () => {
    await gateway.close()
    await node.close()
  })
  gateway.upstream.respond((request, res) => {
    res.writeHead(200, { 'content-type': 'text/plain' }).end(`page ${request.target}`)
  })
  return {
    gateway,
    node,
    payTo,
    sent: () => node.seen.filter((method) => method === 'eth_sendRawTransaction').length,
    income: () => chain.usdcOf(payTo),
    skip: (ms) => void (skipped += ms),
  }
}

interface Flow {
  readonly name: string
  /** Sends a payment through a door. */
  pay(bench: Bench, payment: PaymentPayloadV2): Promise<PaidAnswer>
  /** The answer of one that went through, and of its repetition. */
  expectPaid(answer: PaidAnswer): void
  expectRepeated(answer: PaidAnswer): void
  /** What the state of the claim names: a payment that went through a seller's hands is no secret of its payer. */
  readonly receipt: unknown
  /** The answer once it is certain that nothing was taken: [status, code]. */
  readonly refusal: readonly [number, string]
}

const sign = ({ payTo }: Bench) =>
  signPayment({
    account: chain.payers[benches % chain.payers.length]!,
    requirements: { ...requirementsOf(chain, PRICE), payTo },
    extensions: {
      'payment-identifier': { info: { required: false, id: unguessableIdentifier() }, schema: {} },
    },
  })

const FLOWS: readonly Flow[] = [
  {
    name: 'POST /settle',
    pay: ({ gateway }, paymentPayload) =>
      post(`${gateway.baseUrl}/settle`, {
        x402Version: 2,
        paymentPayload,
        paymentRequirements: paymentPayload.accepted,
      }),
    expectPaid({ status, body, text }) {
      expect([status, body.success], text).toEqual([200, true])
      expect(body.transaction).toMatch(/^0x[0-9a-f]{64}$/)
    },
    // Never a success again: the seller's result must not be given out twice.
    expectRepeated({ status, body, text }) {
      expect([status, body.code], text).toEqual([400, 'settlement_replayed'])
      expect(body.receipt_id).toMatch(/^rcp_/)
    },
    receipt: null,
    refusal: [400, 'payment_blocked'],
  },
  {
    name: 'a paid web fetch',
    pay: ({ gateway }, payment) =>
      post(
        `${gateway.baseUrl}/v1/tools/web.fetch/testnet`,
        { url: gateway.url('/one') },
        { 'payment-signature': toHeader(payment) },
      ),
    expectPaid: expectPage,
    expectRepeated: expectPage,
    receipt: { receipt_id: expect.stringMatching(/^rcp_/) },
    refusal: [402, 'settlement_failed'],
  },
]

function expectPage({ status, text, settled }: PaidAnswer): void {
  expect(status, text).toBe(200)
  expect(text).toContain('page /one')
  expect(settled).toMatchObject({ success: true, transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/) })
}

/** What its payer is told of it. */
const stateOf = async ({ gateway }: Bench, claimId: string, payment: PaymentPayloadV2) =>
  (await get(`${gateway.baseUrl}/v1/payments/${claimId}`, { 'payment-signature': toHeader(payment) })).body

/** Longer than a failed answer of a facilitator is remembered, and than its breaker stays open. */
const FORGOTTEN_MS = 60_000
const ALL = Object.keys(NODE_FAULTS) as NodeFault[]
/** A silent node is waited for, for as long as a settlement may take. */
const PATIENCE_MS = 300_000

const UNKNOWN = [503, 'settlement_unknown']

describe.for(FLOWS)('$name', ({ pay, expectPaid, expectRepeated, receipt, refusal }) => {
  describe.concurrent(
    'with a node that has trouble before anything is sent',
    { timeout: PATIENCE_MS },
    () => {
      it.for(ALL)('and %s: is refused, costs nothing, and is good once the node is', async (fault, test) => {
        const bench = await openBench(test)
        const { node, skip, sent, income } = bench
        const payment = await sign(bench)
        node.onRequest(NODE_FAULTS[fault])
        const refused = await pay(bench, payment)
        expect(refused.status, refused.text).toBe(503)
        expect(['no_route', 'payments_unavailable']).toContain(refused.body.code)
        expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
        expect(refused.body.claim_id).toBeUndefined()
        expect([sent(), await income()]).toEqual([0, 0n])
        node.onRequest(undefined)
        skip(FORGOTTEN_MS)
        expectPaid(await pay(bench, payment))
        expectRepeated(await pay(bench, payment))
        expect([sent(), await income()]).toEqual([1, PRICE])
      })

      it.for(ALL)(
        'and, once the payment is checked, %s: keeps nothing, and sends nothing later',
        async (fault, test) => {
          const bench = await openBench(test)
          const { node, skip, sent, income } = bench
          const payment = await sign(bench)
          // The account's nonce is asked for after the payment was claimed, and not before.
          node.on('eth_getTransactionCount', () => {
            node.onRequest(NODE_FAULTS[fault])
            return { drop: 'before' }
          })
          const unsure = await pay(bench, payment)
          expect([unsure.status, unsure.body.code], unsure.text).toEqual(UNKNOWN)
          expect(await stateOf(bench, unsure.body.claim_id, payment)).toMatchObject({
            state: 'unknown',
            result: null,
            receipt: null,
          })
          node.reset()
          skip(FORGOTTEN_MS)
          const failed = await pay(bench, payment)
          expect([failed.status, failed.body.code], failed.text).toEqual(refusal)
          expect([sent(), await income()]).toEqual([0, 0n])
          expectPaid(await pay(bench, await sign(bench)))
          expect([sent(), await income()]).toEqual([1, PRICE])
        },
      )
    },
  )

  describe.concurrent(
    'with a node that has trouble once it got the transaction',
    { timeout: PATIENCE_MS },
    () => {
      it('whose answer alone is lost: is paid, once, in the same call', async (test) => {
        const bench = await openBench(test)
        const { node, sent, income } = bench
        const payment = await sign(bench)
        node.on('eth_sendRawTransaction', () => ({ drop: 'after' }))
        expectPaid(await pay(bench, payment))
        expectRepeated(await pay(bench, payment))
        expect([sent(), await income()]).toEqual([1, PRICE])
      })

      it.for(ALL)(
        'and then %s: is not known, then found by its log, and never sent again',
        async (fault, test) => {
          const bench = await openBench(test)
          const { gateway, node, skip, sent, income } = bench
          const payment = await sign(bench)
          node.on('eth_sendRawTransaction', () => {
            node.onRequest(NODE_FAULTS[fault])
            return { drop: 'after' }
          })
          const unsure = await pay(bench, payment)
          expect([unsure.status, unsure.body.code], unsure.text).toEqual(UNKNOWN)
          // No second payment is asked for.
          expect(unsure.required).toBeUndefined()
          expect(unsure.headers.get('retry-after')).toMatch(/^\d+$/)
          const again = await pay(bench, payment)
          expect([again.status, again.body.claim_id], again.text).toEqual([503, unsure.body.claim_id])
          expect((await stateOf(bench, unsure.body.claim_id, payment)).state).toBe('unknown')
          node.reset()
          skip(FORGOTTEN_MS)
          expectRepeated(await pay(bench, payment))
          expect(await stateOf(bench, unsure.body.claim_id, payment)).toMatchObject({
            state: 'settled',
            receipt,
          })
          expect([sent(), await income()]).toEqual([0, PRICE])
          expect(gateway.upstream.requests.length).toBeLessThanOrEqual(1)
        },
      )

      it.for(['is of another chain', 'says nothing'] as const)(
        'says so and then %s: is not known, then found by its log',
        async (fault, test) => {
          const bench = await openBench(test)
          const { node, skip, sent, income } = bench
          const payment = await sign(bench)
          node.on('eth_getTransactionReceipt', () => {
            node.onRequest(NODE_FAULTS[fault])
            return { result: null }
          })
          const unsure = await pay(bench, payment)
          expect([unsure.status, unsure.body.code], unsure.text).toEqual(UNKNOWN)
          expect([sent(), await income()]).toEqual([1, PRICE])
          node.reset()
          skip(FORGOTTEN_MS)
          expectRepeated(await pay(bench, payment))
          expect([sent(), await income()]).toEqual([0, PRICE])
        },
      )
    },
  )

  describe.concurrent('with a node', { timeout: PATIENCE_MS }, () => {
    it('that never got the transaction: is handed the very same bytes until it has them, and pays once', async (test) => {
      const bench = await openBench(test)
      const { node, income } = bench
      const payment = await sign(bench)
      const handed = new Set<unknown>()
      node.on('eth_sendRawTransaction', ({ params: [raw] }) => {
        handed.add(raw)
        return { drop: 'before' }
      })
      let claimId = ''
      for (let turn = 0; turn < 2; turn++) {
        const unsure = await pay(bench, payment)
        expect([unsure.status, unsure.body.code], unsure.text).toEqual(UNKNOWN)
        claimId = unsure.body.claim_id
      }
      expect([handed.size, await income()]).toEqual([1, 0n])
      node.reset()
      await expect
        .poll(async () => (await stateOf(bench, claimId, payment)).state, { timeout: 60_000, interval: 500 })
        .toBe('settled')
      expectRepeated(await pay(bench, payment))
      expect(await income()).toBe(PRICE)
    })

    it('that takes 400 ms for every answer: is paid, once', async (test) => {
      const bench = await openBench(test)
      const { node, sent, income } = bench
      node.onRequest(answerLate(chain.rpcUrl, 400))
      const payment = await sign(bench)
      expectPaid(await pay(bench, payment))
      expectRepeated(await pay(bench, payment))
      expect([sent(), await income()]).toEqual([1, PRICE])
    })

    it('whose logs cannot be read: is paid by its receipt', async (test) => {
      const bench = await openBench(test)
      const { node, sent, income } = bench
      node.on('eth_getLogs', () => ({ error: { code: -32005, message: 'query exceeds limit' } }))
      expectPaid(await pay(bench, await sign(bench)))
      expect([sent(), await income()]).toEqual([1, PRICE])
    })
  })
})
