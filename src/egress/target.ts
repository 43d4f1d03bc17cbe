// Canonical URL or refusal. One spelling of every target: what is checked, signed and sent is the same string, and
// nothing is left for another parser to read differently. Who may go there is scope.ts; where it leads is address.ts.
import { isIP } from 'node:net'

export type TargetReason =
  | 'not_text'
  | 'too_long'
  | 'not_https'
  | 'not_printable_ascii'
  | 'unparsable'
  | 'userinfo'
  | 'fragment'
  | 'host_not_canonical'
  | 'port_not_canonical'
  | 'path_not_canonical'
  | 'query_not_canonical'
  | PathReason
  | 'ip_literal'
  | 'local_name'
  | 'port_not_allowed'

export type PathReason =
  | 'path_dot_segment'
  | 'path_encoded_delimiter'
  | 'path_empty_segment'
  | 'path_parameter_segment'
  | 'path_control_character'
  | 'path_not_utf8'
  | 'path_look_alike'
  | 'path_needless_encoding'

export type TargetVerdict =
  | {
      readonly ok: true
      readonly url: URL
      /** Lower-case name, without port. */
      readonly host: string
      readonly port: number
      /** Raw path, without query. */
      readonly path: string
    }
  | {
      readonly ok: false
      readonly code: 'target_invalid' | 'target_blocked'
      readonly reason: TargetReason
      /** Tells an agent what to change. */
      readonly detail: string
    }

export interface TargetOptions {
  readonly ports: readonly number[]
  /** Sandbox mode only: lets the one reserved name through that the in-process sample site answers. */
  readonly allowSandboxName?: boolean
  /** Paths may contain `%2F`, by opt-in of the credential. */
  readonly allowEncodedSlash?: boolean | undefined
  /**
   * Paths go on as they were written, with `;`, `%2F` and needless escapes, because they are the server's own business. What could step
   * out of a prefix in some reading stays refused.
   */
  readonly asWritten?: boolean | undefined
}

/** The sample site of the sandbox, which has no name in any DNS. */
export const SANDBOX_HOST = 'sandbox.agent-gateway.test'
export const SANDBOX_ADDRESS = '127.0.0.1'
const MAX_URL_CHARS = 8192
/** Each is two readings of the path for whoever judges it; names of objects have a dozen. */
const MOST_ENCODED_SLASHES = 100

const DETAILS: Readonly<Record<TargetReason, string>> = {
  not_text: 'Send the target as one string.',
  too_long: `Use a URL of at most ${MAX_URL_CHARS} characters.`,
  not_https: 'Use a URL that starts with https:// in lower case.',
  not_printable_ascii:
    'Use printable ASCII only: percent-encode the path and query, write host names as A-labels.',
  unparsable: 'Use a URL of the form https://host/path?query.',
  userinfo: 'Leave out user name and password: what a URL carries of them is never sent.',
  fragment: 'Leave out the #fragment: it is never sent.',
  host_not_canonical:
    'Write the host as a lower-case name of two or more labels, without a trailing dot or escapes.',
  port_not_canonical: 'Leave out :443, and write other ports as a plain decimal number.',
  path_not_canonical:
    'Write the path as it goes on the wire: no dot segments, no unescaped special characters.',
  query_not_canonical: 'Percent-encode the query, and leave out an empty one.',
  path_dot_segment: 'Resolve . and .. segments of the path first, escaped ones too.',
  path_encoded_delimiter:
    'Leave out %2F, %5C, %25 and %00 in the path: servers disagree on what they mean. An operator can allow %2F for a ' +
    `credential (settings.encoded_slash), ${MOST_ENCODED_SLASHES} of them at most.`,
  path_empty_segment: 'Leave out empty path segments (//).',
  path_parameter_segment: 'Leave out ; in the path: servers disagree on what it means.',
  path_control_character: 'Leave out control characters in the path, escaped ones too.',
  path_not_utf8: 'Escape the path as UTF-8.',
  path_look_alike: 'Leave out characters in the path that some servers read as a dot, a slash or an escape.',
  path_needless_encoding:
    'Write letters, digits, - . _ ~ of the path unescaped and escapes in upper-case hexadecimal.',
  ip_literal: 'Name the host: IP addresses are never called directly.',
  local_name: 'Only names on the public internet can be called.',
  port_not_allowed: 'The operator does not allow this port.',
}

