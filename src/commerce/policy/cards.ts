// Card data where no protocol puts any. One number in ten passes the check of a card, and shops number their orders with sixteen
// digits: a number is a card where its name, its text or what stands beside it says so, and never for its digits alone.
import { holderOf, placeOf } from '../decode/outline.ts'
import type { Container, Text, Where } from '../ports.ts'
import type { CardFound } from '../secrets/cards.ts'
import { listBeside } from '../secrets/texts.ts'
import type { Rule } from './model.ts'
import { reason } from './reasons.ts'

/** Card data where no protocol puts any. */
export const judgeCards: Rule = (subject) => {
  const { primary, cards, texts, isExpected } = subject
  if (cards.length === 0) return []
  const allowed = primary?.protocol.policy.findCard?.(primary)
  const companyOf = readCompanies(texts)
  const sure = cards.filter((card) => isCard(card, companyOf))
  const numbers = sure.filter(({ kind }) => kind === 'card_number')
  // What is a card in one place is the same card in every other, and a code beside it is its code.
  const digits = new Set(numbers.map(({ value }) => digitsOf(value)))
  const places = new Set(numbers.map(({ text }) => besideOf(text)))
  const isSure = (card: CardFound) =>
    sure.includes(card) ||
    (card.kind === 'card_number' ? digits.has(digitsOf(card.value)) : places.has(besideOf(card.text)))
  return cards.flatMap((card) => {
    if (!isSure(card)) return []
    const { kind, text } = card
    const at = placeOf(text)
    if (allowed !== undefined && at.startsWith(allowed)) return []
    if (at.includes('/credential/') && isExpected(at) && isTokenised(text, companyOf)) return []
    return [
      reason('CARD_DATA', at, {
        message:
          kind === 'card_number'
            ? 'A card number stands where no protocol expects it.'
            : 'The verification code of a card stands where no protocol expects it.',
      }),
    ]
  })
}

const digitsOf = (written: string): string => written.replaceAll(/\D/g, '')

/**
 * Inside the credential of an instrument: tokens are written like the card they stand for. The card's own number UCP forbids in a
 * checkout.
 */
const isTokenised = (text: Text, companyOf: CompanyOf): boolean =>
  text.name === 'token' || companyOf(text).saysToken

/** Whether somebody says that it is a card: its own text, its name, what holds it, or what stands beside it. */
function isCard({ kind, text, value, says }: CardFound, companyOf: CompanyOf): boolean {
  const name = snake(text.name)
  if (kind === 'card_verification_code') return /cvc|cvv|card/.test(name)
  const company = companyOf(text)
  if (company.saysCode) return true
  const isOther = OTHER_NAME.test(name)
  if (!isOther && CARD_NAME.test(name)) return true
  if (says !== undefined) return says === 'card'
  if (isOther) return false
  // Cards are written in groups; ids are not.
  if (/\D/.test(value)) return true
  if (ID_NAME.test(name)) return false
  if (HOLDERS.some((holder) => standsUnder(text, holder))) return true
  return NUMBER_NAME.test(name) && company.saysCard
}

const snake = (name: string): string => name.replaceAll(/([a-z\d])([A-Z])/g, '$1_$2').toLowerCase()

/** Cards that nobody pays with, and what else shops and carriers number. */
const OTHER_NAME =
  /gift|loyal|member|club|bonus|reward|librar|(?:^|_)(?:sim|score|post|business|graphics|greeting|memory|sd|id|punch)_?cards?|order|invoice|purchase|track|parcel|ship|customer|client|sku|gtin|ean|upc|isbn|imei|serial|phone|tel(?:ephone)?$|mobile|fax|vat|tax|siret|iban|receipt|ticket|booking|reserv|confirm|voucher|coupon|batch|lot$|bestell|rechnung|commande|factur|pedido/
/** Names of the id of a card, a payment or anything else, which is not its number. */
const ID_NAME =
  /(?:^|_)(?:ids?|uuid|ref|reference|trace|rrn|arn|key|nonce|hash|checksum|session|request)(?:_(?:no|number|nr))?$/
const CARD_NAME =
  /(?:^|_)(?:cards?|pan|credit_?card|debit_?card|card_?(?:no|num|number|pan|nr)|ccnum|cc_?(?:no|num|number)?|primary_account_number|kartennummer|kreditkarte)(?:_(?:no|num|number|nr|pan|digits|data|value|details|info))?$/
/** Names of a card's number where it does not say so itself. */
const NUMBER_NAME = /^$|^(?:account_?)?(?:num|number|no|nr)$|^(?:account|acct|value|digits|data|code)$/

/** Objects whose numbers are those of cards, unless they say something else. */
const HOLDERS = [
  /^(?:credit_?|debit_?)?card(?:_?(?:details|data|info))?$/i,
  /^credential$|^(?:payment_?)?instrument$|^payment_?method(?:_?(?:data|details))?$/i,
]

/** The members of one object may say what a number among them is. */
interface Company {
  /** It only stands for a card. */
  readonly saysToken: boolean
  /** The code that only a card has. */
  readonly saysCode: boolean
  readonly saysCard: boolean
}

type CompanyOf = (text: Text) => Company

/** Read once for each object, which may have as many numbers as members. What stands alone is beside all of its part of the message. */
function readCompanies(texts: readonly Text[]): CompanyOf {
  const known = new Map<Container | Where, Company>()
  return (text) => {
    const beside = besideOf(text)
    const company = known.get(beside) ?? readCompany(text, texts)
    known.set(beside, company)
    return company
  }
}

/** What holds a text, or all of its part of the message. */
const besideOf = (text: Text): Container | Where => holderOf(text) ?? text.source.where

function readCompany(text: Text, texts: readonly Text[]): Company {
  const beside = listBeside(text, texts).filter(({ source }) => source.where === text.source.where)
  const has = (test: (name: string, value: string) => boolean) =>
    beside.some(({ name, value }) => test(name, value))
  return {
    saysToken: has(
      (name, value) =>
        (name === 'type' || name === 'card_number_type') && (value === 'network_token' || value === 'dpan'),
    ),
    saysCode: has((name, value) => CODE.test(name) && /^\d{3,4}$/.test(value)),
    saysCard: has(
      (name, value) =>
        EXPIRY.test(name) ||
        /^security_?code$/i.test(name) ||
        /^card_?(?:holder|type|brand|name|scheme)/i.test(name) ||
        (/^(?:type|brand|scheme|network|kind|method)$/i.test(name) && BRAND.test(value)),
    ),
  }
}

const CODE = /^(?:cv[cv]2?|csc|card_?(?:cvc|cvv|code|verification_?(?:code|value)))$/i
/** A day on which a voucher ends is written otherwise. */
const EXPIRY = /^(?:card_?)?exp(?:iry|iration)?_?(?:month|year|mm|yy|date)?$/i
const BRAND =
  /^(?:(?:credit|debit)?[ _-]?card|pan|fpan|visa|master ?card|amex|american[ _-]?express|discover|diners(?:[ _-]club)?|jcb|union ?pay|maestro|cartes?[ _-]bancaires?|credit|debit)$/i

function standsUnder(text: Text, name: RegExp): boolean {
  for (let at = holderOf(text); at !== undefined; at = at.up)
    if (typeof at.key === 'string' && name.test(at.key.slice(-64))) return true
  return false
}
