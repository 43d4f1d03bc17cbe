// Buyers that settle x402 payments: each to an account of its own, so that the chain itself says what moved, and how often.
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex } from 'viem'
import { must } from '../src/lib/must.ts'
import { JWS_TYPES, verifyJws } from '../src/receipts/types.ts'
import { requirementsOf, signPayment, startTestChain, type TestChain } from '../test/support/chain.ts'
import { type ChainProxy, startChainProxy } from '../test/support/chain-proxy.ts'
import { type FacilitatorServer, reply, startFacilitator } from '../test/support/facilitator-server.ts'
import { createClient, createWorld } from '../test/support/gateway.ts'
import { exactKind } from '../test/support/payment-fakes.ts'
import type { Load, Scene, Verdict } from './fault.ts'
import { type Cluster, createCluster } from './postgres.ts'
import { type Replica, startReplica } from './replica.ts'
import { type Shift, startWorkers } from './workers.ts'

const CHAIN = 84532
const NETWORK = `eip155:${CHAIN}`
const BUYERS = 6
const STRETCH = 12
const AMOUNT = 1000n
const DEPOSIT = 100_000
const PATIENCE_MS = 40_000
const REPEAT_MS = 1000

export interface PaymentsOptions {
  /** Blocks that a transfer must be deep before it counts. */
  readonly confirmations?: number
  /** Somebody else's facilitator settles, not the gateway itself. */
  readonly isForeign?: boolean
  readonly engine?: 'sqlite' | 'postgres'
  /** Codes that are a right answer to the fault: nothing may have moved for such a payment. */
  readonly refusals?: readonly string[]
}

export interface PaymentScene extends Scene {
  readonly chain: TestChain
  /** The way of the gateway to the node. */
  readonly node: ChainProxy
  /** Somebody else's. @throws where the gateway settles itself */
  facilitator(): FacilitatorServer
  /** @throws where the engine is SQLite */
  database(): Cluster
  readonly payments: readonly Payment[]
}

interface Payment {
  readonly payTo: Hex
  state: 'open' | 'acknowledged' | 'unknown' | 'refused'
  receiptId?: string
  /** The last answer that was not final. */
  last?: string
}

export async function openPayments(options: PaymentsOptions = {}): Promise<PaymentScene> {
  const opened: (() => Promise<unknown>)[] = []
  const close = async () => {
    for (const undo of opened.toReversed()) await undo()
  }
  try {
    const chain = await startTestChain(CHAIN, { blockTimeSeconds: 1 })
    opened.push(() => chain.close())
    const node = await startChainProxy(chain.rpcUrl)
    opened.push(() => node.close())
    const facilitator = options.isForeign
      ? await startFacilitator({ kinds: [exactKind(NETWORK)] })
      : undefined
    if (facilitator) {
      facilitator.onSettle = settleHonestly(chain)
      opened.push(() => facilitator.close())
    }
    const database = options.engine === 'postgres' ? await createCluster() : undefined
    if (database) opened.push(() => database.close())
    const world = await createWorld({
      env: {
        ...chain.env,
        ...(database && { GATEWAY_DATABASE_URL: database.url }),
        [`GATEWAY_RPC_${CHAIN}`]: node.url,
        GATEWAY_RPC_8453: 'http://127.0.0.1:1',
        GATEWAY_SETTLE_FREE_ALLOWANCE: '0',
        GATEWAY_SERVICE_KEY_CREDITS: String(DEPOSIT),
        GATEWAY_CONFIRMATIONS: `${CHAIN}:${options.confirmations ?? 1}`,
        ...(facilitator && { GATEWAY_FACILITATORS: facilitator.url }),
      },
    })
    opened.push(() => world.close())
    const replica = await startReplica(world)
    opened.push(() => replica.stop('SIGKILL'))
    const client = createClient(replica.url, world)
    const payments: Payment[] = []
    const problems: string[] = []
    const load = startLoad({
      chain,
      replica,
      operatorKey: world.operatorKey,
      payments,
      problems,
      refusals: options.refusals ?? [],
    })
    return {
      chain,
      node,
      facilitator: () => must(facilitator, 'a facilitator of this scene'),
      database: () => must(database, 'a database of this scene'),
      payments,
      load,
      check: () => check({ chain, client, payments, problems, replica }),
      async close() {
        await load.abandon()
        await close()
      },
    }
  } catch (thrown) {
    await close()
    throw thrown
  }
}

/** One after the other: it has one account. */
function settleHonestly(chain: TestChain): FacilitatorServer['onSettle'] {
  let last: Promise<unknown> = Promise.resolve()
  return async (call, res) => {
    const sent = last.then(() => chain.preempt(call.body.paymentPayload))
    last = sent.catch(() => undefined)
    const answer = await sent.then(
      (transaction) => ({ success: true, transaction }),
      () => ({ success: false, errorReason: 'unexpected_settle_error', transaction: '' }),
    )
    return reply({ ...answer, network: NETWORK })(call, res)
  }
}

