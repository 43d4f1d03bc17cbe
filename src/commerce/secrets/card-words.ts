// Words around a number that say whether it is that of a card: the nearest before it counts, then those behind it.

const AROUND_CHARS = 40

/** Words of a card, and of paying with one, unless they are part of a name (`gift-cards.example`). */
const CARD_WORDS =
  /(?<![a-z]|[a-z][-.])(?:(?:credit|debit|bank|payment)[ -]?cards?|cards?|cv[cv]2?|visa|master ?card|amex|american express|maestro|discover|pan|cc|(?:credit|debit)(?![ -]?(?:note|memo|advice|limit|line|invoice))|(?:kredit|bank|ec-?|giro)?karte(?:nnummer)?|carte(?! cadeau)|tarjeta|carta di credito|cart[aã]o|(?:krediet|bank)kaart|(?:kredit|betal)kort|pay(?:ing)? (?:with|by|using)|charge(?: it)?(?: to)?)(?![a-z]|[-.][a-z])|карт[аеуоы]|カード|信用卡|银行卡|카드|بطاقة/gi

/** Words of what else is numbered. */
const OTHER_WORDS =
  /(?<![a-z])(?:orders?|invoices?|receipts?|track(?:ing|ed)?|parcels?|shipments?|packages?|consignment|deliver(?:y|ies)|waybill|awb|serial|imei|s\/n|sku|ean|gtin|upc|isbn|customer|client|member(?:ship)?|loyalty|gift[ -]?cards?|id|ids|ref|reference|booking|reservation|confirmation|ticket|batch|lot|case|quote|contract|policy|account|iban|phone|tel|call|vat|tax|siret|voucher|coupon|purchase|po|transaction|txn|bestell(?:ung|nummer|nr)?|auftrag(?:s(?:nummer|nr))?|rechnung(?:s(?:nummer|nr))?|sendung(?:s(?:nummer|nr|verfolgung))?|kunden(?:nummer|nr)|lieferung|commande|facture|colis|suivi|pedido|factura|env[ií]o|seguimiento|ordine|fattura|spedizione|encomenda|bestelling|factuur|pakket|ordre|faktura|zam[oó]wieni[ea]|sipari[sş])(?![a-z])|заказ|накладн|注文|订单|訂單|주문|طلب/gi

/** How the end of a card and its code are written. */
const CARD_BEHIND =
  /^[\s,;:/|-]{0,4}(?:exp(?:iry|ires|\.)?|valid (?:thru|until)|good thru|cv[cv]2?|(?:0[1-9]|1[0-2]) ?[/-] ?(?:20)?[2-4]\d\b)/i

export type Label = 'card' | 'other'

/**
 * What a text says of the number between two indices; undefined where it says nothing. The words next before it count, then those
 * behind it.
 */
export function labelAt(text: string, start: number, end: number): Label | undefined {
  const before = text.slice(Math.max(0, start - AROUND_CHARS), start)
  const behind = text.slice(end, end + AROUND_CHARS)
  if (CARD_BEHIND.test(behind)) return 'card'
  // Longer rows of groups are numbers of parcels.
  if (/\d[^\da-z]$/i.test(before) || /^[^\da-z]\d{4}/i.test(behind)) return 'other'
  const card = endOfLast(CARD_WORDS, before)
  const other = endOfLast(OTHER_WORDS, before)
  if (card >= 0 || other >= 0) return card > other ? 'card' : 'other'
  // A number sign stands for any other.
  if (/#\s?$/.test(before)) return 'other'
  return behind.search(CARD_WORDS) >= 0 ? 'card' : undefined
}

function endOfLast(words: RegExp, text: string): number {
  let end = -1
  for (const { index, 0: word } of text.matchAll(words)) end = index + word.length
  return end
}
