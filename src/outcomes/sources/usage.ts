// Decides whether a source may be read, by what its site and its page say and by the policy that the operator chose. Pure.
import type { RobotsPolicy, RobotsReport } from '../../../schemas/sources.ts'
import { PRODUCT_TOKEN } from '../limits.ts'
import type { SourceFailure, UsageHeaders } from '../ports.ts'
import type { PageUsage } from '../reading.ts'
import { failure } from './failure.ts'
import type { SiteAnswer } from './robots.ts'

const NOTHING = { robots: '', tdmReservation: null, tdmPolicy: null }
/** Directives that have a value after a colon: their names are no names of robots. */
const VALUED = /^(?:unavailable_after|max-snippet|max-image-preview|max-video-preview)$/
const MAX_DIRECTIVES = 20

/**
 * What was said, whoever said it: the header of the answer before the page, the page before the site (TDM Reservation Protocol, 5).
 * @param site undefined where its answer was not waited for
 */
export function reportUsage(
  policy: RobotsPolicy,
  site: SiteAnswer | undefined,
  headers: UsageHeaders | undefined,
  page: PageUsage = NOTHING,
): RobotsReport {
  const reservation = headers?.tdmReservation ?? page.tdmReservation
  return {
    policy,
    robots_txt:
      site === undefined
        ? 'not_waited_for'
        : site === null
          ? 'unavailable'
          : site.isAllowed
            ? 'allowed'
            : 'disallowed',
    robots_line: site?.line ?? null,
    names_us: site?.isNamed ?? false,
    directives: [
      ...new Set([...(headers?.robots ?? []).flatMap(directivesFor), ...directivesFor(page.robots)]),
    ].slice(0, MAX_DIRECTIVES),
    content_signals: { ...site?.signals },
    tdm_reserved:
      reservation === null || reservation === undefined ? (site?.tdmReserved ?? null) : reservation === '1',
    tdm_policy: headers?.tdmPolicy ?? page.tdmPolicy ?? site?.tdmPolicy ?? null,
  }
}

/** The directives of one header or of the page that are for everybody or for this gateway. */
function directivesFor(value: string): string[] {
  const [, name = '', rest = ''] = /^\s*([\w*-]{1,40})\s*:(.*)$/s.exec(value) ?? []
  const scope = name.toLowerCase()
  if (scope !== '' && !VALUED.test(scope)) {
    return scope === PRODUCT_TOKEN.toLowerCase() || scope === '*' ? directivesFor(rest) : []
  }
  return value
    .split(',')
    .map((directive) => directive.trim().toLowerCase().slice(0, 60))
    .filter((directive) => /^[a-z][\w-]*(?:\s*:.*)?$/.test(directive))
}

const NAMED = `The robots.txt of this site says that ${PRODUCT_TOKEN} is not to read this address. Name another source.`

/** Why the source is not used; undefined where it may be. */
export function refuseUsage(report: RobotsReport): SourceFailure | undefined {
  const { policy, robots_txt, names_us, directives, content_signals, tdm_reserved } = report
  if (policy === 'off' || policy === 'report') return undefined
  if (robots_txt === 'disallowed' && names_us) return failure('robots_disallowed', NAMED)
  const reserved = tdm_reserved
    ? 'text and data mining'
    : directives.includes('noai') || content_signals['ai-input'] === false
      ? 'AI systems'
      : undefined
  if (reserved !== undefined)
    return failure(
      'use_reserved',
      `The source reserves its use by ${reserved}, and this gateway keeps to that. Ask its owner, or name another source.`,
    )
  if (policy !== 'obey') return undefined
  if (robots_txt === 'disallowed')
    return failure(
      'robots_disallowed',
      'The robots.txt of this site keeps automatic readers away from this address. Name another source.',
    )
  if (robots_txt === 'unavailable')
    return failure(
      'robots_disallowed',
      'The robots.txt of this site could not be read, so that nothing is read of it. Try again later, or name another source.',
    )
  return undefined
}
