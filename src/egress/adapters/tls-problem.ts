// Why a handshake failed, as far as OpenSSL and the other side tell: from the code of an error, never from its message.
import type { TlsProblem } from '../ports.ts'

const CODES: Readonly<Record<string, TlsProblem>> = {
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'untrusted',
  UNABLE_TO_GET_ISSUER_CERT: 'untrusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'untrusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'untrusted',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'untrusted',
  CERT_SIGNATURE_FAILURE: 'untrusted',
  CERT_HAS_EXPIRED: 'expired',
  CERT_NOT_YET_VALID: 'expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'wrong_name',
}

/** Alerts of a server about the client's certificate (RFC 8446, 6.2; in TLS 1.2 some send handshake_failure for a missing one). */
const CLIENT_ALERT =
  /^ERR_SSL_(?:TLS|SSL)V\d+_ALERT_(?:BAD_CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED|HANDSHAKE_FAILURE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_(?:REQUIRED|EXPIRED|REVOKED|UNKNOWN))$/

/** @returns undefined where the error tells nothing that an operator could act on */
export function tlsProblemOf(error: unknown): TlsProblem | undefined {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return CODES[code] ?? (CLIENT_ALERT.test(code) ? 'client_refused' : undefined)
}
