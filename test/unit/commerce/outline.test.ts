// What one walk over a body keeps and what it may leave out: what is short, or small, still counts where it can be told of.
import { describe, expect, it } from 'vitest'
import { analyse } from '../../../src/commerce/analysis.ts'
import { readMessage } from '../../../src/commerce/message.ts'
import { toPolicy } from '../../../src/commerce/policy/document.ts'
import { findMarker } from '../../../src/commerce/policy/injection.ts'
import { judgeMessage } from '../../../src/commerce/policy/judge.ts'
import { MAX_BODY_CHARS, type TransactionInput } from '../../../src/commerce/ports.ts'

const policy = toPolicy({ default: {}, accounts: {} }, undefined)
const TARGET = 'https://shop.example/orders'
const CARD = ['42424242', '42424242'].join('')

/** Places, and whether it may be something else. */
const cardsIn = (given: Omit<TransactionInput, 'target'>) =>
  judgeMessage(analyse(readMessage({ target: TARGET, ...given })), policy, 0)
    .reasons.filter(({ code }) => code === 'CARD_DATA')
    .map(({ path, isGuess }) => `${path} ${isGuess === true ? 'perhaps' : 'surely'}`)

describe('a verification code', () => {
  it.each(['cvc', 'CVV', 'csc', 'securityCode', 'Security_Code', 'cardCvc', 'card_verification_code'])(
    'called %s is found beside a card, as text and as a number',
    (name) => {
      for (const code of ['123', 4321])
        expect(cardsIn({ body: { pay: { number: CARD, [name]: code } } })).toContain(
          `/body/pay/${name} surely`,
        )
    },
  )
  it.each<[string, unknown]>([
    ['quantity', 123],
    ['cvc', 99],
    ['cvc', 12_345],
    ['cvc', 123.5],
    ['cvc', true],
  ])('is not %s: %j', (name, value) => {
    expect(cardsIn({ body: { pay: { number: CARD, [name]: value } } })).not.toContain(
      `/body/pay/${name} surely`,
    )
  })
})

describe('a number under the name of an account', () => {
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
  const certaintyOf = (given: Omit<TransactionInput, 'target'>) =>
    cardsIn(given).map((found) => found.split(' ')[1])
  it('is surely a card where its expiry stands beside it, short as it is: in an object and in a form', () => {
    expect(certaintyOf({ body: { pay: { number: CARD, exp: '1' } } })).toEqual(['surely'])
    expect(certaintyOf({ body: `number=${CARD}&exp=1`, headers })).toEqual(['surely'])
    expect(certaintyOf({ body: { pay: { number: CARD, exp: 12 } } })).toEqual(['surely'])
    expect(certaintyOf({ body: { pay: { number: CARD, type: 'pan' } } })).toEqual(['surely'])
  })
  it('is none where that stands elsewhere, or nothing is said there', () => {
    expect(cardsIn({ body: { pay: { number: CARD }, exp: '1' } })).toEqual([])
    expect(cardsIn({ body: { pay: { number: CARD, exp: '' } } })).toEqual([])
    expect(cardsIn({ body: `number=${CARD}&size=1`, headers })).toEqual([])
  })
})

describe('a body of an object', () => {
  it('is as large as its names, texts and values together', () => {
    const body = (chars: number) => ({ ['n'.repeat(chars - 5)]: 'abc' })
    expect(readMessage({ target: TARGET, body: body(MAX_BODY_CHARS) }).body.kind).toBe('json')
    expect(readMessage({ target: TARGET, body: body(MAX_BODY_CHARS + 1) }).body).toEqual({
      kind: 'unreadable',
      why: 'oversize',
    })
  })
})

describe('a block of base64', () => {
  it.each([0, 1, 127, 254, 255, 256, 300])('is long from 256 characters on, behind %i others', (offset) => {
    const mark = (chars: number) => {
      const value = `${' '.repeat(offset)}${'A1b2'.repeat(64).slice(0, chars)} and so on`
      return findMarker({ value, name: 'text', isName: false })
    }
    expect(mark(256)).toBe('Holds a long block of base64')
    expect(mark(255)).toBeUndefined()
  })
})
