// Security events as rows: one chain of them per account, and one of the installation.
import type { Actor } from '../../lib/acting.ts'
import type { Millis } from '../model.ts'

/** The chain of what belongs to no account: signing keys, policies, sign-ins with a token that nobody was given. */
export const INSTALLATION_CHAIN = 'installation'

/** An event before it has a place. Ids, names, counts and hosts: never a secret, a token, a query or a body. */
export interface NewAuditEvent {
  /** Account id, or `INSTALLATION_CHAIN`. */
  readonly chain: string
  readonly at: Millis
  /** `<thing>.<what happened to it>`; src/audit/README.md lists them. */
  readonly event: string
  readonly subject?: { readonly type: string; readonly id: string } | undefined
  readonly detail?: Readonly<Record<string, string | number | boolean | readonly string[] | null>> | undefined
  /** The acting party where it is not the one that the code runs for. */
  readonly actor?: Actor | undefined
}

/** An event in its chain, as it is hashed: `hash` covers every member of `body`, which names the hash before it. */
export interface AuditEvent {
  readonly seq: number
  readonly hash: string
  /** RFC 8785 text. */
  readonly body: string
}

/** The newest event of a chain. */
export interface AuditChain {
  readonly chain: string
  readonly seq: number
  readonly hash: string
  /** Events up to this one are covered by a signed head. */
  readonly signedSeq: number
}

export interface AuditHead {
  readonly chain: string
  readonly seq: number
  /** Compact JWS of the type `gw-audit-head+jws`. */
  readonly jws: string
  readonly signedAt: Millis
}
