import { describe, expect, it } from 'vitest'
import { readShownTerms } from '../../../src/outcomes/products/price-kind.ts'
import { readProducts } from '../../../src/outcomes/products/page.ts'

const URL_OF_PAGE = 'https://shop.example/p/rice'

function offerOf(stated: object, head = '') {
  const json = JSON.stringify({ '@type': 'Product', name: 'Rice', offers: stated })
  const body = Buffer.from(
    `<html lang="en"><head>${head}<script type="application/ld+json">${json}</script></head></html>`,
  )
  const reading = readProducts({
    body,
    isCut: false,
    contentType: 'text/html',
    contentLanguage: null,
    url: URL_OF_PAGE,
  })
  if (!reading.ok) throw new Error(reading.reason)
  return reading.value.products[0]!.offers[0]!
}

const spec = (price: string, more: object = {}) => ({
  '@type': 'UnitPriceSpecification',
  price,
  priceCurrency: 'EUR',
  ...more,
})
const offer = (...priceSpecification: unknown[]) => ({ '@type': 'Offer', priceSpecification })
const told = ({ price, other_prices: others, issues }: ReturnType<typeof offerOf>) => ({
  price: price?.amount ?? null,
  others: others.map((one) => `${one.kind} ${one.price.amount} per ${one.per}`),
  issues,
})

