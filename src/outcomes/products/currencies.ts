// Currencies: which codes exist (ISO 4217), how many decimals their minor unit has, and which signs mean exactly one of
// them. A sign that several currencies share is no currency by itself.

const CODES = new Set(
  (
    'AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF ' +
    'CLF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL ' +
    'HRK HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD ' +
    'MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR ' +
    'RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS ' +
    'UAH UGX USD UYU UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG'
  ).split(' '),
)

const EXPONENTS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    BIF: 0,
    CLP: 0,
    DJF: 0,
    GNF: 0,
    ISK: 0,
    JPY: 0,
    KMF: 0,
    KRW: 0,
    PYG: 0,
    RWF: 0,
    UGX: 0,
    VND: 0,
    VUV: 0,
    XAF: 0,
    XOF: 0,
    XPF: 0,
    BHD: 3,
    IQD: 3,
    JOD: 3,
    KWD: 3,
    LYD: 3,
    OMR: 3,
    TND: 3,
    CLF: 4,
  }),
)

/** Decimals of the minor unit. */
export const exponentOf = (currency: string): number => EXPONENTS.get(currency) ?? 2

/** The signs that shops write instead of the code. Longer spellings first, since `R$` ends in `$`. */
const SIGNS: readonly (readonly [sign: string, code: string])[] = [
  ['US$', 'USD'],
  ['NT$', 'TWD'],
  ['HK$', 'HKD'],
  ['AU$', 'AUD'],
  ['CA$', 'CAD'],
  ['NZ$', 'NZD'],
  ['MX$', 'MXN'],
  ['R$', 'BRL'],
  ['A$', 'AUD'],
  ['C$', 'CAD'],
  ['S$', 'SGD'],
  ['د.إ', 'AED'],
  ['ر.س', 'SAR'],
  ['ر.ق', 'QAR'],
  ['ر.ع', 'OMR'],
  ['د.ك', 'KWD'],
  ['د.ب', 'BHD'],
  ['د.أ', 'JOD'],
  ['د.ا', 'JOD'],
  ['د.ت', 'TND'],
  ['د.ع', 'IQD'],
  ['د.م', 'MAD'],
  ['د.ج', 'DZD'],
  ['ل.د', 'LYD'],
  ['ج.م', 'EGP'],
  ['ريال سعودي', 'SAR'],
  ['ريال قطري', 'QAR'],
  ['ريال عماني', 'OMR'],
  ['درهم إماراتي', 'AED'],
  ['جنيه مصري', 'EGP'],
  ['دينار كويتي', 'KWD'],
  ['دينار بحريني', 'BHD'],
  ['دينار أردني', 'JOD'],
  ['руб', 'RUB'],
  ['грн', 'UAH'],
  ['тенге', 'KZT'],
  ['тг', 'KZT'],
  ['лв', 'BGN'],
  ['Kč', 'CZK'],
  ['kč', 'CZK'],
  ['zł', 'PLN'],
  ['ZŁ', 'PLN'],
  ['RM', 'MYR'],
  ['TL', 'TRY'],
  ['kn', 'HRK'],
  ['Kn', 'HRK'],
  ['Ft', 'HUF'],
  ['Rp', 'IDR'],
  ['€', 'EUR'],
  ['£', 'GBP'],
  ['₹', 'INR'],
  ['₽', 'RUB'],
  ['₴', 'UAH'],
  ['₺', 'TRY'],
  ['₪', 'ILS'],
  ['₩', 'KRW'],
  ['₫', 'VND'],
  ['฿', 'THB'],
  ['₱', 'PHP'],
  ['₦', 'NGN'],
  ['₸', 'KZT'],
  ['₡', 'CRC'],
  ['₲', 'PYG'],
  ['₾', 'GEL'],
  ['₼', 'AZN'],
  ['₵', 'GHS'],
  ['৳', 'BDT'],
  ['៛', 'KHR'],
  ['₮', 'MNT'],
  ['₭', 'LAK'],
  ['﷼', 'SAR'],
  ['円', 'JPY'],
  ['원', 'KRW'],
]

/** Keys come from pages: no inherited names. */
const bare = (record: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.assign(Object.create(null) as Record<string, string>, record)

/** Signs of several currencies: a sign and the region of the page together mean one. */
const SHARED_SIGNS: readonly (readonly [sign: RegExp, byRegion: Readonly<Record<string, string>>])[] = [
  [
    /\$/,
    bare({
      US: 'USD',
      CA: 'CAD',
      AU: 'AUD',
      NZ: 'NZD',
      SG: 'SGD',
      HK: 'HKD',
      TW: 'TWD',
      MX: 'MXN',
      AR: 'ARS',
      CL: 'CLP',
      CO: 'COP',
      UY: 'UYU',
      DO: 'DOP',
    }),
  ],
  [
    /\bkr\b/i,
    bare({
      SE: 'SEK',
      NO: 'NOK',
      DK: 'DKK',
      IS: 'ISK',
    }),
  ],
  [/[¥￥元]/, bare({ JP: 'JPY', CN: 'CNY', TW: 'TWD' })],
  [/\blei\b/i, bare({ RO: 'RON', MD: 'MDL' })],
  [
    /\bRs\b|\u20a8/i,
    bare({
      IN: 'INR',
      PK: 'PKR',
      LK: 'LKR',
      NP: 'NPR',
      MU: 'MUR',
    }),
  ],
  [
    /ريال/,
    bare({
      SA: 'SAR',
      QA: 'QAR',
      OM: 'OMR',
      YE: 'YER',
    }),
  ],
  [
    /دينار/,
    bare({
      KW: 'KWD',
      BH: 'BHD',
      JO: 'JOD',
      TN: 'TND',
      IQ: 'IQD',
      LY: 'LYD',
      DZ: 'DZD',
    }),
  ],
  [/درهم/, bare({ AE: 'AED', MA: 'MAD' })],
  [/جنيه/, bare({ EG: 'EGP', SD: 'SDG' })],
]

/** The one currency that a text names, by code or by a sign that nobody shares. */
export function readCurrency(text: string): string | null {
  for (const [code] of text.matchAll(/(?<![A-Za-z])[A-Za-z]{3}(?![A-Za-z])/g)) {
    const upper = code.toUpperCase()
    // `Top` and `all` are words; a code in running text is in capitals.
    if (CODES.has(upper) && (code === upper || text.trim() === code)) return upper
  }
  for (const [sign, code] of SIGNS) {
    const at = text.indexOf(sign)
    if (at < 0) continue
    // `Ft` and `RM` are currencies only where they are no part of a word.
    if (/^\p{L}/u.test(sign) && /\p{L}/u.test(text[at - 1] ?? '')) continue
    if (/\p{L}$/u.test(sign) && /\p{L}/u.test(text[at + sign.length] ?? '') && /^[A-Za-z]/.test(sign))
      continue
    return code
  }
  return null
}

/** The meaning of a shared sign on a page of that region; null where that does not settle it. */
export function inferCurrency(text: string, region: string | null): string | null {
  if (region === null) return null
  for (const [sign, byRegion] of SHARED_SIGNS) if (sign.test(text)) return byRegion[region] ?? null
  return null
}

/** Whether a text names a currency, be it one that shares its sign with others. */
export const namesCurrency = (text: string): boolean =>
  readCurrency(text) !== null || SHARED_SIGNS.some(([sign]) => sign.test(text))
