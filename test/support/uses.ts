// A request resolved to a job, without doing it.
import { ExecuteRequest } from '../../schemas/execute-request.ts'
import { createFeedDigest } from '../../src/outcomes/capabilities/feed-digest.ts'
import { extractPreview } from '../../src/outcomes/capabilities/extract-preview.ts'
import { productOffers } from '../../src/outcomes/capabilities/product-offers.ts'
import { webExtraction } from '../../src/outcomes/capabilities/web-extraction.ts'
import { type Claim, readClaims } from '../../src/outcomes/claims.ts'
import type { CapabilityUse } from '../../src/outcomes/ports.ts'
import { type Resolution, resolveJob } from '../../src/outcomes/resolve.ts'

/** What the capabilities that run here read of a request. */
export const uses: readonly CapabilityUse[] = [
  extractPreview,
  webExtraction,
  productOffers,
  createFeedDigest({ defaults: ['https://feeds.example.com/a.xml'] }),
]

/** @throws {Error} with what was wrong where the request could not be read */
export function claimsOf(input: unknown): readonly Claim[] {
  const reading = readClaims(ExecuteRequest.parse(input))
  if (!reading.ok) throw new Error(reading.detail)
  return reading.claims
}

export const resolve = (input: unknown): Resolution => resolveJob(claimsOf(input), uses)
