// Tables of those who sell: sellers, the hosts they have proven, what they offer, and what they are told.
import type { Dialect } from './dialects.ts'

/** Versions of a day, of one seller. */
export const marketVersionIndex = (): readonly string[] => [
  `CREATE INDEX market_listing_versions_day ON market_listing_versions (seller_id, created_at)`,
]

/**
 * A host belongs to one seller at a time: `market_host_holders` decides between two that prove it. Skeletons are what names look like,
 * so that no name imitates another. The address that registered a seller is forgotten after a day: it bounds how many it makes.
 */
export const marketSellerTables = ({ id, int, clustered, plain }: Dialect): readonly string[] => [
  `ALTER TABLE service_keys ADD COLUMN role TEXT NOT NULL DEFAULT 'operator' CHECK (role IN ('operator', 'seller'))`,
  `CREATE TABLE market_sellers (
    id ${id} PRIMARY KEY,
    skeleton ${id} NOT NULL UNIQUE,
    account_id ${id} NOT NULL UNIQUE,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    payout_address TEXT NOT NULL,
    contact TEXT,
    webhook_url TEXT,
    state TEXT NOT NULL CHECK (state IN ('active', 'suspended')),
    state_reason TEXT,
    version ${int} NOT NULL,
    registered_from TEXT,
    created_at ${int} NOT NULL,
    updated_at ${int} NOT NULL
  ) ${plain}`,
  `CREATE INDEX market_sellers_address ON market_sellers (registered_from, created_at) WHERE registered_from IS NOT NULL`,
  `CREATE INDEX market_sellers_created ON market_sellers (created_at)`,
  `CREATE TABLE market_hosts (
    seller_id ${id} NOT NULL,
    host ${id} NOT NULL,
    challenge TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('claimed', 'proven', 'lapsed')),
    method TEXT CHECK (method IN ('dns', 'well_known')),
    signature_kind TEXT CHECK (signature_kind IN ('eip191', 'erc1271')),
    signature TEXT,
    payout_address TEXT,
    failures ${int} NOT NULL DEFAULT 0,
    failing_since ${int},
    problem TEXT,
    proven_at ${int},
    checked_at ${int},
    created_at ${int} NOT NULL,
    PRIMARY KEY (seller_id, host)
  ) ${clustered}`,
  `CREATE INDEX market_hosts_check ON market_hosts (checked_at, seller_id, host) WHERE state <> 'claimed'`,
  `CREATE TABLE market_host_holders (host ${id} PRIMARY KEY, seller_id ${id} NOT NULL) ${plain}`,
  `CREATE TABLE market_listings (
    seller_id ${id} NOT NULL,
    service_id ${id} NOT NULL,
    skeleton ${id} NOT NULL,
    version ${int} NOT NULL,
    host ${id} NOT NULL,
    document TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('draft', 'pending', 'active', 'paused', 'suspended', 'retired')),
    state_reason TEXT,
    paused_by TEXT CHECK (paused_by IN ('seller', 'proof')),
    approved_at ${int},
    checked_version ${int},
    checked_at ${int},
    created_at ${int} NOT NULL,
    updated_at ${int} NOT NULL,
    PRIMARY KEY (seller_id, service_id)
  ) ${clustered}`,
  `CREATE UNIQUE INDEX market_listings_skeleton ON market_listings (seller_id, skeleton)`,
  `CREATE INDEX market_listings_updated ON market_listings (updated_at, seller_id, service_id)`,
  `CREATE INDEX market_listings_pending ON market_listings (updated_at, seller_id, service_id) WHERE state = 'pending'`,
  `CREATE TABLE market_listing_versions (
    seller_id ${id} NOT NULL,
    service_id ${id} NOT NULL,
    version ${int} NOT NULL,
    document TEXT NOT NULL,
    created_at ${int} NOT NULL,
    PRIMARY KEY (seller_id, service_id, version)
  ) ${clustered}`,
  `CREATE TABLE market_events (
    id ${id} PRIMARY KEY,
    seller_id ${id} NOT NULL,
    type TEXT NOT NULL,
    data TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'sent', 'dropped')),
    tries ${int} NOT NULL DEFAULT 0,
    next_at ${int} NOT NULL,
    problem TEXT,
    created_at ${int} NOT NULL,
    finished_at ${int}
  ) ${plain}`,
  `CREATE INDEX market_events_due ON market_events (next_at, id) WHERE state = 'pending'`,
  `CREATE INDEX market_events_seller ON market_events (seller_id, id)`,
]

/** Events that nobody has tried or put off. Those that wait for a seller's host are in no way of a look for these. */
export const untriedEvents = (): readonly string[] => [
  `CREATE INDEX market_events_untried ON market_events (created_at, id) WHERE state = 'pending' AND tries = 0 AND next_at = created_at`,
]

/** A version that nobody could buy, as those of a draft, is no offer: neither its price nor where it leads is honoured later. */
export const offeredVersions = ({ int }: Dialect): readonly string[] => [
  `ALTER TABLE market_listing_versions ADD COLUMN is_offered ${int} NOT NULL DEFAULT 0`,
  `UPDATE market_listing_versions SET is_offered = 1 WHERE EXISTS (SELECT 1 FROM market_listings l
    WHERE l.seller_id = market_listing_versions.seller_id AND l.service_id = market_listing_versions.service_id
      AND l.version = market_listing_versions.version AND l.approved_at IS NOT NULL)`,
]
