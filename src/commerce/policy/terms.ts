// Terms say what is paid to whom, in one form for every protocol: a payment has one set, an offer several to choose from.
import type { Found, Place, TransactionFacts } from '../ports.ts'

export interface Terms {
  readonly at: Place
  readonly amount: Found<string> | null
  readonly isInteger: boolean
  readonly currency: Found<string> | null
  readonly asset: Found<string> | null
  /** CAIP-2 where there is one. */
  readonly network: Found<string> | null
  readonly scheme: Found<string> | null
  readonly payees: readonly Found<string>[]
  /** Amounts of the same asset that these terms ask for besides, each held against the cap as well. */
  readonly further?: readonly FurtherAmount[]
}

export interface FurtherAmount {
  readonly amount: Found<string> & { readonly isInteger: boolean }
  /** Less will do: over the cap, somebody has to look. */
  readonly isSuggested: boolean
}

/** Terms of a message as its facts say them. */
export function termsOfFacts(facts: TransactionFacts): Terms {
  const { amount, amountIsInteger, currency, asset, network, scheme, payee } = facts
  return {
    at: amount?.at ?? payee?.at ?? '',
    amount,
    isInteger: amountIsInteger,
    currency,
    asset,
    network,
    scheme,
    payees: payee === null ? [] : [payee],
  }
}
