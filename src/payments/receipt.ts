// Signs the receipt of a settled payment, and of money that went back: what was paid, to whom, for which request; never a query, a body or a header.
import { newId } from '../lib/ids.ts'
import { JWS_TYPES } from '../receipts/types.ts'
import type { Signer } from '../receipts/ports.ts'
import type { PaymentClaim, Refund, StoredReceipt } from '../store/ports.ts'
import type { Networks } from '../core/networks.ts'

export interface ReceiptParts {
  readonly signer: Signer
  readonly networks: Networks
  readonly baseUrl: string
  readonly now: () => number
}

/**
 * The receipt of money that moved, of whatever kind.
 * @param facts what it says beside its own id, issuer and time
 */
export function signMoneyReceipt(
  { signer, baseUrl, now }: Pick<ReceiptParts, 'signer' | 'baseUrl' | 'now'>,
  accountId: string,
  facts: Readonly<Record<string, unknown>> & { readonly kind: 'payment' | 'refund' | 'payout' },
): StoredReceipt {
  const at = now()
  const id = newId('rcp', at)
  const jws = signer.sign(JWS_TYPES.receipt, {
    ...facts,
    iss: baseUrl,
    jti: id,
    iat: Math.floor(at / 1000),
    receipt_id: id,
    issued_at: new Date(at).toISOString(),
  })
  return { id, accountId, jws, createdAt: at }
}

/** @param settled what moved the money, and through whom */
export function signPaymentReceipt(
  parts: ReceiptParts,
  claim: PaymentClaim,
  settled: { transaction: string; upstream: string },
): StoredReceipt {
  const accountId = claim.purchase?.accountId ?? claim.accountId ?? ''
  return signMoneyReceipt(parts, accountId, {
    kind: 'payment',
    claim_id: claim.id,
    tool: claim.tool,
    method: claim.method,
    resource: withoutQuery(claim.resource),
    request_digest: claim.requestDigest,
    result_sha256: claim.resultSha256,
    network: claim.network,
    asset: claim.asset,
    amount: claim.amount,
    payer: claim.payer,
    pay_to: claim.payTo,
    transaction: settled.transaction,
    upstream: settled.upstream,
    // A network that we know nothing of is not one where our money is, and in a sandbox there is none.
    revenue:
      parts.signer.environment === 'production' && parts.networks.find(claim.network)?.revenue === true,
  })
}

/** Signs for a refund that its chain has: how much went back to whom, for which claim. The operator's reason is not in it. */
export function signRefundReceipt(
  parts: Omit<ReceiptParts, 'networks'>,
  refund: Refund,
  transaction: string,
): StoredReceipt {
  return signMoneyReceipt(parts, refund.accountId, {
    kind: 'refund',
    refund_id: refund.id,
    claim_id: refund.claimId,
    tool: refund.tool,
    network: refund.network,
    asset: refund.asset,
    amount: refund.amount,
    credits_taken_back: refund.credits,
    from: refund.sender,
    payer: refund.payer,
    nonce: refund.nonce,
    transaction,
    revenue: false,
  })
}

/** `https://host/path?query` -> `host/path`; `mcp://tool/x?y` -> `tool/x`; other text up to its query. */
export function withoutQuery(resource: string): string {
  const url = URL.canParse(resource) ? new URL(resource) : undefined
  if (url?.host) return `${url.host}${url.pathname}`
  return resource.replace(/[?#].*$/s, '')
}
