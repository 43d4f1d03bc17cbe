// What a call costs. Money is saffron, here as everywhere on the site, and says how it is paid. Runs in browsers too: tool-facts.ts makes
// the facts.
import type { VNode } from 'preact'
import type { PageContext } from '../ports.ts'
import { priceTexts } from '../texts/price.ts'
import { Link } from './link.tsx'

/** A price as plain JSON: what a page's `load` gives, and what an island takes. Amounts are decimal USDC. */
export interface PriceFacts {
  readonly kind: 'free' | 'credits' | 'x402'
  /** As every document says it, in English. */
  readonly words: string
  readonly credits?: number
  readonly after_allowance?: boolean
  readonly amount?: string
  readonly up_to?: string
  readonly currency?: 'USDC'
  /** Some of the jobs cost nothing: which ones, in words. */
  readonly may_be_free?: string
  /** What the price of a call depends on, where it has no bound. */
  readonly set_by?: string
}

/** `0.003000` -> `0.003`: what a person reads; documents keep all six decimals. */
export const shortAmount = (amount: string): string => amount.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '')

/** The price in the page's language. */
export function priceText(price: PriceFacts, { language }: Pick<PageContext, 'language'>): string {
  const t = priceTexts[language]
  const { credits = 1, amount = '', up_to } = price
  if (price.kind === 'free') return t.free
  if (price.kind === 'credits') {
    const count = credits === 1 ? t.credit : t.credits.replace('{a}', String(credits))
    return price.after_allowance ? t.allowance.replace('{a}', count) : count
  }
  if (price.set_by !== undefined) return t.setBy.replace('{a}', price.set_by)
  const usdc =
    up_to === undefined
      ? t.usdc.replace('{a}', shortAmount(amount))
      : t.upTo.replace('{a}', shortAmount(amount)).replace('{b}', shortAmount(up_to))
  return price.may_be_free === undefined ? usdc : t.freeOr.replace('{a}', usdc)
}

interface PriceProps {
  readonly price: PriceFacts
  readonly page: Pick<PageContext, 'language' | 'href'>
  /** With a link to how it is paid; where prices stand in a list it would be said a hundred times. */
  readonly isExplained?: boolean
}

/** What a call costs, as a tag. */
export function Price({ price, page, isExplained }: PriceProps): VNode {
  const t = priceTexts[page.language]
  const tag = (
    <span class={price.kind === 'free' ? 'tag' : 'tag money'}>{withAmounts(priceText(price, page))}</span>
  )
  if (!isExplained || price.kind === 'free') return tag
  const isCredits = price.kind === 'credits'
  return (
    <>
      {tag}{' '}
      <Link to={page.href(isCredits ? '/docs/credential-broker' : '/docs/payments')} class="small">
        {isCredits ? t.howCredits : t.howPaid}
      </Link>
    </>
  )
}

/** An amount and its currency stay in this order in either direction. */
const withAmounts = (words: string): (string | VNode)[] =>
  words.split(/(\d[\d.]* USDC)/).map((part, at) => (at % 2 === 1 ? <bdi dir="ltr">{part}</bdi> : part))
