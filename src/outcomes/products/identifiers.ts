// Reads what names a product: validated where there is something to validate, so that a typing error never groups two
// products.
import { toAsciiDigits } from './money.ts'

export type IdentifierKind = 'gtin' | 'mpn' | 'sku' | 'isbn' | 'asin' | 'product_id'

export interface Identifier {
  kind: IdentifierKind
  /** The identifier as stated. */
  value: string
  /** GTIN-14, or folded; null when it is not valid. */
  normalised: string | null
  valid: boolean
  reason: string | null
}

const PREFIX = /^(?:urn:)?(?:gtin|ean|upc|isbn|jan)(?:[-_ ]?\d{1,2})?(?:\s*[:#]\s*|\s+)/i
const DIGITAL_LINK = /^https?:\/\/[^/]+\/(?:01|gtin)\/(\d{8,14})(?:[/?#]|$)/i

/**
 * GTIN-8, -12, -13, -14 or ISBN as GTIN-14.
 * @param options.isNumber it was a JSON number, which has no leading zeros
 */
export function readGtin(value: string, options: { isNumber?: boolean } = {}): Identifier {
  const kind = 'gtin' as const
  const bare = toAsciiDigits(value).trim().replace(PREFIX, '')
  const text = (DIGITAL_LINK.exec(bare)?.[1] ?? bare).replace(/[\s-]/g, '')
  const refuse = (reason: string): Identifier => ({ kind, value, normalised: null, valid: false, reason })
  if (/^\d{9}[\dX]$/i.test(text)) return readIsbn10(value, text) ?? refuse('length')
  if (!/^\d+$/.test(text)) return refuse('not_digits')
  if (/^0+$/.test(text)) return refuse('placeholder')
  // A number lost its zeros: 9 digits can only have been 12 of them, or 13.
  const digits = options.isNumber && text.length > 8 && text.length < 12 ? text.padStart(12, '0') : text
  if (![8, 12, 13, 14].includes(digits.length)) return refuse('length')
  if (!hasCheckDigit(digits)) return refuse('check_digit')
  const normalised = digits.padStart(14, '0')
  const reason = restrictionOf(digits)
  return { kind, value, normalised, valid: true, reason }
}

/** A GTIN of the book trade; any other number is not valid as an ISBN. */
export function readIsbn(value: string): Identifier {
  const gtin = readGtin(value)
  if (gtin.valid && !/^0?97[89]/.test(gtin.normalised ?? ''))
    return { ...gtin, kind: 'isbn', normalised: null, valid: false, reason: 'not_an_isbn' }
  return { ...gtin, kind: 'isbn' }
}

function readIsbn10(value: string, text: string): Identifier | undefined {
  const sum = [...text.toUpperCase()].reduce(
    (total, char, at) => total + (char === 'X' ? 10 : Number(char)) * (10 - at),
    0,
  )
  if (sum % 11 !== 0) return undefined
  const body = `978${text.slice(0, 9)}`
  return {
    kind: 'isbn',
    value,
    normalised: `0${body}${checkDigit(body)}`,
    valid: true,
    reason: null,
  }
}

/** Weights 3 and 1 from the right (GS1 General Specifications, 7.9). */
function checkDigit(body: string): number {
  let sum = 0
  for (let at = 0; at < body.length; at++) sum += Number(body[body.length - 1 - at]) * (at % 2 === 0 ? 3 : 1)
  return (10 - (sum % 10)) % 10
}

const hasCheckDigit = (digits: string) => checkDigit(digits.slice(0, -1)) === Number(digits.at(-1))

/** Numbers that a company gives out for itself: valid, and another product in the next shop (GS1 prefixes). */
function restrictionOf(digits: string): 'restricted' | null {
  if (digits.length === 8) return /^[02]/.test(digits) ? 'restricted' : null
  const gtin13 = digits.padStart(14, '0').slice(1)
  // 02, 04, 20 to 29: circulation inside a company; 05, 98, 99: coupons; indicator 9: variable measure.
  return /^(?:02|04|05|2|98|99)/.test(gtin13) || (digits.length === 14 && digits.startsWith('9'))
    ? 'restricted'
    : null
}

const PLACEHOLDERS = new Set(
  (
    'na|none|null|nil|undefined|unknown|default|unbranded|generic|nobrand|notapplicable|doesnotapply|notavailable|' +
    'nichtzutreffend|keineangabe|nonapplicabile|nesappliquepas|sansmarque|senzamarca|noaplica|nvt|tbd|xxx|test|sku|mpn'
  ).split('|'),
)

/** The number without case, spaces and dashes: how two shops spell the same part number. */
export const foldIdentifier = (value: string): string =>
  toAsciiDigits(value)
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s\-_‐-―]+/g, '')

/** An identifier without a check digit, as it is compared. */
export function readPlain(kind: 'mpn' | 'sku' | 'asin' | 'product_id', value: string): Identifier {
  const folded = foldIdentifier(value)
  const refuse = (reason: string): Identifier => ({ kind, value, normalised: null, valid: false, reason })
  if (!/[\p{L}1-9]/u.test(folded)) return refuse('placeholder')
  if (PLACEHOLDERS.has(folded.replace(/[^\p{L}\d]/gu, ''))) return refuse('placeholder')
  if (kind === 'asin' && !/^b0[\da-z]{8}$|^\d{9}[\dx]$/.test(folded)) return refuse('not_an_asin')
  return { kind, value, normalised: folded, valid: true, reason: null }
}

/** `productID: "isbn:978…"`, `mpn:925872`: the value says what it is. */
export function readLabelled(value: string): Identifier {
  const [, label = '', rest = ''] = /^\s*([A-Za-z]{3,6})\d{0,2}\s*[:=]\s*(\S.*)$/.exec(value) ?? []
  switch (label.toLowerCase()) {
    case 'gtin':
    case 'ean':
    case 'upc':
    case 'jan':
      return readGtin(rest)
    case 'isbn':
      return readIsbn(rest)
    case 'mpn':
      return readPlain('mpn', rest)
    case 'sku':
      return readPlain('sku', rest)
    case 'asin':
      return readPlain('asin', rest)
    default:
      return readPlain('product_id', value)
  }
}
