// The payment gate over a real store and the real verifier, with a chain that likes every payment and settlements that end
// as a test says. For what happens on chains see test/flow/payments*.test.ts.
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import { z } from 'zod'
import type { PaymentPayloadV2 } from '../../schemas/x402.ts'
import { GatewayError } from '../../src/core/errors.ts'
import { type FaultPoint, noFault } from '../../src/lib/fault-points.ts'
import { newId } from '../../src/lib/ids.ts'
import { createClaimsInHand } from '../../src/payments/claims-in-hand.ts'
import { createPaymentGate } from '../../src/payments/gate.ts'
import { createNetworks } from '../../src/core/networks.ts'
import type { Chain, ChainProbe } from '../../src/payments/chain-ports.ts'
import type { Settlements, UpstreamState } from '../../src/payments/ports.ts'
import type { PaidCall, PaidResult, PaymentGate, PresentedPayment } from '../../src/core/charging.ts'
import { createPresentations } from '../../src/payments/presentation.ts'
import { createSecrets } from '../../src/payments/secrets.ts'
import { createSignIns } from '../../src/payments/sign-in.ts'
import { toRequirements } from '../../src/payments/requirements.ts'
import { createVerifier } from '../../src/payments/verify.ts'
import { createRenewReceipt } from '../../src/receipts/renewal.ts'
import { openSigner } from '../../src/receipts/adapters/signer.ts'
import { JWS_TYPES } from '../../src/receipts/types.ts'
import { Secret } from '../../src/lib/secret.ts'
import type { PaymentClaim, Store } from '../../src/store/ports.ts'
import { deriveKey } from './derive-key.ts'
import { signPayment, type SignOptions, toHeader } from './chain.ts'
import { log } from './store.ts'
import { openTempStore } from './temp-store.ts'

export const BASE_URL = 'http://127.0.0.1:8402'
export const PAY_TO = '0x00000000000000000000000000000000cA5cAde5'
export const RESOURCE = { url: `${BASE_URL}/v1/paid`, method: 'POST' }

/** Keys that nobody uses anywhere. */
export const buyers = [1n, 2n, 3n].map((n) =>
  privateKeyToAccount(`0x${(0xa9e1_7000_0000n + n).toString(16).padStart(64, '0')}`),
)

export const TOOL = {
  name: 'gateway.paid',
  title: 'Say it for money',
  summary: 'Repeats a text. Costs 0.001 USDC.',
  input: z.strictObject({ text: z.string().describe('What to say'), times: z.int().min(1).default(1) }),
  examples: [{ title: 'once', input: { text: 'hello' }, output: { text: 'hello', receipt: null } }],
}

type Ending = 'settled' | 'failed' | 'pending' | 'unknown' | (() => Promise<never>)

export interface GateOptions {
  readonly payTo?: string | undefined
  readonly chainIds?: readonly number[]
  readonly states?: () => readonly UpstreamState[]
  readonly baseUrl?: string
}

