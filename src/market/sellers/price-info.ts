// Prices as OpenAPI documents name them in `x-payment-info`. Known forms: `{price: "$0.01"}` and `{price: {amount, currency|asset}}`
// with decimal USDC, `{amount|price_atomic|maxAmountRequired}` in atomic units, `{protocols, pricingMode: "fixed", price: "0.01"}` (x402scan, MPP).
import { isObject } from '../../lib/json.ts'

export type PriceReading =
  /** Undefined where nothing is said. */
  { readonly ok: true; readonly atomic: string | undefined } | { readonly ok: false; readonly why: string }

const DECIMALS = 6
const said = (atomic: string | undefined): PriceReading => ({ ok: true, atomic })
const refuse = (why: string): PriceReading => ({ ok: false, why })
const USD = new Set(['usd', 'usdc', '$'])

/** @param info the value of `x-payment-info` */
export function readPrice(info: unknown): PriceReading {
  if (info === undefined || info === null) return said(undefined)
  if (!isObject(info)) return fromDecimal(info)
  const mode = info['pricingMode'] ?? info['pricing_mode'] ?? info['intent']
  if (mode !== undefined && mode !== 'fixed' && mode !== 'charge' && mode !== 'exact')
    return refuse(`is priced by ${String(mode).slice(0, 40)}: only fixed prices are sold here`)
  const { amount } = info
  if (info['price'] === undefined && amount !== undefined && isDecimal(amount, currencyOf(info)))
    return isDollar(currencyOf(info))
      ? fromDecimal(amount)
      : refuse('is priced in another currency than USDC')
  const atomic =
    info['price_atomic'] ??
    info['amount_atomic'] ??
    info['maxAmountRequired'] ??
    (info['price'] === undefined ? amount : undefined)
  if (atomic !== undefined) return fromAtomic(atomic, currencyOf(info))
  const { price } = info
  if (isObject(price)) {
    const currency = currencyOf(price)
    const inner = price['amount_atomic'] ?? price['price_atomic']
    if (inner !== undefined) return fromAtomic(inner, currency)
    if (price['mode'] !== undefined && price['mode'] !== 'fixed') return refuse('has no fixed price')
    return isDollar(currency)
      ? fromDecimal(price['amount'] ?? price['value'])
      : refuse('is priced in another currency than USDC')
  }
  if (price === undefined) return refuse('has x-payment-info without a fixed price')
  return isDollar(currencyOf(info)) ? fromDecimal(price) : refuse('is priced in another currency than USDC')
}

/** An amount counts atomic units, as MPP and x402 have it, unless it has a point in it or is one of dollars. */
const isDecimal = (amount: unknown, currency: unknown) =>
  /[.$]/.test(String(amount)) || (typeof currency === 'string' && /^(?:usd|\$)$/i.test(currency))

const currencyOf = (holder: Readonly<Record<string, unknown>>): unknown =>
  holder['currency'] ?? holder['asset'] ?? undefined
const isDollar = (currency: unknown) =>
  currency === undefined ||
  (typeof currency === 'string' && (USD.has(currency.toLowerCase()) || isUsdcAddress(currency)))
/** USDC on Base and Base Sepolia. */
const isUsdcAddress = (text: string) =>
  /^0x(?:833589fcd6edb6e08f4c7c32d4f71b54bda02913|036cbd53842c5426634e7929541ec2318f3dcf7e)$/i.test(text)

function fromAtomic(given: unknown, currency: unknown): PriceReading {
  if (!isDollar(currency)) return refuse('is priced in another currency than USDC')
  const text = typeof given === 'number' ? String(given) : given
  return typeof text === 'string' && /^[1-9]\d{0,14}$/.test(text)
    ? said(text)
    : refuse('has a price that is no whole number of atomic units')
}

function fromDecimal(given: unknown): PriceReading {
  const text = typeof given === 'number' ? plain(given) : given
  const match =
    typeof text === 'string' ? /^\$?\s*(\d{1,9})(?:\.(\d{1,18}))?\s*(?:USDC?)?$/i.exec(text.trim()) : null
  if (!match) return refuse('has a price that cannot be read as dollars')
  const [, whole = '0', part = ''] = match
  if (/[1-9]/.test(part.slice(DECIMALS))) return refuse('has a price with more than 6 decimals')
  const atomic = BigInt(whole + part.slice(0, DECIMALS).padEnd(DECIMALS, '0'))
  return atomic > 0n ? said(atomic.toString()) : refuse('is free: only what costs something is sold here')
}

/** 1e-6 is a price, too. */
const plain = (value: number) =>
  Number.isFinite(value) && value >= 0 ? value.toFixed(9).replace(/0+$/, '').replace(/\.$/, '') : ''
