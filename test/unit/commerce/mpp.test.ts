// MPP: what a credential lets somebody take is what is judged, whatever its method and action call it.
import { describe, expect, it } from 'vitest'
import type { InspectResult } from '../../../schemas/commerce.ts'
import { toPolicy } from '../../../src/commerce/policy/document.ts'
import { inspectTransaction } from '../../../src/commerce/policy/inspect.ts'
import { testTransaction } from '../../../src/commerce/rubric/report.ts'
import { SAMPLES } from '../../data/commerce/samples.ts'
import {
  call,
  CHARGES,
  credential,
  ESCROW,
  evmTransaction,
  PAYEE,
  PAYER,
  SESSIONS,
  tempoTransaction,
  TOKEN,
  USDC,
} from '../../data/commerce/mpp-sessions.ts'
import { change, wire, type Change, type Plain, type SampleSource } from '../../support/commerce.ts'

const NOW = 1_790_000_030
const STRANGER = '0x27b1fdb04752bbc536007a920d24acb045561c26'
const SOLANA = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
const ASSETS = [
  { asset: TOKEN, network: 'eip155:4217' },
  { asset: USDC, network: 'eip155:84532' },
  { asset: '0x000000000000000000000000000000000006f89a', network: 'eip155:295' },
  { asset: '0.0.456858', network: 'eip155:295' },
  { asset: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', network: SOLANA },
  { asset: 'CBIELTK6YBZJU5UP2WWQEUCYKLPU6AUNZ2BQ4WWFEIE3USCIHMXQDAMA', network: 'stellar:pubnet' },
]
const capped = toPolicy(
  {
    default: {
      caps: [
        ...ASSETS.map((one) => ({ ...one, max: '5000' })),
        { currency: 'SAT', max: '5000' },
        { currency: 'USD', max: '5000' },
      ],
      allowed_assets: ASSETS,
      allowed_networks: ASSETS.map(({ network }) => network),
    },
    accounts: {},
  },
  undefined,
)

const inspect = (source: SampleSource): InspectResult => inspectTransaction(wire(source), capped, NOW * 1000)
const codesOf = (source: SampleSource) =>
  inspect(source).policy.reasons.filter(({ severity }) => severity !== 'info')
const set = (at: string, value: Plain): Change => ({ op: 'set', at, value })
const remove = (at: string): Change => ({ op: 'remove', at })
const DOCUMENT = '/headers/Authorization/$payment'
const PAYLOAD = `${DOCUMENT}/payload`
const REQUEST = `${DOCUMENT}/challenge/request/$base64url`
const named = (list: Readonly<Record<string, SampleSource>>, name: string): SampleSource => {
  const found = list[name]
  if (found === undefined) throw new Error(`there is no ${name}`)
  return found
}
const session = (name: string, ...changes: Change[]) => change(named(SESSIONS, name), changes)
const charge = (name: string, ...changes: Change[]) => change(named(CHARGES, name), changes)
const ALL = Object.entries({ ...SESSIONS, ...CHARGES })
const HUGE = '99999999999999'

describe('what proves a payment', () => {
  it.each(['０x5e71c0a49b3fd286', '0x5e71c0a49b3fd286\u200b', ' 0x5e71c0a49b3fd286', 'signed by me'])(
    'is printable, in one piece: not %j',
    (proof) => {
      for (const source of [
        session('tempo voucher', set(`${PAYLOAD}/signature`, proof)),
        session('tempo open', set(`${PAYLOAD}/transaction`, proof)),
      ])
        expect(inspect(source).policy.reasons.map(({ code }) => code)).toContain('SIGNED_MEMBER_MALFORMED')
    },
  )
})

describe('what is whole and ordinary', () => {
  // A cap is for currencies of three letters, and the gateway names its own.
  const LOOKED_AT = new Set(['usdc transfer'])
  it.each(ALL.filter(([name]) => !LOOKED_AT.has(name)))('%s is allowed under the caps', (_name, source) => {
    expect(codesOf(source)).toEqual([])
    expect(inspect(source).protocol).toBe('mpp')
  })

  it.each(ALL)('%s is never denied by the built-in policy for what it says', (_name, source) => {
    const { policy } = inspectTransaction(
      wire(source),
      toPolicy({ default: {}, accounts: {} }, undefined),
      NOW * 1000,
    )
    const denied = policy.reasons.filter(({ severity }) => severity === 'deny').map(({ code }) => code)
    expect(denied.filter((code) => !/^(?:ASSET|NETWORK)_NOT_ALLOWED$/.test(code))).toEqual([])
    expect(testTransaction(wire(source)).caps).toEqual([])
  })
})

describe('an amount that can be taken is held against the cap', () => {
  it.each<[string, SampleSource, string]>([
    [
      'the total of a voucher',
      session('tempo voucher', set(`${PAYLOAD}/cumulativeAmount`, HUGE)),
      'cumulativeAmount',
    ],
    [
      'the total of a voucher of v1',
      session('tempo voucher of v1', set(`${PAYLOAD}/cumulativeAmount`, HUGE)),
      'cumulativeAmount',
    ],
    [
      'the total of a voucher of evm',
      session('evm voucher', set(`${PAYLOAD}/cumulativeAmount`, HUGE)),
      'cumulativeAmount',
    ],
    [
      'the total of a voucher of hedera',
      session('hedera voucher', set(`${PAYLOAD}/cumulativeAmount`, HUGE)),
      'cumulativeAmount',
    ],
    [
      'the total that a close takes',
      session('tempo close', set(`${PAYLOAD}/cumulativeAmount`, '5001')),
      'cumulativeAmount',
    ],
    [
      'the first voucher of a channel',
      session('hedera open', set(`${PAYLOAD}/cumulativeAmount`, '5001')),
      'cumulativeAmount',
    ],
    [
      'the total as a JSON number',
      session('tempo voucher', set(`${PAYLOAD}/cumulativeAmount`, 99999999999999)),
      'cumulativeAmount',
    ],
    [
      'the voucher inside a voucher of solana',
      session('solana voucher', set(`${PAYLOAD}/voucher/voucher/cumulativeAmount`, HUGE)),
      'voucher/voucher/cumulativeAmount',
    ],
    [
      'a second total beside the first',
      session('tempo voucher', set(`${PAYLOAD}/voucher`, { cumulativeAmount: HUGE })),
      'voucher/cumulativeAmount',
    ],
    [
      'what a top-up puts in',
      session('tempo topUp', set(`${PAYLOAD}/additionalDeposit`, HUGE)),
      'additionalDeposit',
    ],
    [
      'what a top-up of solana puts in',
      session('solana topUp', set(`${PAYLOAD}/additionalAmount`, HUGE)),
      'additionalAmount',
    ],
    ['the deposit of solana', session('solana open', set(`${PAYLOAD}/depositAmount`, HUGE)), 'depositAmount'],
    [
      'a deposit by EIP-3009',
      session('evm open by authorization', set(`${PAYLOAD}/authorization/value`, HUGE)),
      'authorization/value',
    ],
    [
      'a deposit by Permit2',
      session('evm open by permit2', set(`${PAYLOAD}/authorization/permitted/amount`, HUGE)),
      'authorization/permitted/amount',
    ],
    [
      'a deposit beside a voucher',
      session('evm voucher with a deposit', set(`${PAYLOAD}/deposit/authorization/value`, HUGE)),
      'deposit/authorization/value',
    ],
    ['a charge by EIP-3009', charge('evm authorization', set(`${PAYLOAD}/value`, HUGE)), 'value'],
    [
      'what a permit lets be drawn',
      charge('evm permit2', set(`${PAYLOAD}/permit/permitted/0/amount`, HUGE)),
      'permit/permitted/0/amount',
    ],
    [
      'what two legs of a permit come to',
      charge('evm permit2 with a split', set(`${PAYLOAD}/permit/permitted/1/amount`, '1501')),
      'permit/permitted/0/amount',
    ],
    [
      'the fee on top',
      charge(
        'usdc transfer',
        set(`${DOCUMENT}/challenge/request/$base64url/currency`, 'usd'),
        set(`${PAYLOAD}/maxFee`, '1001'),
      ),
      'maxFee',
    ],
  ])('%s', (_what, source, at) => {
    const found = codesOf(source).filter(({ code }) => code === 'AMOUNT_OVER_CAP')
    expect(found.map(({ path, severity }) => [path.split('/payload/')[1], severity])).toContainEqual([
      at,
      'deny',
    ])
    expect(inspect(source).policy.decision).toBe('deny')
  })

  it('is the amount of the report, with the payee and token of the channel', () => {
    const { transaction } = inspect(session('tempo voucher', set(`${PAYLOAD}/cumulativeAmount`, HUGE)))
    expect(transaction).toMatchObject({
      amount: HUGE,
      payee: PAYEE,
      asset: TOKEN,
      network: 'eip155:4217',
      payer: PAYER,
    })
  })

  it('whatever the method, action and type are called, and without them', () => {
    for (const changes of [
      [set(`${DOCUMENT}/challenge/method`, 'acme')],
      [set(`${PAYLOAD}/action`, 'drain')],
      [remove(`${PAYLOAD}/action`)],
      [set(`${DOCUMENT}/challenge/intent`, 'charge')],
    ])
      expect(
        codesOf(session('tempo voucher', set(`${PAYLOAD}/cumulativeAmount`, HUGE), ...changes)).map(
          ({ code }) => code,
        ),
      ).toContain('AMOUNT_OVER_CAP')
  })

  it('over JSON-RPC and in the legacy form as well', () => {
    const payload = {
      action: 'voucher',
      channelId: `0x${'6d0f4fdf'.repeat(8)}`,
      cumulativeAmount: HUGE,
      signature: `0x${'9a5c31e7'.repeat(16)}1b`,
    }
    const at = '/body/params/_meta/org.paymentauth~1credential'
    const request = {
      amount: '25',
      currency: TOKEN,
      recipient: PAYEE,
      methodDetails: { chainId: 4217, escrowContract: ESCROW },
    }
    const changes = [
      set(`${at}/challenge/request`, request),
      set(`${at}/challenge/intent`, 'session'),
      set(`${at}/payload`, payload),
    ]
    const overRpc = change(named(SAMPLES, 'mpp-jsonrpc'), changes)
    expect(codesOf(overRpc).map(({ code }) => code)).toContain('AMOUNT_OVER_CAP')
    const legacy = session(
      'tempo voucher',

      set(DOCUMENT, {
        id: 'Kq3vX8pLm2ZtR7wYc5NbJ1sHd9GfA4eUo6TiQx0VkBM',
        payload: { ...payload, descriptor: { token: TOKEN } },
      }),
    )
    // It does not say on which network the token is, so that no cap is found: somebody has to look.
    expect(inspect(legacy).policy.decision).toBe('review')
    expect(inspect(legacy).transaction.amount).toBe(HUGE)
  })

  const challenge = (request: { [name: string]: Plain }): SampleSource => ({
    target: 'https://stream.example/chat',
    method: 'GET',
    headers: {
      'WWW-Authenticate': {
        $challenge: {
          id: 'Kq3vX8pLm2ZtR7wYc5NbJ1sHd9GfA4eUo6TiQx0VkBM',
          realm: 'stream.example',
          method: 'tempo',
          intent: 'session',
          request: { $base64url: request },
          expires: '2026-09-21T14:40:00Z',
        } as Plain,
      },
    },
  })
  const asked = {
    amount: '25',
    currency: TOKEN,
    recipient: PAYEE,
    methodDetails: { chainId: 4217, escrowContract: ESCROW },
  }
  it.each<[string, { [name: string]: Plain }, string]>([
    ['a price', { ...asked, amount: '5001' }, 'deny'],
    ['a deposit that has to be paid', { ...asked, depositAmount: '5001' }, 'deny'],
    ['a deposit that is the least', { ...asked, minimumDeposit: '5001' }, 'deny'],
    ['a deposit that is suggested', { ...asked, suggestedDeposit: '5001' }, 'review'],
    ['a suggested deposit within the cap', { ...asked, suggestedDeposit: '5000' }, 'allow'],
    [
      'a total that the next voucher has to reach',
      {
        ...asked,
        methodDetails: { ...asked.methodDetails, sessionSnapshot: { requiredCumulative: '5001' } },
      },
      'deny',
    ],
  ])('in a challenge: %s', (_what, request, decision) => {
    expect(inspect(challenge(request)).policy.decision).toBe(decision)
  })
})

describe('the payload against its challenge', () => {
  it.each<[string, string, SampleSource]>([
    [
      'the descriptor pays somebody else',
      'BINDING_PAYEE',
      session('tempo voucher', set(`${PAYLOAD}/descriptor/payee`, STRANGER)),
    ],
    [
      'the descriptor is of another token',
      'BINDING_AMOUNT',
      session('tempo voucher', set(`${PAYLOAD}/descriptor/token`, STRANGER)),
    ],
    [
      'the descriptor has an operator of its own',
      'BINDING_CONSTRAINT',
      session('tempo voucher', set(`${PAYLOAD}/descriptor/operator`, STRANGER)),
    ],
    [
      'the challenge is for another recipient',
      'BINDING_PAYEE',
      session('tempo close', set(`${REQUEST}/recipient`, STRANGER)),
    ],
    [
      'the challenge is in another currency',
      'BINDING_AMOUNT',
      session('tempo topUp', set(`${REQUEST}/currency`, STRANGER)),
    ],
    [
      'the snapshot is of another chain',
      'BINDING_OFFER',
      session('tempo voucher', set(`${REQUEST}/methodDetails/sessionSnapshot`, { chainId: 1 })),
    ],
    [
      'solana pays somebody else',
      'BINDING_PAYEE',
      session('solana open', set(`${PAYLOAD}/payee`, 'FNvFqYn4yV7HsoZyHRsbsj1Vd2HFcUe2NMRJq3rJxg7c')),
    ],
    [
      'solana pays another mint',
      'BINDING_AMOUNT',
      session('solana open', set(`${PAYLOAD}/mint`, 'FNvFqYn4yV7HsoZyHRsbsj1Vd2HFcUe2NMRJq3rJxg7c')),
    ],
    [
      'solana puts in too little',
      'BINDING_CONSTRAINT',
      session('solana open', set(`${PAYLOAD}/depositAmount`, '999')),
    ],
    [
      'the deposit leaves the escrow out',
      'BINDING_PAYEE',
      session('evm open by authorization', set(`${PAYLOAD}/authorization/to`, STRANGER)),
    ],
    [
      'the witness is for another payee',
      'BINDING_PAYEE',
      session('evm open by permit2', set(`${PAYLOAD}/authorization/witness/payee`, STRANGER)),
    ],
    [
      'the permit is of another token',
      'BINDING_AMOUNT',
      session('evm topUp by permit2', set(`${PAYLOAD}/authorization/permitted/token`, STRANGER)),
    ],
    [
      'the permit is for another channel',
      'BINDING_CONSTRAINT',
      session(
        'evm topUp by permit2',
        set(`${PAYLOAD}/authorization/witness/channelId`, `0x${'1b'.repeat(32)}`),
      ),
    ],
    [
      'the top-up signs more than it says',
      'BINDING_AMOUNT',
      session('evm topUp by authorization', set(`${PAYLOAD}/authorization/value`, '4001')),
    ],
    [
      'the voucher is over its deposit',
      'BINDING_CONSTRAINT',
      session('evm open by authorization', set(`${PAYLOAD}/cumulativeAmount`, '4001')),
    ],
    [
      'the action is unknown',
      'BINDING_CONSTRAINT',
      session('tempo voucher', set(`${PAYLOAD}/action`, 'drain')),
    ],
    [
      'the type is unknown',
      'BINDING_CONSTRAINT',
      charge('tempo transaction', set(`${PAYLOAD}/type`, 'drain')),
    ],
    [
      'the type is not accepted',
      'BINDING_CONSTRAINT',
      charge('evm hash', set(`${REQUEST}/methodDetails/credentialTypes`, ['permit2'])),
    ],
    [
      'the mode is not accepted',
      'BINDING_CONSTRAINT',
      charge('tempo hash', set(`${REQUEST}/methodDetails/supportedModes`, ['pull'])),
    ],
    [
      'a proof of nothing for an amount',
      'BINDING_CONSTRAINT',
      charge('tempo proof of nothing', set(`${REQUEST}/amount`, '4000')),
    ],
    [
      'a proof on another chain',
      'BINDING_OFFER',
      charge('tempo proof of nothing', set(`${DOCUMENT}/source`, `did:pkh:eip155:1:${PAYER}`)),
    ],
    [
      'splits that no authorization can pay',
      'BINDING_CONSTRAINT',
      charge(
        'evm authorization',
        set(`${REQUEST}/methodDetails/splits`, [{ amount: '1', recipient: STRANGER }]),
      ),
    ],
    [
      'a split that is not paid',
      'BINDING_CONSTRAINT',
      charge('evm permit2', set(`${REQUEST}/methodDetails/splits`, [{ amount: '1', recipient: STRANGER }])),
    ],
    [
      'a split to somebody else',
      'BINDING_PAYEE',
      charge('evm permit2 with a split', set(`${PAYLOAD}/transferDetails/1/to`, PAYER)),
    ],
    [
      'a charge that signs another amount',
      'BINDING_AMOUNT',
      charge('evm authorization', set(`${PAYLOAD}/value`, '4001')),
    ],
    [
      'a charge that pays somebody else',
      'BINDING_PAYEE',
      charge('evm authorization', set(`${PAYLOAD}/to`, STRANGER)),
    ],
    [
      'a fee over the one of the challenge',
      'BINDING_AMOUNT',
      charge('usdc transfer', set(`${PAYLOAD}/maxFee`, '501')),
    ],
    [
      'a network that is not accepted',
      'BINDING_OFFER',
      charge('usdc transfer', set(`${PAYLOAD}/sourceNetwork`, 'eip155:1')),
    ],
    [
      'shares of more than everything',
      'BINDING_CONSTRAINT',
      session(
        'solana open',
        set(`${REQUEST}/methodDetails/distributionSplits`, [
          { recipient: 'A', shareBps: 6000 },
          { recipient: 'B', shareBps: 4001 },
        ]),
      ),
    ],
    [
      'an invoice is for more',
      'BINDING_AMOUNT',
      charge('lightning preimage', set(`${REQUEST}/methodDetails/invoice`, 'lnbc10m1p5mzfsapp5w9q')),
    ],
    [
      'an invoice of a deposit is for more',
      'BINDING_AMOUNT',
      session('lightning open', set(`${REQUEST}/depositInvoice`, 'lnbc31u1p5mzfsapp5w9q')),
    ],
    [
      'an invoice alone is over the cap',
      'AMOUNT_OVER_CAP',
      session(
        'lightning open',
        set(`${REQUEST}/depositInvoice`, 'lnbc51u1p5mzfsapp5w9q'),
        remove(`${REQUEST}/depositAmount`),
      ),
    ],
    [
      'the intent is written in another way',
      'BINDING_PAYEE',
      session(
        'tempo voucher',
        set(`${DOCUMENT}/challenge/intent`, 'Session'),
        set(`${PAYLOAD}/descriptor/payee`, STRANGER),
      ),
    ],
    [
      'the method is written in another way',
      'SIGNED_MEMBER_MALFORMED',
      charge('tempo transaction', set(`${DOCUMENT}/challenge/method`, 'Tempo')),
    ],
    [
      'one permit stands where a list should',
      'AMOUNT_OVER_CAP',
      charge('evm permit2', set(`${PAYLOAD}/permit/permitted`, { token: USDC, amount: HUGE })),
    ],
  ])('is denied where %s', (_when, code, source) => {
    expect(
      codesOf(source)
        .filter(({ severity }) => severity === 'deny')
        .map((one) => one.code),
    ).toContain(code)
    // A cap is the policy's, of which a test knows nothing.
    if (code !== 'AMOUNT_OVER_CAP') expect(testTransaction(wire(source)).score).toBeLessThanOrEqual(40)
  })

  it.each<[string, string, SampleSource]>([
    [
      'the channel is not the proposed one',
      'BINDING_CONSTRAINT',
      session('tempo voucher', set(`${REQUEST}/methodDetails/channelId`, `0x${'1b'.repeat(32)}`)),
    ],
    [
      'a permit is for more than its transfer',
      'BINDING_AMOUNT',
      charge('evm permit2', set(`${PAYLOAD}/permit/permitted/0/amount`, '4001')),
    ],
    [
      'a channel of v2 is not described',
      'POLICY_INPUT_MISSING',
      session('tempo voucher', remove(`${PAYLOAD}/descriptor`)),
    ],
    [
      'nobody here knows the proof of the method',
      'POLICY_INPUT_MISSING',
      credential('acme', 'charge', { amount: '4000', currency: 'usd' }, { seal: 'q1Zx9Kd3' }),
    ],
    [
      'a subscription has no end',
      'OPEN_MANDATE_UNBOUNDED',
      charge('tempo subscription', remove(`${REQUEST}/subscriptionExpires`)),
    ],
    [
      'the payer is named on another chain',
      'BINDING_OFFER',
      charge('tempo transaction', set(`${DOCUMENT}/source`, `did:pkh:eip155:1:${PAYER}`)),
    ],
    [
      'a permit is good for a year',
      'WINDOW_TOO_WIDE',
      charge('evm permit2', set(`${PAYLOAD}/permit/deadline`, '1821539600')),
    ],
  ])('is reviewed where %s', (_when, code, source) => {
    expect(inspect(source).policy.decision).toBe('review')
    expect(codesOf(source).map((one) => one.code)).toContain(code)
  })
})

describe('a signed transaction that can be read', () => {
  const TRANSFER = 'a9059cbb'
  const WITH_MEMO = '95777d59'
  const OPEN = 'c79ea485'
  const signed = (...calls: (readonly string[])[]) =>
    charge('tempo transaction', set(`${PAYLOAD}/signature`, tempoTransaction(calls)))
  const opened = (...calls: (readonly string[])[]) =>
    session('tempo open', set(`${PAYLOAD}/transaction`, tempoTransaction(calls)))
  const byEvm = (...args: Parameters<typeof evmTransaction>) =>
    charge('evm transaction', set(`${PAYLOAD}/signature`, evmTransaction(...args)))
  const split = set(`${REQUEST}/methodDetails/splits`, [{ amount: '500', recipient: STRANGER }])

  it.each<[string, SampleSource]>([
    ['pays the recipient of tempo', signed(call(TOKEN, TRANSFER, PAYEE, 4000n))],
    ['pays with a memo', signed(call(TOKEN, WITH_MEMO, PAYEE, 4000n, 7n))],
    [
      'pays the recipient and a split',
      change(signed(call(TOKEN, TRANSFER, PAYEE, 3500n), call(TOKEN, TRANSFER, STRANGER, 500n)), [split]),
    ],
    ['pays the recipient of an EVM', byEvm(call(USDC, TRANSFER, PAYEE, 4000n))],
    [
      'opens the channel',
      opened(call(TOKEN, '095ea7b3', ESCROW, 4000n), call(ESCROW, OPEN, PAYEE, TOKEN, 4000n, 1n, 0n)),
    ],
    ['opens the channel in the way of its escrow', opened(call(ESCROW, '12345678', 1n, 2n))],
  ])('is allowed where it %s', (_what, source) => {
    expect(codesOf(source)).toEqual([])
  })

  it.each<[string, string, SampleSource]>([
    ['pays somebody else', 'BINDING_PAYEE', signed(call(TOKEN, TRANSFER, STRANGER, 4000n))],
    [
      'pays somebody else besides',
      'BINDING_PAYEE',
      signed(call(TOKEN, TRANSFER, PAYEE, 4000n), call(TOKEN, TRANSFER, STRANGER, 1n)),
    ],
    ['pays another token', 'BINDING_AMOUNT', signed(call(USDC, TRANSFER, PAYEE, 4000n))],
    ['pays more than is asked for', 'BINDING_AMOUNT', signed(call(TOKEN, TRANSFER, PAYEE, 4001n))],
    ['pays more than the cap', 'AMOUNT_OVER_CAP', signed(call(TOKEN, TRANSFER, PAYEE, 99_999_999_999_999n))],
    ['is for another chain', 'BINDING_OFFER', byEvm(call(USDC, TRANSFER, PAYEE, 4000n), '01')],
    [
      'opens a channel to somebody else',
      'BINDING_PAYEE',
      opened(call(ESCROW, OPEN, STRANGER, TOKEN, 4000n, 1n, 0n)),
    ],
    [
      'opens a channel in another token',
      'BINDING_AMOUNT',
      opened(call(ESCROW, OPEN, PAYEE, USDC, 4000n, 1n, 0n)),
    ],
    ['opens a channel elsewhere', 'BINDING_PAYEE', opened(call(STRANGER, OPEN, PAYEE, TOKEN, 4000n, 1n, 0n))],
    ['puts in more than the cap', 'AMOUNT_OVER_CAP', opened(call(ESCROW, OPEN, PAYEE, TOKEN, 5001n, 1n, 0n))],
    ['transfers past the escrow', 'BINDING_PAYEE', opened(call(TOKEN, TRANSFER, PAYEE, 1n))],
    ['approves somebody else', 'BINDING_PAYEE', opened(call(TOKEN, '095ea7b3', STRANGER, 1n))],
  ])('is denied where it %s', (_what, code, source) => {
    expect(inspect(source).policy.decision).toBe('deny')
    expect(codesOf(source).map((one) => one.code)).toContain(code)
  })

  it('is reviewed where it does something else as well, or pays native money', () => {
    for (const source of [
      signed(call(TOKEN, TRANSFER, PAYEE, 4000n), call(STRANGER, '12345678', 1n, 2n)),
      signed(call(TOKEN, TRANSFER, PAYEE, 4000n), [STRANGER.slice(2), '0de0b6b3a7640000', '']),
      signed(call(TOKEN, TRANSFER, PAYEE, 3999n)),
    ])
      expect(inspect(source).policy.decision).toBe('review')
  })
})

describe('the members of each kind of payload', () => {
  /** What a payload may do without: names beside those that its kind needs. */
  const OPTIONAL =
    /^(?:type|expiresAt|signatureType|payee|mint|salt|depositAmount|gracePeriodSeconds|openSlot|authorizedSigner|externalId|format|version|action)$/
  const leaves = (value: Plain, at: string): string[] =>
    Array.isArray(value)
      ? value.flatMap((item, index) => leaves(item as Plain, `${at}/${index}`))
      : typeof value === 'object' && value !== null
        ? Object.entries(value).flatMap(([name, inner]) => leaves(inner as Plain, `${at}/${name}`))
        : [at]
  const payloadOf = ({ headers }: SampleSource) =>
    (headers?.['Authorization'] as { readonly $payment?: { readonly payload?: Plain } } | undefined)?.$payment
      ?.payload ?? {}
  const rows = ALL.flatMap(([name, source]) =>
    leaves(payloadOf(source), PAYLOAD)
      .filter(
        (at) =>
          !OPTIONAL.test(at.split('/').at(-1) ?? '') &&
          !/burnIntent|transfer\/signature|transactions|witness\/(?!challengeHash)/.test(at),
      )
      .map((at) => [name, at.slice(PAYLOAD.length + 1), source, at] as const),
  )
  it.each(rows)('%s is denied without %s, and scores 40 at most', (_name, _member, source, at) => {
    const without = change(source, [remove(at)])
    const { policy } = inspect(without)
    expect(
      policy.reasons.filter(({ code, severity }) => code === 'SIGNED_MEMBER_MISSING' && severity === 'deny'),
    ).not.toEqual([])
    expect(testTransaction(wire(without)).score).toBeLessThanOrEqual(40)
  })

  it.each(['id', 'realm', 'method', 'intent', 'request'])('a challenge without %s binds nobody', (name) => {
    const found = codesOf(session('tempo voucher', remove(`${DOCUMENT}/challenge/${name}`)))
    expect(found.some(({ code, severity }) => code === 'SIGNED_MEMBER_MISSING' && severity === 'deny')).toBe(
      true,
    )
  })

  it.each<[string, SampleSource]>([
    [
      'a total of more than 96 bits in v2',
      session('tempo voucher', set(`${PAYLOAD}/cumulativeAmount`, String(1n << 96n))),
    ],
    [
      'a total of more than 128 bits',
      session('evm voucher', set(`${PAYLOAD}/cumulativeAmount`, String(1n << 128n))),
    ],
    [
      'a total of more than 64 bits on solana',
      session('solana voucher', set(`${PAYLOAD}/voucher/voucher/cumulativeAmount`, String(1n << 64n))),
    ],
    ['a negative total', session('tempo voucher', set(`${PAYLOAD}/cumulativeAmount`, '-1'))],
    [
      'a channel of half the length',
      session('tempo voucher', set(`${PAYLOAD}/channelId`, `0x${'1b'.repeat(16)}`)),
    ],
    ['a payee of zero', session('tempo voucher', set(`${PAYLOAD}/descriptor/payee`, `0x${'0'.repeat(40)}`))],
    ['a payload that is a text', charge('tempo transaction', set(PAYLOAD, 'paid'))],
    [
      'a request that cannot be decoded',
      charge('tempo transaction', set(`${DOCUMENT}/challenge/request`, '!!!')),
    ],
  ])('%s is malformed', (_what, source) => {
    expect(codesOf(source).some(({ code }) => code === 'SIGNED_MEMBER_MALFORMED')).toBe(true)
    expect(inspect(source).policy.decision).toBe('deny')
  })

  it('the ellipsis of an example is reviewed, wherever it stands', () => {
    for (const [name, member] of [
      ['tempo voucher', 'signature'],
      ['tempo voucher', 'channelId'],
      ['tempo open', 'transaction'],
      ['lightning bearer', 'preimage'],
    ] as const) {
      const { policy } = inspect(session(name, set(`${PAYLOAD}/${member}`, '0x6d0f4fdf...')))
      expect([name, member, policy.decision]).toEqual([name, member, 'review'])
    }
    expect(
      inspect(session('tempo voucher', set(`${DOCUMENT}/challenge/request`, 'eyJ...'))).policy.decision,
    ).toBe('review')
  })
})

describe('the keys that a card is encrypted to', () => {
  const keys = (address: string) => charge('a card', set(`${REQUEST}/methodDetails/jwksUri`, address))
  it('are denied where they are of another origin than the realm', () => {
    for (const address of [
      'https://stream-keys.example/jwks.json',
      'https://evil.example/.well-known/jwks.json',
      'http://stream.example/.well-known/jwks.json',
      'https://stream.example:8443/jwks.json',
    ])
      expect(codesOf(keys(address))).toContainEqual(
        expect.objectContaining({ code: 'BINDING_HOST', severity: 'deny' }),
      )
  })

  it('are taken from the realm itself', () => {
    expect(
      codesOf(keys('https://stream.example/.well-known/jwks.json')).map(({ code }) => code),
    ).not.toContain('BINDING_HOST')
  })
})

describe('a session of tempo', () => {
  it.each(['recipient', 'methodDetails/escrowContract'])(
    'whose challenge does not say its %s is looked at',
    (name) => {
      for (const one of ['tempo voucher', 'tempo voucher of v1'])
        expect(codesOf(session(one, remove(`${REQUEST}/${name}`)))).toContainEqual(
          expect.objectContaining({ code: 'POLICY_INPUT_MISSING', severity: 'review' }),
        )
    },
  )
})
