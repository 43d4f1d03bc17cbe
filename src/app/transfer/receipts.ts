// Whether receipts that were carried verify with the keys that were carried: the oldest, and the newest.
import { decodeProtectedHeader } from 'jose'
import { publishedKeys } from '../../receipts/published-keys.ts'
import { JWS_TYPES, verifyJws } from '../../receipts/types.ts'
import type { PublishedKey } from '../../store/ports.ts'
import type { RowReader } from '../../store/transfer/ports.ts'

const SAMPLED = 100
const KEYS = `SELECT kid, purpose, jwk, not_before AS "notBefore", retired_at AS "retiredAt", revoked_at AS "revokedAt",
  revocation_reason AS "revocationReason" FROM published_keys`
const TYPES: readonly string[] = Object.values(JWS_TYPES)

export interface ReceiptSample {
  readonly verified: number
  /** Of a key that was revoked: readable, and proof of nothing. */
  readonly revoked: number
  /** Ids of those that do not verify. */
  readonly broken: readonly string[]
}

/** Needs the tables of this release. */
export async function sampleReceipts(reader: RowReader): Promise<ReceiptSample> {
  const keys = publishedKeys(await reader.query<PublishedKey & Record<string, unknown>>(KEYS))
  const pages = await Promise.all(
    ['ASC', 'DESC'].map((order) =>
      reader.query<{ id: string; jws: string }>(
        `SELECT id, jws FROM receipts ORDER BY id ${order} LIMIT ${SAMPLED}`,
      ),
    ),
  )
  const sample = new Map(pages.flat().map(({ id, jws }) => [id, jws]))
  let [verified, revoked] = [0, 0]
  const broken: string[] = []
  for (const [id, jws] of sample) {
    const verdict = await verifyJws(jws, keys, typeOf(jws))
    if (verdict.ok) verified++
    else if (verdict.reason === 'key_revoked') revoked++
    else broken.push(id)
  }
  return { verified, revoked, broken }
}

/** Its kind is not in question here: whether the row is what a key of ours signed is. */
function typeOf(jws: string): string {
  try {
    const { typ } = decodeProtectedHeader(jws)
    return TYPES.find((type) => type === typ) ?? JWS_TYPES.receipt
  } catch {
    return JWS_TYPES.receipt
  }
}