interface LoadParts {
  readonly chain: TestChain
  readonly replica: Replica
  readonly operatorKey: string
  readonly payments: Payment[]
  readonly problems: string[]
  readonly refusals: readonly string[]
}

function startLoad(parts: LoadParts): Load & { abandon(): Promise<void> } {
  const { chain, replica, operatorKey, payments, problems, refusals } = parts

  async function settle(body: string): Promise<Answer> {
    try {
      const response = await fetch(`${replica.url}/settle`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${operatorKey}` },
        body,
        signal: AbortSignal.timeout(PATIENCE_MS),
      })
      return { status: response.status, body: await response.json() }
    } catch {
      return undefined
    }
  }
  /** One payment, settled until there is a final word on it. */
  async function pay(buyer: number, shift: Shift): Promise<void> {
    const payment: Payment = { payTo: `0x${randomBytes(20).toString('hex')}`, state: 'open' }
    payments.push(payment)
    const requirements = { ...requirementsOf(chain, AMOUNT), payTo: payment.payTo }
    const account = must(chain.payers[buyer], 'a buyer')
    const paymentPayload = await signPayment({ account, requirements })
    const body = JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements: requirements })
    const beganAt = performance.now()
    while (!shift.isAbandoned()) {
      const answer = await settle(body)
      if (answer && read(answer, payment)) break
      await sleep(REPEAT_MS)
    }
    if (payment.state === 'acknowledged') shift.acknowledged(0, beganAt)
  }
  /** @returns whether the answer is final */
  function read({ status, body }: NonNullable<Answer>, payment: Payment): boolean {
    const isSettled = status === 200 && body.success === true
    if (isSettled || body.code === 'settlement_replayed') {
      payment.state = 'acknowledged'
      payment.receiptId = isSettled ? body.extra.receipt_id : body.receipt_id
      return true
    }
    if (body.code === 'settlement_unknown') payment.state = 'unknown'
    payment.last = `${status} ${body.code}: ${body.detail}`
    if (status >= 500 || status === 409) return false
    payment.state = 'refused'
    if (refusals.includes(body.code)) return true
    problems.push(
      `a payment was refused: ${status} ${body.code ?? ''} ${body.errorReason ?? body.detail ?? ''}`,
    )
    return true
  }
  async function work(buyer: number, shift: Shift): Promise<void> {
    while (!shift.isStopping()) await pay(buyer, shift)
  }
  return startWorkers({ workers: BUYERS, replicas: 1, stretch: STRETCH }, work)
}

// oxlint-disable-next-line typescript/no-explicit-any
type Answer = { readonly status: number; readonly body: any } | undefined

interface CheckParts {
  readonly chain: TestChain
  readonly client: ReturnType<typeof createClient>
  readonly payments: readonly Payment[]
  readonly problems: readonly string[]
  readonly replica: Replica
}

async function check({ chain, client, payments, replica, ...found }: CheckParts): Promise<Verdict> {
  const problems = [...found.problems]
  const lost: string[] = []
  const doubled: string[] = []
  const jwks = (await client.rest('GET', '/.well-known/gateway-egress-key.json')).body
  for (const { payTo, state, receiptId, last } of payments) {
    const moved = await chain.usdcOf(payTo)
    if (moved > AMOUNT) doubled.push(`${payTo}: ${moved} atomic units of ${AMOUNT}`)
    if (state === 'refused' && moved > 0n) problems.push(`${payTo} was refused, and the chain has it`)
    if (state === 'open' || state === 'unknown') problems.push(`${payTo} is still undecided: ${last}`)
    if (state !== 'acknowledged') continue
    const receipt = await client.rest('GET', `/v1/receipts/${receiptId}`)
    const verdict = receipt.status === 200 && (await verifyJws(receipt.body.jws, jwks, JWS_TYPES.receipt))
    if (moved < AMOUNT) lost.push(`${payTo}: acknowledged, and the chain does not have it`)
    else if (verdict === false || !verdict.ok) lost.push(`${payTo}: its receipt is not there`)
    else if (verdict.payload['pay_to'] !== undefined && !isSame(verdict.payload['pay_to'], payTo))
      lost.push(`${payTo}: its receipt is of another payment`)
  }
  const balance = await client.balance()
  const settled = payments.filter(({ state }) => state === 'acknowledged').length
  const open = payments.filter(({ state }) => state === 'open' || state === 'unknown').length
  if (balance < DEPOSIT - settled - open || balance > DEPOSIT - settled)
    problems.push(
      `a balance is ${balance} after ${settled} settlements and ${open} doubtful ones of ${DEPOSIT}`,
    )
  if (chain.settlerKeys.some((secret) => replica.said().includes(secret.slice(2))))
    problems.push('the key of a settler is in a log')
  return { acknowledged: settled, lost, doubled, unknown: open, problems }
}

const isSame = (a: unknown, b: string) => String(a).toLowerCase() === b.toLowerCase()
