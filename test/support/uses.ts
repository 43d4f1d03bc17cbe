// What the capabilities that run here read of a request, without what they do with it.
import { createFeedDigest } from '../../src/outcomes/capabilities/feed-digest.ts'
import { extractPreview } from '../../src/outcomes/capabilities/extract-preview.ts'
import { productOffers } from '../../src/outcomes/capabilities/product-offers.ts'
import { webExtraction } from '../../src/outcomes/capabilities/web-extraction.ts'
import type { CapabilityUse } from '../../src/outcomes/ports.ts'

export const uses: readonly CapabilityUse[] = [
  extractPreview,
  webExtraction,
  productOffers,
  createFeedDigest({ defaults: ['https://feeds.example.com/a.xml'] }),
]
