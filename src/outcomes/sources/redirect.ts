// Decides where a redirect of a source leads, and whether it is followed. Pure: the address that it leads to is vetted like any other
// when it is read.
import type { RedirectRule, SourceReason } from '../../../schemas/sources.ts'
import type { TargetOptions } from '../../egress/target.ts'
import { resolveLocation } from '../../outbound/public-request.ts'
import type { Lead, SourceFailure } from '../ports.ts'
import { findFault } from './address.ts'
import { failure } from './failure.ts'
import { siteOf } from './site.ts'

/** Real chains are one or two long: to the name with or without www, and to the new path. */
const MAX_REDIRECTS = 3
const MAX_REDIRECT_CHARACTERS = 8192

/**
 * @param location as the source wrote it; undefined where it did not say
 * @param base the address that redirects
 * @returns the failure of an attempt that ends here; its reason is `redirected` where the address could be read
 */
export function readRedirect(
  location: string | undefined,
  base: string,
  httpStatus: number,
  rules: TargetOptions,
): SourceFailure {
  if (location === undefined)
    return failure('redirected', 'The source redirects without saying where. Name another address.', {
      httpStatus,
    })
  const target = resolveLocation(fromBytes(location), base)
  const redirectTo = target && canonicalOf(target)
  // A user name and password in it are nobody's business here.
  if (!redirectTo || target.username || target.password || redirectTo.length > MAX_REDIRECT_CHARACTERS)
    return failure(
      'redirect_invalid',
      'The source redirects, but not to a web address that can be named. Name another address.',
      { httpStatus },
    )
  if (target.protocol === 'http:') {
    const secure = redirectTo.replace(/^http:/, 'https:')
    const advice = findFault(secure, rules) ? 'Name another source.' : `Send ${secure} instead.`
    return failure(
      'redirect_insecure',
      `The source redirects to an address without TLS, which is not read. ${advice}`,
      { httpStatus, redirectTo },
    )
  }
  const fault = findFault(redirectTo, rules)
  if (fault) {
    const reason = fault.reason === 'target_blocked' ? 'target_blocked' : 'redirect_invalid'
    return failure(reason, `The source redirects, and this leads nowhere. ${fault.detail}`, {
      httpStatus,
      redirectTo,
    })
  }
  return failure('redirected', 'Redirects are not followed. Send the address in redirect_to instead.', {
    httpStatus,
    redirectTo,
  })
}

/** A header comes as one character a byte; servers write UTF-8 into this one, and browsers read it so. */
function fromBytes(location: string): string {
  if (!/[\x80-\xff]/.test(location) || /[^\0-\xff]/.test(location)) return location
  const text = Buffer.from(location, 'latin1').toString('utf8')
  return text.includes('\ufffd') ? location : text
}

/** Without fragment, and with escapes as RFC 3986 (6.2.2) says that all spellings are equal. */
function canonicalOf(target: URL): string {
  const url = new URL(target)
  url.hash = ''
  const href = url.href.replace(/%[\da-f]{2}/gi, (escape) => {
    const char = String.fromCharCode(Number.parseInt(escape.slice(1), 16))
    return /[\w.~-]/.test(char) ? char : escape.toUpperCase()
  })
  return URL.canParse(href) ? new URL(href).href : href
}

interface Way {
  readonly rule: RedirectRule
  /** Every address so far, the one that was asked for first. */
  readonly visited: readonly string[]
  readonly kind: Lead['kind']
  /** The canonical address that it leads to. */
  readonly to: string
}

const OFF_SITE: Readonly<Record<Lead['kind'], SourceReason>> = {
  http: 'redirected',
  meta_refresh: 'refresh_stub',
  feed_link: 'feed_is_html',
}
const WHAT: Readonly<Record<Lead['kind'], string>> = {
  http: 'The source redirects',
  meta_refresh: 'The page sends its readers on at once',
  feed_link: 'The source is a web page that names its feed',
}

/** Why a redirect is not followed; undefined where it is. */
export function refuseRedirect({ rule, visited, kind, to }: Way): SourceFailure | undefined {
  const what = WHAT[kind]
  const refuse = (reason: SourceReason, detail: string) => failure(reason, detail, { redirectTo: to })
  if (rule === 'none')
    return refuse(
      OFF_SITE[kind],
      `${what}, and redirects: "none" follows nothing. Send the address in redirect_to instead.`,
    )
  if (visited.includes(to))
    return refuse(
      'redirect_loop',
      `${what}, back to an address that was read already; such a site often wants cookies. Name another source.`,
    )
  if (visited.length > MAX_REDIRECTS)
    return refuse(
      'too_many_redirects',
      `${what}, after ${MAX_REDIRECTS} redirects before it. Send the address in redirect_to instead.`,
    )
  if (rule === 'same_site' && siteOf(to) !== siteOf(visited[0] ?? ''))
    return refuse(
      OFF_SITE[kind],
      `${what}, to another site. Send the address in redirect_to instead, or redirects: "any".`,
    )
  return undefined
}
