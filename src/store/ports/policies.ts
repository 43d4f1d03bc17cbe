// Texts that stood in the documents of policies.
import type { Actor } from '../../lib/acting.ts'
import type { Millis } from '../model.ts'
import type { NewAuditEvent } from './audit.ts'

export interface PolicyRevision {
  readonly id: string
  /** Of the document. */
  readonly name: string
  readonly at: Millis
  /** `seen`: the gateway found it at its first look; `by_hand`: somebody edited the file or the row; `here`: through the gateway. */
  readonly way: 'seen' | 'by_hand' | 'here'
  /** Who wrote it: the gateway itself where nobody can be named. */
  readonly actorKind: Actor['kind']
  readonly actorId: string | null
  /** Why, in the words of who wrote it. */
  readonly note: string
}

export interface PolicyRevisionTexts extends PolicyRevision {
  /** Null at the first look. */
  readonly before: string | null
  readonly after: string
}

export interface NewPolicyRevision extends PolicyRevisionTexts {
  /** Of `after`: a text that is noted already is not noted again, whoever sees it. */
  readonly digest: string
  /** The event of the change, and what the audit log then holds of the document; left out where it was seen only. */
  readonly audited?:
    { readonly digest: string; readonly event: NewAuditEvent; readonly acting: Actor } | undefined
}
