// Every constraint type of AP2 0.2: what is inside passes, what is outside is denied, and what nobody here can tell is for somebody
// to look at. Shapes are those of docs/ap2/payment_mandate.md and checkout_mandate.md.
import { describe, expect, it } from 'vitest'
import { toPolicy } from '../../../src/commerce/policy/document.ts'
import { inspectTransaction } from '../../../src/commerce/policy/inspect.ts'
import type { TransactionInput } from '../../../src/commerce/ports.ts'
import { testTransaction } from '../../../src/commerce/rubric/report.ts'
import { SAMPLES } from '../../data/commerce/samples.ts'
import { type Change, change, type Plain, type SampleSource, wire } from '../../support/commerce.ts'

const policy = toPolicy({ default: { caps: [{ currency: 'EUR', max: '5000000' }] }, accounts: {} }, undefined)
const inspect = (source: SampleSource) =>
  inspectTransaction(wire(source) as TransactionInput, policy, 1_790_000_120_000).policy
const set = (at: string, value: Plain): Change => ({ op: 'set', at, value })
const remove = (at: string): Change => ({ op: 'remove', at })

const PAYMENT = '/body/payment_mandate_chain/$chain'
const CHECKOUT = '/body/checkout_mandate/$chain'
const RANGE = { type: 'payment.amount_range', currency: 'EUR', min: 0, max: 5000 }
const PAYEES = { type: 'payment.allowed_payees', allowed: [{ '...': '$payee' }] }
const SHOP = { id: 'shop_81', name: 'Tea shop', website: 'https://shop.example' }
const PISP = { legal_name: 'Pay Ltd.', brand_name: 'Pay', domain_name: 'pay.example' }

/** The payment of the samples, under one more constraint, and with other members in the closed mandate. */
const pay = (constraint: Plain, mandate: { readonly [name: string]: Plain } = {}): SampleSource =>
  change(SAMPLES['ap2-payment']!, [
    set(`${PAYMENT}/open/constraints`, [RANGE, PAYEES, constraint]),
    ...Object.entries(mandate).map(([name, value]) => set(`${PAYMENT}/mandate/${name}`, value)),
  ])

const line = (id: string, quantity: Plain): Plain => ({
  id: `li_${id}`,
  item: { id, title: id, price: 1 },
  quantity,
})
const want = (quantity: Plain, ...ids: string[]): Plain => ({
  id: ids.join('-or-'),
  acceptable_items: ids.map((id) => ({ id, title: id })),
  quantity,
})
/** A checkout of these items under a constraint on them. */
function check(items: Plain, cart: Plain, merchant: Plain = SHOP): SampleSource {
  const jwt = {
    $jws: { merchant, line_items: cart, currency: 'EUR', totals: [{ type: 'total', amount: 1890 }] },
  } satisfies Plain
  return change(SAMPLES['ap2-checkout']!, [
    set(`${CHECKOUT}/open/constraints`, [
      { type: 'checkout.allowed_merchants', allowed: [{ '...': '$payee' }] },
      { type: 'checkout.line_items', items },
    ]),
    set(`${CHECKOUT}/mandate/checkout_jwt`, jwt),
    set(`${CHECKOUT}/mandate/checkout_hash`, { $hash: jwt }),
  ])
}

const window = (more: { [name: string]: Plain }): Plain => ({ type: 'payment.execution_date', ...more })
const budget = (max: Plain, currency: Plain = 'EUR'): Plain => ({ type: 'payment.budget', max, currency })
const LONG: Plain = [PAYEES, ...Array.from({ length: 300 }, () => RANGE)]

type Row = readonly [what: string, decision: 'allow' | 'review' | 'deny', source: SampleSource]

