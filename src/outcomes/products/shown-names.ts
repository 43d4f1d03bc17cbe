// What shops call the parts of their pages, as far as it says which number is the price: by the words in classes, ids and the
// attributes of tests. A name is a hint of a stranger: it picks among prices that are shown, and is never one itself.
import { attribute, type Element } from '../extract/tree.ts'

export interface PartNames {
  /** Something in it is called a price. */
  readonly isPrice: boolean
  /** Another part of the page: other products, reviews, what is not shown. */
  readonly isOtherPart: boolean
  /** Where it is a price, it is another one: struck, of a kilogram, of the shipping, an instalment. */
  readonly isOtherPrice: boolean
  /** The price of today beside an older one. */
  readonly isCurrent: boolean
  /** The price where no other is asked. */
  readonly isRegular: boolean
  /** Without the tax that a buyer pays. */
  readonly isNet: boolean
  /** The digits behind the decimal sign. */
  readonly isCents: boolean
  /** It puts the product into a cart. */
  readonly isBuying: boolean
}

const words = (list: string) => new Set(list.trim().split(/\s+/))

const PRICE_PART =
  /price|preis(?!e?leistung)|^prix|prix$|precio|prezzo|^preco$|^pris(?:er|et)?$|^ceny?$|^cena|hinta|fiyat|harga|kaina|cijena|tsena|prijs|kakaku|nedan/

/** With a price they make it one that nobody is asked for this thing, once. */
const OTHER_PRICE = words(`
  old was before list original crossed cross strike striked strikethrough struck stroke through linethrough rrp uvp msrp srp compare
  compared compareat recommended previous past undiscounted save saved saves saving savings off percent percentage reduction rebate
  streich statt alt alter ancien ancienne barre barree antes anterior viejo tachado vecchio listino barrato stara stary puvodni
  eski gammal gammalt ord ordinarie tidigare forpris oude van
  unit base basic grund grundpreis per measure kilo kg litre liter sqm einheit unitario
  tier tiers bulk volume staffel wholesale b2b dealer member members club prime loyalty subscribe subscription abo
  auction bid shipping delivery freight versand lieferung livraison envio frete spedizione kargo dostawa doprava frakt
  total subtotal installment installments instalment instalments finance financing klarna afterpay clearpay paypal affirm
  raten ratenzahlung leasing monthly mensual mensuel mensile taksit credit loan emi warranty garantie protection insurance addon addons gift coupon voucher points cashback deposit pfand
  alert history match filter guarantee range from min max lowest highest low high
`)
/** Parts of a page that are about other things, or that are not shown. */
const OTHER_PART = words(`
  related relatedproducts recommend recommendation recommendations recommender similar upsell upsells crosssell crosssells recently
  recent bundle bundles accessory accessories minicart cartdrawer review reviews comment comments question questions faq modal popup
  tooltip wishlist newsletter facet facets breadcrumb breadcrumbs suggestions suggested alternatives alternative bestseller
  bestsellers shipping delivery versand livraison financing installments instalments warranty insurance
  carousel swiper slick owl splide flickity skeleton displaynone
`)
const OTHER_PAIRS = words(
  'd-none mini-cart cart-drawer cross-sell cross-selling up-sell also-bought also-like you-may customers-also cart-total is-hidden frequently-bought side-cart header-cart',
)
/** The price before tax: shops of some countries show no other. */
const NET = words('withouttax notax novat exvat extax exctax excltax exclvat netto bezdph')
const NET_PAIRS = words(
  'ex-vat ex-tax no-vat no-tax excl-vat excl-tax without-tax without-vat excluding-tax excluding-vat bez-dph',
)
/** Names as a whole: `mobile-hide` hides nothing from most. */
const HIDING = words('hidden hide d-none is-hidden invisible js-hidden u-hidden visually-none')
const CURRENT = words(`
  sale sales special final current now new actual our offer deal promo promotion reduced selling sell discounted aktuell aktueller neu
  actuel actuelle nuevo actualidad nuovo nova nowa akcni akce indirimli yeni rea kampanj today pay oferta soldes action
`)
const REGULAR = words('regular normal standard full retail default ordinary')
const CENTS = words(
  'cent cents decimal decimals dec fraction fractional centimes centimos centesimi kurus sup superscript penny pence ore after',
)
const BUYING =
  /add[-_ ]?(?:item[-_ ]?)?to[-_ ]?(?:cart|basket|bag|trolley)|addto(?:cart|basket|bag)|buy[-_ ]?(?:now|box|it|button|btn)|btn[-_ ]?(?:add[-_ ]?)?(?:cart|buy)|cart[-_ ]?(?:add|button|btn|form)|add[-_]?cart|(?:^|[\s_-])(?:buybox|purchase[-_ ]?(?:button|form|box)|kaufen|warenkorb|in-?den-?warenkorb|ajout[-_ ]?(?:au[-_ ]?)?panier|carrello|carrito|sepete?[-_ ]?ekle|do[-_ ]?koszyka|do[-_ ]?kosik[au]|koupit|kup)(?:$|[\s_-])/i

const NOTHING: PartNames = {
  isPrice: false,
  isOtherPart: false,
  isOtherPrice: false,
  isCurrent: false,
  isRegular: false,
  isNet: false,
  isCents: false,
  isBuying: false,
}
const MAX_NAME_CHARACTERS = 300
const MAX_KNOWN = 2000
const ATTRIBUTES = ['class', 'id', 'itemprop', 'data-testid', 'data-test', 'data-qa', 'data-hook'] as const

/** Reads the names of elements; pages use the same few over and over. */
export function createNameReader(): (element: Element) => PartNames {
  const known = new Map<string, PartNames>()
  return ({ attributes }) => {
    let names = ''
    for (const name of ATTRIBUTES) {
      const value = attribute(attributes, name)
      if (value) names += ` ${value}`
    }
    if (names === '') return NOTHING
    const before = known.get(names)
    if (before) return before
    const read = readNames(names.slice(0, MAX_NAME_CHARACTERS))
    if (known.size < MAX_KNOWN) known.set(names, read)
    return read
  }
}

function readNames(names: string): PartNames {
  let isPrice = false
  const parts: string[] = []
  const pairs: string[] = []
  for (const name of names.split(/\s+/)) {
    let before = ''
    for (const part of name
      .replace(/([a-z])([A-Z])/g, '$1-$2')
      .toLowerCase()
      .split(/[^\p{L}\d]+/u)) {
      if (part === '') continue
      if (PRICE_PART.test(part)) {
        isPrice = true
        // `priceold` and `oldprice` are two words.
        for (const rest of part.split(/prices?|preise?|prix|precio|prezzo|fiyat|cena|prijs|hinta/))
          if (rest !== '') parts.push(rest)
      } else parts.push(part)
      pairs.push(`${before}-${part}`)
      before = part
    }
  }
  const has = (single: ReadonlySet<string>, double: ReadonlySet<string>) =>
    parts.some((part) => single.has(part)) || pairs.some((pair) => double.has(pair))
  return {
    isPrice,
    isOtherPart: has(OTHER_PART, OTHER_PAIRS) || names.split(/\s+/).some((name) => HIDING.has(name)),
    isOtherPrice: parts.some((part) => OTHER_PRICE.has(part)),
    isNet: has(NET, NET_PAIRS),
    isCurrent: parts.some((part) => CURRENT.has(part)),
    isRegular: parts.some((part) => REGULAR.has(part)),
    isCents: parts.some((part) => CENTS.has(part)),
    isBuying: BUYING.test(names),
  }
}
