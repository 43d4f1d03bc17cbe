// Headers of an unmodified program and of the answer that it gets. The lists are of what does not pass: a program needs whatever else its
// upstream and its library know of.
import type { Placement } from '../../../schemas/credential-settings.ts'
import { GatewayError } from '../../core/errors.ts'
import { findEncodedToken, findToken } from '../../lib/tokens.ts'
import { listed } from '../../lib/websocket.ts'
import { commandsWebServer, type HeaderPairs } from '../headers.ts'
import { isUnsignedChunks } from '../kinds/aws-sigv4.ts'
import type { OutboundResponse } from '../ports.ts'
import { cookiesOf, setsCookie, withoutCookies } from './cookies.ts'
import { codingOf } from './decoding.ts'

const words = (text: string) => new Set(text.split(' '))

/** Of one connection (RFC 9110, 7.6.1), of the message's own frame, or set anew by the gateway. */
const OF_CONNECTION = words(
  'connection keep-alive te trailer transfer-encoding upgrade host content-length accept-encoding expect http2-settings ' +
    'sec-websocket-extensions',
)
/**
 * They say who asks, from where, or another target: the upstream is asked by the gateway. Servers cut the script's name off the path
 * (gunicorn), and Next.js takes the path from its own.
 */
const OF_ROUTE = words(
  'forwarded x-forwarded via proxy x-real-ip true-client-ip x-client-ip x-host x-http-host-override x-original-url x-original-uri ' +
    'x-original-path x-original-host x-original-method x-rewrite-url x-override-url x-http-destinationurl x-envoy-original-path ' +
    'script-name x-script-name path-info x-matched-path x-invoke-path x-waws-unencoded-url',
)
const OF_OTHERS = /^(?:proxy|x-gateway|x-forwarded)-/
/** A part of an answer is asked for anew, with what is around it (ranges.ts), so that a checksum of what comes would be none of the part. */
const OF_RANGES = words(
  'range if-range request-range x-ms-range x-ms-range-get-content-md5 x-ms-range-get-content-crc64',
)
/** Where services take keys. A program's own key for the host is never sent beside ours. */
const OF_CREDENTIALS = words(
  'authorization x-api-key api-key apikey x-goog-api-key x-auth-token x-access-token private-token x-amz-security-token ' +
    'xi-api-key dd-api-key dd-application-key x-vault-token ocp-apim-subscription-key x-shopify-access-token x-functions-key ' +
    'x-token x-auth-key x-auth-email x-subscription-token circle-token deploy-token job-token x-figma-token',
)
/** What a program signed with its placeholder, but for the word that stands for a body without a signature. */
const OF_SIGNATURES = words('x-amz-date x-amz-content-sha256')

/** With them many servers take a request for one of another method than that which was judged. */
const OF_METHODS = words('x-http-method-override x-http-method x-method-override')

/** Servers that hand headers on as variables (CGI, WSGI) read both spellings as one. */
export const spelled = (name: string) => name.toLowerCase().replaceAll('_', '-')

/** @throws {GatewayError} header_forbidden: without the header it would be another request than the program means */
export function refuseOtherMethod({
  headers,
  method,
}: {
  readonly headers: HeaderPairs
  readonly method: string
}): void {
  const other = headers.find(
    ([name, value]) => OF_METHODS.has(spelled(name)) && value.trim().toUpperCase() !== method,
  )
  if (other)
    throw new GatewayError(
      'header_forbidden',
      `Leave out the request header ${spelled(other[0])}: send the request with the method that is meant, which is the one that is checked.`,
      { reason: 'method_override', extras: { header: spelled(other[0]) } },
    )
}

/**
 * Refused and not dropped: without the header the request would be for another account than the program means.
 * @param accountHeaders of the provider of the credential
 * @param listed by the operator, for the credential
 * @throws {GatewayError} header_forbidden
 */
export function refuseAccountHeaders(
  given: HeaderPairs,
  accountHeaders: readonly string[],
  listed: readonly string[] = [],
): void {
  if (accountHeaders.length === 0) return
  const allowed = listed.map(spelled)
  const refused = accountHeaders.filter((name) => !allowed.includes(spelled(name))).map(spelled)
  // Some libraries send an empty one where nothing is set, which chooses nothing.
  const chosen = given.find(([name, value]) => refused.includes(spelled(name)) && value.trim() !== '')
  if (!chosen) return
  const name = spelled(chosen[0])
  throw new GatewayError(
    'header_forbidden',
    `Leave out the request header ${name}: it chooses an account, which the operator of this gateway has to allow for the credential ` +
      `(settings.request_headers: ["${name}"]). Nothing was sent or charged.`,
    { reason: 'account_header', extras: { header: name } },
  )
}

export interface RequestHeaderRules {
  readonly placements: readonly Placement[]
  readonly isSigned: boolean
  readonly passesCookies: boolean
}

/** Whether a header is one in which services take keys, or this credential's own goes there. */
export const takesKey = (name: string, placements: readonly Placement[]): boolean =>
  OF_CREDENTIALS.has(spelled(name)) ||
  placements.some((placement) => placement.in === 'header' && spelled(placement.name) === spelled(name))

