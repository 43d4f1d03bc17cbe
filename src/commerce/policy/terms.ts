// What is paid to whom, in one form for every protocol: one set of terms of a payment, several of an offer to choose from.
import { readMpp } from '../mpp/read.ts'
import type { MppChallenge, X402Requirement } from '../protocols/types.ts'
import { readX402 } from '../x402/read.ts'
import type { Found, Place, TransactionFacts } from '../ports.ts'
import { toNetwork } from './assets.ts'
import type { Subject } from './model.ts'

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
}

// More offers in one challenge are left unread.
const MAX_TERMS = 32

export function readTerms({ detection, message }: Subject): readonly Terms[] {
  const { primary, facts, stage } = detection
  if (primary?.name === 'x402' && stage === 'challenge') {
    const accepts = readX402(primary, message).accepts.slice(0, MAX_TERMS)
    if (accepts.length > 0) return accepts.map(termsOfRequirement)
  }
  if (primary?.name === 'mpp' && stage !== 'settlement') {
    const challenges = readMpp(primary, message).challenges.slice(0, MAX_TERMS)
    if (challenges.length > 0) return challenges.map(termsOfChallenge)
  }
  return [termsOfFacts(facts)]
}

function termsOfFacts(facts: TransactionFacts): Terms {
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

function termsOfRequirement(from: X402Requirement): Terms {
  const { at, amount, asset, network, caip2, scheme, payTo } = from
  return {
    at,
    amount,
    isInteger: amount?.isInteger === true,
    currency: null,
    asset,
    network: network && { value: caip2 ?? toNetwork(network.value), at: network.at },
    scheme,
    payees: payTo === null ? [] : [payTo],
  }
}

function termsOfChallenge(from: MppChallenge): Terms {
  const { at, amount, currency, chainId, recipient, splits } = from
  const isCode = currency !== null && /^[A-Za-z]{3,5}$/.test(currency.value)
  return {
    at,
    amount,
    isInteger: amount?.isInteger === true,
    currency: isCode ? { value: currency.value.toUpperCase(), at: currency.at } : null,
    asset: isCode ? null : currency,
    network: chainId?.isInteger === true ? { value: `eip155:${chainId.value}`, at: chainId.at } : null,
    scheme: null,
    payees: [recipient, ...splits.map((split) => split.recipient)].filter((one) => one !== null),
  }
}
