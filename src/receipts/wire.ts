// Signing keys as answers show them.
import type { SigningKeyRecord as WireRecord } from '../../schemas/signing-key.ts'
import { toTimestamp, toTimestampOrNull } from '../lib/timestamp.ts'
import type { SigningKeyRecord } from './ports.ts'

/** @returns the facts that may be shown */
export const toSigningKeyRecord = (key: SigningKeyRecord): WireRecord => ({
  kid: key.kid,
  state: key.state,
  not_before: toTimestamp(key.notBefore),
  retired_at: toTimestampOrNull(key.retiredAt),
  revoked_at: toTimestampOrNull(key.revokedAt),
  reason: key.revocationReason,
})
