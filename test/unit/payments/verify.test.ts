import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import type { PaymentRequirements } from '../../../schemas/x402.ts'
import { GatewayError } from '../../../src/core/errors.ts'
import { createLogger } from '../../../src/lib/log.ts'
import { createNetworks } from '../../../src/core/networks.ts'
import { type PaymentPolicyDocument, paymentPolicyDocument } from '../../../src/payments/policy.ts'
import { type Chain, ChainError, type ChainProbe } from '../../../src/payments/chain-ports.ts'
import { CHECKS, type Route, type Upstream, type Verdict } from '../../../src/payments/ports.ts'
import {
  claimKeyOf,
  createVerifier,
  type VerifierParts,
  MAX_OPEN_OF_CONTRACT,
} from '../../../src/payments/verify.ts'
import { decodePayment } from '../../../src/payments/wire.ts'
import { Secret } from '../../../src/lib/secret.ts'
import type { PaymentClaim } from '../../../src/store/ports.ts'
import { requirementsOf, type SignOptions, signPayment, signPaymentV1 } from '../../support/chain.ts'
import { cites } from '../../requirements.ts'

const networks = createNetworks([84532])
const network = networks.all[0]!
const payer = privateKeyToAccount(`0x${'46'.repeat(32)}`)
const PAYER = payer.address.toLowerCase()
const seller = '0x00000000000000000000000000000000CA5CADE5'
const requirements = requirementsOf({ network, payTo: seller }, 1000n)
const GOOD: ChainProbe = { nonceUsed: false, balance: 1000n, payerHasCode: false, revert: null }

type Overrides = NonNullable<SignOptions['overrides']>
const presented = (value: unknown) => decodePayment({ form: 'object', value: new Secret(value) })
const sign = async (overrides: Overrides = {}, required: PaymentRequirements = requirements) =>
  presented(await signPayment({ account: payer, requirements: required, overrides }))

/** A transfer that would succeed shows that the payer holds what it takes, at least. */
const PASSED = { ok: true, payer: PAYER, funds: { balance: '1000', settled: '0' } }

type Standing = Awaited<ReturnType<VerifierParts['store']['findStanding']>>
const ALONE: Standing = { open: { count: 0, amount: '0', submitted: 0, working: 0 }, settled: '0' }

interface World {
  /** What the payer has bound, look after look; the last one stays. */
  standings?: readonly Standing[]
  maxOpen?: number
  /** What its last payments leave to the payer. */
  most?: number
  probe?: Partial<ChainProbe> | Error
  /** As a chain says it of a payer whose payment others judge. */
  balance?: bigint
  claim?: { id: string }
  storeFails?: boolean
  policy?: Partial<PaymentPolicyDocument> | Error
  rateLimit?: VerifierParts['rateLimit']
  upstreams?: readonly (Verdict | Error)[]
  noChain?: boolean
}

