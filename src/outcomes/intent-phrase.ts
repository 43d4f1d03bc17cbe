// Decides whether words alone say a job that runs here: for a message that names nothing else.
import { extractPreview } from './capabilities/extract-preview.ts'
import { createFeedDigest } from './capabilities/feed-digest.ts'
import { productOffers } from './capabilities/product-offers.ts'
import { webExtraction } from './capabilities/web-extraction.ts'
import { readClaims } from './claims.ts'
import { resolveJob } from './resolve.ts'

/** The parts of a request that they read do not depend on how they are configured. */
const USES = [extractPreview, webExtraction, productOffers, createFeedDigest({ defaults: [] })]

/** The job is clear, and what is wrong with it is better said than not. */
const CLEAR = new Set<string>(['missing', 'too_many_sources'])

/** @param words a message that names nothing else */
export function isIntentPhrase(words: string): boolean {
  const reading = readClaims({ intent: words })
  if (!reading.ok) return false
  const resolution = resolveJob(reading.claims, USES)
  if (resolution.ok || CLEAR.has(resolution.reason)) return true
  // "Translate https://…" is refused with what is nearest; without an address it may be a question to another tool.
  return resolution.reason === 'not_done' && resolution.understood.urls.length > 0
}
