// The rules of ACP and UCP themselves: keys where they are demanded, events that somebody signed, statements that are made twice.
import { describe, expect, it } from 'vitest'
import { toPolicy } from '../../../src/commerce/policy/document.ts'
import { inspectTransaction } from '../../../src/commerce/policy/inspect.ts'
import { CHECKOUT_KINDS } from '../../data/commerce/checkout-kinds.ts'
import { SAMPLES } from '../../data/commerce/samples.ts'
import { change, wire, type Change, type Plain, type SampleSource } from '../../support/commerce.ts'

const NOW_MS = 1_790_000_030_000
const policy = toPolicy({ default: { caps: [{ currency: 'EUR', max: '5000' }] }, accounts: {} }, undefined)
const set = (at: string, value: Plain): Change => ({ op: 'set', at, value })
const remove = (at: string): Change => ({ op: 'remove', at })
const sample = (name: string, ...changes: Change[]) => change(SAMPLES[name]!, changes)
const kind = (name: string, ...changes: Change[]) => change(CHECKOUT_KINDS[name]!.source, changes)
const reasonsOf = (source: SampleSource) =>
  inspectTransaction(wire(source), policy, NOW_MS)
    .policy.reasons.filter(({ severity }) => severity !== 'info')
    .map(({ severity, code }) => `${severity} ${code}`)
const KEYLESS = 'UNSAFE_WITHOUT_IDEMPOTENCY'
const META = '/body/params/arguments/meta'

describe('a key', () => {
  it.each<[string, SampleSource, readonly string[]]>([
    [
      'demanded by ACP over REST',
      sample('acp-create', remove('/headers/Idempotency-Key')),
      [`deny ${KEYLESS}`],
    ],
    [
      'asked for where only a body is shown',
      change(sample('acp-create'), [remove('/headers')]),
      [`review ${KEYLESS}`],
    ],
    [
      'recommended by ACP over MCP',
      sample('acp-mcp', remove(`${META}/idempotency_key`)),
      ['review AMOUNT_MISSING', `review ${KEYLESS}`],
    ],
    [
      'not asked for by an update over MCP',
      sample(
        'acp-mcp',
        remove(`${META}/idempotency_key`),
        set('/body/params/name', 'update_checkout_session'),
      ),
      [],
    ],
    ['not asked for by an answer', kind('ACP session that is given back'), []],
    [
      'asked for by UCP where a checkout ends over MCP',
      sample('ucp-mcp', remove(`${META}/idempotency-key`)),
      ['review AMOUNT_MISSING', `review ${KEYLESS}`],
    ],
    [
      'that of the header is that of the arguments',
      sample('acp-mcp', set('/headers/Idempotency-Key', 'another')),
      ['deny HEADER_BODY_MISMATCH', 'review AMOUNT_MISSING'],
    ],
  ])('is %s', (_what, source, expected) => {
    expect(reasonsOf(source)).toEqual(expected)
  })
})

describe('a payment of UCP', () => {
  it.each(['complete_checkout ', 'COMPLETE_CHECKOUT', 'shop__complete_checkout', 'pay'])(
    'is one whatever its tool is called: %j',
    (name) => {
      expect(reasonsOf(sample('ucp-mcp', set('/body/params/name', name)))).toEqual(['review AMOUNT_MISSING'])
    },
  )
  it('is none where a tool of another name is told no instrument', () => {
    const asked = set('/body/params/arguments/checkout', { line_items: [{ item: { id: 'sencha' } }] })
    expect(reasonsOf(sample('ucp-mcp', set('/body/params/name', 'quote'), asked))).toEqual([])
  })
})

describe('what a delegated card may be used for', () => {
  it.each(['reason', 'max_amount', 'currency', 'checkout_session_id', 'merchant_id', 'expires_at'])(
    'says its %s',
    (name) => {
      expect(reasonsOf(sample('acp-delegate'))).toEqual([])
      expect(reasonsOf(sample('acp-delegate', remove(`/body/allowance/${name}`)))).toContain(
        'deny SIGNED_MEMBER_MISSING',
      )
    },
  )
  it('is one purchase, until a time that is one', () => {
    expect(reasonsOf(sample('acp-delegate', set('/body/allowance/reason', 'recurring')))).toEqual([
      'deny SIGNED_MEMBER_MALFORMED',
    ])
    expect(reasonsOf(sample('acp-delegate', set('/body/allowance/expires_at', 'never')))).toContain(
      'deny SIGNED_MEMBER_MALFORMED',
    )
  })
})