/** A verifier over fakes of everything around it, and what they were asked. */
function arrange(world: World = {}) {
  const asked: string[] = []
  const time = { now: Date.now() }
  const waits: number[] = []
  let looks = 0
  const chain = {
    network,
    async probe(_authorization, _signature, options) {
      asked.push(options?.withBalance ? 'chain and balance' : 'chain')
      if (world.probe instanceof Error) throw world.probe
      return { ...GOOD, ...(options?.withBalance ? {} : { balance: null }), ...world.probe }
    },
    async balanceOf() {
      asked.push('balance')
      return world.balance ?? 1000n
    },
  } as Partial<Chain> as Chain
  const routeTo = (answer: Verdict | Error, i: number) =>
    ({
      upstream: {
        id: `up${i}`,
        async verify() {
          asked.push(`up${i}`)
          if (answer instanceof Error) throw answer
          return answer
        },
      } as unknown as Upstream,
    }) as Route
  const verifier = createVerifier({
    networks,
    chains: new Map(world.noChain ? [] : [[network.network, chain]]),
    store: {
      async findClaim(key) {
        asked.push('store')
        if (world.storeFails) throw new GatewayError('store_unavailable', 'The store is not available.')
        expect(key).toMatchObject({ network: network.network, asset: network.asset.address.toLowerCase() })
        return world.claim as PaymentClaim | undefined
      },
      async findStanding(key) {
        expect(key).toMatchObject({ payer: PAYER, asset: network.asset.address.toLowerCase() })
        const standings = world.standings ?? [ALONE]
        return standings[Math.min(looks++, standings.length - 1)] ?? ALONE
      },
    },
    router: {
      routes: async () => (world.upstreams ?? []).map(routeTo),
      report: (id, { ok }) => void asked.push(`${id} ${ok ? 'good' : 'bad'}`),
    },
    documents: {
      async read<T>() {
        asked.push('policy')
        if (world.policy instanceof Error) throw world.policy
        const value = { ...paymentPolicyDocument.initial, ...world.policy }
        return { value: value as T }
      },
    },
    rateLimit: world.rateLimit,
    maxOpen: world.maxOpen,
    losses: { most: () => world.most },
    wait: async (ms) => void waits.push(ms),
    now: () => time.now,
    log: createLogger('silent'),
  })
  return { verify: verifier.verify, asked, time, waits }
}

