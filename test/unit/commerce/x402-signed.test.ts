// Every way to pay with x402: what was signed has to be whole, and a permit has to name the contract that keeps to its payee.
import { describe, expect, it } from 'vitest'
import { toPolicy } from '../../../src/commerce/policy/document.ts'
import { inspectTransaction } from '../../../src/commerce/policy/inspect.ts'
import { testTransaction } from '../../../src/commerce/rubric/report.ts'
import { SIGNED_MEMBERS, type SignedKind } from '../../../src/commerce/signed-members.ts'
import { PERMIT2_PROXIES } from '../../../src/commerce/x402/spender.ts'
import { SAMPLES } from '../../data/commerce/samples.ts'
import { change, type Change, type Plain, type SampleSource, wire } from '../../support/commerce.ts'

const PAID = '/headers/PAYMENT-SIGNATURE/$base64'
const PERMIT = `${PAID}/payload/permit2Authorization`
const set = (at: string, value: Plain): Change => ({ op: 'set', at, value })
const remove = (at: string): Change => ({ op: 'remove', at })
const sample = (name: string, ...changes: Change[]): SampleSource => change(SAMPLES[name]!, changes)

const policy = toPolicy(
  {
    default: {
      allowed_schemes: ['exact', 'upto', 'auth-capture'],
      allowed_networks: ['eip155:84532', 'sui:mainnet', 'keeta:21378', 'algorand:main'],
    },
    accounts: {},
  },
  undefined,
)
const judge = (source: SampleSource) => inspectTransaction(wire(source), policy, 1_790_000_030_000).policy
const codesOf = (source: SampleSource) =>
  judge(source).reasons.flatMap(({ code, severity }) => (severity === 'info' ? [] : `${severity} ${code}`))
const scoreOf = (source: SampleSource) => testTransaction(wire(source)).score

const FACILITATOR = '0x27b1fdb04752bbc536007a920d24acb045561c26'
const upto = sample(
  'x402-permit2',
  set(`${PAID}/accepted/scheme`, 'upto'),
  set(`${PAID}/accepted/extra`, { facilitatorAddress: FACILITATOR }),
  set(`${PERMIT}/spender`, '0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002'),
  set(`${PERMIT}/witness/facilitator`, FACILITATOR),
)
const sealed = 'AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAECAwQ'
const on = (network: string, payload: Plain): SampleSource =>
  sample('x402-get', set(`${PAID}/accepted/network`, network), set(`${PAID}/payload`, payload))

const WHOLE: Readonly<Partial<Record<SignedKind, SampleSource>>> = {
  eip3009: sample('x402-http'),
  permit2: sample('x402-permit2'),
  'permit2-upto': upto,
  'permit2-collected': change(
    sample('x402-permit2', set(`${PAID}/accepted/scheme`, 'auth-capture'), remove(`${PERMIT}/witness`)),
    [],
  ),
  erc7710: sample(
    'x402-get',
    set(`${PAID}/payload`, {
      delegationManager: FACILITATOR,
      permissionContext: `0x${'7c1d'.repeat(40)}`,
      delegator: FACILITATOR,
    }),
  ),
  'x402-transaction': on('solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1', { transaction: sealed }),
  'x402-sui': on('sui:mainnet', { transaction: sealed, signature: `${sealed}${sealed}` }),
  'x402-block': on('keeta:21378', { block: sealed }),
  'x402-group': on('algorand:main', { paymentIndex: 0, paymentGroup: [sealed] }),
}
const CASES = (Object.keys(WHOLE) as SignedKind[]).flatMap((kind) =>
  SIGNED_MEMBERS[kind].map(({ path, form }) => ({ kind, path: path.join('/'), form, source: WHOLE[kind]! })),
)

