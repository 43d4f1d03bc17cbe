import { z } from 'zod'
import { Coverage } from './sources.ts'

/** The markup that stated a value; JSON-LD comes first, the others are labelled because they are read less surely. */
export const PRODUCT_SOURCES = ['json-ld', 'microdata', 'rdfa', 'opengraph', 'text'] as const
const StatedIn = z
  .enum(PRODUCT_SOURCES)
  .describe('`text`: nothing stated it for machines, it was read from what the page shows; trust it less')

const Decimal = z.string().regex(/^\d+(\.\d+)?$/)

const Money = z.strictObject({
  amount: Decimal.describe('Exact decimal as stated, never rounded'),
  currency: z.string().nullable().describe('ISO 4217; null when the page does not say'),
  minor_units: z
    .string()
    .nullable()
    .describe('Whole minor units (cents, fils) where amount and currency allow it'),
  raw: z.string().describe('As it stood in the page'),
})
export type Money = z.infer<typeof Money>

const Shipping = z.strictObject({
  amount: Money.nullable(),
  destination: z.string().nullable(),
  free: z.boolean().nullable(),
})

const Identifier = z.strictObject({
  kind: z.enum(['gtin', 'mpn', 'sku', 'isbn', 'asin', 'product_id']),
  value: z.string().describe('As stated'),
  normalised: z.string().nullable().describe('GTIN-14, or folded; null when it is not valid'),
  valid: z.boolean(),
  reason: z
    .string()
    .nullable()
    .describe('Why it is not valid, such as `check_digit`; `restricted`: valid inside one company only'),
})

const OtherPrice = z.strictObject({
  kind: z
    .enum(['unit', 'bulk', 'subscription', 'instalment', 'member', 'rental', 'fee'])
    .describe('`unit`: for a measure such as a kilogram; `bulk`: from several pieces on'),
  price: Money,
  per: z
    .string()
    .nullable()
    .describe('What it buys, as stated: `1 KGM`, `P1M`; of `bulk` the least number of pieces'),
})
export type OtherPrice = z.infer<typeof OtherPrice>

const Offer = z.strictObject({
  name: z.string().nullable().describe('Of this offer, where it has one of its own, such as a size'),
  price: Money.nullable().describe('Paid once, for one piece; every other price stands in `other_prices`'),
  other_prices: z.array(OtherPrice).describe('Not what one piece costs; never ranked'),
  list_price: Money.nullable().describe('A struck-through or recommended price, when stated'),
  low_price: Money.nullable().describe('Of an aggregate'),
  high_price: Money.nullable(),
  offer_count: z.int().nullable(),
  availability: z.string().nullable().describe('schema.org value without its address, such as `InStock`'),
  condition: z.string().nullable().describe('Such as `NewCondition`'),
  seller: z.string().nullable(),
  url: z.string().nullable(),
  valid_until: z.string().nullable(),
  shipping: z.array(Shipping),
  identifiers: z.array(Identifier).describe('Of this very offer, where they differ from the product'),
  stated_in: StatedIn,
  issues: z
    .array(z.string())
    .describe(
      'Such as `offer_without_price`, `currency_missing`, `currency_inferred`, `aggregate_only`, `ambiguous_decimal`, `price_range`, ' +
        '`tax_excluded`, `price_from_text`, or `only_subscription_price` and the like where `other_prices` is all there is',
    ),
})
export type Offer = z.infer<typeof Offer>

const Product = z.strictObject({
  id: z.string().describe('`p1`, `p2`, …'),
  source: z.int().min(0).describe('Index in `coverage.sources`'),
  url: z.string().describe('Of the product as it is stated, else of the page'),
  stated_in: StatedIn,
  also_stated_in: z.array(StatedIn).describe('What filled gaps of it'),
  main: z.boolean().describe('The product that the page is about'),
  name: z.string().nullable(),
  brand: z.string().nullable(),
  description: z.string().nullable(),
  image: z.string().nullable(),
  variant_of: z.string().nullable().describe('Name or id of the product group'),
  attributes: z.record(z.string(), z.string()).describe('Such as color, size, material'),
  identifiers: z.array(Identifier),
  offers: z.array(Offer),
  main_offer: z
    .int()
    .nullable()
    .describe(
      'Index in `offers` of the one that speaks for the product: the first in stock with a price, new before used, else the first with one',
    ),
  issues: z.array(z.string()).describe('Such as `identifier_missing`, `gtin_invalid`, `no_offer`'),
})
export type Product = z.infer<typeof Product>

const ComparableGroup = z.strictObject({
  key: z.string().describe('`gtin:…`, `brand+mpn:…` or, within one shop, `sku:…`: the identifier they share'),
  currency: z.string(),
  entries: z
    .array(
      z.strictObject({
        product: z.string(),
        offer: z.int().min(0).describe('Index in `offers` of the product'),
        price: Money,
        availability: z.string().nullable(),
        condition: z.string().nullable(),
        flags: z
          .array(
            z.enum([
              'not_new',
              'condition_unknown',
              'out_of_stock',
              'not_in_stock_yet',
              'in_store_only',
              'price_expired',
              'tax_excluded',
              'price_from_text',
            ]),
          )
          .describe(
            'What sets it apart from an offer that can be bought new, now, for this price. `condition_unknown`: others of the group ' +
              'state theirs; `price_expired`: the stated validity had ended when the page was retrieved; `tax_excluded`: others ' +
              'include it. Nothing is flagged that is not stated',
          ),
      }),
    )
    .min(2)
    .describe(
      'First those without `flags`, then those of which only the condition is unknown, then the others; each part lowest price first',
    ),
})
export type ComparableGroup = z.infer<typeof ComparableGroup>

const ShopPage = z.strictObject({
  source: z.int().min(0).describe('Index in `coverage.sources`'),
  url: z.string(),
  main_product: z.string().nullable(),
  products: z.int().min(0),
  json_ld_scripts: z.int().min(0),
  json_ld_invalid: z.int().min(0).describe('Scripts that could not be read even with repairs'),
  json_ld_repaired: z.array(z.string()).describe('What was wrong in scripts that could be read all the same'),
})

export const ProductOffersResult = z.strictObject({
  sample: z.boolean(),
  sample_notice: z.string().nullable(),
  trust: z.literal('untrusted').describe('What shops say about themselves; nothing of it was verified'),
  products: z.array(Product),
  groups: z.array(ComparableGroup).describe('Same validated identifier and same currency only'),
  unranked: z
    .array(z.strictObject({ product: z.string(), reason: z.string() }))
    .describe(
      'Products in no group, and why: `identifier_missing`, `only_one_offer`, `currency_missing`, `currency_differs`, `only_unit_price`, …',
    ),
  missing_identifiers: z.array(z.string()).describe('Ids of products without a valid identifier'),
  unsupported_pages: z
    .array(z.strictObject({ url: z.string(), reason: z.string() }))
    .describe('Pages without a product in a form that can be read'),
  pages: z.array(ShopPage).describe('Pages with a product'),
  truncated: z.array(z.string()),
  coverage: Coverage,
})
export type ProductOffersResult = z.infer<typeof ProductOffersResult>