describe('the verifier', () => {
  it('takes a good payment after one look at policy, store and chain', async () => {
    const { verify, asked } = arrange()
    expect(await verify(await sign(), requirements)).toEqual(PASSED)
    expect(asked).toEqual(['policy', 'store', 'chain'])
  })

  it('takes a good payment of v1', async () => {
    const payment = presented(await signPaymentV1({ account: payer, requirements }))
    expect(await arrange().verify(payment, requirements)).toEqual(PASSED)
  })

  it.each<[string, string, string, Overrides, World, readonly string[]]>([
    [
      'a bad amount',
      'amount',
      'invalid_exact_evm_payload_authorization_value_mismatch',
      { value: '999' },
      {},
      [],
    ],
    [
      'a high s',
      'signature_form',
      'invalid_exact_evm_failed_to_parse_signature',
      { signature: (text) => `${text.slice(0, 66)}${'f'.repeat(64)}1b` },
      {},
      [],
    ],
    [
      'a denied payer',
      'deny_list',
      'payer_denied',
      {},
      { policy: { denied_payers: [payer.address] } },
      ['policy'],
    ],
    [
      'a denied payee',
      'deny_list',
      'payee_denied',
      {},
      { policy: { denied_payees: [seller.toLowerCase()] } },
      ['policy'],
    ],
    [
      "a payment that is another's claim",
      'claim',
      'invalid_exact_evm_nonce_already_used',
      {},
      { claim: { id: 'clm_1' } },
      ['policy', 'store'],
    ],
    [
      'a signature over another amount',
      'signature',
      'invalid_exact_evm_signature',
      { signature: () => `0x${'11'.repeat(64)}1b` },
      {},
      ['policy', 'store', 'chain'],
    ],
    [
      'a signature for another token name',
      'signature',
      'invalid_exact_evm_signature',
      { domain: { name: 'USD Coin' } },
      {},
      ['policy', 'store', 'chain'],
    ],
    [
      'a signature for another chain',
      'signature',
      'invalid_exact_evm_signature',
      { domain: { chainId: 8453 } },
      {},
      ['policy', 'store', 'chain'],
    ],
    [
      'a used nonce',
      'authorization_state',
      'invalid_exact_evm_nonce_already_used',
      {},
      { probe: { nonceUsed: true, revert: 'authorization is used' } },
      ['policy', 'store', 'chain'],
    ],
    [
      'a poor payer',
      'balance',
      'invalid_exact_evm_insufficient_balance',
      {},
      { probe: { balance: 999n, revert: 'transfer amount exceeds balance' } },
      ['policy', 'store', 'chain'],
    ],
    [
      'a transfer that would fail',
      'simulation',
      'invalid_exact_evm_transaction_simulation_failed',
      {},
      { probe: { revert: 'Blacklistable: account is blacklisted' } },
      ['policy', 'store', 'chain'],
    ],
  ])(
    cites('x402:verify:order', 'refuses %s, and asks no further'),
    async (_, check, reason, overrides, world, expected) => {
      const { verify, asked } = arrange(world)
      const verdict = await verify(await sign(overrides), requirements)
      expect(verdict).toMatchObject({ ok: false, check, reason, isRetryable: false, payer: PAYER })
      expect(CHECKS).toContain(check)
      expect(asked).toEqual(expected)
    },
  )

  it.each<[string, string, World]>([
    ...(['timeout', 'unreachable', 'malformed', 'wrong_chain', 'refused'] as const).map(
      (reason): [string, string, World] => [
        `a chain that ends in ${reason}`,
        'authorization_state',
        { probe: new ChainError(reason, network.network) },
      ],
    ),
    ['no chain at all', 'route', { noChain: true }],
    ['a pause', 'deny_list', { policy: { paused: true } }],
  ])(cites('x402:verify:silence', 'never calls a payment invalid because of %s'), async (_, check, world) => {
    const verdict = await arrange(world).verify(await sign(), requirements)
    expect(verdict).toMatchObject({
      ok: false,
      check,
      reason: 'unexpected_verify_error',
      isRetryable: true,
    })
  })

  it('does not judge when the store or the policy cannot be read', async () => {
    const payment = await sign()
    await expect(arrange({ storeFails: true }).verify(payment, requirements)).rejects.toMatchObject({
      code: 'store_unavailable',
    })
    await expect(arrange({ policy: new Error('disk') }).verify(payment, requirements)).rejects.toThrow('disk')
  })

  it('asks nobody about a payer that has to wait', async () => {
    const { verify, asked } = arrange({ most: 0 })
    expect(await verify(await sign(), requirements)).toMatchObject({
      ok: false,
      check: 'rate',
      reason: 'payments_unsettled_before',
      isRetryable: true,
    })
    expect(asked).toEqual(['policy'])
  })

  it('lets a payer whose last payments were lost have fewer under way, and whoever claims it knows', async () => {
    const look = async (working: number) =>
      arrange({
        most: 2,
        standings: [{ open: { count: 5, amount: '1', submitted: 5, working }, settled: '0' }],
        probe: { balance: 9000n },
      }).verify(await sign(), requirements)
    expect(await look(2)).toMatchObject({
      check: 'rate',
      reason: 'too_many_open_payments',
      isRetryable: true,
    })
    // What nobody works on and nobody sends any more is bound by the usual number alone.
    expect(await look(1)).toMatchObject({ ok: true, maxWorking: 2 })
    expect(await arrange({ most: 2 }).verify(await sign(), requirements)).toEqual({
      ...PASSED,
      maxWorking: 2,
    })
  })

  it('lets the holder of the claim verify again', async () => {
    const { verify } = arrange({ claim: { id: 'clm_1' } })
    const payment = await sign()
    expect(await verify(payment, requirements, { claimId: 'clm_1' })).toMatchObject({ ok: true })
    expect(await verify(payment, requirements, { claimId: 'clm_2' })).toMatchObject({
      check: 'claim',
      message: expect.stringContaining('clm_1'),
    })
  })

  it('keeps what a contract says printable and short', async () => {
    const revert = `\u001b[31m\u0000${'x'.repeat(500)}\u202e`
    const verdict = await arrange({ probe: { revert } }).verify(await sign(), requirements)
    if (verdict.ok) throw new Error('accepted')
    expect(verdict.message).toMatch(/^[ -~]{10,220}$/)
  })

  it('quotes no signature, whatever it answers', async () => {
    const payment = await sign({ domain: { name: 'Other' } })
    if (payment.kind.type !== 'eip3009') throw new Error('not EIP-3009')
    const signature = payment.kind.signature.use((text) => text)
    const verdict = await arrange().verify(payment, requirements)
    expect(JSON.stringify(verdict)).not.toContain(signature.slice(4, 20))
  })
})