export async function openGate(options: GateOptions = {}) {
  const temp = await openTempStore()
  const claimed: string[] = []
  const store: Store = {
    ...temp.store,
    async claimPayment(input) {
      const result = await temp.store.claimPayment(input)
      if (result.ok) claimed.push(result.claim.id)
      if (world.isClaimAnswerLost) throw new GatewayError('store_unavailable', 'The connection was lost.')
      return result
    },
  }
  const networks = createNetworks(options.chainIds ?? [84532])
  const clock = { now: Date.UTC(2026, 10, 21, 12) }
  const now = () => clock.now
  const file = join(temp.directory, 'signing.jwk')
  const signer = await openSigner({ file, store, now, environment: 'production' })
  const baseUrl = options.baseUrl ?? BASE_URL
  const fresh = () => ({
    ending: 'settled' as Ending,
    probe: { nonceUsed: false, balance: 10n ** 9n, payerHasCode: false, revert: null } as
      ChainProbe | Promise<ChainProbe>,
    fault: undefined as ((point: FaultPoint) => Promise<void>) | undefined,
    /** The store claims, and does not say so. */
    isClaimAnswerLost: false,
    probes: 0,
    settles: 0,
    prepared: 0,
    routesAsked: 0,
    reconciled: [] as string[],
    /** What contract wallets were asked, and what they say. */
    asked: [] as Parameters<Chain['acceptsSignature']>[0][],
    wallet: (): boolean => false,
  })
  const world = fresh()
  const chain: Pick<Chain, 'probe' | 'acceptsSignature'> = {
    async probe() {
      world.probes++
      return world.probe
    },
    async acceptsSignature(question) {
      world.asked.push(question)
      return world.wallet()
    },
  }
  const chains = new Map(networks.all.map(({ network }) => [network, chain as Chain]))
  const bootId = randomUUID()

  const receiptOf = (claim: PaymentClaim) => {
    const id = newId('rcp', clock.now)
    const payload = { receipt_id: id, iss: baseUrl, claim_id: claim.id }
    return { id, accountId: '', jws: signer.sign(JWS_TYPES.receipt, payload), createdAt: clock.now }
  }
  async function finish(claim: PaymentClaim) {
    const receipt = receiptOf(claim)
    const settled = await store.settleClaim({
      id: claim.id,
      transaction: `0x${'ab'.repeat(32)}`,
      receipt,
      transactionId: newId('txn', clock.now),
      now: clock.now,
    })
    return { claim: settled!, receipt }
  }
  const settlements: Settlements = {
    prepare: () => void world.prepared++,
    ...createClaimsInHand({ store, bootId, now, log }),
    async settle({ claim, result }) {
      world.settles++
      if (typeof world.ending === 'function') return world.ending()
      const stored = result && { ...result, expiresAt: clock.now + 86_400_000 }
      const isOurs = await store.submitClaim({
        id: claim.id,
        bootId,
        upstream: 'local',
        result: stored,
        now: clock.now,
      })
      if (!isOurs) throw new Error('the claim is not ours')
      if (world.ending === 'settled') return { state: 'settled', ...(await finish(claim)) }
      const reason = 'somehow'
      const transaction = world.ending === 'pending' ? `0x${'cd'.repeat(32)}` : null
      const moved = (await store.moveClaim({
        id: claim.id,
        to: world.ending,
        reason,
        transaction,
        now: clock.now,
      }))!
      return world.ending === 'failed'
        ? { state: 'failed', claim: moved, reason, message: 'it did not work' }
        : { state: world.ending, claim: moved }
    },
    reconcile: async () => ({ looked: 0, settled: 0, failed: 0, open: 0 }),
    async reconcileOne(claim) {
      world.reconciled.push(claim.id)
      return claim
    },
  }
  const presentations = createPresentations(deriveKey('payment-presentation'))
  const secrets = createSecrets(deriveKey('payment-challenge'))
  const parts = {
    secrets,
    signIns: createSignIns({ key: deriveKey('payment-sign-in'), baseUrl, chains, now }),
    store,
    networks,
    settlements,
    signer,
    isSandbox: false,
    renewReceipt: createRenewReceipt(signer),
    presentations,
    payTo: 'payTo' in options ? options.payTo : PAY_TO,
    baseUrl,
    bootId,
    now,
    log,
    fault: { at: (point: FaultPoint) => world.fault?.(point) ?? noFault.at(point) },
    verifier: createVerifier({
      networks,
      chains,
      store,
      router: { routes: async () => [], report: () => undefined },
      documents: { read: async ({ initial }) => ({ value: initial }) },
      rateLimit: { perPayer: 0, perPayee: 0 },
      now,
      log,
    }),
    ...(options.states && {
      router: {
        states: options.states,
        routes: async () => {
          world.routesAsked++
          return []
        },
      },
    }),
  }
  const gate = createPaymentGate(parts)

  return {
    gate,
    /** Another process on the same store, with the same key. */
    sibling: (): PaymentGate => createPaymentGate(parts),
    store,
    signer,
    presentations,
    secrets,
    /** Extensions of a buyer that echoes the challenge of its 402. */
    echoed: () => ({
      'offer-receipt': { info: { offers: [], challenge: secrets.mint() }, schema: {} },
    }),
    networks,
    clock,
    world,
    finish,
    /** Everything as at the beginning, on the same store. */
    reset() {
      Object.assign(world, fresh())
      claimed.length = 0
    },
    /** Of every claim made so far, in the order of their making. */
    async states(): Promise<string[]> {
      const claims = await Promise.all(claimed.map((id) => store.getClaim(id)))
      return claims.map((claim) => claim!.state)
    },
    close: () => temp.close(),
    /** A payment for the default price; a fresh nonce each time. */
    sign: (over: Partial<SignOptions> = {}): Promise<PaymentPayloadV2> =>
      signPayment({
        account: buyers[0]!,
        requirements: toRequirements({ network: networks.all[0]!, amountAtomic: 1000n, payTo: PAY_TO }),
        ...over,
        overrides: { validBefore: String(Math.floor(clock.now / 1000) + 300), ...over.overrides },
      }),
  }
}

export type OpenGate = Awaited<ReturnType<typeof openGate>>

export const present = (payload: unknown): PresentedPayment => ({
  form: 'header',
  name: 'payment-signature',
  value: new Secret(toHeader(payload)),
})

export function callOf(
  over: Partial<PaidCall> & { digest?: string; networks?: readonly string[] } = {},
): PaidCall {
  const { digest = 'digest-1', networks = ['eip155:84532'], ...rest } = over
  return {
    tool: TOOL,
    terms: { amountAtomic: 1000n, networks, requestDigest: digest },
    resource: RESOURCE,
    payment: undefined,
    quote: undefined,
    caller: { kind: 'anonymous', id: 'anonymous', address: '192.0.2.1' },
    requestId: 'req_1',
    work: async () => ({ text: 'hello', receipt: null }),
    ...rest,
  }
}

/** What a call ended in, as one value to compare. */
export async function outcomeOf(
  call: Promise<PaidResult>,
): Promise<{ ok: true; result: PaidResult } | { ok: false; error: GatewayError }> {
  try {
    return { ok: true, result: await call }
  } catch (thrown) {
    if (thrown instanceof GatewayError) return { ok: false, error: thrown }
    throw thrown
  }
}

export async function refusalOf(call: Promise<PaidResult>): Promise<GatewayError> {
  const outcome = await outcomeOf(call)
  if (outcome.ok) throw new Error('it was not refused')
  return outcome.error
}
