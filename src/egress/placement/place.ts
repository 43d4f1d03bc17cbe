// Puts secrets into a request that was checked, the moment before it is sent: pure, over target, headers and body. Whether there
// is room for them is room.ts, asked before anything is charged.
import type { Placement } from '../../../schemas/credential-settings.ts'
import { Secret } from '../../lib/secret.ts'
import type { SealedCredential } from '../../store/ports.ts'
import type { HeaderPairs } from '../headers.ts'
import { isSigning } from '../kinds/kind.ts'
import type { SecretParts } from '../ports.ts'
import { isTlsAlone } from '../reach/tls-identity.ts'
import { checkPath } from '../target.ts'
import { insertMembers } from './json-body.ts'
import { ONLY_PART } from './parts.ts'

/** Where a credential's secrets go: as its settings say, or in its one header; nowhere where it signs instead. */
export const placementsOf = ({
  header,
  scheme,
  settings,
}: Pick<SealedCredential, 'header' | 'scheme' | 'settings'>): readonly Placement[] =>
  settings.kind && isSigning(settings.kind)
    ? []
    : (settings.placements ?? (isTlsAlone(settings) ? [] : [{ in: 'header', name: header, scheme }]))

/** What is read of a request (request.ts). */
interface CheckedMessage {
  readonly target: { readonly url: URL }
  readonly headers: HeaderPairs
  readonly body: Buffer | undefined
}

/** What goes on the wire. All of it is secret: any of the three may hold one. */
export interface PlacedRequest {
  /** Path and query; undefined where they are those of the request. */
  readonly target: string | undefined
  readonly headers: HeaderPairs
  readonly body: Buffer | undefined
}

/** @throws where a secret has no room after all; the words name no secret */
export function placeSecrets(
  request: CheckedMessage,
  placements: readonly Placement[],
  parts: SecretParts,
): Secret<PlacedRequest> {
  const { url } = request.target
  let path = url.pathname
  let query = url.search
  let body = request.body
  let headers = [...request.headers]
  const cookies: string[] = []
  const members: [pointer: string, value: string][] = []
  for (const placement of placements) {
    const text = textFor(placement, parts)
    switch (placement.in) {
      case 'header':
        headers.push([placement.name, withScheme(placement.scheme, text)])
        break
      case 'cookie':
        cookies.push(`${placement.name}=${text}`)
        break
      case 'query':
        query += `${query === '' ? '?' : '&'}${placement.name}=${encodeStrictly(text)}`
        break
      case 'path':
        path = insertSegment(path, placement.at, `${placement.prefix ?? ''}${text}`)
        break
      case 'form':
        body = appendField(body, `${placement.name}=${encodeStrictly(text)}`)
        setType(headers, 'application/x-www-form-urlencoded')
        break
      case 'json':
        members.push([placement.pointer, text])
        break
    }
  }
  if (members.length > 0) {
    body = insertMembers(body, members)
    setType(headers, 'application/json')
  }
  if (cookies.length > 0) headers = withCookies(headers, cookies)
  const isChanged = path !== url.pathname || query !== url.search
  const target = isChanged ? path + query : undefined
  if (target !== undefined) assertSameTarget(url, path, target)
  return new Secret({ target, headers, body })
}

/** Those of a program, which hold none of these names, come after them: a quote that it opens there takes in no secret. */
function withCookies(headers: HeaderPairs, cookies: readonly string[]): (readonly [string, string])[] {
  const given = headers.filter(([name]) => name === 'cookie').map(([, value]) => value)
  const others = headers.filter(([name]) => name !== 'cookie')
  return [...others, ['cookie', [...cookies, ...given].join('; ')]]
}

const withScheme = (scheme: string | undefined, text: string) =>
  scheme === undefined || scheme === '' ? text : `${scheme} ${text}`

/** RFC 7617: user and password are one text in base64, of their UTF-8 bytes. */
export const isBasicPair = (placement: Placement, parts: ReadonlyMap<string, unknown>): boolean =>
  placement.in === 'header' &&
  placement.part === undefined &&
  /^basic$/i.test(placement.scheme ?? '') &&
  parts.has('user')

function textFor(placement: Placement, parts: SecretParts): string {
  const read = (name: string) => parts.get(name)?.use((text) => text)
  if (isBasicPair(placement, parts))
    return Buffer.from(`${read('user') ?? ''}:${read('password') ?? ''}`).toString('base64')
  const name = placement.part ?? (parts.size === 1 ? [...parts.keys()][0] : ONLY_PART)
  const text = name === undefined ? undefined : read(name)
  if (text === undefined) throw new Error('placement: the credential has no such part')
  return text
}

/** Everything but unreserved characters in percent-encoding: no parser reads it in another way. */
const encodeStrictly = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)

function insertSegment(path: string, at: number, segment: string): string {
  const segments = path.slice(1).split('/')
  if (at > segments.length) throw new Error('placement: the path is too short')
  // The root alone has one segment, which is empty, and nothing comes after what is put there.
  if (path === '/') return `/${segment}`
  return `/${segments.toSpliced(at, 0, segment).join('/')}`
}

function appendField(body: Buffer | undefined, field: string): Buffer {
  if (body === undefined || body.length === 0) return Buffer.from(field)
  return Buffer.concat([body, Buffer.from(`&${field}`)])
}

/** Only where there was no body, and so nobody said what it is. */
function setType(headers: (readonly [string, string])[], type: string): void {
  if (!headers.some(([name]) => name === 'content-type')) headers.push(['content-type', type])
}

/** The secret must not change where the request goes, nor what its path means. */
function assertSameTarget(url: URL, path: string, target: string): void {
  const placed = URL.parse(url.origin + target)
  const isSame =
    placed?.origin === url.origin &&
    placed.pathname + placed.search === target &&
    checkPath(path, { allowEncodedSlash: true }).ok
  if (!isSame) throw new Error('placement: the request would not be canonical with the secret in it')
}
