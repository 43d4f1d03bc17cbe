import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { PaymentRequirements } from '../../../schemas/x402.ts'
import { compareResourceTexts, findDifference } from '../../../src/commerce/x402/bind-rules.ts'
import {
  type Case,
  checkPayment,
  CLOCK_SKEW_SECONDS,
  isMadeByCopies,
} from '../../../src/payments/firewall.ts'
import { settleSeconds } from '../../../src/payments/inclusion.ts'
import { MAX_TIMEOUT_SECONDS } from '../../../src/payments/requirements.ts'
import { createNetworks } from '../../../src/core/networks.ts'
import { CHECKS, type Payment } from '../../../src/payments/ports.ts'
import { loadSecp256k1, type Secp256k1 } from '../../../src/payments/secp256k1.ts'
import { Secret } from '../../../src/lib/secret.ts'
import { cites } from '../../requirements.ts'

const networks = createNetworks([8453, 84532])
const NOW = 1_800_000_000n
const USDC = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
const PAYER = '0x9d8a62f656a8d1615c1294fd71e9cfb3e4855a4f'
const PAY_TO = '0x00000000000000000000000000000000ca5cade5'
const STRANGER = `0x${'ab'.repeat(20)}`
const LOW_S = '7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0'
const HIGH_S = '7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a1'
const signatureOf = (s: string, v: string) => `0x${'11'.repeat(32)}${s}${v}`

let secp256k1: Secp256k1
beforeAll(async () => {
  secp256k1 = await loadSecp256k1()
})

const requirements: PaymentRequirements = {
  scheme: 'exact',
  network: 'eip155:84532',
  amount: '1000',
  asset: USDC,
  payTo: PAY_TO,
  maxTimeoutSeconds: 300,
  extra: { name: 'USDC', version: '2' },
}
const authorization = {
  from: PAYER,
  to: PAY_TO,
  value: 1000n,
  validAfter: 0n,
  validBefore: NOW + 300n,
  nonce: `0x${'cd'.repeat(32)}`,
}

interface Change {
  readonly payment?: Partial<Payment>
  readonly authorization?: Partial<typeof authorization>
  readonly signature?: string
  /** In the requirement and in what the buyer accepted. */
  readonly both?: Partial<PaymentRequirements>
  readonly accepted?: Partial<PaymentRequirements>
  readonly resourceUrl?: string
  readonly isOurs?: boolean
  readonly workSeconds?: number
}

function caseOf(change: Change): Case {
  const required = { ...requirements, ...change.both }
  return {
    payment: {
      x402Version: 2,
      scheme: required.scheme,
      network: required.network,
      accepted: { ...required, ...change.accepted },
      resourceUrl: null,
      extensions: {},
      kind: {
        type: 'eip3009',
        authorization: { ...authorization, ...change.authorization },
        signature: new Secret(change.signature ?? signatureOf(LOW_S, '1b')),
      },
      payer: PAYER,
      nonce: authorization.nonce,
      validBefore: null,
      presented: new Secret(null),
      wire: new Secret({ x402Version: 2, accepted: required, payload: {} }),
      ...change.payment,
    },
    requirements: required,
    networks,
    resourceUrl: change.resourceUrl,
    isOurs: change.isOurs ?? false,
    workSeconds: change.workSeconds ?? 0,
    nowSeconds: NOW,
    keccak256: secp256k1.keccak256,
  }
}

const verdictOf = (change: Change, isUsed = false) => checkPayment(caseOf(change), isUsed)
const SVM = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
const zero = `0x${'0'.repeat(40)}`

