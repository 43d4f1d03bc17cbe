// Our verifier beside the protocol's own, on a real chain: what we accept it accepts, and what only we refuse is on a list.
import fc from 'fast-check'
import type { Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PaymentRequirements } from '../../../schemas/x402.ts'
import { GatewayError } from '../../../src/core/errors.ts'
import { noFault } from '../../../src/lib/fault-points.ts'
import { createLogger } from '../../../src/lib/log.ts'
import { createChain } from '../../../src/payments/adapters/chain.ts'
import { createLocalUpstream } from '../../../src/payments/adapters/local-upstream.ts'
import { createNetworks } from '../../../src/core/networks.ts'
import type { Chain } from '../../../src/payments/chain-ports.ts'
import { CHECKS, type Upstream, type Verifier } from '../../../src/payments/ports.ts'
import { createVerifier } from '../../../src/payments/verify.ts'
import { decodeFacilitatorRequest } from '../../../src/payments/wire.ts'
import {
  requirementsOf,
  type SignOptions,
  signPayment,
  signPaymentV1,
  startTestChain,
  type TestChain,
} from '../../support/chain.ts'
import { createReferenceFacilitator, type ReferenceFacilitator } from '../../support/reference-facilitator.ts'

/** Why we refuse what the protocol's own implementation accepts. Each has to occur. */
const STRICTER: Readonly<Record<string, string>> = {
  'shape payment_invalid': 'a number that is not written as decimal digits',
  'asset invalid_payment_requirements':
    'an asset that is no token (v1): a call to an account without code succeeds',
  'accepted invalid_payment_requirements': 'what the buyer accepted is not what is required',
  'window invalid_exact_evm_payload_authorization_valid_before': 'a window that is open for years',
  'timeout invalid_payment_requirements': 'a timeout in which nothing settles',
  'pay_to invalid_payment_requirements': 'a payer that pays itself',
}

/** Contracts that answer every question with one word: the magic value of ERC-1271, or zero. */
const answerWith = (word: string) => `0x7f${word.padEnd(64, '0')}60005260206000f3`
const WALLETS = { agrees: answerWith('1626ba7e'), refuses: answerWith('00') }

const CHAIN_ID = 84532
const STRANGER = '0x00000000000000000000000000000000000abcde'
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

let testChain: TestChain
let chain: Chain
let local: Upstream
let verifier: Verifier
let reference: ReferenceFacilitator
let rich: readonly PrivateKeyAccount[]
let poor: PrivateKeyAccount
const spent: { account: PrivateKeyAccount; nonce: Hex }[] = []

const networks = createNetworks([CHAIN_ID])

beforeAll(async () => {
  testChain = await startTestChain(CHAIN_ID)
  chain = createChain({
    network: testChain.network,
    rpcUrl: async () => testChain.rpcUrl,
    now: Date.now,
    deadlineMs: 20_000,
  })
  local = createLocalUpstream({
    chains: [{ network: testChain.network, rpcUrl: async () => testChain.rpcUrl }],
    settlerKeys: async () => [],
    fault: noFault,
    now: Date.now,
  })
  verifier = createVerifier({
    networks,
    chains: new Map([[testChain.network.network, chain]]),
    store: {
      findClaim: async () => undefined,
      findStanding: async () => ({ open: { count: 0, amount: '0', submitted: 0, working: 0 }, settled: '0' }),
    },
    router: {
      routes: async ({ scheme }) =>
        scheme === 'exact'
          ? [{ upstream: local, kind: { x402Version: 2, scheme, network: '' }, latencyMs: null }]
          : [],
      report: () => {},
    },
    documents: { read: async (document) => ({ value: document.initial }) },
    rateLimit: { perPayer: 0, perPayee: 0 },
    now: Date.now,
    log: createLogger('silent'),
  })
  reference = createReferenceFacilitator({
    chainId: CHAIN_ID,
    rpcUrl: testChain.rpcUrl,
    settlerKey: testChain.settlerKeys[0]!,
  })
  rich = testChain.payers.slice(0, 4)
  poor = testChain.payers[4]!
  await testChain.drain(poor)
  const [canceler, preempted] = [testChain.payers[5]!, testChain.payers[6]!]
  const nonce: Hex = `0x${'c1'.repeat(32)}`
  await testChain.cancelAuthorization(canceler, nonce)
  spent.push({ account: canceler, nonce })
  const paid = await signPayment({
    account: preempted,
    requirements: requirementsOf(testChain),
    overrides: { nonce: `0x${'c2'.repeat(32)}` },
  })
  await testChain.preempt(paid)
  spent.push({ account: preempted, nonce: `0x${'c2'.repeat(32)}` })
})