describe('a price that is not what one piece costs', () => {
  it.each<[name: string, more: object, label: string]>([
    ['a kilogram', { referenceQuantity: { value: 1, unitCode: 'KGM' } }, 'unit 3.98 per 1 KGM'],
    [
      'a hundred grams in words',
      { referenceQuantity: { value: '100', unitText: 'g' } },
      'unit 3.98 per 100 g',
    ],
    ['a litre as the unit', { unitText: 'litre' }, 'unit 3.98 per 1 litre'],
    ['a quantity as one text', { referenceQuantity: '1 kg' }, 'unit 3.98 per 1 kg'],
    ['ten pieces and more', { eligibleQuantity: { minValue: 10 } }, 'bulk 3.98 per 10'],
    ['a dozen', { eligibleQuantity: 12 }, 'bulk 3.98 per 12'],
    ['a duration of billing', { billingDuration: 'P1M' }, 'subscription 3.98 per P1M'],
    [
      'a number of billing units',
      { billingDuration: 12, billingIncrement: 1, unitCode: 'MON' },
      'subscription 3.98 per 12 MON',
    ],
    [
      'a month as the reference',
      { referenceQuantity: { value: 1, unitCode: 'MON' } },
      'subscription 3.98 per 1 MON',
    ],
    [
      'a type of component',
      { priceComponentType: 'https://schema.org/Subscription' },
      'subscription 3.98 per null',
    ],
    [
      'an instalment',
      { priceComponentType: { '@id': 'https://schema.org/Installment' } },
      'instalment 3.98 per null',
    ],
    ['a fee', { priceComponentType: 'https://schema.org/ActivationFee' }, 'fee 3.98 per null'],
    ['members', { validForMemberTier: { name: 'Gold' } }, 'member 3.98 per null'],
    ['the delivery', { '@type': 'DeliveryChargeSpecification' }, 'fee 3.98 per null'],
    ['a month in its text', { price: '3.98 per month' }, 'subscription 3.98 per month'],
  ])('is labelled beside the price: %s', (_name, more, label) => {
    expect(told(offerOf(offer(spec('3.98', more), spec('9.90'))))).toEqual({
      price: '9.90',
      others: [label],
      issues: [],
    })
    expect(told(offerOf({ ...offer(spec('3.98', more)), price: 9.9, priceCurrency: 'EUR' }))).toMatchObject({
      price: '9.9',
      others: [label],
    })
  })

  it.each<[kind: string, stated: object]>([
    ['unit', offer(spec('5', { referenceQuantity: { value: 1, unitCode: 'KGM' } }))],
    ['subscription', offer(spec('5', { billingDuration: 'P1M' }))],
    ['bulk', { '@type': 'Offer', price: 5, priceCurrency: 'EUR', eligibleQuantity: { minValue: 6 } }],
    ['bulk', { ...offer(spec('5')), eligibleQuantity: { minValue: 6 } }],
    [
      'rental',
      {
        '@type': 'Offer',
        price: 5,
        priceCurrency: 'EUR',
        businessFunction: 'http://purl.org/goodrelations/v1#LeaseOut',
      },
    ],
    // The offer repeats what its specification says of a month.
    ['subscription', { ...offer(spec('5', { billingDuration: 'P1M' })), price: 5, priceCurrency: 'EUR' }],
  ])('is no price where it is all there is: %s', (kind, stated) => {
    expect(told(offerOf(stated))).toMatchObject({ price: null, issues: [`only_${kind}_price`] })
  })

  it('is not made the price by a meta tag that repeats it', () => {
    const tags = (amount: string) =>
      `<meta property="og:title" content="Rice"><meta property="product:price:amount" content="${amount}"><meta property="product:price:currency" content="EUR">`
    const monthly = offer(spec('5', { billingDuration: 'P1M' }))
    expect(told(offerOf(monthly, tags('5.00')))).toMatchObject({
      price: null,
      issues: ['only_subscription_price'],
    })
    expect(told(offerOf(monthly, tags('49')))).toMatchObject({
      price: '49',
      others: ['subscription 5 per P1M'],
    })
  })

  it.each<[name: string, more: object]>([
    ['one piece', { referenceQuantity: { value: 1, unitCode: 'C62' } }],
    // The size of the pack with the base beside it, as Google asks for it.
    [
      'a pack with its base',
      { referenceQuantity: { value: '4.5', unitCode: 'LTR', valueReference: { value: 1, unitCode: 'LTR' } } },
    ],
    [
      'a pack of one kilogram with its base',
      { referenceQuantity: { value: 1, unitCode: 'KGM', valueReference: { value: 100, unitCode: 'GRM' } } },
    ],
    ['a bottle', { referenceQuantity: { value: '0.75', unitCode: 'LTR' } }],
    ['from one piece on', { eligibleQuantity: { minValue: 1 } }],
    ['a quantity that is none', { eligibleQuantity: 'many', referenceQuantity: [null] }],
  ])('is the price after all: %s', (_name, more) => {
    expect(told(offerOf(offer(spec('5', more))))).toEqual({ price: '5', others: [], issues: [] })
  })

  it('says that tax is left out', () => {
    expect(told(offerOf(offer(spec('5', { valueAddedTaxIncluded: false })))).issues).toEqual(['tax_excluded'])
    expect(told(offerOf(offer(spec('5', { valueAddedTaxIncluded: true })))).issues).toEqual([])
  })

  it('takes a zero for no price where nothing can be had', () => {
    const zero = { '@type': 'Offer', price: 0, priceCurrency: 'EUR' }
    expect(told(offerOf({ ...zero, availability: 'OutOfStock' }))).toMatchObject({
      price: null,
      issues: ['price_zero', 'offer_without_price'],
    })
    expect(told(offerOf({ ...zero, availability: 'InStock' }))).toMatchObject({ price: '0' })
  })

  it('lists no more than ten', () => {
    const many = Array.from({ length: 50 }, (_, at) =>
      spec(`${at + 1}`, { eligibleQuantity: { minValue: at + 2 } }),
    )
    expect(offerOf(offer(...many)).other_prices).toHaveLength(10)
  })
})

describe('readShownTerms', () => {
  it.each<[text: string, label: string | undefined]>([
    ['12,90 €/kg', 'unit kg'],
    ['12,90 € / 100 g', 'unit 100 g'],
    ['12,90 € pro Liter', 'unit Liter'],
    ['349 kr/m²', 'unit m²'],
    ['١٢ ر.س لكل كغ', 'unit كغ'],
    ['100g / 298円', undefined],
    ['$9.99/mo', 'subscription mo'],
    ['9,99 € im Monat', 'subscription Monat'],
    ['9,99 € mtl.', 'subscription mtl'],
    ['99 TL/ay', 'subscription ay'],
    ['199 kr per månad', 'subscription månad'],
    ['月額980円', 'subscription 月額'],
    ['12x de R$ 9,99', 'instalment null'],
    ['9,99 € x 12', 'instalment null'],
    ['6 taksit', 'instalment null'],
    ['12,90 €', undefined],
    ['12,90 € / 15,00 €', undefined],
    ['9.99 per piece', undefined],
    ['118,99 TL', undefined],
  ])('reads %s', (text, label) => {
    const terms = readShownTerms(text)
    expect(terms && `${terms.kind} ${terms.per}`).toBe(label)
  })
})
