// MPP: what the policy has to know of it.
import type { Terms } from '../policy/terms.ts'
import type { ProtocolPolicy } from '../protocol.ts'
import type { MppChallenge, MppFacts } from './facts.ts'

/** More offers in one message are left unread. */
const MAX_TERMS = 32

export const policy: ProtocolPolicy<MppFacts> = {
  pricedStages: new Set(['challenge', 'payment']),
  listTerms: ({ layer, facts }) =>
    layer.stage === 'settlement' ? [] : facts.challenges.slice(0, MAX_TERMS).map(termsOf),
  listHosts: ({ facts }) => facts.challenges.map(({ realm }) => realm),
  listExpected: ({ facts }) => [facts.payloadAt],
  needsWindow: () => true,
  limitWindow: (_stated, { maxWindowSeconds }) => maxWindowSeconds,
}

function termsOf({ at, amount, currency, chainId, recipient, splits }: MppChallenge): Terms {
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