afterAll(async () => {
  await Promise.all([chain.close(), local.close()])
  await testChain.close()
})

type Overrides = NonNullable<SignOptions['overrides']>
type Authorization = Pick<Overrides, 'value' | 'to' | 'from' | 'validAfter' | 'validBefore' | 'nonce'>

/** One thing that a payment does otherwise. Several can come together. */
interface Change {
  readonly name: string
  readonly requirements?: Partial<PaymentRequirements>
  readonly domain?: Overrides['domain']
  readonly accepted?: Overrides['accepted']
  readonly authorization?: Authorization
  /** Seconds from the moment of signing. */
  readonly window?: { readonly validAfter?: number; readonly validBefore?: number }
  readonly signature?: (signature: Hex) => string
  /** In the payload, after it was signed. */
  readonly written?: Readonly<Record<string, unknown>>
  readonly payer?: 'poor' | 'canceled' | 'used'
}

const fromNow = (seconds: number | undefined, member: 'validAfter' | 'validBefore'): Authorization =>
  seconds === undefined ? {} : { [member]: String(Math.floor(Date.now() / 1000) + seconds) }
const highS = (signature: Hex) => {
  const s = ORDER - BigInt(`0x${signature.slice(66, 130)}`)
  return `${signature.slice(0, 66)}${s.toString(16).padStart(64, '0')}${signature.endsWith('1b') ? '1c' : '1b'}`
}
const withV = (change: (v: number) => number) => (signature: Hex) =>
  signature.slice(0, 130) +
  change(Number.parseInt(signature.slice(130), 16))
    .toString(16)
    .padStart(2, '0')

const CHANGES: readonly Change[] = [
  { name: 'too little', authorization: { value: '999' } },
  { name: 'too much', authorization: { value: '1001' } },
  { name: 'nothing', requirements: { amount: '0' } },
  { name: 'more than anyone has', requirements: { amount: (10n ** 30n).toString() } },
  { name: 'to a stranger', authorization: { to: STRANGER } },
  { name: 'wrong token name', domain: { name: 'USD Coin' } },
  { name: 'wrong token version', domain: { version: '1' } },
  { name: 'wrong chain signed', domain: { chainId: 8453 } },
  { name: 'wrong contract signed', domain: { verifyingContract: STRANGER } },
  { name: 'wrong name required and signed', requirements: { extra: { name: 'Fake', version: '2' } } },
  { name: 'no domain required', requirements: { extra: { version: '2' } }, domain: { name: 'USDC' } },
  { name: 'fake asset', requirements: { asset: STRANGER } },
  { name: 'other network', requirements: { network: 'eip155:8453' } },
  { name: 'other scheme', requirements: { scheme: 'exactly' } },
  { name: 'lie about the amount', accepted: { amount: '1' } },
  { name: 'lie about the payee', accepted: { payTo: STRANGER } },
  { name: 'lie about the asset', accepted: { asset: STRANGER } },
  { name: 'lie about the network', accepted: { network: 'eip155:8453' } },
  { name: 'paid to the zero address', requirements: { payTo: `0x${'0'.repeat(40)}` } },
  {
    name: 'wrong checksum',
    requirements: { payTo: '0x00000000000000000000000000000000cA5cade5' },
  },
  { name: 'no time to settle', requirements: { maxTimeoutSeconds: 5 } },
  {
    name: 'little time to settle',
    requirements: { maxTimeoutSeconds: 5 },
    window: { validBefore: 30 },
  },
  { name: 'expired', window: { validBefore: -5 } },
  { name: 'expires at once', window: { validBefore: 2 } },
  { name: 'open for a century', window: { validBefore: 3_000_000_000 } },
  { name: 'open for ever', authorization: { validBefore: (2n ** 256n - 1n).toString() } },
  { name: 'not open yet', window: { validAfter: 600 } },
  { name: 'high s', signature: highS },
  { name: 'v as a parity', signature: withV((v) => v - 27) },
  { name: 'v of the other parity', signature: withV((v) => 55 - v) },
  { name: 'v of EIP-155', signature: withV((v) => v + 10) },
  {
    name: 'a flipped bit',
    signature: (text) => `${text.slice(0, 20)}${text[20] === '0' ? '1' : '0'}${text.slice(21)}`,
  },
  { name: 'cut short', signature: (text) => text.slice(0, 130) },
  { name: 'one byte more', signature: (text) => `${text}00` },
  { name: 'zeros', signature: () => `0x${'00'.repeat(64)}1b` },
  { name: 'empty', signature: () => '0x' },
  { name: 'shouted', signature: (text) => `0x${text.slice(2).toUpperCase()}` },
  {
    name: 'wrapped for a wallet to come',
    signature: (text) => `0x${'00'.repeat(12)}${'11'.repeat(20)}${text.slice(2)}${'6492'.repeat(16)}`,
  },
  { name: 'from somebody else', authorization: { from: STRANGER } },
  { name: 'value in hex', written: { value: '0x3e8' } },
  { name: 'value as a number', written: { value: 1000 } },
  { name: 'value with a fraction', written: { value: '1000.0' } },
  { name: 'value with a sign', written: { value: '+1000' } },
  { name: 'value with space', written: { value: ' 1000 ' } },
  { name: 'value with a zero in front', written: { value: '01000' } },
  { name: 'negative value', written: { value: '-1000' } },
  { name: 'no nonce', written: { nonce: undefined } },
  { name: 'short nonce', written: { nonce: '0x01' } },
  { name: 'another nonce than signed', written: { nonce: `0x${'ee'.repeat(32)}` } },
  { name: 'poor', payer: 'poor' },
  { name: 'canceled', payer: 'canceled' },
  { name: 'used', payer: 'used' },
]

