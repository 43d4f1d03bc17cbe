// A payment gate that takes a payment by the word in its signature, and a tool that costs money: for what doors do with either.
import { z } from 'zod'
import { x402 } from '../../src/core/price.ts'
import type { PaymentRequired, SettleResponse } from '../../schemas/x402.ts'
import { GatewayError, type ProblemExtras } from '../../src/core/errors.ts'
import {
  type Challenge,
  type PaidCall,
  type PaidResult,
  PaymentError,
  type PaymentGate,
} from '../../src/core/charging.ts'
import { defineTool } from '../../tools/services.ts'
import type { PaymentClaim } from '../../src/store/ports.ts'

const NETWORK = 'eip155:84532'
export const TRANSACTION = `0x${'ab'.repeat(32)}`

/** Words that `payment` makes a signature of, and what the gate does with them; `again` is answered without work. */
export type Fate = 'good' | 'again' | 'bad' | 'unsettled' | 'unknown' | 'used' | 'unavailable'

export const paymentV1 = (
  fate: Fate,
  times: { validAfter: unknown; validBefore: unknown } = { validAfter: '0', validBefore: '9' },
) => ({
  x402Version: 1,
  scheme: 'exact',
  network: 'base-sepolia',
  payload: { signature: `0xcanary-${fate}`, authorization: { from: '0x1', nonce: '0x2', ...times } },
})

export const payment = (fate: Fate, resource?: string) => ({
  x402Version: 2,
  ...(resource === undefined ? {} : { resource: { url: resource } }),
  accepted: accepts[0],
  payload: { signature: `0xcanary-${fate}`, authorization: { from: '0x1', nonce: '0x2' } },
})

const accepts = [
  {
    scheme: 'exact',
    network: NETWORK,
    amount: '1000',
    asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
    payTo: `0x${'11'.repeat(20)}`,
    maxTimeoutSeconds: 300,
    extra: { name: 'USDC', version: '2' },
  },
]

function challengeFor({ resource, tool }: PaidCall, error: string): Challenge {
  const required: PaymentRequired = {
    x402Version: 2,
    error,
    resource: { url: resource.url, description: tool.summary, mimeType: 'application/json' },
    accepts,
    extensions: { 'payment-identifier': { info: { required: false } } },
  }
  const json = JSON.stringify(required)
  const header = Buffer.from(json).toString('base64')
  const cost =
    'Payment required: this call costs 0.001 USD (1000 atomic units of USDC) on Base Sepolia (eip155:84532).'
  const asking = { cost, pay: 'Pay.', withoutWallet: 'Ask.', sentence: `${cost} Pay. Ask.` }
  return {
    error,
    asking,
    required,
    json,
    header,
    brief: header,
    quote: `quote of ${resource.url}`,
    acceptsV1,
  }
}

/** The same in the words of v1. */
export const acceptsV1 = [
  {
    scheme: 'exact',
    network: 'base-sepolia',
    maxAmountRequired: '1000',
    resource: 'a2a://skill/buy',
    description: 'Returns its text for money.',
    mimeType: 'application/json',
    payTo: `0x${'11'.repeat(20)}`,
    maxTimeoutSeconds: 300,
    asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
    extra: { name: 'USDC', version: '2' },
  },
]

export interface FakeGate extends PaymentGate {
  /** Every call that reached it. */
  readonly calls: readonly PaidCall[]
  /** What has become of the one claim whose settlement is unknown. */
  decide(state: 'settled' | 'failed' | 'result gone' | 'chain down'): void
  /** How often the work ran. */
  readonly worked: () => number
  /** Holds payments back, before the work or after it, until released. */
  hold(where?: 'before work' | 'after work'): () => void
}