describe('who paid, for a payment that did its work', () => {
  it('is shown by the signature alone, long after and with everything else gone', async () => {
    const { verify, asked } = arrange({
      claim: { id: 'clm_1' },
      probe: new ChainError('unreachable', ''),
      policy: { denied_payers: [PAYER] },
    })
    const payment = await sign({ validBefore: '1000000' })
    expect(await verify(payment, requirements, { skipChain: true })).toEqual({ ok: true, payer: PAYER })
    expect(asked).toEqual([])
  })

  it('is nobody but the payer', async () => {
    const forged = await sign({ from: '0x00000000000000000000000000000000000000aa' })
    const verdict = await arrange().verify(forged, requirements, { skipChain: true })
    expect(verdict).toMatchObject({ ok: false, check: 'signature' })
  })
})

describe('contract wallets', () => {
  const wallet = { probe: { payerHasCode: true }, upstreams: [{ ok: true, payer: PAYER } as const] }
  const strange: Overrides = { signature: () => `0x${'11'.repeat(64)}1b` }
  const long: Overrides = { signature: () => `0x${'11'.repeat(200)}` }

  it.each([
    ['65 bytes', strange],
    ['more', long],
  ])(
    cites('x402:verify:erc1271', 'are judged by their code, with signatures of %s'),
    async (_, overrides) => {
      const { verify, asked } = arrange(wallet)
      // Its code may say no when it counts, so that fewer of its payments may be open.
      const passed = { ...PASSED, maxOpen: MAX_OPEN_OF_CONTRACT }
      expect(await verify(await sign(overrides), requirements)).toEqual(passed)
      expect(asked).toEqual(['policy', 'store', 'chain', 'up0', 'up0 good'])
    },
  )

  it(cites('x402:verify:no-code', 'cannot be claimed by an account without code'), async () => {
    const { verify } = arrange({ ...wallet, probe: { payerHasCode: false } })
    for (const overrides of [strange, long])
      expect(await verify(await sign(overrides), requirements)).toMatchObject({ check: 'signature' })
  })

  it('are refused when the token refuses their signature', async () => {
    const { verify, asked } = arrange({
      ...wallet,
      probe: { payerHasCode: true, revert: 'invalid signature' },
    })
    expect(await verify(await sign(long), requirements)).toMatchObject({ check: 'signature' })
    expect(asked).not.toContain('up0')
  })

  it(
    cites('x402:verify:eip7702', 'need no second opinion when the account itself signed (EIP-7702)'),
    async () => {
      const { verify, asked } = arrange({ probe: { payerHasCode: true } })
      expect(await verify(await sign(), requirements)).toEqual(PASSED)
      expect(asked).toEqual(['policy', 'store', 'chain'])
    },
  )
})

