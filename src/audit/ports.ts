// The audit log as handlers and the call path see it. Types only.
import type { AuditEvent } from '../../schemas/audit.ts'

export interface AuditPage {
  readonly chain: string
  readonly events: readonly AuditEvent[]
  /** Signed heads of this stretch that still prove something, oldest first: compact JWS. */
  readonly heads: readonly string[]
  /** The newest head, signed just now; null where nothing has happened, or where the gateway finds the chain broken itself. */
  readonly head: string | null
  /** False where the gateway finds that stored events do not fit together any more, or that the end is missing. */
  readonly intact: boolean
  /** Pass as `after` to read on; null at the end. */
  readonly next: number | null
}

export interface AuditSearch {
  readonly chain: string
  /** Part of the name of the event, such as `credential.`, from its beginning. */
  readonly event?: string | undefined
  /** Id of who acted, or of what it happened to. */
  readonly id?: string | undefined
  /** A door, a tool or an address of who acted. */
  readonly from?: string | undefined
}

export interface FoundEvents {
  /** Newest first. */
  readonly events: readonly AuditEvent[]
  /** Pass as `before` to look on; null at the beginning of the chain. */
  readonly next: number | null
  /** Events in the chain. */
  readonly total: number
}

export interface Audit {
  /** Events that fit before `before`, newest first; so many of the chain are looked at and no more. */
  search(
    filter: AuditSearch,
    page: { readonly before?: number | undefined; readonly limit: number },
  ): Promise<FoundEvents>
  /** Events behind `after`, oldest first. */
  read(input: { chain: string; after: number; limit: number }): Promise<AuditPage>
}