interface Outcome {
  readonly ours: string
  readonly theirs: string
}

const ACCEPTED = 'accepted'

async function judge(
  changes: readonly Change[],
  version: 1 | 2,
  payerIndex: number,
  paysItself: boolean,
): Promise<Outcome> {
  const merged = changes.reduce<Change>(
    (all, one) => ({
      ...all,
      ...one,
      requirements: { ...all.requirements, ...one.requirements },
      accepted: { ...all.accepted, ...one.accepted },
      domain: { ...all.domain, ...one.domain },
      authorization: { ...all.authorization, ...one.authorization },
      window: { ...all.window, ...one.window },
      written: { ...all.written, ...one.written },
    }),
    { name: '' },
  )
  const gone = merged.payer === 'canceled' ? spent[0] : merged.payer === 'used' ? spent[1] : undefined
  const account = gone?.account ?? (merged.payer === 'poor' ? poor : rich[payerIndex]!)
  const requirements: PaymentRequirements = {
    ...requirementsOf(testChain),
    ...(paysItself ? { payTo: account.address } : {}),
    ...merged.requirements,
  }
  const options: SignOptions = {
    account,
    requirements,
    overrides: {
      ...fromNow(merged.window?.validAfter, 'validAfter'),
      ...fromNow(merged.window?.validBefore, 'validBefore'),
      ...merged.authorization,
      ...(gone && { nonce: gone.nonce }),
      ...(merged.domain && { domain: merged.domain }),
      ...(merged.accepted && { accepted: merged.accepted }),
      ...(merged.signature && { signature: merged.signature }),
    },
  }
  const isV1 = version === 1
  const payment = await (isV1 ? signPaymentV1(options, 'base-sepolia') : signPayment(options))
  Object.assign(payment.payload['authorization'] as object, merged.written)
  const { amount, network: _, ...rest } = requirements
  const required = isV1
    ? {
        ...rest,
        network: 'base-sepolia',
        maxAmountRequired: amount,
        resource: '',
        description: '',
        mimeType: '',
      }
    : requirements
  const body = JSON.parse(
    JSON.stringify({ x402Version: version, paymentPayload: payment, paymentRequirements: required }),
  ) as Record<string, unknown>
  const [ours, theirs] = await Promise.all([
    judgeByUs(body),
    reference.verify(body['paymentPayload'], body['paymentRequirements']),
  ])
  return { ours, theirs: theirs.isValid ? ACCEPTED : (theirs.invalidReason ?? 'no reason') }
}