describe('the open payments of a payer', () => {
  const open = (amount: string, over: Partial<Standing['open']> = {}): Standing => ({
    open: { count: 2, amount, submitted: 0, working: 2, ...over },
    settled: '70',
  })
  const bound = { ok: false, check: 'balance', reason: 'insufficient_funds', isRetryable: false }

  it('count against its balance, which is asked in the same batch and only then', async () => {
    const world = { standings: [open('3000')], probe: { balance: 4000n } }
    const { verify, asked } = arrange(world)
    expect(await verify(await sign(), requirements)).toEqual({
      ok: true,
      payer: PAYER,
      funds: { balance: '4000', settled: '70' },
    })
    expect(asked).toEqual(['policy', 'store', 'chain and balance'])
    const { verify: again } = arrange({ ...world, probe: { balance: 3999n } })
    const refused = await again(await sign(), requirements)
    expect(refused).toMatchObject(bound)
    expect(refused).toMatchObject({
      message: expect.stringMatching(/holds 3999 .* 3000 are bound by 2 of its payments .* needs 1000/),
    })
  })

  it('are looked at again while they are being settled: mined, and not written yet, they count twice', async () => {
    const settling = open('1000', { count: 1, submitted: 1 })
    const { verify, waits } = arrange({
      standings: [settling, settling, ALONE],
      probe: { balance: 1000n },
    })
    expect(await verify(await sign(), requirements)).toMatchObject({ ok: true })
    expect(waits).toEqual([100, 300])
    const stuck = arrange({ standings: [settling], probe: { balance: 1000n } })
    expect(await stuck.verify(await sign(), requirements)).toMatchObject(bound)
    expect(stuck.waits).toEqual([100, 300])
    const idle = arrange({ standings: [open('1000')], probe: { balance: 1000n } })
    expect(await idle.verify(await sign(), requirements)).toMatchObject(bound)
    expect(idle.waits).toEqual([])
  })

  it('may have come in between: whoever claims asks for the balance in any case', async () => {
    const { verify, asked } = arrange({ probe: { balance: 9000n } })
    expect(await verify(await sign(), requirements, { withBalance: true })).toMatchObject({
      funds: { balance: '9000' },
    })
    expect(asked).toEqual(['policy', 'store', 'chain and balance'])
  })

  it('end at a number of them, before any chain is asked', async () => {
    const { verify, asked } = arrange({ standings: [open('2')], maxOpen: 2 })
    expect(await verify(await sign(), requirements)).toMatchObject({
      check: 'rate',
      reason: 'too_many_open_payments',
      isRetryable: true,
      message: expect.stringMatching(/2 payments that are not settled yet.*send it again when/i),
    })
    expect(asked).toEqual(['policy', 'store'])
    const one = arrange({ standings: [open('2')], maxOpen: 3, probe: { balance: 9000n } })
    expect(await one.verify(await sign(), requirements)).toMatchObject({ ok: true })
  })

  it('do not matter for a payment that is used already', async () => {
    const { verify } = arrange({ standings: [open('9999')], maxOpen: 1 })
    expect(await verify(await sign(), requirements, { skipChain: true })).toEqual({ ok: true, payer: PAYER })
  })

  it.each<[string, bigint, object]>([
    ['enough', 2000n, { ok: true, funds: { balance: '2000', settled: '70' } }],
    ['bound', 1999n, { ok: false, check: 'balance', reason: 'insufficient_funds' }],
  ])('count also where others judge the payment: what is left is %s', async (_, balance, expected) => {
    const { verify, asked } = arrange({
      standings: [open('1000')],
      probe: { payerHasCode: true, balance },
      upstreams: [{ ok: true, payer: PAYER }],
    })
    const wallet = await sign({ signature: () => `0x${'11'.repeat(200)}` })
    expect(await verify(wallet, requirements)).toMatchObject(expected)
    expect(asked.slice(0, 3)).toEqual(['policy', 'store', 'chain and balance'])
  })
})

describe('payments that others judge', () => {
  const upto = { ...requirements, scheme: 'upto' }
  const foreign = () => presented({ x402Version: 2, accepted: upto, payload: { permit: '0x01' } })
  const ok = { ok: true, payer: PAYER } as const
  const no = { ok: false, check: 'signature', reason: 'x', message: 'y', isRetryable: false } as const
  const busy = { ...no, isRetryable: true }

  it('are judged by the best upstream that answers', async () => {
    const { verify, asked } = arrange({ upstreams: [new Error('socket'), ok] })
    expect(await verify(foreign(), upto)).toEqual(ok)
    expect(asked).toEqual(['policy', 'store', 'up0', 'up0 bad', 'up1', 'up1 good'])
  })

  it('leave an upstream in service for others that cannot check this very payment', async () => {
    const unchecked = { ...busy, isOfThisPayment: true }
    const { verify, asked } = arrange({ upstreams: [unchecked, unchecked] })
    expect(await verify(foreign(), upto)).toMatchObject({ ok: false, isRetryable: true })
    expect(asked).toEqual(['policy', 'store', 'up0', 'up1'])
  })

  it.each<[string, readonly (Verdict | Error)[], object]>([
    ['a no is a no', [no, ok], { check: 'signature', isRetryable: false }],
    ['busy ones are passed by', [busy, no], { check: 'signature', isRetryable: false }],
    ['two are asked at most', [busy, busy, ok], { check: 'route', isRetryable: true }],
    ['there is nobody', [], { check: 'route', isRetryable: true }],
  ])('%s', async (_, upstreams, expected) => {
    expect(await arrange({ upstreams }).verify(foreign(), upto)).toMatchObject({ ok: false, ...expected })
  })

  it('are refused when the payer that comes out is denied', async () => {
    const { verify } = arrange({ upstreams: [ok], policy: { denied_payers: [payer.address] } })
    expect(await verify(foreign(), upto)).toMatchObject({ check: 'deny_list', reason: 'payer_denied' })
  })

  it('prove nothing without an upstream', async () => {
    const { verify } = arrange({ upstreams: [ok] })
    expect(await verify(foreign(), upto, { skipChain: true })).toMatchObject({ check: 'signature' })
  })
})