describe('an event of an order', () => {
  it('is signed, lately, at the place where ACP sends it', () => {
    expect(reasonsOf(sample('acp-webhook'))).toEqual([])
    expect(reasonsOf(sample('acp-webhook', remove('/headers/Merchant-Signature')))).toEqual([
      'deny SIGNED_MEMBER_MISSING',
    ])
    expect(reasonsOf(sample('acp-webhook', set('/headers/Merchant-Signature', 't=1,v1=short')))).toContain(
      'deny SIGNED_MEMBER_MALFORMED',
    )
    expect(
      reasonsOf(
        sample('acp-webhook', set('/headers/Merchant-Signature', `t=1789999000,v1=${'3c9d'.repeat(16)}`)),
      ),
    ).toEqual(['deny WINDOW_EXPIRED'])
    expect(reasonsOf(kind('ACP event of an order, wherever it is sent'))).toEqual([
      'review SIGNED_MEMBER_MISSING',
    ])
  })
  it('is signed where UCP sends it', () => {
    const event = change(sample('ucp-complete'), [
      set('/headers/Webhook-Id', 'evt_1'),
      set('/target', 'https://shop.example/hooks'),
    ])
    expect(reasonsOf(event)).toEqual([])
    expect(
      reasonsOf(change(event, [remove('/headers/Signature'), remove('/headers/Signature-Input')])),
    ).toEqual(['deny SIGNED_MEMBER_MISSING'])
  })
})

describe('a total', () => {
  const answer = (totals: readonly { type: string; amount: number }[]) =>
    change(kind('UCP answer of a business'), [set('/body/totals', [...totals])])
  const lines = [
    { type: 'subtotal', amount: 3490 },
    { type: 'fulfillment', amount: 490 },
    { type: 'tax', amount: 636 },
  ]
  it('that is not the sum of its lines is for the buyer', () => {
    expect(reasonsOf(answer([...lines, { type: 'total', amount: 4000 }]))).toEqual(['review BINDING_AMOUNT'])
  })
  it.each([
    ['of all of its lines', [...lines, { type: 'total', amount: 4616 }]],
    ['less a discount', [...lines, { type: 'discount', amount: -500 }, { type: 'total', amount: 4116 }]],
    [
      'less a discount without a sign',
      [...lines, { type: 'discount', amount: 500 }, { type: 'total', amount: 4116 }],
    ],
    [
      'whose items were discounted before',
      [...lines, { type: 'items_discount', amount: 500 }, { type: 'total', amount: 4616 }],
    ],
    ['alone', [{ type: 'total', amount: 4616 }]],
  ])('is fine as the sum %s', (_what, totals) => {
    expect(reasonsOf(answer(totals))).toEqual([])
  })
})

describe('what is said twice', () => {
  it('is the same session in the path and in the answer, or somebody looks', () => {
    const answer = kind(
      'ACP session that is given back',
      set('/target', 'https://shop.example/checkout_sessions/cs_81aa'),
    )
    expect(reasonsOf(answer)).toEqual([])
    expect(reasonsOf(change(answer, [set('/body/id', 'cs_other')]))).toEqual(['review BINDING_RESOURCE'])
  })
  it('is covered by a signature of UCP, or somebody looks', () => {
    const weak = 'sig1=("@method" "@authority" "@path");created=1790000000;expires=1790000300;keyid="p"'
    expect(reasonsOf(sample('ucp-complete', set('/headers/Signature-Input', weak)))).toEqual([
      'review AMOUNT_MISSING',
      'review SIGNED_MEMBER_MISSING',
    ])
    expect(reasonsOf(sample('ucp-complete'))).toEqual(['review AMOUNT_MISSING'])
  })
  it("is for somebody to look at where an example's header is shortened", () => {
    expect(
      reasonsOf(sample('ucp-complete', set('/headers/Signature-Input', 'sig1=("@method" ...);keyid="p"'))),
    ).toContain('review MALFORMED')
    expect(
      reasonsOf(sample('ucp-complete', set('/headers/Signature-Input', 'sig1=("@method" ;;'))),
    ).toContain('deny MALFORMED')
  })
})
