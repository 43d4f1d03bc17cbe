// The price of a tool, as a value that the call path executes (priced-run.ts): a price that is written down is taken; what the
// documents, doors and errors say of it is derived from the same value.
import type { ErrorCode } from './errors.ts'
import { KNOWN_NETWORKS } from './networks.ts'

export interface FreePrice {
  readonly kind: 'free'
}

/**
 * The part of the gateway that takes the credits.
 * `call`: the call path, in a transaction of its own before the run, and gives them back when the run throws.
 * `attempt`: the run, in the transaction that reserves its attempt, and says so to `context.charge`.
 * `allowance`: as `attempt`, once a free allowance is used up; until then the run waives them.
 */
export type CreditsTaken = 'call' | 'attempt' | 'allowance'

export interface CreditsPrice<T extends CreditsTaken = CreditsTaken> {
  readonly kind: 'credits'
  /** Whole credits a call, at least 1. */
  readonly credits: number
  readonly taken: T
}

/**
 * @typeParam F whether some jobs of the tool may be free
 * @typeParam N whether core knows the networks, or the tool's plan says them call by call
 */
export interface X402Price<
  N extends 'known' | 'planned' = 'known' | 'planned',
  F extends string | undefined = string | undefined,
> {
  readonly kind: 'x402'
  /** Atomic units of USDC: of every call; of the cheapest one where there is `upToAtomic`; the usual one where a plan says more. */
  readonly amountAtomic: bigint
  /** The price of the dearest call, where calls cost differently. */
  readonly upToAtomic: bigint | undefined
  readonly networksFrom: N
  /** CAIP-2 ids; none where the plan says them. */
  readonly networks: readonly string[]
  /** What the price of a call depends on, in words, where it has no bound: `the price of its listing`. Then `amountAtomic` is an example. */
  readonly setBy: string | undefined
  /** Words for the jobs that cost nothing; their plan says `charge: null`. Undefined where no job is free. */
  readonly mayBeFree: F
}

export type Price = FreePrice | CreditsPrice | X402Price

/** Decimal USDC as a text, `'0.001'`, or atomic units, `1000n`. A number would be a float, and money is none. */
export type Amount = `${number}` | bigint

export const free: FreePrice = Object.freeze({ kind: 'free' })

/**
 * A call costs so many credits.
 * @param options.within the run takes them in its attempt's own transaction, by way of `context.charge`
 * @param options.after the same, once a free allowance is used up
 */
export function credits(count: number): CreditsPrice<'call'>
export function credits(count: number, options: { readonly within: 'attempt' }): CreditsPrice<'attempt'>
export function credits(count: number, options: { readonly after: 'allowance' }): CreditsPrice<'allowance'>
export function credits(
  count: number,
  { within, after }: { readonly within?: 'attempt'; readonly after?: 'allowance' } = {},
): CreditsPrice {
  if (!Number.isSafeInteger(count) || count < 1)
    throw new Error(`credits(${count}): write a whole number of credits, at least 1, or the price \`free\``)
  return Object.freeze({ kind: 'credits', credits: count, taken: within ?? after ?? 'call' })
}

/**
 * Paid by the call, in USDC. With `networks` core makes the terms of every call by itself, and a plan may name another amount
 * up to `upTo`; without them the tool's plan says the charge of each call.
 * @param given.networks CAIP-2 ids on which it may be paid; a test network alone, never beside production ones
 * @param given.upTo of the dearest call, where the plan prices each by its input
 * @param given.setBy what the price depends on, where a plan names any amount
 * @param given.mayBeFree which jobs cost nothing, in words: without it `charge: null` is refused
 */
export function x402(given: {
  readonly amount: Amount
  readonly upTo?: Amount
  readonly networks: readonly string[]
}): X402Price<'known', undefined>
export function x402(given: {
  readonly amount: Amount
  readonly upTo?: Amount
  readonly setBy?: string
}): X402Price<'planned', undefined>
export function x402(given: {
  readonly amount: Amount
  readonly upTo?: Amount
  readonly mayBeFree: string
}): X402Price<'planned', string>
export function x402(given: {
  readonly amount: Amount
  readonly upTo?: Amount
  readonly networks?: readonly string[]
  readonly setBy?: string
  readonly mayBeFree?: string
}): X402Price {
  const { networks } = given
  const amountAtomic = toAtomic(given.amount)
  const upToAtomic = given.upTo === undefined ? undefined : toAtomic(given.upTo)
  // A plan may say that nothing is for sale here; what core charges by itself has a price.
  if (networks && amountAtomic <= 0n)
    throw new Error('x402: an amount is more than nothing; write `price: free` for a tool that costs nothing')
  if (upToAtomic !== undefined && upToAtomic < amountAtomic)
    throw new Error('x402: `upTo` is the amount of the dearest call, so it is not less than `amount`')
  if (networks) checkNetworks(networks)
  return Object.freeze({
    kind: 'x402',
    amountAtomic,
    upToAtomic,
    networksFrom: networks ? 'known' : 'planned',
    networks: networks ?? [],
    setBy: given.setBy,
    mayBeFree: given.mayBeFree,
  })
}

function checkNetworks(networks: readonly string[]): void {
  const known = networks.map((id) => {
    const network = KNOWN_NETWORKS.find((pinned) => pinned.network === id)
    if (network) return network
    const ids = KNOWN_NETWORKS.map((pinned) => pinned.network).join(', ')
    throw new Error(`x402: no asset is pinned on ${id}; write one of ${ids}`)
  })
  if (known.length === 0)
    throw new Error('x402: `networks` is empty; name at least one, e.g. eip155:8453, or leave it to a plan')
  if (new Set(known.map(({ revenue }) => revenue)).size > 1)
    throw new Error('x402: test money would buy what real money buys; name test networks or production ones')
}

const DECIMALS = 6

/** `'0.001'` -> 1000n. @throws on more decimals than USDC has */
function toAtomic(amount: Amount): bigint {
  if (typeof amount === 'bigint') return amount
  const [, whole, fraction = ''] = /^(\d+)(?:\.(\d{1,6}))?$/.exec(amount) ?? []
  if (whole === undefined)
    throw new Error(`x402: ${amount} is no amount of USDC; write digits with at most ${DECIMALS} decimals`)
  return BigInt(whole + fraction.padEnd(DECIMALS, '0'))
}

const BY_X402: readonly ErrorCode[] = [
  'payment_required',
  'budget_spent',
  'payment_invalid',
  'payment_rejected',
  'payment_claimed',
  'payment_identifier_conflict',
  'idempotency_key_reused',
  'settlement_failed',
  'settlement_unknown',
  'payments_unavailable',
]

/** Codes that a call can end in because of what it costs: documented with the tool without being listed in its file. */
export function errorsOfPrice(price: Price): readonly ErrorCode[] {
  if (price.kind === 'free') return []
  if (price.kind === 'x402') return BY_X402
  return price.taken === 'call' ? ['credits_required', 'budget_spent'] : ['credits_required']
}

/** Some of its calls cost money at once, without an account. */
export const isPaid = ({ price }: { readonly price: Price }): boolean => price.kind === 'x402'

/** Every call of it costs money at once. */
export const isAlwaysPaid = ({ price }: { readonly price: Price }): boolean =>
  price.kind === 'x402' && price.mayBeFree === undefined

/** `1 credit`, `2 credits` */
export const creditWords = (count: number) => `${count} credit${count === 1 ? '' : 's'}`