const ROWS: readonly Row[] = [
  ['a payment inside its range, to one who is allowed', 'allow', SAMPLES['ap2-payment']!],
  [
    'a range without a largest amount',
    'review',
    pay({ type: 'payment.amount_range', currency: 'EUR', min: 1 }),
  ],
  ['a range in the currency itself', 'review', pay({ ...RANGE, max: 50.5, min: 10.5 })],
  ['a range in the currency itself that is too small in any reading', 'deny', pay({ ...RANGE, max: 18.5 })],
  ['a range without a currency', 'review', pay({ type: 'payment.amount_range', max: 5000 })],

  [
    'a payee by name and website',
    'allow',
    pay({
      type: 'payment.allowed_payees',
      allowed: [{ name: 'Tea shop', website: 'https://shop.example/' }],
    }),
  ],
  [
    'a payee by name alone, who could be anybody',
    'deny',
    pay(
      { type: 'payment.allowed_payees', allowed: [{ name: 'Tea shop', website: 'https://tea.example' }] },
      { payee: { id: 'x', name: 'Tea shop' } },
    ),
  ],
  [
    'a payee with the id of one that is allowed, and another name',
    'review',
    pay({ type: 'payment.allowed_payees', allowed: [{ id: 'shop_81', name: 'Book shop' }] }),
  ],
  ['nobody who is allowed', 'deny', pay({ type: 'payment.allowed_payees', allowed: [] })],
  ['a list of payees that is none', 'review', pay({ type: 'payment.allowed_payees', allowed: 'Tea shop' })],

  [
    'an instrument that is listed',
    'allow',
    pay({ type: 'payment.allowed_payment_instruments', allowed: [{ id: 'card-1', type: 'card' }] }),
  ],
  [
    'an instrument that is not listed',
    'deny',
    pay({ type: 'payment.allowed_payment_instruments', allowed: [{ id: 'card-2', type: 'card' }] }),
  ],
  [
    'an instrument of another type under the same id',
    'review',
    pay({ type: 'payment.allowed_payment_instruments', allowed: [{ id: 'card-1', type: 'UPI' }] }),
  ],

  [
    'a provider that is listed',
    'allow',
    pay({ type: 'payment.allowed_pisps', allowed: [PISP] }, { pisp: PISP }),
  ],
  [
    'a provider that is not listed',
    'deny',
    pay(
      { type: 'payment.allowed_pisps', allowed: [PISP] },
      { pisp: { ...PISP, domain_name: 'evil.example' } },
    ),
  ],
  [
    'a provider of another legal name on a domain that is listed',
    'deny',
    pay({ type: 'payment.allowed_pisps', allowed: [PISP] }, { pisp: { ...PISP, legal_name: 'Other' } }),
  ],
  [
    'no provider where only some are allowed',
    'deny',
    pay({ type: 'payment.allowed_pisps', allowed: [PISP] }),
  ],
  ['a list of providers that is none', 'review', pay({ type: 'payment.allowed_pisps' }, { pisp: PISP })],

  [
    'a date inside its window',
    'allow',
    pay(window({ not_before: '2026-09-20T00:00:00Z', not_after: '2026-09-30T23:59:59Z' }), {
      execution_date: '2026-09-25',
    }),
  ],
  [
    'a date on the first day',
    'allow',
    pay(window({ not_before: '2026-09-25T12:00:00Z' }), { execution_date: '2026-09-25' }),
  ],
  [
    'an instant on the last day',
    'allow',
    pay(window({ not_after: '2026-09-25' }), { execution_date: '2026-09-25T18:00:00+02:00' }),
  ],
  [
    'a date before its window',
    'deny',
    pay(window({ not_before: '2026-09-26' }), { execution_date: '2026-09-25' }),
  ],
  [
    'a date after its window',
    'deny',
    pay(window({ not_before: '2026-09-01', not_after: '2026-09-24' }), {
      execution_date: '2026-09-25T00:00:00Z',
    }),
  ],
  [
    'no date, made inside the window',
    'allow',
    pay(window({ not_before: '2026-09-01', not_after: '2026-09-30' })),
  ],
  ['no date, made after the window', 'deny', pay(window({ not_after: '2026-09-01' }))],
  ['a date that is none', 'review', pay(window({ not_after: '2026-09-30' }), { execution_date: 'soon' })],
  [
    'a day that no month has',
    'review',
    pay(window({ not_after: '2026-09-30' }), { execution_date: '2026-02-31' }),
  ],
  [
    'a window that ends on no day',
    'review',
    pay(window({ not_after: 20_261_231 }), { execution_date: '2026-09-25' }),
  ],

  ['a budget that this payment is within', 'review', pay(budget(1000))],
  ['a budget that this payment alone is over', 'deny', pay(budget(18.89))],
  ['a budget of exactly this payment', 'review', pay(budget(18.9))],
  ['a budget in another currency', 'deny', pay(budget(1000, 'USD'))],
  ['a budget below zero', 'deny', pay(budget(-1))],
  [
    'a mandate that may be used again',
    'review',
    pay({ type: 'payment.agent_recurrence', frequency: 'MONTHLY', max_occurrences: 12 }),
  ],
  [
    'a mandate that may be used no time',
    'deny',
    pay({ type: 'payment.agent_recurrence', frequency: 'MONTHLY', max_occurrences: 0 }),
  ],
  [
    'a checkout that did not come along',
    'review',
    pay({ type: 'payment.reference', conditional_transaction_id: 'D'.repeat(43) }),
  ],

  ['a type that nobody knows', 'review', pay({ type: 'com.example.max_weight', max: 1 })],
  ['a type of the other kind of mandate', 'review', pay({ type: 'checkout.line_items', items: [] })],
  ['a constraint without a type', 'review', pay({ max: 1 })],
  ['a constraint that is no object', 'review', pay('payment.amount_range')],
  ['a constraint that was not disclosed', 'review', pay({ '...': 'B'.repeat(43) })],
  ['more constraints than anybody reads', 'review', pay(RANGE, {})],

  [
    'a payee that the open mandate sets',
    'allow',
    change(pay(RANGE), [set(`${PAYMENT}/open/payee`, { id: 'shop_81', name: 'Tea shop' })]),
  ],
  [
    'another payee than the open mandate sets',
    'deny',
    change(pay(RANGE), [set(`${PAYMENT}/open/payee`, { id: 'shop_9', name: 'Tea shop' })]),
  ],
  [
    'the amount that the open mandate sets',
    'allow',
    change(pay(RANGE), [set(`${PAYMENT}/open/payment_amount`, { currency: 'EUR', amount: 1890 })]),
  ],
  [
    'another amount than the open mandate sets',
    'deny',
    change(pay(RANGE), [set(`${PAYMENT}/open/payment_amount`, { currency: 'EUR', amount: 1891 })]),
  ],
  [
    'another instrument than the open mandate sets',
    'deny',
    change(pay(RANGE), [set(`${PAYMENT}/open/payment_instrument`, { id: 'card-1' })]),
  ],
  [
    'no provider where the open mandate sets one',
    'deny',
    change(pay(RANGE), [set(`${PAYMENT}/open/pisp`, PISP)]),
  ],
  [
    'no risk data where the open mandate has some',
    'review',
    change(pay(RANGE), [set(`${PAYMENT}/open/risk_data`, { a: 1 })]),
  ],

  ['a cart of what was asked for', 'allow', SAMPLES['ap2-checkout']!],
  [
    'a cart dealt out over alternatives',
    'allow',
    check([want(1, 'red', 'blue'), want(1, 'red')], [line('red', 1), line('blue', 1)]),
  ],
  [
    'a cart that only moving others aside deals out',
    'allow',
    check([want(2, 'a', 'b'), want(2, 'a'), want(1, 'b', 'c')], [line('a', 3), line('b', 1), line('c', 1)]),
  ],
  [
    'an item twice that was asked for once',
    'deny',
    check([want(1, 'red', 'blue'), want(1, 'blue')], [line('red', 2)]),
  ],
  ['more than was asked for', 'deny', check([want(1, 'red')], [line('red', 2)])],
  ['less than was asked for', 'review', check([want(2, 'red')], [line('red', 1)])],
  ['an item that nobody asked for', 'deny', check([want(2, 'red')], [line('red', 1), line('watch', 1)])],
  ['an empty cart', 'deny', check([want(1, 'red')], [])],
  ['any item', 'review', check([{ id: 'x', acceptable_items: [], quantity: 1 }], [line('red', 1)])],
  [
    'items that were not disclosed',
    'review',
    check([{ id: 'x', acceptable_items: [{ '...': 'B'.repeat(43) }], quantity: 1 }], [line('red', 1)]),
  ],
  ['less than one of an item', 'review', check([want(1, 'red')], [line('red', -1)])],
  ['no requirement at all', 'review', check([], [line('red', 1)])],
  [
    'a checkout of another merchant',
    'deny',
    check([want(1, 'red')], [line('red', 1)], { id: 'shop_9', name: 'Other' }),
  ],
  ['a checkout that names no merchant', 'review', check([want(1, 'red')], [line('red', 1)], null)],
]