/** Special-use and customary local domains (RFC 6761 and its registry, RFC 9476, cloud and cluster conventions). */
const LOCAL_DOMAINS = new Set(
  (
    'localhost localdomain local internal intranet private lan home corp domain host arpa test invalid example ' +
    'onion alt svc cluster workgroup'
  ).split(' '),
)

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const HOST = new RegExp(`^(?=.{1,253}$)(?:${LABEL}\\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$`)

/** Never throws. `target_invalid` is a spelling to correct, `target_blocked` a place that stays closed. */
export function parseTarget(text: string, options: TargetOptions): TargetVerdict {
  if (typeof text !== 'string') return invalid('not_text')
  if (text.length > MAX_URL_CHARS) return invalid('too_long')
  if (!text.startsWith('https://')) return invalid('not_https')
  const url = URL.parse(text)
  // Asked of the lenient parse: 0x7f.1 and full-width digits are the address that a lenient client would dial.
  if (url && isLiteral(url.hostname)) return blocked('ip_literal')
  if (!/^[!-~]+$/.test(text)) return invalid('not_printable_ascii')
  if (!url) return invalid('unparsable')
  // WHATWG URL drops an empty userinfo, so the raw authority is what has to be looked at.
  const behindScheme = text.slice('https://'.length)
  const end = behindScheme.search(/[/?#\\]/)
  const authority = end < 0 ? behindScheme : behindScheme.slice(0, end)
  if (authority.includes('@')) return invalid('userinfo')
  if (text.includes('#')) return invalid('fragment')
  if (isLocalName(url.hostname, options)) return blocked('local_name')

  const { hostname: host, pathname: path, search } = url
  if (authority !== host && authority.startsWith(`${host}:`) && HOST.test(host)) {
    if (url.port === '' || authority !== `${host}:${url.port}`) return invalid('port_not_canonical')
  } else if (authority !== host || !HOST.test(host)) return invalid('host_not_canonical')
  const port = url.port === '' ? 443 : Number(url.port)
  if (!options.ports.includes(port)) return blocked('port_not_allowed')

  const rest = end < 0 ? '' : behindScheme.slice(end)
  const mark = rest.indexOf('?')
  const rawPath = mark < 0 ? rest : rest.slice(0, mark)
  // The bare origin alone may leave out its path.
  if (rawPath !== path && rest !== '') return invalid(whyPathIsNot(rawPath))
  const verdict = checkPath(path, options)
  if (!verdict.ok) return invalid(verdict.reason)
  if (mark >= 0 && (rest.slice(mark) !== search || /%(?![\da-f]{2})/i.test(search)))
    return invalid('query_not_canonical')
  return { ok: true, url, host, port, path }
}

const invalid = (reason: TargetReason) =>
  ({ ok: false, code: 'target_invalid', reason, detail: DETAILS[reason] }) as const
const blocked = (reason: TargetReason) =>
  ({ ok: false, code: 'target_blocked', reason, detail: DETAILS[reason] }) as const

/** A parsed URL has IPv6 in brackets, and a host that ends in no digit is no IPv4. */
const isLiteral = (hostname: string) =>
  hostname.startsWith('[') || (/\d$/.test(hostname) && isIP(hostname) !== 0)

/** Single labels and names under a local domain, a trailing dot notwithstanding. */
export function isLocalName(
  hostname: string,
  options: Pick<TargetOptions, 'allowSandboxName'> = {},
): boolean {
  const name = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname
  if (options.allowSandboxName && name === SANDBOX_HOST) return false
  const dot = name.lastIndexOf('.')
  return dot < 0 || LOCAL_DOMAINS.has(name.slice(dot + 1))
}

export type PathVerdict = { readonly ok: true } | { readonly ok: false; readonly reason: TargetReason }

// Full-width and other compatibility forms are asked of NFKC; these are the ones that only code pages fold.
const LOOK_ALIKE = /[\u2044\u2215\u2216\u29f5\u29f8\ufe68]/
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u

/**
 * Whether a raw path means the same to every server: also asked of the prefixes that operators write. With `allowEncodedSlash` it
 * has to be harmless in both readings, with `%2F` as a character of a segment and as a slash; `asWritten`, also without what stands behind a
 * `;` of a segment, since some servers cut that off before they look at dots.
 */
export function checkPath(
  path: string,
  {
    allowEncodedSlash = false,
    asWritten = false,
  }: Pick<TargetOptions, 'allowEncodedSlash' | 'asWritten'> = {},
): PathVerdict {
  if (!/^\/[!-~]*$/.test(path) || /[\\?#"<>^`{|}]/.test(path) || /%(?![\da-f]{2})/i.test(path))
    return { ok: false, reason: whyPathIsNot(path) }
  if ((allowEncodedSlash || asWritten ? /%(?:5c|25|00)/i : /%(?:2f|5c|25|00)/i).test(path))
    return { ok: false, reason: 'path_encoded_delimiter' }
  if ((path.match(/%2f/gi)?.length ?? 0) > MOST_ENCODED_SLASHES)
    return { ok: false, reason: 'path_encoded_delimiter' }
  if (path.includes('//')) return { ok: false, reason: 'path_empty_segment' }
  if (!asWritten && (path.includes(';') || /%3b/i.test(path)))
    return { ok: false, reason: 'path_parameter_segment' }
  // Printable ASCII without an escape can hide nothing else.
  if (!path.includes('%')) return hasDotSegment(path) ? { ok: false, reason: 'path_dot_segment' } : OK
  // An escaped percent sign is refused above, so there is one level of escapes and one decoding shows everything.
  let decoded: string
  try {
    decoded = decodeURIComponent(path)
  } catch {
    return { ok: false, reason: 'path_not_utf8' }
  }
  if (decoded.includes('//')) return { ok: false, reason: 'path_empty_segment' }
  if (hasDotSegment(decoded) || /%2e/i.test(path)) return { ok: false, reason: 'path_dot_segment' }
  if (CONTROL.test(decoded)) return { ok: false, reason: 'path_control_character' }
  if (LOOK_ALIKE.test(decoded) || hasCompatibilityDelimiter(decoded))
    return { ok: false, reason: 'path_look_alike' }
  if (asWritten) return OK
  const escapes = path.match(/%../g) ?? []
  if (
    escapes.some(
      (escape) =>
        escape !== escape.toUpperCase() || /%(?:2D|3\d|4[1-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9AE])/.test(escape),
    )
  )
    return { ok: false, reason: 'path_needless_encoding' }
  return OK
}

const OK = { ok: true } as const

/** Tomcat and its like read `/a/..;x/b` as `/b`. */
const hasDotSegment = (path: string) => /(?:^|\/)\.{1,2}(?:;[^/]*)?(?:\/|$)/.test(path)

function hasCompatibilityDelimiter(decoded: string): boolean {
  for (const char of decoded) {
    if (char < '\u0080') continue
    const folded = char.normalize('NFKC')
    // An ellipsis folds to three dots, which is nobody's parent directory.
    if (/^\.{1,2}$|[/\\%;?#]/.test(folded)) return true
  }
  return false
}

function whyPathIsNot(rawPath: string): TargetReason {
  if (rawPath.split(/[/\\]/).some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment))) return 'path_dot_segment'
  return 'path_not_canonical'
}
