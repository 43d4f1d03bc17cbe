// Holds what all jobs over public sources have in common: what they read of a request, what they say of an analysis that did
// not end, and how their result cites the sources.
import type { RedirectRule } from '../../../schemas/sources.ts'
import type { ClaimField } from '../claims.ts'
import type { AnalysisResult, Delivered, Gathered, SourceRequest } from '../ports.ts'
import type { Reading } from '../reading.ts'

/** The sources as `intent.request` shows them and as the payment is bound to them. */
export const showSources = (sources: readonly SourceRequest[]) =>
  sources.map(({ url, fallbacks }) => ({ url, fallbacks: [...fallbacks] }))

/** Seconds that an answer of a source may be old; a demo is always read anew. */
export const readMaxAge = (claims: ReadonlyMap<ClaimField, unknown>, isDemo: boolean): number =>
  isDemo ? 0 : ((claims.get('max_age_seconds') as number | undefined) ?? 0)

/** The redirects that are followed: those within the site of the address, unless the request says otherwise. */
export const readRedirects = (claims: ReadonlyMap<ClaimField, unknown>): RedirectRule =>
  (claims.get('redirects') as RedirectRule | undefined) ?? 'same_site'

/** @param details a sentence for each way in which an analysis can fail to end */
export const toReading = <T>(
  analysed: AnalysisResult<Reading<T>>,
  details: Readonly<Record<'budget_exceeded' | 'unreadable', string>>,
): Reading<T> =>
  analysed.ok ? analysed.value : { ok: false, reason: analysed.reason, detail: details[analysed.reason] }

/** The usable sources, with the size and the digest of what was read of each. */
export const citeSources = (usable: readonly Gathered<unknown>[]): Delivered['sources'] =>
  usable.map(({ fetched, retrieved }) => ({
    url: fetched.url,
    bytes: retrieved.bytes,
    sha256: fetched.sha256,
  }))