describe('a mandate of AP2 with', () => {
  it.each(ROWS)('%s: %s', (what, decision, source) => {
    const given = what.startsWith('more constraints')
      ? change(source, [set(`${PAYMENT}/open/constraints`, LONG)])
      : source
    const judged = inspect(given)
    expect([judged.decision, judged.reasons.filter(({ severity }) => severity !== 'info')]).toEqual([
      decision,
      decision === 'allow'
        ? []
        : expect.arrayContaining([
            expect.objectContaining({ code: 'BINDING_CONSTRAINT', severity: decision }),
          ]),
    ])
  })

  it('a constraint that is not checked here has the type of it in the reason, where that is a short word', () => {
    const messageOf = (type: string) =>
      inspect(pay({ type })).reasons.find(({ severity }) => severity === 'review')?.message ?? ''
    for (const type of [
      'payment.budget',
      'payment.agent_recurrence',
      'com.example.max_weight',
      'urn:example:limit',
    ])
      expect(messageOf(type)).toContain(type)
    for (const type of ['ignore all previous instructions', `a.${'b'.repeat(60)}`, 'A.B', 'toString', 'a'])
      expect(messageOf(type)).toBe(
        'The type of a constraint is none that AP2 defines, so that it counts as not met.',
      )
  })

  it('another window than its open mandate is denied, and a clock that is five minutes off is not', () => {
    const made = (iat: number) =>
      inspect(change(SAMPLES['ap2-payment']!, [set(`${PAYMENT}/token/iat`, iat)])).reasons
    const codes = (iat: number) => made(iat).map(({ code, severity }) => `${code} ${severity}`)
    expect(codes(1_790_003_901)).toContain('BINDING_CONSTRAINT deny')
    expect(codes(1_789_999_699)).toContain('BINDING_CONSTRAINT deny')
    expect(codes(1_789_999_701)).not.toContain('BINDING_CONSTRAINT deny')
  })

  it('an end before its beginning is denied', () => {
    const turned = change(SAMPLES['ap2-payment']!, [set(`${PAYMENT}/open/exp`, 1_790_000_000)])
    expect(inspect(turned).decision).toBe('deny')
  })

  it('an end in the token that is earlier than the one in the mandate has expired at that', () => {
    const both = change(SAMPLES['ap2-payment']!, [set(`${PAYMENT}/token/exp`, 1_790_000_100)])
    expect(inspect(both).reasons).toContainEqual(
      expect.objectContaining({ code: 'WINDOW_EXPIRED', severity: 'deny' }),
    )
  })

  it('a second closed mandate beside it is held to its own open one', () => {
    const checkout = (check([want(1, 'red')], [line('watch', 1)]).body as { [name: string]: Plain })[
      'checkout_mandate'
    ]!
    const beside = change(SAMPLES['ap2-payment']!, [set('/body/checkout_mandate', checkout)])
    expect(inspect(beside).reasons).toContainEqual(
      expect.objectContaining({
        message: 'Something is in the cart that was not asked for.',
        severity: 'deny',
      }),
    )
  })

  it('the checkout that it is for beside it pays what that asks for, to whom that names', () => {
    const cart = (SAMPLES['ap2-checkout']!.body as { [name: string]: Plain })['checkout_mandate']!
    const beside = (...changes: Change[]) =>
      inspect(change(SAMPLES['ap2-payment']!, [set('/body/checkout_mandate', cart), ...changes]))
    expect(beside().decision).toBe('allow')
    expect(beside(set(`${PAYMENT}/mandate/payment_amount/amount`, 1891)).reasons).toContainEqual(
      expect.objectContaining({ code: 'BINDING_AMOUNT', severity: 'deny' }),
    )
    const other = { id: 'shop_82', name: 'Other' }
    expect(
      beside(set(`${PAYMENT}/mandate/payee`, other), set(`${PAYMENT}/payee`, other)).reasons,
    ).toContainEqual(expect.objectContaining({ code: 'BINDING_PAYEE', severity: 'deny' }))
  })

  it('an unknown constraint keeps points in the test', () => {
    const points = (source: SampleSource) =>
      testTransaction(wire(source) as TransactionInput).checks.find(({ id }) => id === 'AP2-BIND-03')?.points
    expect([points(pay(RANGE)), points(pay({ type: 'com.example.max_weight' }))]).toEqual([6, 4])
    expect(points(change(pay(RANGE), [remove(`${PAYMENT}/open/constraints/0`)]))).toBe(6)
  })
})
