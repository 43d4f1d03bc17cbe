// Rows as their owner and the operator are shown them.
import type { OwnHost, OwnListing, OwnSeller } from '../../../schemas/market-seller.ts'
import { toTimestamp, toTimestampOrNull } from '../../lib/timestamp.ts'
import type { Listing, MarketHost, Seller } from '../../store/ports.ts'
import { challengeLine, recordName, WELL_KNOWN } from './proof.ts'

export const toOwnSeller = (seller: Seller, payoutNotes: readonly string[] = []): OwnSeller => ({
  seller: seller.id,
  name: seller.name,
  description: seller.description,
  payout_address: seller.payoutAddress,
  contact: seller.contact,
  webhook_url: seller.webhookUrl,
  state: seller.state,
  state_reason: seller.stateReason,
  version: seller.version,
  created_at: toTimestamp(seller.createdAt),
  payout_notes: [...payoutNotes],
})

export function toOwnHost(host: MarketHost, { payoutAddress }: Pick<Seller, 'payoutAddress'>): OwnHost {
  const line = challengeLine(host.challenge)
  const origin = `https://${host.host}`
  return {
    host: host.host,
    origin,
    state: host.state,
    challenge: host.challenge,
    dns: { name: recordName(host.host), type: 'TXT', value: line },
    well_known: { url: origin + WELL_KNOWN, line },
    sign: { message: origin, by: payoutAddress },
    method: host.method,
    signature_kind: host.signatureKind,
    proven_at: toTimestampOrNull(host.provenAt),
    checked_at: toTimestampOrNull(host.checkedAt),
    failures: host.failures,
    problem: host.problem,
  }
}

export function toOwnListing(listing: Listing, baseUrl: string): OwnListing {
  const { document, sellerId, serviceId } = listing
  return {
    seller: sellerId,
    service_id: serviceId,
    version: listing.version,
    state: listing.state,
    state_reason: listing.stateReason,
    paused_by: listing.pausedBy,
    approved_at: toTimestampOrNull(listing.approvedAt),
    checked_version: listing.checkedVersion,
    checked_at: toTimestampOrNull(listing.checkedAt),
    name: document.name,
    description: document.description,
    tags: [...document.tags],
    origin: document.origin,
    base_path: document.basePath,
    routes: document.routes.map((route) => ({
      path: route.path,
      method: route.method,
      summary: route.summary,
      price_atomic: route.priceAtomic,
      input_schema: route.inputSchema,
      body_schema: route.bodySchema,
      output_schema: route.outputSchema,
      example: route.example && { ...route.example },
      timeout_ms: route.timeoutMs,
      max_response_bytes: route.maxResponseBytes,
    })),
    max_requests_per_minute: document.maxRequestsPerMinute,
    has_credential: document.credentialId !== null,
    refund_policy: document.refundPolicy,
    terms_url: document.termsUrl,
    takes_test_money: document.takesTestMoney === true,
    endpoint: `${baseUrl}/p/${sellerId}/${serviceId}/`,
    test_endpoint: `${baseUrl}/p/testnet/${sellerId}/${serviceId}/`,
    created_at: toTimestamp(listing.createdAt),
    updated_at: toTimestamp(listing.updatedAt),
  }
}
