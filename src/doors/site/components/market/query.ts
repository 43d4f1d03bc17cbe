// What a visitor asks of the market in an address. What cannot be read is left out and said to be: a mistyped price is no reason to see
// nothing.
import { MarketQuery, type MarketNetwork } from '../../../../../schemas/market.ts'
import { atomicOf } from './format.ts'

/** Members of the form, in its order; an address has them under the same names. */
export const ASKED = [
  'q',
  'seller',
  'tag',
  'max_price',
  'method',
  'min_success_rate',
  'network',
  'sort',
  'include',
] as const
export type Asked = (typeof ASKED)[number]

export interface MarketQuestion {
  readonly query: MarketQuery
  /** As they were typed. */
  readonly values: Readonly<Partial<Record<Asked, string>>>
  /** Those that could not be read. */
  readonly faults: readonly Asked[]
}

const PAGE_ROWS = 20

/** @param usual network of the figures where none is asked for */
export function readMarketQuery(params: URLSearchParams, usual: MarketNetwork): MarketQuestion {
  const values: Partial<Record<Asked, string>> = {}
  const faults: Asked[] = []
  const given: Record<string, unknown> = {}
  for (const name of ASKED) {
    const typed = params.get(name)?.trim() ?? ''
    if (typed === '') continue
    values[name] = typed.slice(0, 200)
    const member = name === 'max_price' ? 'max_price_atomic' : name
    const value = name === 'max_price' ? atomicOf(typed) : name === 'min_success_rate' ? Number(typed) : typed
    if (value !== undefined && MarketQuery.shape[member].safeParse(value).success) given[member] = value
    else faults.push(name)
  }
  const cursor = params.get('cursor')
  return {
    query: MarketQuery.parse({
      network: usual,
      ...given,
      limit: PAGE_ROWS,
      ...(cursor !== null && cursor !== '' && cursor.length <= 512 && { cursor }),
    }),
    values,
    faults,
  }
}

/** Address of the page with these values and others in their place; an empty one goes. */
export function marketAddress(
  values: MarketQuestion['values'],
  others: Readonly<Record<string, string>> = {},
): string {
  const all = new URLSearchParams(
    Object.entries({ ...values, ...others }).filter(([, value]) => value !== ''),
  ).toString()
  return `/marketplace${all === '' ? '' : `?${all}`}`
}
