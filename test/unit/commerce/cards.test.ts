// What is the number of a card, and what only passes its check: one number of sixteen digits in ten does.
import { describe, expect, it } from 'vitest'
import { analyse } from '../../../src/commerce/analysis.ts'
import { readMessage } from '../../../src/commerce/message.ts'
import { toPolicy } from '../../../src/commerce/policy/document.ts'
import { judgeMessage } from '../../../src/commerce/policy/judge.ts'

const policy = toPolicy({ default: {}, accounts: {} }, undefined)
/** Passes the check, with the first digits of a brand. */
const N = ['4539', '1488', '0343', '6467'].join('')
const ORDER = ['4111', '1111', '1111', '1111'].join('')
const GROUPED = N.replaceAll(/(....)(?=.)/g, '$1 ')

const placesOf = (body: unknown, target = 'https://shop.example/checkout') =>
  judgeMessage(analyse(readMessage({ target, method: 'POST', body })), policy, 0)
    .reasons.filter(({ code }) => code === 'CARD_DATA')
    .map(({ path }) => path)

describe('a number that passes the check of a card', () => {
  it.each<[unknown]>([
    [{ order_number: N }],
    [{ orderNumber: N, brand: 'Sony', sku: 'A-1' }],
    [{ order_number: GROUPED }],
    [{ invoice: { number: N } }],
    [{ id: N, ref: N, tracking: [N] }],
    [{ note: `Order ${N} is ready` }],
    [{ note: `Your greeting cards, order no. ${N}` }],
    [{ note: `Gift card for order #${N}` }],
    [{ note: `Bestellnummer: ${N}, bezahlt mit Karte` }],
    [{ note: `commande n° ${N}` }],
    [{ note: `订单 ${N}` }],
    [{ note: `credit note ${N}` }],
    [{ link: `https://cards-and-gifts.example/o/${N}`, see: `https://gift-cards.example/p/${N}` }],
    [{ note: N }],
    [{ loyalty_card_number: N }],
    [{ gift_card: N }],
    [{ voucher_code: N, expiry_date: '2027-01-31' }],
    [{ code: N, brand: 'Sony' }],
    [{ payment_data: { purchase_order_number: N } }],
    [{ payment_method: { type: 'card', network_transaction_id: N, display_last4: '6467' } }],
    [{ delivery: { security_code: '1234' }, number: N }],
    [{ discarded: N, cardigan: N }],
    [`order=${N}&size=1`],
  ])('is no card in %j', (body) => {
    expect(placesOf(body)).toEqual([])
  })

  it.each<[unknown, string]>([
    [{ card_number: N }, '/body/card_number'],
    [{ cardNumber: N }, '/body/cardNumber'],
    [{ pan: N }, '/body/pan'],
    [{ number: N, cvc: '123' }, '/body/number'],
    [{ order_id: N, cvv: '123' }, '/body/order_id'],
    [{ number: N, exp_month: 11, exp_year: 2029 }, '/body/number'],
    [{ number: N, brand: 'Visa' }, '/body/number'],
    [{ card: { data: N } }, '/body/card/data'],
    [{ payment_method: { data: N } }, '/body/payment_method/data'],
    [{ note: `my card is ${N}` }, '/body/note'],
    [{ note: `Order 81, card ${N}` }, '/body/note'],
    [{ note: `${N} exp 11/29` }, '/body/note'],
    [{ note: `order ${N} 11/29 123` }, '/body/note'],
    [{ note: `${N} (visa)` }, '/body/note'],
    [{ note: `please charge ${N}` }, '/body/note'],
    [{ note: `credit-card: ${N}` }, '/body/note'],
    [{ link: `https://cards-and-gifts.example/cards/${N}` }, '/body/link'],
    [{ note: `pay with ${GROUPED} please` }, '/body/note'],
    [{ note: `bitte von Kreditkarte ${N} abbuchen` }, '/body/note'],
    [{ note: `カード ${N}` }, '/body/note'],
    [{ note: GROUPED }, '/body/note'],
    [{ order_number: `card ${N}` }, '/body/order_number'],
  ])('is one in %j', (body, place) => {
    expect(placesOf(body)).toContain(place)
  })

  it('is found behind the numbers of orders, however many', () => {
    const many = Array.from({ length: 200 }, () => `order ${ORDER}`).join(', ')
    expect(placesOf({ note: `order ${ORDER}, card ${N}` })).toEqual(['/body/note'])
    expect(placesOf({ a: many, b: many.replaceAll('order', 'ref'), note: `card ${N}` })).toEqual([
      '/body/note',
    ])
  })

  it('is the same card wherever else it stands', () => {
    expect(placesOf({ card_number: N, order_number: N })).toEqual(['/body/card_number', '/body/order_number'])
  })

  it('is one in a path that says so, and none in that of an order', () => {
    expect(placesOf(undefined, `https://shop.example/cards/${N}`)).toEqual(['/target'])
    expect(placesOf(undefined, `https://shop.example/orders/${N}?ref=${N}`)).toEqual([])
  })
})

describe('the card of a cardholder whom a bank asks', () => {
  const target = 'https://psp.example/delegate_authentication'
  const request = {
    merchant_id: 'm',
    payment_method: { type: 'card', number: N },
    amount: { value: 1, currency: 'EUR' },
  }
  it('stands where it belongs, its code does not, and its number nowhere else', () => {
    expect(placesOf(request, target)).toEqual([])
    expect(placesOf({ ...request, metadata: { note: N } }, target)).toEqual(['/body/metadata/note'])
    expect(
      placesOf({ ...request, payment_method: { ...request.payment_method, cvc: '123' } }, target),
    ).toEqual(['/body/payment_method/cvc'])
    expect(placesOf(request, `${target}/auth_1/authenticate`)).toEqual(['/body/payment_method/number'])
  })
})
