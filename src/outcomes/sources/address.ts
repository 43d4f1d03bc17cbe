// Decides whether an address could be read at all, as far as it tells by itself: who may go where is not asked here.
import type { SourceReason } from '../../../schemas/sources.ts'
import { parseTarget, type TargetOptions, type TargetVerdict } from '../../egress/target.ts'
import { GatewayError } from '../../core/errors.ts'
import type { SourceFailure, SourceRequest } from '../ports.ts'

const MAX_SUGGESTED_CHARACTERS = 500

/** Why this address is never read, and what to send instead; undefined where it may be. */
export function findFault(text: string, rules: TargetOptions): SourceFailure | undefined {
  const verdict = parseTarget(text, rules)
  return verdict.ok ? undefined : toFailure(text, verdict, rules)
}

/** The failure of an address that is no target, with the nearest one that is. */
export function toFailure(
  text: string,
  { code, detail }: TargetVerdict & { ok: false },
  rules: TargetOptions,
): SourceFailure & { readonly reason: SourceReason } {
  const instead = code === 'target_invalid' ? suggestAddress(text, rules) : undefined
  return {
    ok: false,
    reason: code,
    detail: instead === undefined ? detail : `${detail} Send ${instead} instead.`,
  }
}

/** The nearest address that is one: over HTTPS, in the canonical spelling, without fragment and credentials. */
function suggestAddress(text: string, rules: TargetOptions): string | undefined {
  const trimmed = text.trim().replace(/^http:/i, 'https:')
  if (!URL.canParse(trimmed)) return undefined
  const url = new URL(trimmed)
  url.username = ''
  url.password = ''
  url.hash = ''
  const { href } = url
  return href !== text && href.length <= MAX_SUGGESTED_CHARACTERS && parseTarget(href, rules).ok
    ? href
    : undefined
}

/**
 * Refuses what cannot lead anywhere before it is paid for: no address of any source can ever be read. One that may be
 * read is enough to go on; what becomes of the others is in the coverage.
 * @throws {GatewayError} target_invalid or target_blocked, as the first address has it, with `sources`: each address
 * with its reason and what to send instead
 */
export function checkSources(sources: readonly SourceRequest[], rules: TargetOptions): void {
  const found: { requested: string; attempts: FailedAttempt[] }[] = []
  for (const { url, fallbacks } of sources) {
    const attempts: FailedAttempt[] = []
    for (const [at, address] of [url, ...fallbacks].entries()) {
      const fault = findFault(address, rules)
      if (!fault) return
      const { reason, detail } = fault
      attempts.push({ url: address, role: at === 0 ? 'source' : 'fallback', ok: false, reason, detail })
    }
    found.push({ requested: url, attempts })
  }
  const [first, ...others] = found.flatMap(({ attempts }) => attempts)
  if (!first) return
  const code = first.reason === 'target_blocked' ? 'target_blocked' : 'target_invalid'
  const which = others.length === 0 ? 'The source' : 'The first source'
  throw new GatewayError(code, `No source can be read. ${which}: ${first.detail} Nothing was charged.`, {
    reason: 'no_source_can_be_read',
    extras: { sources: found },
  })
}

interface FailedAttempt {
  readonly url: string
  readonly role: 'source' | 'fallback'
  readonly ok: false
  readonly reason: SourceReason
  readonly detail: string
}