async function judgeByUs(body: unknown): Promise<string> {
  try {
    const { payment, requirements } = decodeFacilitatorRequest(body, networks)
    const verdict = await verifier.verify(payment, requirements)
    if (verdict.ok) return ACCEPTED
    // Another scheme is for an upstream, and there is none.
    expect(verdict.isRetryable).toBe(verdict.check === 'route')
    expect(CHECKS).toContain(verdict.check)
    return `${verdict.check} ${verdict.reason}`
  } catch (thrown) {
    if (thrown instanceof GatewayError && thrown.code === 'payment_invalid') return 'shape payment_invalid'
    throw thrown
  }
}

describe('our verifier and the one of @x402/evm', () => {
  const differences = new Set<string>()
  let compared = 0
  let accepted = 0

  function compare({ ours, theirs }: Outcome, what: string): void {
    compared++
    if (ours === ACCEPTED) {
      accepted++
      expect(theirs, what).toBe(ACCEPTED)
    } else if (theirs === ACCEPTED) {
      differences.add(ours)
      expect(Object.keys(STRICTER), what).toContain(ours)
    }
  }

  it('agree on payments as stock clients sign them', async () => {
    for (const version of [1, 2] as const)
      expect(await judge([], version, 0, false)).toEqual({ ours: ACCEPTED, theirs: ACCEPTED })
  })

  it.each(CHANGES.map((change) => [change.name, change] as const))(
    'agree, or are known to differ, on a payment: %s',
    async (name, change) => {
      for (const version of [1, 2] as const) compare(await judge([change], version, 1, false), name)
    },
  )

  it('agree, or are known to differ, on a payment to the payer itself', async () => {
    compare(await judge([], 2, 2, true), 'itself')
  })

  it('agree, or are known to differ, on whatever comes together', async () => {
    const drawn = fc.record({
      changes: fc.subarray([...CHANGES], { maxLength: 3 }),
      version: fc.constantFrom(1 as const, 2 as const),
      payer: fc.nat(3),
      paysItself: fc.constantFrom(false, false, false, true),
    })
    await fc.assert(
      fc.asyncProperty(drawn, async ({ changes, version, payer, paysItself }) => {
        const what = [`v${version}`, ...changes.map(({ name }) => name)].join(', ')
        compare(await judge(changes, version, payer, paysItself), what)
      }),
      { numRuns: 150 },
    )
  }, 1_200_000)

  it.each<[string, keyof typeof WALLETS, NonNullable<Change['signature']>, string]>([
    ['agrees to 65 bytes of a stranger', 'agrees', () => `0x${'11'.repeat(64)}1b`, ACCEPTED],
    ['agrees to a long signature', 'agrees', () => `0x${'11'.repeat(200)}`, ACCEPTED],
    ['agrees to what its account signed', 'agrees', (text) => text, ACCEPTED],
    [
      'refuses a long signature',
      'refuses',
      () => `0x${'11'.repeat(200)}`,
      'signature invalid_exact_evm_signature',
    ],
    [
      'refuses what its account signed',
      'refuses',
      (text) => text,
      'simulation invalid_exact_evm_transaction_simulation_failed',
    ],
  ])('agree on a payer with code that %s', async (_, wallet, signature, expected) => {
    const snapshot = await testChain.snapshot()
    await testChain.rpc('anvil_setCode', [rich[3]!.address, WALLETS[wallet]])
    const outcome = await judge([{ name: 'wallet', signature }], 2, 3, false)
    await testChain.revert(snapshot)
    compare(outcome, 'wallet')
    expect(outcome.ours).toBe(expected)
    expect(outcome.theirs === ACCEPTED).toBe(expected === ACCEPTED)
  })

  it('were compared on at least 200 payments, and every known difference occurred', () => {
    expect(compared).toBeGreaterThanOrEqual(200)
    expect([...differences].toSorted()).toEqual(Object.keys(STRICTER).toSorted())
    expect(accepted).toBeGreaterThan(10)
  })
})
