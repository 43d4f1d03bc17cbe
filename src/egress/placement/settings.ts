// What an operator may say about where secrets go, checked when a credential is stored and when its secret is replaced: a mistake
// is told then, in words, instead of by an upstream that refuses every request.
import type { CredentialSettings, Placement } from '../../../schemas/credential-settings.ts'
import { GatewayError } from '../../core/errors.ts'
import { toCanonicalJson } from '../../lib/canonical-json.ts'
import { isCallersHeader, isReservedHeader } from '../headers.ts'
import type { SecretParts } from '../ports.ts'
import { ONLY_PART } from './parts.ts'
import { isBasicPair } from './place.ts'

/**
 * @param placements all of them (place.ts, `placementsOf`)
 * @throws {GatewayError} input_invalid naming the member that is wrong
 */
export function checkSettings(settings: CredentialSettings, placements: readonly Placement[]): void {
  if (!hasCanonicalForm(settings)) throw refused('/settings', 'a text in them holds half a surrogate pair')
  const taken = new Set<string>()
  for (const [i, placement] of placements.entries()) {
    const pointer = settings.placements ? `/settings/placements/${i}` : '/header'
    const place = placeOf(placement)
    if (taken.has(place)) throw refused(pointer, 'another placement fills the same place')
    taken.add(place)
    if (placement.in === 'header' && (isReservedHeader(placement.name) || isCallersHeader(placement.name)))
      throw refused(
        settings.placements ? `${pointer}/name` : pointer,
        `${placement.name} cannot carry a secret`,
      )
    checkPart(settings, placement, pointer)
  }
  if (taken.has('header cookie') && placements.some((placement) => placement.in === 'cookie'))
    throw refused('/settings/placements', 'give each cookie as a placement of its own, not the whole header')
  if (placements.some(isInForm) && placements.some(isInJson))
    throw refused('/settings/placements', 'a body is a form or JSON, not both')
  checkNames(settings, taken)
  checkUse(settings, placements)
}

/** The secret is bound to them in it. */
function hasCanonicalForm(settings: CredentialSettings): boolean {
  try {
    toCanonicalJson(settings)
    return true
  } catch {
    return false
  }
}

const isInForm = (placement: Placement) => placement.in === 'form'
const isInJson = (placement: Placement) => placement.in === 'json'

function placeOf(placement: Placement): string {
  if (placement.in === 'json') return `json ${placement.pointer}`
  if (placement.in === 'path') return `path ${placement.at}`
  return `${placement.in} ${placement.name.toLowerCase()}`
}

function checkPart({ parts }: CredentialSettings, placement: Placement, pointer: string): void {
  const names = parts ? Object.keys(parts) : [ONLY_PART]
  if (placement.part !== undefined) {
    if (!names.includes(placement.part))
      throw refused(`${pointer}/part`, `the credential has no part of this name, but ${names.join(', ')}`)
    return
  }
  if (names.length > 1 && !isBasicPair(placement, new Map(names.map((name) => [name, true]))))
    throw refused(
      pointer,
      `the credential is made of ${names.join(' and ')}: say in settings.placements where each \`part\` goes`,
    )
}

/** A part that goes nowhere was meant to go somewhere. */
function checkUse({ parts }: CredentialSettings, placements: readonly Placement[]): void {
  if (!parts) return
  const named = new Map(Object.entries(parts))
  const names = [...named.keys()]
  const used = new Set<string | undefined>()
  for (const placement of placements) {
    if (placement.part !== undefined) used.add(placement.part)
    else if (isBasicPair(placement, named)) used.add('user').add('password')
    else used.add(names[0])
  }
  const idle = names.find((name) => !used.has(name))
  if (idle !== undefined)
    throw refused('/settings/placements', `the part ${idle} goes nowhere: give it a place`)
}

