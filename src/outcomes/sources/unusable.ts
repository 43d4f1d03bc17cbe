// Ends an outcome that has nothing to deliver: nothing is charged, and everybody is told why.
import type { Coverage, SourceReason } from '../../../schemas/sources.ts'
import { GatewayError } from '../../core/errors.ts'

/**
 * @param detail for the caller; the log gets the reasons, which are words of ours
 * @param then what went wrong after the sources were read
 */
export function sourcesUnusable(detail: string, coverage: Coverage, then?: SourceReason): GatewayError {
  const reasons = coverage.sources.flatMap(({ attempts }) => attempts.flatMap(({ reason }) => reason ?? []))
  if (then) reasons.push(then)
  return new GatewayError('sources_unusable', detail, {
    reason: [...new Set(reasons)].sort().join(' '),
    extras: { coverage },
  })
}