/** @returns lower-case names, sorted, without whatever carries a credential; identity is asked for */
export function pickProgramHeaders(given: HeaderPairs, rules: RequestHeaderRules): HeaderPairs {
  const replaced = new Set(
    rules.placements.flatMap((placement) => (placement.in === 'header' ? [spelled(placement.name)] : [])),
  )
  const isOwnCookie = cookiesOf(rules.placements)
  const named = namedByConnection(given)
  const mayPass = (name: string) =>
    !OF_CONNECTION.has(name) &&
    !OF_ROUTE.has(name) &&
    !OF_OTHERS.test(name) &&
    !OF_RANGES.has(name) &&
    !OF_CREDENTIALS.has(name) &&
    !replaced.has(name) &&
    !(rules.isSigned && OF_SIGNATURES.has(name)) &&
    (name !== 'cookie' || rules.passesCookies)
  const passedOf = (name: string, value: string) => {
    if (name === 'cookie') return withoutCookies(value, isOwnCookie)
    return name === SUBPROTOCOLS ? withoutTokens(value) : value
  }
  const picked = given
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .map(([name, value]) => [name, passedOf(name, value)] as const)
    .filter(
      ([name, value]) =>
        (mayPass(spelled(name)) || (rules.isSigned && isUnsignedChunks(name, value))) &&
        !named.has(name) &&
        !((name === SUBPROTOCOLS || name === 'cookie') && value === '') &&
        !findToken(name) &&
        !findEncodedToken(value),
    )
  return [...picked, ['accept-encoding', 'identity'] as const].toSorted(([a], [b]) =>
    a < b ? -1 : a > b ? 1 : 0,
  )
}

/** Browsers' libraries put a key among the subprotocols, where they can set no header: the others stay. */
const KEY_AMONG_SUBPROTOCOLS = /^openai-insecure-api-key\./
const SUBPROTOCOLS = 'sec-websocket-protocol'
const withoutTokens = (value: string) =>
  listed(value)
    .filter((name) => !findEncodedToken(name) && !KEY_AMONG_SUBPROTOCOLS.test(name))
    .join(', ')

function namedByConnection(given: HeaderPairs): ReadonlySet<string> {
  return new Set(
    given
      .filter(([name]) => name.toLowerCase() === 'connection')
      .flatMap(([, value]) => value.toLowerCase().split(','))
      .map((name) => name.trim()),
  )
}

/** The frame is the gateway's own, and no answer is encoded any more when it is passed on. */
const OF_ANSWER_FRAME = words(
  'connection keep-alive trailer transfer-encoding upgrade content-length content-encoding proxy-authenticate alt-svc',
)
/** What a browser keeps for the origin, which is the gateway's own behind a base URL: its console stands there. */
const OF_ORIGIN = words(
  'clear-site-data strict-transport-security service-worker-allowed nel report-to reporting-endpoints',
)
const COOKIES = words('set-cookie set-cookie2')
/**
 * Checksums of an answer as it came. Where its coding is taken off (decoding.ts), libraries would compare them with other bytes and fail.
 * `ETag` stays: it names the version for conditions and copies, and services take back what they gave.
 */
const OF_CODED_BYTES =
  /^(?:(?:content-|repr-)?digest|content-md5|x-ms-(?:blob-)?content-(?:md5|crc64)|x-amz-checksum-.+|x-goog-hash|x-(?:oss|cos)-hash-.+|x-bz-content-sha1)$/

/** A parser takes more than a writer does. */
const isWritable = (name: string, value: string) =>
  /^[!#$%&'*+.^_`|~\da-z-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)

/** @returns pairs as they came, repeated ones apart */
export function pickAnswerHeaders(
  received: OutboundResponse['headers'],
  { passesCookies, placements }: Pick<RequestHeaderRules, 'passesCookies' | 'placements'>,
): HeaderPairs {
  const named = namedByConnection(received.map(({ name, value }) => [name, value] as const))
  const isOwnCookie = cookiesOf(placements)
  const isDecoded = codingOf(received) !== undefined
  return received
    .filter(
      ({ name, value, trailer }) =>
        !trailer &&
        isWritable(name, value) &&
        !OF_ANSWER_FRAME.has(name) &&
        !OF_ORIGIN.has(name) &&
        !(isDecoded && OF_CODED_BYTES.test(name)) &&
        !commandsWebServer(name) &&
        !named.has(name) &&
        !name.startsWith('x-gateway-') &&
        (!COOKIES.has(name) || (passesCookies && !setsCookie(value, isOwnCookie))),
    )
    .map(({ name, value }) => [name, value] as const)
}

/** The same as an object, for digests and for what is kept. */
export function joinPairs(pairs: HeaderPairs): Record<string, string> {
  const joined = new Map<string, string>()
  for (const [name, value] of pairs) {
    const before = joined.get(name)
    joined.set(name, before === undefined ? value : `${before}, ${value}`)
  }
  // A name may be that of an object's members.
  return Object.fromEntries(joined)
}
