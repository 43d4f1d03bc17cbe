// Whether a short text that a page shows is a price and nothing else: one number, a currency beside it, and words that do not make it
// something else. Everything that could be another kind of price is none.
import { inferCurrency, namesCurrency, readCurrency } from './currencies.ts'
import { isZero, readAmount, toAsciiDigits, toMoney } from './money.ts'
import { readShownTerms } from './price-kind.ts'
import type { Money } from '../../../schemas/product-offers.ts'

export interface ShownMoney {
  readonly money: Money
  readonly issues: readonly string[]
}

const MAX_CHARACTERS = 120
const MAX_WORDS = 12
const NUMBERS = /\d(?:[\d.,'’´٫٬]|\s{1,2}(?=[\d.,٫]))*/g
const PERCENT = /[%٪]\s?\d[\d.,]*|\d[\d.,]*\s?[%٪]/g

/** Before the number: what is not asked for the one thing, or not for certain. */
const OTHER_BEFORE =
  /(?<!\p{L})(?:up to|over|save|saving|was|were|list|rrp|msrp|uvp|srp|compare|before|instead|shipping|delivery|deposit|tax|vat|points?|statt|vorher|bisher|bis zu|sie sparen|spare[nr]?|ersparnis|versand\p{L}*|liefer\p{L}*|pfand|grundpreis|au lieu|économi\p{L}*|livraison|antes|ahorra\p{L}*|envío|da|anziché|invece|risparmi\p{L}*|spedizion\p{L}*|zamiast|oszczęd\p{L}*|dostaw\p{L}*|ord|tidigare|spara|frakt|van|bespaar|eski|kargo|было|скидка|доставк\p{L}*|de|economize|frete|بدلا|بدلاً|وفر|توفير|شحن)(?!\p{L})|送料|通常|参考|定価|割引|原价|运费/iu
/** Behind it: what was taken off, or what is still to be added. */
const OTHER_AFTER =
  /(?<!\p{L})(?:off|saved?|discount|less|rabatt|gespart|sparen|ersparnis|de réduction|d'économie|descuento|sconto|taniej|rabat|indirim|excl\p{L}*|ex\.? ?(?:vat|tax|btw|gst)|\+ ?(?:vat|tax|gst)|plus (?:vat|tax|mwst)|zzgl\.? (?:der )?(?:gesetzlicher? )?(?:mwst|ust)|exkl\p{L}*|netto|ht|hors tax\p{L}*|iva no|más iva|\+ ?iva|esclusa|bez dph|ohne mwst|each of|points?|deposit)(?!\p{L})|税抜|税別|خصم/iu

/** It says where the prices begin. */
const FROM_BEFORE =
  /(?<!\p{L})(?:from|starting|as low as|ab|à partir|dès|desde|a partire|od|från|fra|vanaf|başlayan|от|a partir|alkaen|ابتداء|من)(?!\p{L})/iu
const FROM_BEHIND =
  /^\s?\P{N}{0,4}?[+~～〜]|(?<!\p{L})(?:and up|y más|et plus|and more)(?!\p{L})|から|以上|부터/iu

/** @param page what is known of its currency and its country */
export function readShownPrice(
  text: string,
  page: { readonly currency: string | null; readonly region: string | null },
): ShownMoney | 'from' | undefined {
  if (text.length > MAX_CHARACTERS || !/\p{Nd}/u.test(text)) return undefined
  const plain = toAsciiDigits(text).replace(/\s+/g, ' ').trim()
  const bare = plain.replace(PERCENT, ' ')
  const numbers = [...bare.matchAll(NUMBERS)]
  const [number] = numbers
  if (!number || numbers.length > 1 || !namesCurrency(bare)) return undefined
  const before = bare.slice(0, number.index)
  const after = bare.slice(number.index + number[0].length)
  if ((bare.match(/\p{L}+/gu)?.length ?? 0) > MAX_WORDS) return undefined
  if (OTHER_BEFORE.test(before) || OTHER_AFTER.test(after) || readShownTerms(bare)) return undefined
  if (FROM_BEFORE.test(before) || FROM_BEHIND.test(after)) return 'from'
  // A sign before it, or behind it a dash without cents that goes on to another number.
  if (/[-−–+]\s*(?:\p{Sc}|[A-Z]{3})?\s*$/u.test(before)) return undefined
  const written = readCurrency(bare)
  const currency = written ?? page.currency ?? inferCurrency(bare, page.region)
  const read = readAmount(bare, { isData: false, currency })
  if (read?.isAmbiguous) return 'from'
  if (!read || read.isRange || isZero(read.amount)) return undefined
  const issues: string[] = []
  if (currency === null) issues.push('currency_missing')
  else if (written === null && page.currency === null) issues.push('currency_inferred')
  else if (written !== null && page.currency !== null && written !== page.currency)
    issues.push('currency_contradicted')
  return { money: toMoney(read.amount, currency, plain.slice(0, 60)), issues }
}
