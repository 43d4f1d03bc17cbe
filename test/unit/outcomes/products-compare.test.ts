import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Offer, Product } from '../../../schemas/product-offers.ts'
import { compareOffers } from '../../../src/outcomes/products/compare.ts'
import { readGtin, readPlain } from '../../../src/outcomes/products/identifiers.ts'
import { compareAmounts, toMoney } from '../../../src/outcomes/products/money.ts'

const GTIN = '4006381333931'

const offer = (amount: string | null, currency: string | null = 'EUR', more: Partial<Offer> = {}): Offer => ({
  name: null,
  price: amount === null ? null : toMoney(amount, currency, amount),
  other_prices: [],
  list_price: null,
  low_price: null,
  high_price: null,
  offer_count: null,
  availability: 'InStock',
  condition: null,
  seller: null,
  url: null,
  valid_until: null,
  shipping: [],
  identifiers: [],
  stated_in: 'json-ld',
  issues: [],
  ...more,
})

const product = (id: string, offers: Offer[], more: Partial<Product> = {}): Product => ({
  id,
  source: 0,
  url: `https://${id}.example/kettle`,
  stated_in: 'json-ld',
  also_stated_in: [],
  main: true,
  name: 'Kettle',
  brand: 'Hob',
  description: null,
  image: null,
  variant_of: null,
  attributes: {},
  identifiers: [readGtin(GTIN)],
  offers,
  main_offer: 0,
  issues: [],
  ...more,
})

const READ_AT = '2026-06-15T12:00:00.000Z'
const sources = new Map([
  [0, { host: 'x.example', retrievedAt: READ_AT }],
  [1, { host: 'y.example', retrievedAt: READ_AT }],
])
const compare = (products: Product[]) => compareOffers(products, sources)

const ranking = (products: Product[]) =>
  compare(products).groups.map(
    ({ key, currency, entries }) =>
      `${key} ${currency}: ${entries.map((entry) => `${entry.product} ${entry.price.amount}`).join(', ')}`,
  )
const reasons = (products: Product[]) =>
  Object.fromEntries(compare(products).unranked.map((one) => [one.product, one.reason]))