describe('the firewall, as far as it needs nobody', () => {
  it('passes a payment that fits', () => {
    expect(verdictOf({})).toEqual({ ok: true })
  })

  it('names the networks that are served, or says that none is', () => {
    const facts = caseOf({ both: { network: 'eip155:1' } })
    const offered = 'eip155:1 is not served here. Pay on eip155:8453, eip155:84532.'
    const none = 'eip155:1 is not served here. No network is configured: GET /supported lists what is taken.'
    expect(checkPayment(facts)).toMatchObject({ message: offered })
    expect(checkPayment({ ...facts, networks: createNetworks([]) })).toMatchObject({ message: none })
  })

  it('takes the window of settling and the skew of a clock for its bounds', () => {
    expect([settleSeconds('eip155:84532'), CLOCK_SKEW_SECONDS]).toEqual([6, 30n])
  })

  it('gives what a stock client signs for time to be worked on and settled, on the slowest chain', () => {
    const longest = 60
    expect(longest + settleSeconds('eip155:59144')).toBeLessThan(MAX_TIMEOUT_SECONDS / 2)
  })

  it('compares resources only where both are known', () => {
    expect(verdictOf({ resourceUrl: 'https://a.example/a' })).toEqual({ ok: true })
    expect(verdictOf({ payment: { resourceUrl: 'https://a.example/a' } })).toEqual({ ok: true })
  })

  it('takes a payment for one that still has to do its work unless it is told otherwise', () => {
    const late = caseOf({ authorization: { validBefore: NOW } })
    expect(checkPayment(late)).toMatchObject({ ok: false, check: 'window' })
  })

  it('blames copies for the checks alone that a copy can fail', () => {
    const made = CHECKS.filter(isMadeByCopies)
    expect(made).toEqual(['claim', 'authorization_state', 'balance', 'simulation'])
  })

  const REFUSED: readonly [string, string, string, Change, Change][] = [
    // what is wrong | check | reason | refused | its nearest twin, which passes
    ['another scheme', 'scheme', 'invalid_exact_evm_scheme', { payment: { scheme: 'upto' } }, {}],
    [
      'another scheme than upto',
      'scheme',
      'unsupported_scheme',
      { both: { scheme: 'upto' }, payment: { scheme: 'exact' } },
      { both: { scheme: 'upto' } },
    ],
    [
      'another network',
      'network',
      'invalid_exact_evm_network_mismatch',
      { payment: { network: 'eip155:8453' } },
      {},
    ],
    [
      'a network that is not served',
      'network',
      'invalid_network',
      { both: { network: 'eip155:1' } },
      {
        both: {
          network: 'eip155:8453',
          asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
          extra: { name: 'USD Coin', version: '2' },
        },
      },
    ],
    [
      'a permission that nobody checks',
      'scheme',
      'unsupported_payload_type',
      { payment: { kind: { type: 'foreign' } } },
      { both: { scheme: 'upto' }, payment: { kind: { type: 'foreign' } } },
    ],
    [
      'a fake asset',
      'asset',
      'invalid_payment_requirements',
      { both: { asset: STRANGER } },
      { both: { asset: USDC.toLowerCase() } },
    ],
    [
      'the asset of another network',
      'asset',
      'invalid_payment_requirements',
      { both: { asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' } },
      {},
    ],
    ['no domain', 'asset', 'invalid_exact_evm_missing_eip712_domain', { both: { extra: {} } }, {}],
    [
      'an empty domain name',
      'asset',
      'invalid_exact_evm_missing_eip712_domain',
      { both: { extra: { name: '', version: '2' } } },
      {},
    ],
    [
      'the domain name of another network',
      'asset',
      'invalid_exact_evm_token_name_mismatch',
      { both: { extra: { name: 'USD Coin', version: '2' } } },
      {},
    ],
    [
      'another domain version',
      'asset',
      'invalid_exact_evm_token_version_mismatch',
      { both: { extra: { name: 'USDC', version: '1' } } },
      {},
    ],
    [
      'a domain version that is a number',
      'asset',
      'invalid_exact_evm_token_version_mismatch',
      { both: { extra: { name: 'USDC', version: 2 } } },
      { both: { extra: { name: 'USDC', version: '2', assetTransferMethod: 'eip3009' } } },
    ],
    [
      'a payTo that is no address',
      'pay_to',
      'invalid_payment_requirements',
      { both: { payTo: 'seller.eth' } },
      {},
    ],
    [
      'a payTo with a wrong checksum',
      'pay_to',
      'invalid_payment_requirements',
      {
        both: { payTo: '0x00000000000000000000000000000000Ca5cade5' },
        authorization: { to: PAY_TO },
      },
      { both: { payTo: '0x00000000000000000000000000000000CA5CADE5' } },
    ],
    [
      'the zero address as payTo',
      'pay_to',
      'invalid_payment_requirements',
      { both: { payTo: zero }, authorization: { to: zero } },
      { both: { payTo: STRANGER }, authorization: { to: STRANGER } },
    ],
    [
      'the asset as payTo',
      'pay_to',
      'invalid_payment_requirements',
      { both: { payTo: USDC }, authorization: { to: USDC.toLowerCase() } },
      {},
    ],
    [
      'the payer as payTo',
      'pay_to',
      'invalid_payment_requirements',
      { both: { payTo: PAYER }, authorization: { to: PAYER } },
      {},
    ],
    [
      'an authorization that pays somebody else',
      'pay_to',
      'invalid_exact_evm_recipient_mismatch',
      { authorization: { to: STRANGER } },
      {},
    ],
    [
      'an amount of zero',
      'amount',
      'invalid_payment_requirements',
      { both: { amount: '0' }, authorization: { value: 0n } },
      { both: { amount: '1' }, authorization: { value: 1n } },
    ],
    [
      'too little',
      'amount',
      'invalid_exact_evm_payload_authorization_value_mismatch',
      { authorization: { value: 999n } },
      {},
    ],
    [
      'too much',
      'amount',
      'invalid_exact_evm_payload_authorization_value_mismatch',
      { authorization: { value: 1001n } },
      {},
    ],
    [
      'a timeout in which nothing settles',
      'timeout',
      'invalid_payment_requirements',
      { both: { maxTimeoutSeconds: 5 }, authorization: { validBefore: NOW + 10n } },
      { both: { maxTimeoutSeconds: 6 }, authorization: { validBefore: NOW + 10n } },
    ],
    ['a lie about the amount', 'accepted', 'invalid_payment_requirements', { accepted: { amount: '1' } }, {}],
    [
      'a lie about payTo',
      'accepted',
      'invalid_payment_requirements',
      { accepted: { payTo: STRANGER } },
      { accepted: { payTo: PAY_TO.toUpperCase().replace('0X', '0x') } },
    ],
    [
      'a lie about the timeout',
      'accepted',
      'invalid_payment_requirements',
      { accepted: { maxTimeoutSeconds: 301 } },
      {},
    ],
    [
      'a member of extra left out',
      'accepted',
      'invalid_payment_requirements',
      { accepted: { extra: { name: 'USDC' } } },
      { accepted: { extra: { name: 'USDC', version: '2', note: 1 } } },
    ],
    [
      'another resource',
      'resource',
      'resource_mismatch',
      { payment: { resourceUrl: 'https://a.example/b' }, resourceUrl: 'https://a.example/a' },
      { payment: { resourceUrl: 'https://A.example:443/x/../a#top' }, resourceUrl: 'https://a.example/a' },
    ],
    [
      'a window that closes too soon',
      'window',
      'invalid_exact_evm_payload_authorization_valid_before',
      { authorization: { validBefore: NOW + 5n } },
      { authorization: { validBefore: NOW + 6n } },
    ],
    [
      'a window that closes before the work may be done',
      'window',
      'invalid_exact_evm_payload_authorization_valid_before',
      { workSeconds: 30, authorization: { validBefore: NOW + 35n } },
      { workSeconds: 30, authorization: { validBefore: NOW + 36n } },
    ],
    [
      'a window that never closes',
      'window',
      'invalid_exact_evm_payload_authorization_valid_before',
      { authorization: { validBefore: 2n ** 256n - 1n } },
      {},
    ],
    [
      'a window one second too long',
      'window',
      'invalid_exact_evm_payload_authorization_valid_before',
      { authorization: { validBefore: NOW + 331n } },
      { authorization: { validBefore: NOW + 330n } },
    ],
    [
      'a window that is not open yet',
      'window',
      'invalid_exact_evm_payload_authorization_valid_after',
      { authorization: { validAfter: NOW + 1n } },
      { authorization: { validAfter: NOW } },
    ],
    [
      'a high s',
      'signature_form',
      'invalid_exact_evm_failed_to_parse_signature',
      { signature: signatureOf(HIGH_S, '1b') },
      { signature: signatureOf(LOW_S, '1c') },
    ],
    [
      'v of 0',
      'signature_form',
      'invalid_exact_evm_failed_to_parse_signature',
      { signature: signatureOf(LOW_S, '00') },
      {},
    ],
    [
      'v of 29',
      'signature_form',
      'invalid_exact_evm_failed_to_parse_signature',
      { signature: signatureOf(LOW_S, '1d') },
      {},
    ],
    [
      'a compact signature',
      'signature_form',
      'invalid_exact_evm_failed_to_parse_signature',
      { signature: signatureOf(LOW_S, '') },
      {},
    ],
    [
      'half a signature',
      'signature_form',
      'invalid_exact_evm_failed_to_parse_signature',
      { signature: `0x${'11'.repeat(32)}${'00'.repeat(32)}1b` },
      // ABI encoding of a smart wallet's signature: offset, then the index of the owner, which is 0 for the first one.
      { signature: `0x${'20'.padStart(64, '0')}${'00'.repeat(32)}${'11'.repeat(64)}` },
    ],
    [
      'a wallet that is not deployed',
      'signature_form',
      'eip6492_factory_not_allowed',
      { signature: `0x${'11'.repeat(200)}${'6492'.repeat(16)}` },
      { signature: `0x${'11'.repeat(232)}` },
    ],
  ]
  it.each(REFUSED)(
    cites(
      [
        'x402:fw:scheme',
        'x402:fw:network',
        'x402:fw:asset',
        'x402:fw:pay-to',
        'x402:fw:amount',
        'x402:fw:accepted',
        'x402:fw:window',
        'x402:fw:signature',
      ],
      'refuses %s',
    ),
    (_, check, reason, refused, twin) => {
      expect(verdictOf(refused)).toMatchObject({ ok: false, check, reason, isRetryable: false })
      expect(verdictOf(twin)).toEqual({ ok: true })
    },
  )

  it('says in words what is wrong and what to do', () => {
    const words = REFUSED.map(([what, , , refused]) => {
      const verdict = verdictOf(refused)
      return verdict.ok ? what : `${what}: ${verdict.message}`
    })
    expect(words.join('\n')).toMatchInlineSnapshot(`
      "another scheme: The payment is of scheme upto; exact is required.
      another scheme than upto: The payment is of scheme exact; upto is required.
      another network: The payment is for eip155:8453; eip155:84532 is required.
      a network that is not served: eip155:1 is not served here. Pay on eip155:8453, eip155:84532.
      a permission that nobody checks: Payments by Permit2 are not taken here. Sign an EIP-3009 authorization (TransferWithAuthorization) of the asset.
      a fake asset: The asset on eip155:84532 is 0x036CbD53842c5426634e7929541eC2318f3dCF7e (USDC); 0xabababababababababababababababababababab is not accepted.
      the asset of another network: The asset on eip155:84532 is 0x036CbD53842c5426634e7929541eC2318f3dCF7e (USDC); 0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913 is not accepted.
      no domain: extra must hold the signing domain of the asset: name "USDC" and version "2".
      an empty domain name: extra must hold the signing domain of the asset: name "USDC" and version "2".
      the domain name of another network: extra.name must be "USDC": that is how the asset at 0x036CbD53842c5426634e7929541eC2318f3dCF7e calls itself.
      another domain version: extra.version must be "2".
      a domain version that is a number: extra.version must be "2".
      a payTo that is no address: payTo must be an address: 0x and 40 hex digits.
      a payTo with a wrong checksum: payTo has a wrong checksum: one of its characters may be mistyped.
      the zero address as payTo: payTo is the zero address: the money would be lost.
      the asset as payTo: payTo is the asset itself: the money would be lost.
      the payer as payTo: payTo is the payer: nothing would be paid.
      an authorization that pays somebody else: The authorization pays 0xabababababababababababababababababababab; sign one that pays 0x00000000000000000000000000000000ca5cade5.
      an amount of zero: The required amount is zero: nothing to settle.
      too little: The authorization is over 999; sign one over exactly 1000.
      too much: The authorization is over 1001; sign one over exactly 1000.
      a timeout in which nothing settles: maxTimeoutSeconds must be at least 6: settling takes that long.
      a lie about the amount: accepted.amount differs from the requirement. Copy one entry of accepts unchanged and sign that.
      a lie about payTo: accepted.payTo differs from the requirement. Copy one entry of accepts unchanged and sign that.
      a lie about the timeout: accepted.maxTimeoutSeconds differs from the requirement. Copy one entry of accepts unchanged and sign that.
      a member of extra left out: accepted.extra differs from the requirement. Copy one entry of accepts unchanged and sign that.
      another resource: The payment names another resource than the one it is sent to. Sign a payment for this one.
      a window that closes too soon: The payment ends at 1800000005, too soon to settle at 1800000000. Sign a fresh one that ends at 1800000006 or later.
      a window that closes before the work may be done: The payment ends at 1800000035, too soon to settle at 1800000000. Sign a fresh one that ends at 1800000036 or later.
      a window that never closes: The payment is valid until 115792089237316195423570985008687907853269984665640564039457584007913129639935; sign one that ends by 1800000330 (maxTimeoutSeconds from now).
      a window one second too long: The payment is valid until 1800000331; sign one that ends by 1800000330 (maxTimeoutSeconds from now).
      a window that is not open yet: The payment is not valid before 1800000001; it is 1800000000 now.
      a high s: The signature has a high s. Sign with the lower of the two values.
      v of 0: The last byte of the signature (v) must be 27 or 28.
      v of 29: The last byte of the signature (v) must be 27 or 28.
      a compact signature: The signature has 64 bytes; 65 (r, s, v) are needed.
      half a signature: Neither half of a signature (r, s) can be zero.
      a wallet that is not deployed: Wallets that are not deployed yet (ERC-6492) are not accepted. Deploy the wallet, then sign again."
    `)
  })

  it('leaves policy about payTo and amount to us where both are ours', () => {
    const ours = {
      isOurs: true,
      both: { payTo: PAYER, amount: '0' },
      authorization: { to: PAYER, value: 0n },
    }
    expect(verdictOf(ours)).toEqual({ ok: true })
    expect(verdictOf({ ...ours, authorization: { to: PAY_TO, value: 0n } })).toMatchObject({
      check: 'pay_to',
    })
    expect(verdictOf({ ...ours, authorization: { to: PAYER, value: 1n } })).toMatchObject({ check: 'amount' })
  })

  it('asks of a payment that did its work only what it was', () => {
    const past = {
      authorization: { validBefore: NOW - 86_400n },
      payment: { resourceUrl: 'https://a.example/then' },
      resourceUrl: 'https://a.example/payments',
    }
    expect(verdictOf(past, true)).toEqual({ ok: true })
    expect(verdictOf(past)).toMatchObject({ ok: false })
    expect(verdictOf({ ...past, signature: signatureOf(HIGH_S, '1b') }, true)).toMatchObject({
      check: 'signature_form',
    })
  })

  it('leaves to an upstream what only that can judge', () => {
    const foreign: Change = {
      both: { network: SVM, asset: 'EPjFWdd5', payTo: 'Seller1', extra: { feePayer: 'Fee1' } },
      payment: { kind: { type: 'foreign' } },
    }
    expect(verdictOf(foreign)).toEqual({ ok: true })
    expect(verdictOf({ ...foreign, accepted: { payTo: 'SELLER1' } })).toMatchObject({ check: 'accepted' })
    expect(verdictOf({ ...foreign, payment: { kind: { type: 'foreign' }, accepted: null } })).toEqual({
      ok: true,
    })
  })

  it(cites('x402:fw:order', 'names the first of several faults, in the order of the checks'), () => {
    const faults: readonly (readonly [string, Change])[] = [
      ['pay_to', { authorization: { to: STRANGER } }],
      ['amount', { authorization: { value: 1n } }],
      ['accepted', { accepted: { amount: '7' } }],
      ['resource', { payment: { resourceUrl: 'https://a.example/' }, resourceUrl: 'https://b.example/' }],
      ['window', { authorization: { validBefore: 1n } }],
      ['signature_form', { signature: signatureOf(HIGH_S, '1b') }],
    ]
    fc.assert(
      fc.property(fc.subarray([...faults], { minLength: 1 }), (chosen) => {
        const change = chosen.reduce<Change>(
          (all, [, one]) => ({
            ...all,
            ...one,
            authorization: { ...all.authorization, ...one.authorization },
          }),
          {},
        )
        const first = [...chosen]
          .map(([check]) => check)
          .toSorted((a, b) => CHECKS.indexOf(a as never) - CHECKS.indexOf(b as never))[0]
        expect(verdictOf(change)).toMatchObject({ ok: false, check: first })
      }),
    )
  })

  it(cites('x402:fw:secret', 'quotes nothing of the signature'), () => {
    const signature = signatureOf(HIGH_S, '1b')
    expect(JSON.stringify(verdictOf({ signature }))).not.toContain(HIGH_S.slice(0, 8))
  })
})

describe('what was accepted', () => {
  it.each<[string, unknown, unknown]>([
    ['a list with an item more', { a: [1] }, { a: [1, 2] }],
    ['a list with an item less', { a: [1, 2] }, { a: [1] }],
    ['an object for a list', { a: [1] }, { a: { 0: 1 } }],
    ['null for nothing', { a: null }, {}],
    ['a number for its text', { a: '1' }, { a: 1 }],
    ['something inherited', JSON.parse('{"__proto__":{}}'), {}],
    ['a deeper difference', { a: { b: { c: 1 } } }, { a: { b: { c: 2 } } }],
  ])(cites('x402:fw:extra', 'is another when extra has %s'), (_, required, accepted) => {
    expect(
      findDifference(
        { ...requirements, extra: accepted as Record<string, unknown> },
        { ...requirements, extra: required as Record<string, unknown> },
      ),
    ).toBe('extra')
  })

  it('is the same when it says more', () => {
    const required = { ...requirements, extra: { a: { b: [1, { c: 2 }] } } }
    const accepted = { ...requirements, extra: { a: { b: [1, { c: 2, d: 3 }], e: 4 }, f: 5 } }
    expect(findDifference(accepted, required)).toBeUndefined()
    const { extra: _, ...bare } = requirements
    expect(findDifference(accepted, bare)).toBeUndefined()
  })
})

describe('resources', () => {
  it.each<[string, string, boolean]>([
    ['https://a.example/x?b=1', 'https://a.example/x?b=1', true],
    ['https://a.example', 'https://a.example/', true],
    ['https://a.example/x?b=1', 'https://a.example/x?b=2', false],
    ['https://a.example/x', 'http://a.example/x', false],
    ['https://a.example/x', 'https://a.example/X', false],
    ['https://a.example/x', 'https://a.example/x/', false],
    ['mcp://tool/a', 'mcp://tool/a', true],
    ['not a url', 'not a url', true],
    ['not a url', 'another', false],
  ])(cites('x402:fw:resource', '%s and %s'), (a, b, isSame) => {
    expect(compareResourceTexts(a, b) === 'match').toBe(isSame)
  })
})