describe('what is signed', () => {
  it.each(Object.entries(WHOLE))('lacks nothing: %s', (_, source) => {
    expect(codesOf(source).filter((code) => code.includes('SIGNED_MEMBER'))).toEqual([])
  })

  it.each(CASES)('$kind without $path is denied, and scores 40 at most', ({ path, source }) => {
    const without = change(source, [remove(`${PAID}/payload/${path}`)])
    expect(codesOf(without)).toContain('deny SIGNED_MEMBER_MISSING')
    expect(scoreOf(without)).toBeLessThanOrEqual(40)
  })

  it.each(CASES)(
    '$kind with a malformed $path ($form) is denied, and scores 40 at most',
    ({ path, form, source }) => {
      const wrong: Readonly<Record<string, Plain>> = {
        texts: ['', 1],
        signature: '0x12',
        uint256: '0x',
        uint: '-1',
        amount: '0',
      }
      const malformed = change(source, [set(`${PAID}/payload/${path}`, wrong[form] ?? '0x1234')])
      expect(codesOf(malformed)).toContain('deny SIGNED_MEMBER_MALFORMED')
      expect(scoreOf(malformed)).toBeLessThanOrEqual(40)
    },
  )

  it.each<[string, SampleSource]>([
    ['nothing at all', sample('x402-http', remove(`${PAID}/payload`))],
    ['an empty object', sample('x402-http', set(`${PAID}/payload`, {}))],
    [
      'a transaction where the network takes an authorization',
      sample('x402-http', set(`${PAID}/payload`, { transaction: sealed })),
    ],
    [
      'an authorization where the network takes a transaction',
      sample('x402-http', set(`${PAID}/accepted/network`, 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1')),
    ],
    [
      'an empty object in a scheme that is not known',
      sample('x402-http', set(`${PAID}/accepted/scheme`, 'subscription'), set(`${PAID}/payload`, {})),
    ],
  ])('is not %s', (_, source) => {
    expect(codesOf(source)).toContain('deny SIGNED_MEMBER_MISSING')
    expect(scoreOf(source)).toBeLessThanOrEqual(40)
  })

  it.each<[string, SampleSource]>([
    ['the signature of an example', sample('x402-http', set(`${PAID}/payload/signature`, '0x2d6a75...'))],
    [
      'the address of an example',
      change(upto, [
        remove(`${PAID}/accepted/extra`),
        set(`${PERMIT}/witness/facilitator`, '0xFacilitatorAddress1234567890123456789012'),
      ]),
    ],
  ])('is looked at where it has %s', (_, source) => {
    expect(codesOf(source)).toContain('review SIGNED_MEMBER_MISSING')
    expect(codesOf(source).filter((code) => code.startsWith('deny'))).toEqual([])
  })

  it.each<[string, Change[]]>([
    ['the nonce of a permit in hex', [set(`${PERMIT}/nonce`, `0x${'7c1d4a9e'.repeat(8)}`)]],
    ['a validity that began long ago', [set(`${PERMIT}/witness/validAfter`, '0')]],
  ])('may have %s', (_, changes) => {
    expect(codesOf(sample('x402-permit2', ...changes)).filter((code) => code.startsWith('deny'))).toEqual([])
  })

  it.each<[string, Change[]]>([
    ['a signature of 20 bytes', [set(`${PAID}/payload/signature`, `0x${'1b3c'.repeat(10)}`)]],
    ['words for a signature', [set(`${PAID}/payload/signature`, 'trust me, it is signed')]],
    ['a signature of zeros', [set(`${PAID}/payload/signature`, `0x${'0'.repeat(130)}`)]],
    ['a nonce of zeros', [set(`${PAID}/payload/authorization/nonce`, `0x${'0'.repeat(64)}`)]],
    ['an amount that no token can hold', [set(`${PAID}/payload/authorization/value`, '9'.repeat(78))]],
  ])('is denied with %s', (_, changes) => {
    expect(codesOf(sample('x402-get', ...changes))).toContain('deny SIGNED_MEMBER_MALFORMED')
    expect(scoreOf(sample('x402-get', ...changes))).toBeLessThanOrEqual(40)
  })

  it.each<[string, Plain]>([
    ['permit2Authorization', {}],
    ['delegationManager', FACILITATOR],
    ['transaction', sealed],
    ['block', sealed],
    ['paymentGroup', [sealed]],
  ])('is one thing: an authorization with %s beside it is two', (name, value) => {
    const two = sample('x402-get', set(`${PAID}/payload/${name}`, value))
    expect(codesOf(two)).toContain('deny DUPLICATE_PAYMENT')
    expect(scoreOf(two)).toBeLessThanOrEqual(40)
  })

  it('has a form of its own in other schemes, which is left to them', () => {
    const billed = sample(
      'x402-get',
      set(`${PAID}/accepted/scheme`, 'batch-settlement'),
      set(`${PAID}/payload`, { amount: '5', asset: 'USD' }),
    )
    expect(codesOf(billed).filter((code) => code.includes('SIGNED_MEMBER'))).toEqual([])
  })
})

describe('the spender of a permit', () => {
  it('is the proxy that the SDK of x402 signs for', async () => {
    const sdk: Readonly<Record<string, unknown>> = await import('@x402/evm')
    expect(Object.fromEntries(PERMIT2_PROXIES)).toEqual({
      exact: sdk['x402ExactPermit2ProxyAddress'],
      upto: sdk['x402UptoPermit2ProxyAddress'],
    })
  })

  it('passes in any case of its letters', () => {
    const lower = sample(
      'x402-permit2',
      set(`${PERMIT}/spender`, '0x402085c248eea27d92e8b30b2c58ed07f9e20001'),
    )
    expect(codesOf(lower)).toEqual(codesOf(sample('x402-permit2')))
    expect(codesOf(upto).filter((code) => code.startsWith('deny'))).toEqual([])
  })

  it.each<[string, SampleSource]>([
    ['a stranger', sample('x402-permit2', set(`${PERMIT}/spender`, FACILITATOR))],
    [
      'the payee',
      sample('x402-permit2', set(`${PERMIT}/spender`, '0x52908400098527886E0F7030069857D2E4169EE7')),
    ],
    [
      'Permit2 itself',
      sample('x402-permit2', set(`${PERMIT}/spender`, '0x000000000022D473030F116dDEE9F6B43aC78BA3')),
    ],
    [
      'the proxy of upto in exact',
      sample('x402-permit2', set(`${PERMIT}/spender`, '0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002')),
    ],
    [
      'the proxy of exact in upto',
      change(upto, [set(`${PERMIT}/spender`, '0x402085c248EeA27D92E8b30b2C58ed07f9E20001')]),
    ],
  ])('is denied where it is %s', (_, source) => {
    expect(codesOf(source)).toContain('deny BINDING_PAYEE')
    expect(scoreOf(source)).toBeLessThanOrEqual(40)
  })

  it('is looked at where it is the proxy of an earlier release', () => {
    const former = sample(
      'x402-permit2',
      set(`${PERMIT}/spender`, '0x4020615294c913F045dc10f0a5cdEbd86c280001'),
    )
    expect(codesOf(former)).toContain('review BINDING_PAYEE')
    expect(codesOf(former).filter((code) => code.startsWith('deny'))).toEqual([])
  })

  it('serves the facilitator that was announced and no other', () => {
    const other = change(upto, [
      set(`${PERMIT}/witness/facilitator`, '0x52908400098527886E0F7030069857D2E4169EE7'),
    ])
    expect(codesOf(other)).toContain('deny BINDING_OFFER')
  })
})
