// Signs the receipt of a call that credits paid for: which tool, what it cost, and digests of what went in and out.
import type { SignCallReceipt } from '../core/charging.ts'
import { newId } from '../lib/ids.ts'
import { toTimestamp } from '../lib/timestamp.ts'
import type { Signer } from './ports.ts'
import { JWS_TYPES, toReceipt } from './types.ts'

export function createSignCallReceipt(parts: {
  readonly signer: Signer
  readonly baseUrl: string
  readonly now: () => number
}): SignCallReceipt {
  const { signer, baseUrl, now } = parts
  return (call) => {
    const at = now()
    const id = newId('rcp', at)
    const jws = signer.sign(JWS_TYPES.receipt, {
      iss: baseUrl,
      iat: Math.floor(at / 1000),
      jti: id,
      action: 'call',
      tool: call.tool,
      transaction_id: call.transactionId,
      charge: { amount: call.credits, unit: 'credit' },
      request_digest: call.requestDigest,
      result_sha256: call.resultSha256,
      times: { created_at: toTimestamp(call.startedAt), finished_at: toTimestamp(at) },
    })
    const stored = { id, accountId: call.accountId, jws, createdAt: at }
    return { stored, shown: toReceipt(baseUrl, stored) }
  }
}
