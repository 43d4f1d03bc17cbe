// One public address -> bytes, through the gateway's safe outbound path, or a reason.
import type { Sender } from '../../egress/ports.ts'
import type { TargetOptions } from '../../egress/target.ts'
import type { Targets } from '../../outbound/targets.ts'
import type { SourceReader } from '../ports.ts'

export interface ReaderParts {
  readonly targets: Targets
  readonly sender: Sender
  readonly rules: TargetOptions
  readonly now: () => number
}

export function createReader(_parts: ReaderParts): SourceReader {
  return { read: async () => ({ ok: false, reason: 'unreadable', detail: 'not built yet' }) }
}