describe('rates', () => {
  const rateLimit = { perPayer: 2, perPayee: 3 }

  it(
    cites('x402:verify:rate', 'end with a payer that has had its share, until the minute is over'),
    async () => {
      const { verify, time } = arrange({ rateLimit })
      for (let i = 0; i < 2; i++) expect(await verify(await sign(), requirements)).toMatchObject({ ok: true })
      const refused = { ok: false, check: 'rate', reason: 'rate_limited', isRetryable: true }
      expect(await verify(await sign(), requirements)).toMatchObject(refused)
      expect(await verify(await sign(), requirements, { isOurs: true })).toMatchObject(refused)
      time.now += 60_000
      expect(await verify(await sign(), requirements)).toMatchObject({ ok: true })
    },
  )

  it('end with a payee that has had its share, unless that is us', async () => {
    const { verify } = arrange({ rateLimit: { perPayer: 0, perPayee: 3 } })
    for (let i = 0; i < 3; i++) await verify(await sign(), requirements)
    expect(await verify(await sign(), requirements)).toMatchObject({ check: 'rate' })
    expect(await verify(await sign(), requirements, { isOurs: true })).toMatchObject({ ok: true })
  })

  it('count nothing that its payer did not sign', async () => {
    const { verify } = arrange({ rateLimit })
    for (let i = 0; i < 5; i++)
      await verify(await sign({ signature: () => `0x${'11'.repeat(64)}1b` }), requirements)
    expect(await verify(await sign(), requirements)).toMatchObject({ ok: true })
  })

  it('do not count settling a payment that was verified', async () => {
    const { verify } = arrange({ rateLimit: { perPayer: 1, perPayee: 1 }, claim: { id: 'clm_1' } })
    const payment = await sign()
    const settling = { claimId: 'clm_1' }
    for (let i = 0; i < 3; i++)
      expect(await verify(payment, requirements, settling)).toMatchObject({ ok: true })
  })

  it('do not keep a payment that was verified from being settled', async () => {
    const { verify } = arrange({ rateLimit: { perPayer: 1, perPayee: 1 } })
    const payment = await sign()
    expect(await verify(payment, requirements)).toMatchObject({ ok: true })
    expect(await verify(payment, requirements)).toMatchObject({ check: 'rate' })
    expect(await verify(payment, requirements, { claimId: 'clm_1' })).toMatchObject({ ok: true })
  })
})

describe('the key of a claim', () => {
  it(cites('x402:claim:key', 'is one for every spelling of a payment'), async () => {
    const wire = await signPayment({ account: payer, requirements })
    const shouted = JSON.parse(
      JSON.stringify(wire).replaceAll(
        /"0x[0-9a-fA-F]+"/g,
        (text) => `"0x${text.slice(3, -1).toUpperCase()}"`,
      ),
    ) as typeof wire
    const key = claimKeyOf(presented(wire), requirements)
    expect(claimKeyOf(presented(shouted), shouted.accepted)).toEqual(key)
    expect(key).toEqual({
      network: 'eip155:84532',
      asset: network.asset.address.toLowerCase(),
      payer: PAYER,
      nonce: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    })
    expect(await arrange().verify(presented(shouted), shouted.accepted)).toMatchObject({ ok: true })
  })
})
