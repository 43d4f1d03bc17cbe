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

const hosts = new Map([
  [0, 'x.example'],
  [1, 'y.example'],
])
const compare = (products: Product[]) => compareOffers(products, hosts)

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
          const amounts = entries.map(({ price }) => price.amount)
          expect(amounts).toEqual(amounts.toSorted(compareAmounts))
        }
        const named = [...groups.flatMap(({ entries }) => entries), ...unranked].map((one) => one.product)
        expect(named.toSorted()).toEqual(all.map(({ id }) => id).toSorted())
      }),
    )
  })
})
