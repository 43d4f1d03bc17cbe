// Chain, facilitator and payment without a network, for tests of the payment rules.
import { randomBytes } from 'node:crypto'
import type { SupportedKind, SupportedResponse } from '../../schemas/x402.ts'
import { newId } from '../../src/lib/ids.ts'
import { createNetworks } from '../../src/core/networks.ts'
import { type AuthorizationStatus, type Chain, ChainError } from '../../src/payments/chain-ports.ts'
import type {
  Payment,
  Upstream,
  UpstreamRequest,
  UpstreamSettlement,
  Verdict,
} from '../../src/payments/ports.ts'
import type { PaymentNetwork } from '../../src/core/networks.ts'
import { toRequirements } from '../../src/payments/requirements.ts'
import { Secret } from '../../src/lib/secret.ts'
import type { NewPaymentClaim, PaymentClaim, Store } from '../../src/store/ports.ts'

export const networks = createNetworks([84532, 8453])
export const sepolia = networks.find('eip155:84532')!
export const PAY_TO = '0x000000000000000000000000000000000000bEEF'
export const SOLANA = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
export const hash = (digit: string) => `0x${digit.repeat(64)}`

export const requirements = toRequirements({ network: sepolia, amountAtomic: 1000n, payTo: PAY_TO })

/** A payment of 0.001 USDC that expires in five minutes; nothing checks its signature here. */
export function makePayment(now: number, overrides: Partial<Payment> = {}): Payment {
  const nonce = `0x${randomBytes(32).toString('hex')}`
  const payer = '0x00000000000000000000000000000000000000aa'
  const validBefore = now + 300_000
  const authorization = {
    from: payer,
    to: PAY_TO.toLowerCase(),
    value: '1000',
    validAfter: '0',
    validBefore: String(Math.floor(validBefore / 1000)),
    nonce,
  }
  const signature = `0x${'ab'.repeat(65)}`
  return {
    x402Version: 2,
    scheme: 'exact',
    network: sepolia.network,
    accepted: requirements,
    resourceUrl: null,
    extensions: {},
    kind: {
      type: 'eip3009',
      authorization: {
        from: payer,
        to: PAY_TO.toLowerCase(),
        value: 1000n,
        validAfter: 0n,
        validBefore: BigInt(authorization.validBefore),
        nonce,
      },
      signature: new Secret(signature),
    },
    payer,
    nonce,
    validBefore,
    presented: new Secret({ x402Version: 2, accepted: requirements, payload: { signature, authorization } }),
    wire: new Secret({ x402Version: 2, accepted: requirements, payload: { signature, authorization } }),
    ...overrides,
  }
}

/** A Solana payment, which only its facilitator can judge. */
export const makeForeignPayment = (now: number): Payment =>
  makePayment(now, {
    network: SOLANA,
    kind: { type: 'foreign' },
    payer: '',
    nonce: randomBytes(32).toString('hex'),
    validBefore: null,
  })

/** As claimed in the store. */
export async function claimFor(
  store: Store,
  payment: Payment,
  bootId: string,
  overrides: Partial<NewPaymentClaim> = {},
): Promise<PaymentClaim> {
  const createdAt = Date.now()
  const claimed = await store.claimPayment({
    bootId,
    claim: {
      id: newId('clm', createdAt),
      origin: 'tool',
      network: payment.network,
      asset: requirements.asset.toLowerCase(),
      payer: payment.payer,
      nonce: payment.nonce,
      payTo: PAY_TO,
      amount: '1000',
      validBefore: payment.validBefore,
      tool: 'gateway.test',
      method: 'POST',
      resource: 'https://gateway.test/v1/paid?secret=1',
      requestDigest: 'request-digest',
      requirementDigest: 'requirement-digest',
      presentationDigest: 'presentation-digest',
      secret: null,
      identifier: null,
      purchase: null,
      accountId: null,
      createdAt,
      ...overrides,
    },
  })
  if (!claimed.ok) throw new Error(`in the way: ${claimed.reason}`)
  return claimed.claim
}

export interface FakeChain extends Chain {
  minesOnDemand: boolean
  /** What it will say, by nonce; unused otherwise. `silent`: it does not answer. */
  readonly statuses: Map<string, AuthorizationStatus | 'silent'>
  head(): Promise<{ number: bigint; time: number }>
  looks: number
  time: number
  height: bigint
  /** Hashes by height, where a block was replaced. */
  readonly blocks: Map<bigint, string>
}

export function fakeChain(now: () => number, network: PaymentNetwork = sepolia): FakeChain {
  const statuses: FakeChain['statuses'] = new Map()
  const chain: FakeChain = {
    network,
    minesOnDemand: false,
    statuses,
    looks: 0,
    time: now(),
    height: 1n,
    blocks: new Map(),
    probe: async () => ({ nonceUsed: false, balance: 1_000_000n, payerHasCode: false, revert: null }),
    acceptsSignature: async () => false,
    accountFacts: async () => ({ hasCode: false, isBlacklisted: false }),
    incomingTransfers: async () => [],
    balanceOf: async () => 1_000_000n,
    findRefusal: async () => null,
    async authorizationStatus({ nonce }) {
      chain.looks++
      const status = statuses.get(nonce) ?? { state: 'unused' }
      if (status === 'silent') throw new ChainError('timeout', network.network)
      return status
    },
    head: async () => ({ number: chain.height, time: chain.time }),
    blockHashes: async (heights) => heights.map((height) => chain.blocks.get(height) ?? hash('1')),
    state: () => ({ state: 'ok', detail: '', age_ms: 0 }),
    close: async () => {},
  }
  return chain
}

export const usedIn = (
  transaction: string,
  transferred = true,
): Extract<AuthorizationStatus, { state: 'used' }> => ({
  state: 'used',
  transaction,
  transferred,
  block: { number: 1n, hash: hash('1') },
  submittedBy: '0x0000000000000000000000000000000000000001',
})

export interface FakeUpstream extends Upstream {
  readonly settled: UpstreamRequest[]
  answer: UpstreamSettlement | ((request: UpstreamRequest) => UpstreamSettlement)
  verdict: Verdict
  kinds: readonly SupportedKind[] | Error
  asked: number
}

export const exactKind = (network = sepolia.network): SupportedKind => ({
  x402Version: 2,
  scheme: 'exact',
  network,
})

export function fakeUpstream(id: string, options: Partial<FakeUpstream> = {}): FakeUpstream {
  const upstream: FakeUpstream = {
    id,
    url: `https://${id}`,
    feeAtomic: 0n,
    settled: [],
    answer: { state: 'refused', reason: 'upstream_unreachable' },
    verdict: { ok: true, payer: '0xaa' },
    kinds: [exactKind()],
    asked: 0,
    async supported(): Promise<SupportedResponse> {
      upstream.asked++
      if (upstream.kinds instanceof Error) throw upstream.kinds
      return { kinds: [...upstream.kinds], extensions: ['bazaar'], signers: { 'eip155:*': [`0x${id}`] } }
    },
    verify: async () => upstream.verdict,
    async settle(request) {
      upstream.settled.push(request)
      return typeof upstream.answer === 'function' ? upstream.answer(request) : upstream.answer
    },
    close: async () => {},
    ...options,
  }
  return upstream
}
