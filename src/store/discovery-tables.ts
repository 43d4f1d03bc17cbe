// The tables of discovery, as steps of migrations.ts: a released one is never edited.
import type { Dialect } from './dialects.ts'

/** What catalogues listed, and references of one-time accounts. */
export const discoveryTables = ({ id, int, clustered }: Dialect): readonly string[] => [
  `CREATE TABLE discovery_resources (
    id ${id} PRIMARY KEY,
    first_seen ${int} NOT NULL,
    last_seen ${int} NOT NULL,
    prices TEXT NOT NULL,
    liveness TEXT
  ) ${clustered}`,
  `CREATE INDEX discovery_resources_seen ON discovery_resources (last_seen)`,
  `CREATE TABLE purchase_references (
    id ${id} PRIMARY KEY,
    claim_id ${id} NOT NULL,
    created_at ${int} NOT NULL
  ) ${clustered}`,
  `CREATE INDEX purchase_references_created ON purchase_references (created_at)`,
]

/** Resources that were paid through our own facilitator, each with the payee, and who paid for it. */
export const settledListings = ({ id, int, clustered }: Dialect): readonly string[] => [
  `CREATE TABLE settled_listings (
    id ${id} PRIMARY KEY,
    payee ${id} NOT NULL,
    item TEXT NOT NULL,
    digest ${id} NOT NULL,
    votes ${int} NOT NULL,
    settlements ${int} NOT NULL,
    payers ${int} NOT NULL,
    first_settled ${int} NOT NULL,
    last_settled ${int} NOT NULL
  ) ${clustered}`,
  `CREATE INDEX settled_listings_payee ON settled_listings (payee)`,
  `CREATE INDEX settled_listings_last ON settled_listings (last_settled)`,
  `CREATE TABLE settled_listing_payers (
    listing_id ${id} NOT NULL,
    payer ${id} NOT NULL,
    last_day ${int} NOT NULL,
    PRIMARY KEY (listing_id, payer)
  ) ${clustered}`,
]
