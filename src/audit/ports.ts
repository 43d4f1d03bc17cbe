// The audit log as handlers and the call path see it. Types only.
import type { AuditEvent } from '../../schemas/audit.ts'

export interface AuditPage {
  readonly chain: string
  readonly events: readonly AuditEvent[]
  /** Signed heads of this stretch, oldest first: compact JWS. */
  readonly heads: readonly string[]
  /** The newest head, signed just now; null where nothing has happened, or where the gateway finds the chain broken itself. */
  readonly head: string | null
  /** False where the gateway finds that stored events do not fit together any more, or that the end is missing. */
  readonly intact: boolean
  /** Pass as `after` to read on; null at the end. */
  readonly next: number | null
}

export interface Audit {
  /** Events behind `after`, oldest first. */
  read(input: { chain: string; after: number; limit: number }): Promise<AuditPage>
}
