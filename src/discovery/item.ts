// An indexed resource as it goes out: the members that x402 names, and ours beside them.
import type { DiscoveryItem, Liveness, SeenTerms } from '../../schemas/discovery.ts'
import type { Entry, SettledFacts } from './entry.ts'
import { payeeOf } from './merge.ts'
import { toTimestamp } from '../lib/timestamp.ts'
import type { IndexedResource } from './resource-index.ts'

/** The item as `/discovery/resources` shows it, with our own observations beside the claims. */
export function toItem({
  entry,
  isOwn,
  claims,
  settled,
  firstSeen,
  prices,
  lastProbe,
}: IndexedResource): DiscoveryItem {
  const { resource, type, method, x402Version, lastUpdated } = entry
  return {
    resource,
    type,
    x402Version,
    accepts: [...entry.accepts],
    lastUpdated,
    ...optionalOf(entry),
    own: isOwn,
    method,
    sources: claims.map((claim) => ({
      source: claim.source,
      fetched_at: toTimestamp(claim.fetchedAt),
      last_updated: claim.lastUpdated,
      same_terms: claim.sameTerms,
    })),
    fetched_at: toTimestamp(Math.max(...claims.map(({ fetchedAt }) => fetchedAt))),
    first_seen: toTimestamp(firstSeen),
    price_history: prices.map(({ at, price }) => ({
      at: toTimestamp(at),
      accepts: JSON.parse(price) as SeenTerms[],
    })),
    liveness: lastProbe.found,
    ...(settled.length > 0 && { settled: settled.map((facts) => settledOf(facts, lastProbe.found)) }),
  }
}

function settledOf({ firstSettled, lastSettled, ...facts }: SettledFacts, { payees }: Liveness) {
  const payee = payeeOf(facts)
  return {
    ...facts,
    first_settled: toTimestamp(firstSettled),
    last_settled: toTimestamp(lastSettled),
    // Whoever had a payment settled said for what; only the resource itself can say whom it asks to pay.
    verified: payees?.some((asked) => payeeOf(asked) === payee) ?? false,
  }
}

function optionalOf({ description, mimeType, serviceName, tags, iconUrl, extensions }: Entry) {
  return {
    ...(description !== undefined && { description }),
    ...(mimeType !== undefined && { mimeType }),
    ...(serviceName !== undefined && { serviceName }),
    ...(tags !== undefined && { tags: [...tags] }),
    ...(iconUrl !== undefined && { iconUrl }),
    ...(extensions !== undefined && { extensions: { ...extensions } }),
  }
}
