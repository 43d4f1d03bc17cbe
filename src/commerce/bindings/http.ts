// What binds any HTTP message to where it goes and to the bytes it carries: Host, https, digests of the body.
import { hash } from 'node:crypto'
import { toCanonicalJson } from '../../lib/canonical-json.ts'
import { decodeBase64 } from '../decode/json.ts'
import { rememberLast } from '../decode/value.ts'
import type { Binding, Body, Message, Place } from '../ports.ts'
import { readHttp } from '../protocols/http.ts'
import { bind, normaliseAuthority, type Verdict } from './compare.ts'

export function bindHttp(message: Message): Binding[] {
  const { url } = message.target
  const { host, contentDigests } = readHttp(message)
  const found: Binding[] = []
  if (url !== undefined && (url.protocol === 'http:' || url.protocol === 'https:')) {
    const isSecure = url.protocol === 'https:'
    found.push(
      bind(
        'scheme_https',
        isSecure ? 'match' : 'mismatch',
        '/target',
        '/target',
        isSecure
          ? 'The target is https.'
          : 'The target is plain http: what pays can be read and changed on the way.',
      ),
    )
    if (host !== null) {
      const isSame = normaliseAuthority(host.value, url.protocol) === url.host
      found.push(
        bind(
          'host',
          isSame ? 'match' : 'mismatch',
          host.at,
          '/target',
          isSame ? 'Host is the host of the target.' : 'Host names another host than the target.',
        ),
      )
    }
  }
  for (const { algorithm, value, at } of contentDigests) found.push(bindDigest(message, algorithm, value, at))
  return found
}

const ALGORITHMS: Readonly<Record<string, { readonly name: string; readonly bytes: number }>> = {
  'sha-256': { name: 'sha256', bytes: 32 },
  'sha-512': { name: 'sha512', bytes: 64 },
}

/** A body that came as JSON has lost its bytes: then two ways to write it can match, and none can mismatch. */
export function bindDigest(message: Message, algorithm: string, value: string, at: Place): Binding {
  const known = Object.hasOwn(ALGORITHMS, algorithm) ? ALGORITHMS[algorithm]! : undefined
  const result = (verdict: Verdict, text: string) => bind('digest', verdict, at, '/body', text)
  if (known === undefined)
    return result('unverifiable', 'The digest uses an algorithm that is not checked here.')
  const { isRaw, digestsOf } = readBodyTexts(message.body)
  const expected = decodeBase64(value)
  if (expected?.length === known.bytes && digestsOf(known.name).some((digest) => digest.equals(expected)))
    return result('match', 'The digest is that of the body.')
  return isRaw
    ? result('mismatch', 'The digest is not that of the body.')
    : result(
        'unverifiable',
        'The raw bytes of the body are not known: send them as a string to have the digest checked.',
      )
}

interface BodyTexts {
  readonly isRaw: boolean
  /** One for each way to write the body. Made once, however many digests there are to compare with. */
  digestsOf(algorithm: string): readonly Buffer[]
}

const readBodyTexts: (body: Body) => BodyTexts = rememberLast((body: Body) => {
  const { texts, isRaw } = writeBody(body)
  const made = new Map<string, readonly Buffer[]>()
  return {
    isRaw,
    digestsOf(algorithm) {
      const digests = made.get(algorithm) ?? texts.map((text) => hash(algorithm, text, 'buffer'))
      made.set(algorithm, digests)
      return digests
    },
  }
})

function writeBody(body: Body): {
  readonly texts: readonly (string | Uint8Array)[]
  readonly isRaw: boolean
} {
  if (body.kind === 'absent') return { texts: [''], isRaw: false }
  if (body.kind === 'unreadable') return { texts: [], isRaw: false }
  // RFC 9530, 2: over the content as it was sent, its coding included.
  if (body.bytes !== undefined) return { texts: [body.bytes], isRaw: true }
  // Half a surrogate pair has no UTF-8: the bytes were others.
  if (body.raw !== undefined)
    return body.raw.isWellFormed() ? { texts: [body.raw], isRaw: true } : { texts: [], isRaw: false }
  const compact = JSON.stringify((body as { readonly value: unknown }).value)
  return { texts: [compact, ...writeCanonical(body)], isRaw: false }
}

function writeCanonical(body: Body): string[] {
  if (body.kind !== 'json') return []
  try {
    return [toCanonicalJson(body.value)]
  } catch {
    // Half surrogates have no canonical form.
    return []
  }
}