/** Names that callers may send, or get, on top: never those that carry a secret, frame the message or keep state. */
function checkNames(settings: CredentialSettings, taken: ReadonlySet<string>): void {
  for (const [i, name] of (settings.request_headers ?? []).entries())
    if (isReservedHeader(name) || SECRET_HEADER.test(name) || taken.has(`header ${name}`))
      throw refused(`/settings/request_headers/${i}`, `${name} may not be sent by callers`)
  for (const [i, name] of (settings.response_headers ?? []).entries())
    if (isReservedHeader(name) || STATE_HEADER.test(name))
      throw refused(`/settings/response_headers/${i}`, `${name} is never passed on`)
}

/** Headers by which a caller would bring a credential, another identity or another target of its own. */
const SECRET_HEADER =
  /^(?:authorization|cookie2?|forwarded|via|x-forwarded-.*|x-real-ip|x-original-.*|x-rewrite-url|x-http-method.*|x-method-override)$|^proxy-/
/** Headers that set state in the caller or ask it for a credential. */
const STATE_HEADER = /^(?:set-cookie2?|www-authenticate|authentication-info|clear-site-data|alt-svc)$|^proxy-/

/**
 * Whether each text fits where it goes: no line break in a header, no slash in a path.
 * @throws {GatewayError} input_invalid; its words never quote a secret
 */
export function checkTexts(parts: SecretParts, placements: readonly Placement[]): void {
  for (const placement of placements) {
    if (isBasicPair(placement, parts)) {
      if (parts.get('user')?.use((text) => text.includes(':')))
        throw refused('/parts/user', 'a user name of Basic authentication holds no colon')
      continue
    }
    const name = placement.part ?? [...parts.keys()][0] ?? ONLY_PART
    const message = parts.get(name)?.use((text) => whyUnfit(text, placement))
    if (message !== undefined)
      throw refused(
        name === ONLY_PART && placement.part === undefined ? '/secret' : `/parts/${name}`,
        message,
      )
  }
}

const LATIN_1 = /^[\x21-\x7e\xa0-\xff](?:[\x20-\x7e\xa0-\xff]*[\x21-\x7e\xa0-\xff])?$/
/** RFC 6265, 4.1.1, without the quotes around it. */
const COOKIE = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]+$/
/** Characters that every server reads alike in a path, unescaped. */
const SEGMENT = /^[A-Za-z0-9._~!$&'()*+,=:@-]+$/

function whyUnfit(text: string, placement: Placement): string | undefined {
  switch (placement.in) {
    case 'header':
      if (!LATIN_1.test(text))
        return 'a secret in a header is printable Latin-1 without line breaks and without spaces at its ends'
      return whySchemeTwice(text, placement.scheme ?? '')
    case 'cookie':
      return COOKIE.test(text)
        ? undefined
        : 'a secret in a cookie holds no spaces, quotes, commas or semicolons'
    case 'path':
      if (!SEGMENT.test(text)) return "a secret in a path holds letters, digits and -._~!$&'()*+,=:@ only"
      return /^\.+$/.test(text) ? 'dots alone mean another path' : undefined
    case 'query':
    case 'form':
    case 'json':
      return text.isWellFormed() && !text.includes('\0') ? undefined : 'it is no valid text'
  }
}

/** `Bearer Bearer …` and `Basic user:password` go out as they are and are refused by every upstream. */
function whySchemeTwice(text: string, scheme: string): string | undefined {
  if (scheme === '') return undefined
  if (text.toLowerCase().startsWith(`${scheme.toLowerCase()} `))
    return `leave the word ${scheme} out of the secret: the gateway adds it`
  if (/^basic$/i.test(scheme) && text.includes(':'))
    return 'Basic wants user and password in base64: send `parts` with `user` and `password` instead, and the gateway encodes them'
  return undefined
}

const refused = (pointer: string, message: string) =>
  new GatewayError('input_invalid', `${pointer}: ${message}.`, { extras: { fields: [{ pointer, message }] } })