export function createFakeGate(): FakeGate {
  const calls: PaidCall[] = []
  let worked = 0
  let decided: Parameters<FakeGate['decide']>[0] | 'unknown' = 'unknown'
  const held = { 'before work': Promise.resolve(), 'after work': Promise.resolve() }
  return {
    calls,
    worked: () => worked,
    hold(where = 'before work') {
      let release = () => {}
      held[where] = new Promise<void>((resolve) => (release = resolve))
      return () => release()
    },
    claim: () => Promise.reject(new Error('not asked here')),
    decide(how) {
      decided = how
    },
    async outcome(claimId) {
      if (decided === 'chain down') throw new Error('connect ECONNREFUSED 10.0.0.1')
      if (claimId !== 'pay_1') throw new GatewayError('payment_not_found', 'There is no such claim.')
      const state = decided === 'result gone' ? 'settled' : decided
      const claim = {
        id: claimId,
        state,
        reason: state === 'failed' ? 'expired' : null,
        transaction: state === 'settled' ? TRANSACTION : null,
        network: NETWORK,
        payer: '0x1',
        amount: '1000',
      } as PaymentClaim
      return { claim, paid: decided === 'settled' ? released({ text: 'hi' }, true) : null }
    },
    async run(call) {
      calls.push(call)
      const refuse = (
        code: GatewayError['code'],
        why: string,
        { extras = {}, settlement }: { extras?: ProblemExtras; settlement?: SettleResponse } = {},
      ) =>
        new PaymentError(code, why, {
          extras,
          payment: { challenge: challengeFor(call, why), ...(settlement && { settlement }) },
        })
      if (!call.payment) throw refuse('payment_required', 'Payment is required.')
      const fate = fateOf(call.payment)
      if (fate === 'bad')
        throw refuse('payment_rejected', 'invalid_exact_evm_payload_signature', {
          extras: { check: 'signature', invalid_reason: 'invalid_exact_evm_payload_signature' },
        })
      const claim = { claim_id: 'pay_1', payment_url: 'http://gateway/v1/payments/pay_1' }
      if (fate === 'used')
        throw new GatewayError('payment_claimed', 'Used before: see claim_id.', { extras: claim })
      if (fate === 'unavailable')
        throw new GatewayError('payments_unavailable', 'The chain does not answer.', {
          extras: { retry_after_seconds: 5 },
        })
      if (fate === undefined) throw new GatewayError('payment_invalid', 'That is no payment.')
      await held['before work']
      if (fate !== 'again') worked++
      const output: Record<string, unknown> =
        fate === 'again' ? { text: 'hi' } : ((await call.work('pay_1')) as Record<string, unknown>)
      await held['after work']
      if (fate === 'unknown')
        throw new GatewayError('settlement_unknown', 'Not known yet: ask again at payment_url.', {
          extras: { ...claim, retry_after_seconds: 5 },
        })
      if (fate === 'unsettled')
        throw refuse('settlement_failed', 'invalid_transaction_state', {
          settlement: {
            success: false,
            errorReason: 'invalid_transaction_state',
            transaction: '',
            network: NETWORK,
          },
        })
      return released(output, fate === 'again')
    },
  }
}

function released({ receipt: _none, ...rest }: Record<string, unknown>, replayed: boolean): PaidResult {
  // Spaces, so that whoever serialises it again is found out.
  const json = JSON.stringify({ ...rest, receipt: { receipt_id: 'rcp_1' } }).replace('{', '{ ')
  return {
    output: JSON.parse(json),
    json,
    settlement: {
      success: true,
      transaction: TRANSACTION,
      network: NETWORK,
      payer: '0x1',
      amount: '1000',
    },
    claimId: 'pay_1',
    replayed,
  }
}

function fateOf(presented: NonNullable<PaidCall['payment']>): Fate | undefined {
  const value: unknown =
    presented.form === 'object'
      ? presented.value.use((inner) => inner)
      : presented.value.use((text) => JSON.parse(Buffer.from(text, 'base64').toString('utf8')))
  const { payload } = value as { payload?: { signature?: string } }
  return /^0xcanary-(\w+)$/.exec(payload?.signature ?? '')?.[1] as Fate | undefined
}

/** Costs 0.001 USDC unless its text is "free"; fails on "fail", after it was paid for. */
export const paidTool = defineTool({
  name: 'gateway.test.buy',
  title: 'Buy an echo',
  toolset: 'web',
  summary: 'Returns its text for money.',
  input: z.strictObject({ text: z.string().max(1000), email: z.string().optional() }),
  output: z.strictObject({
    text: z.string(),
    receipt: z.strictObject({ receipt_id: z.string() }).nullable(),
  }),
  price: x402({ amount: 1000n, mayBeFree: 'the text "free"' }),
  caller: 'anyone',
  effects: { readOnly: false, idempotent: false, openWorld: false },
  rest: { method: 'POST', path: '/v1/test/buy', operationId: 'testBuy' },
  skill: { id: 'buy', tags: ['test'], examples: ['Buy an echo'] },
  errors: ['upstream_unreachable'],
  examples: [{ title: 'Hello', input: { text: 'hello' } }],
  plan: ({ text }) => ({
    charge: text === 'free' ? null : { networks: [NETWORK] },
    async run() {
      if (text === 'fail') throw new GatewayError('upstream_unreachable', 'Nothing was fetched.')
      return { text }
    },
  }),
})
