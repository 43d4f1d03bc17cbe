// Words of schema.org's lists, however shops spell them.

const ITEM_AVAILABILITY = [
  'InStock',
  'OutOfStock',
  'PreOrder',
  'PreSale',
  'BackOrder',
  'Discontinued',
  'LimitedAvailability',
  'OnlineOnly',
  'InStoreOnly',
  'SoldOut',
  'MadeToOrder',
  'Reserved',
] as const

const CONDITIONS = ['NewCondition', 'UsedCondition', 'RefurbishedCondition', 'DamagedCondition'] as const

const byFold = (terms: readonly string[], also: Readonly<Record<string, string>>) =>
  new Map([...terms.map((term): [string, string] => [fold(term), term]), ...Object.entries(also)])

/** Letters only, lower case. */
const fold = (text: string) => text.toLowerCase().replace(/[^a-z]/g, '')

const AVAILABILITY = byFold(ITEM_AVAILABILITY, {
  available: 'InStock',
  availablenow: 'InStock',
  availablefororder: 'BackOrder',
  instocknow: 'InStock',
  onstock: 'InStock',
  inventory: 'InStock',
  oos: 'OutOfStock',
  notinstock: 'OutOfStock',
  unavailable: 'OutOfStock',
  notavailable: 'OutOfStock',
  outofstockonline: 'OutOfStock',
  currentlyunavailable: 'OutOfStock',
  pending: 'PreOrder',
  preorderonly: 'PreOrder',
  backordered: 'BackOrder',
  onbackorder: 'BackOrder',
  lowstock: 'LimitedAvailability',
  limitedstock: 'LimitedAvailability',
  instoreonly: 'InStoreOnly',
  instore: 'InStoreOnly',
})

const CONDITION = byFold(CONDITIONS, {
  new: 'NewCondition',
  used: 'UsedCondition',
  refurbished: 'RefurbishedCondition',
  damaged: 'DamagedCondition',
})

/** `https://schema.org/inStock`, `in stock`, `instock`: `InStock`; null for what is none of the list. */
export const readAvailability = (text: string): string | null => lookUp(AVAILABILITY, text)
/** The condition as schema.org names it; null for words that are not known. */
export const readCondition = (text: string): string | null => lookUp(CONDITION, text)

/** Can be had now, or ordered for later. */
export const isBuyable = (availability: string | null): boolean =>
  availability !== null && !/^(?:OutOfStock|SoldOut|Discontinued|Reserved)$/.test(availability)

const lookUp = (terms: ReadonlyMap<string, string>, text: string): string | null =>
  terms.get(fold(lastSegment(text.slice(0, 200)))) ?? null

/** `https://schema.org/Product`, `schema:Product` and `Product` are the same word. */
export const lastSegment = (value: string): string =>
  value
    .trim()
    .replace(/[/#]+$/, '')
    .replace(/^.*[/#:]/s, '')