describe('compareOffers', () => {
  it('ranks offers of one GTIN in one currency, lowest price first', () => {
    const products = [
      product('a', [offer('9.5')]),
      product('b', [offer('10.00')]),
      product('c', [offer('9.49')]),
    ]
    expect(ranking(products)).toEqual([`gtin:0${GTIN} EUR: c 9.49, a 9.5, b 10.00`])
    expect(reasons(products)).toEqual({})
  })

  it('takes two spellings of one number for one number', () => {
    const other = product('b', [offer('5')], { identifiers: [readGtin(`0${GTIN}`)] })
    expect(ranking([product('a', [offer('6')]), other])).toEqual([`gtin:0${GTIN} EUR: b 5, a 6`])
  })

  it('keeps currencies apart', () => {
    const products = [
      product('a', [offer('9')]),
      product('b', [offer('8', 'USD')]),
      product('c', [offer('7')]),
    ]
    expect(ranking(products)).toEqual([`gtin:0${GTIN} EUR: c 7, a 9`])
    expect(reasons(products)).toEqual({ b: 'currency_differs' })
  })

  it('compares several sellers of one product', () => {
    expect(
      ranking([product('a', [offer('9', 'EUR', { seller: 'x' }), offer('8', 'EUR', { seller: 'y' })])]),
    ).toEqual([`gtin:0${GTIN} EUR: a 8, a 9`])
  })

  it('groups by brand and part number where both say the same', () => {
    const mpn = (id: string, brand: string | null, value: string) =>
      product(id, [offer('5')], { brand, identifiers: [readPlain('mpn', value)] })
    expect(ranking([mpn('a', 'Hob', 'K-77'), mpn('b', 'HOB', 'k77')])).toEqual([
      'brand+mpn:hob+k77 EUR: a 5, b 5',
    ])
    expect(ranking([mpn('a', 'Hob', 'K-77'), mpn('b', 'Nob', 'K-77')])).toEqual([])
    expect(reasons([mpn('a', null, 'K-77'), mpn('b', 'Hob', 'Fake Wounds')])).toEqual({
      a: 'identifier_not_comparable',
      b: 'identifier_not_comparable',
    })
  })

  it('trusts an article number inside one shop only, and a page that claims the address of another one not at all', () => {
    const sku = (id: string, source: number) =>
      product(id, [offer('5')], { source, url: 'https://x.example/1', identifiers: [readPlain('sku', '12')] })
    expect(ranking([sku('a', 0), sku('b', 0)])).toEqual(['sku:x.example/12 EUR: a 5, b 5'])
    expect(ranking([sku('a', 0), sku('b', 1)])).toEqual([])
  })

  it.each<[reason: string, other: Product]>([
    ['identifier_missing', product('b', [offer('5')], { identifiers: [] })],
    ['identifier_missing', product('b', [offer('5')], { identifiers: [readGtin('4006381333932')] })],
    [
      'identifiers_contradict',
      product('b', [offer('5')], { identifiers: [readGtin(GTIN), readGtin('9506000134352')] }),
    ],
    ['identifier_not_comparable', product('b', [offer('5')], { identifiers: [readGtin('2012345678903')] })],
    ['currency_missing', product('b', [offer('5', null)])],
    ['offer_without_price', product('b', [offer(null)])],
    ['aggregate_only', product('b', [offer(null, 'EUR', { low_price: toMoney('5', 'EUR', '5') })])],
    ['ambiguous_decimal', product('b', [offer('1.234', 'EUR', { issues: ['ambiguous_decimal'] })])],
    ['currency_inferred', product('b', [offer('5', 'EUR', { issues: ['currency_inferred'] })])],
    ['price_range', product('b', [offer('5', 'EUR', { issues: ['price_range'] })])],
    ['price_zero', product('b', [offer('0', 'EUR', { issues: ['price_zero'] })])],
    ['no_offer', product('b', [])],
    ['only_one_offer', product('b', [offer('5')], { identifiers: [readGtin('9506000134352')] })],
  ])('ranks nothing with %s, and says so', (reason, other) => {
    const products = [product('a', [offer('9')]), other]
    expect(ranking(products)).toEqual([])
    expect(reasons(products)).toMatchObject({ b: reason })
  })

  it('does not take the sizes of a shirt for offers of one thing', () => {
    const size = (amount: string, sku: string) =>
      offer(amount, 'EUR', { identifiers: [readPlain('sku', sku)] })
    expect(ranking([product('a', [size('5', 's-1'), size('6', 's-2')])])).toEqual([])
    const named = [offer('5', 'EUR', { name: 'Small' }), offer('6', 'EUR', { name: 'Large' })]
    expect(reasons([product('a', named)])).toEqual({ a: 'variants_not_identified' })
  })

  it('ranks a size by its own number', () => {
    const large = offer('6', 'EUR', { identifiers: [readGtin('9506000134352')] })
    const products = [
      product('a', [offer('5'), large]),
      product('b', [offer('4')], { identifiers: [readGtin('9506000134352')] }),
    ]
    expect(ranking(products)).toEqual(['gtin:09506000134352 EUR: b 4, a 6'])
  })

  describe('what cannot be bought new, now, for its price', () => {
    const flagged = (more: Partial<Offer>, fields: Partial<Product> = {}, beside: Partial<Offer> = {}) => {
      const products = [
        product('good', [offer('9', 'EUR', { condition: 'NewCondition', ...beside })]),
        product('other', [offer('5', 'EUR', { condition: 'NewCondition', ...more })], fields),
      ]
      return compare(products).groups[0]!.entries.map(({ product: id, flags }) => [id, ...flags].join(' '))
    }

    it.each<[flag: string, more: Partial<Offer>]>([
      ['not_new', { condition: 'UsedCondition' }],
      ['not_new', { condition: 'RefurbishedCondition' }],
      ['not_new', { condition: 'DamagedCondition' }],
      ['not_new', { name: 'Kettle, second hand' }],
      ['out_of_stock', { availability: 'OutOfStock' }],
      ['out_of_stock', { availability: 'SoldOut' }],
      ['out_of_stock', { availability: 'Discontinued' }],
      ['out_of_stock', { availability: 'Reserved' }],
      ['not_in_stock_yet', { availability: 'PreOrder' }],
      ['not_in_stock_yet', { availability: 'BackOrder' }],
      ['in_store_only', { availability: 'InStoreOnly' }],
      ['price_from_text', { stated_in: 'text' }],
      ['tax_excluded', { issues: ['tax_excluded'] }],
      ['price_expired', { valid_until: '2025-12-31' }],
      ['not_new out_of_stock', { condition: 'UsedCondition', availability: 'OutOfStock' }],
    ])('stands behind with %s, however cheap it is', (flag, more) => {
      expect(flagged(more)).toEqual(['good', `other ${flag}`])
    })

    it('flags a refurbished thing by its name, whatever its markup says', () => {
      for (const name of [
        'Kettle (Refurbished)',
        'Wasserkocher, gebraucht',
        '電気ケトル 中古',
        'غلاية مستعملة مستعمل',
      ])
        expect(flagged({}, { name })).toEqual(['good', 'other not_new'])
      expect(flagged({}, { name: 'Gebrauchtwagen-Kettle for used grounds' })).toEqual(['other', 'good'])
    })

    it('flags an unknown condition only where another one is stated', () => {
      expect(flagged({ condition: null })).toEqual(['good', 'other condition_unknown'])
      expect(flagged({ condition: null }, {}, { condition: null })).toEqual(['other', 'good'])
    })

    it('puts an unknown condition before one that is worse', () => {
      expect(flagged({ condition: 'UsedCondition' }, {}, { condition: null })).toEqual([
        'good condition_unknown',
        'other not_new',
      ])
    })

    it('flags no missing tax where nobody includes it', () => {
      const net = { issues: ['tax_excluded'] }
      expect(flagged(net, {}, net)).toEqual(['other', 'good'])
    })

    it.each(['InStock', 'LimitedAvailability', 'OnlineOnly', 'MadeToOrder', null])(
      'lets %s be bought',
      (availability) => {
        expect(flagged({ availability })).toEqual(['other', 'good'])
      },
    )

    it('puts the cheapest first in both parts', () => {
      const used = (amount: string) => offer(amount, 'EUR', { condition: 'UsedCondition' })
      const products = [
        product('a', [used('3')]),
        product('b', [offer('9', 'EUR', { condition: 'NewCondition' })]),
        product('c', [used('2')]),
        product('d', [offer('8', 'EUR', { condition: 'NewCondition' })]),
      ]
      expect(ranking(products)).toEqual([`gtin:0${GTIN} EUR: d 8, b 9, c 2, a 3`])
    })

    // Retrieved on 2026-06-15 at noon, UTC.
    it.each([
      '2026-06-13',
      '2026-06-13T23:59:59',
      '2026-06-15T11:59:59Z',
      '2026-06-15T13:59:00+02:00',
      '2026-05',
      '13 June 2026',
      'Jun 1, 2026',
    ])('takes a price until %s for expired', (until) => {
      expect(flagged({ valid_until: until })).toEqual(['good', 'other price_expired'])
    })

    it.each([
      // The day has not ended everywhere.
      '2026-06-15',
      '2026-06-15T00:00:01',
      '2026-06-15T00:00:00',
      '2026-06-15T12:00:01Z',
      '2026-06-15T14:00:00+02:00',
      '2026-06',
      '2027-01-01',
      // Whatever may be two days, or none.
      '01/02/2020',
      '2026-02-31',
      '0000-00-00',
      'until further notice',
      '1577836800',
      '',
    ])('takes a price until %s for one that may hold', (until) => {
      expect(flagged({ valid_until: until })).toEqual(['other', 'good'])
    })

    it('knows nothing of a price whose page was read at no known time', () => {
      const products = ['a', 'b'].map((id) => product(id, [offer('5', 'EUR', { valid_until: '2020-01-01' })]))
      const unread = new Map([[0, { host: 'x.example', retrievedAt: undefined }]])
      expect(compareOffers(products, unread).groups[0]!.entries.flatMap(({ flags }) => flags)).toEqual([])
    })

    it.each(['only_unit_price', 'only_subscription_price', 'only_bulk_price'])('ranks no %s', (issue) => {
      const products = [product('a', [offer('9')]), product('b', [offer(null, 'EUR', { issues: [issue] })])]
      expect(ranking(products)).toEqual([])
      expect(reasons(products)).toMatchObject({ b: issue })
    })
  })

  it('never puts two currencies or two identifiers into one group, and forgets no product', () => {
    const products = fc.array(
      fc.record({
        amount: fc.option(
          fc.integer({ min: 0, max: 99_999 }).map((cents) => (cents / 100).toFixed(2)),
          { nil: null },
        ),
        currency: fc.constantFrom('EUR', 'USD', null),
        gtin: fc.constantFrom(GTIN, '9506000134352', '4006381333932', ''),
      }),
      { maxLength: 8 },
    )
    fc.assert(
      fc.property(products, (list) => {
        const all = list.map(({ amount, currency, gtin }, at) =>
          product(`p${at}`, [offer(amount, currency)], { identifiers: gtin === '' ? [] : [readGtin(gtin)] }),
        )
        const { groups, unranked } = compare(all)
        for (const { key, currency, entries } of groups) {
          const members = entries.map(({ product: id }) => all.find((one) => one.id === id)!)
          expect(entries.every(({ price }) => price.currency === currency)).toBe(true)
          expect(members.every(({ identifiers }) => `gtin:${identifiers[0]?.normalised}` === key)).toBe(true)
          for (const isFlagged of [false, true]) {
            const part = entries.filter(({ flags }) => flags.length > 0 === isFlagged)
            const amounts = part.map(({ price }) => price.amount)
            expect(amounts).toEqual(amounts.toSorted(compareAmounts))
          }
        }
        const named = [...groups.flatMap(({ entries }) => entries), ...unranked].map((one) => one.product)
        expect(named.toSorted()).toEqual(all.map(({ id }) => id).toSorted())
      }),
    )
  })
})
