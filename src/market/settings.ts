// The operator's rules of the market: what the platform keeps, who must be looked at before it sells, when sellers are paid. One
// document that a person edits by hand; what is left out is the default.
import { z } from 'zod'
import { createDocumentReader } from '../core/document-reader.ts'
import type { DocumentKind, DocumentStore } from '../store/ports.ts'

/** Atomic units that are summed as integers in SQL: a million million USDC is enough. */
const Atomic = z.int().min(0).max(1e15)

const MarketSettingsDocument = z.strictObject({
  /** Of a sale; see fee.ts. Terms of an offer that stands are kept. */
  fee: z
    .strictObject({
      bps: z.int().min(0).max(10_000).default(300),
      fixed_atomic: Atomic.default(0),
      minimum_atomic: Atomic.default(0),
    })
    .prefault({}),
  /** Whose listings wait for the operator: a seller's until one was approved, every one, or none. */
  approval: z.enum(['first', 'always', 'never']).default('first'),
  payouts: z
    .strictObject({
      minimum_atomic: Atomic.min(1).default(1_000_000),
      schedule: z.enum(['daily', 'weekly', 'manual']).default('daily'),
      /** Hour of the day, UTC; a week begins on Monday. */
      hour: z.int().min(0).max(23).default(3),
    })
    .prefault({}),
  probes: z
    .strictObject({
      /** Minutes between two looks at whether a listing answers; 0: none. */
      interval_minutes: z.int().min(0).max(1440).default(15),
    })
    .prefault({}),
  trust: z
    .strictObject({
      /** Accounts that fund everybody, such as exchanges: buyers with their money are no ring. */
      shared_funders: z
        .array(z.string().regex(/^0x[0-9a-fA-F]{40}$/))
        .max(1000)
        .default([]),
      /** So many buyers of a seller that one wallet funded count for nothing. */
      ring_size: z.int().min(2).max(1000).default(10),
    })
    .prefault({}),
  proofs: z
    .strictObject({
      /** Hours between two looks at the proof of a host. */
      interval_hours: z.int().min(1).max(168).default(24),
    })
    .prefault({}),
  limits: z
    .strictObject({
      sellers_per_address_and_day: z.int().min(0).max(10_000).default(3),
      sellers_per_day: z.int().min(0).max(1_000_000).default(500),
      hosts_per_seller: z.int().min(1).max(1000).default(20),
      listings_per_seller: z.int().min(1).max(10_000).default(200),
      revisions_per_listing_and_day: z.int().min(1).max(1000).default(50),
      max_price_atomic: Atomic.min(1).default(1_000_000_000),
    })
    .prefault({}),
  fee_returned_on_refund: z.boolean().default(true),
})
export type MarketSettings = z.infer<typeof MarketSettingsDocument>

export const marketSettingsDocument: DocumentKind<MarketSettings> = {
  name: 'market',
  parse: (value) => MarketSettingsDocument.parse(value),
  initial: MarketSettingsDocument.parse({}),
}

/** @returns the settings of now, or of a quarter of a second ago; rejects where they could not be read */
export const createMarketSettingsReader = (
  documents: Pick<DocumentStore, 'read'>,
  report: (problem: string) => void,
  now: () => number,
): (() => Promise<MarketSettings>) =>
  createDocumentReader({
    documents,
    kind: marketSettingsDocument,
    toValue: (settings) => settings,
    report,
    now,
  })
