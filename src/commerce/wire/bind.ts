// Any HTTP message is bound to where it goes and to the bytes it carries: Host, https, digests of the body.
import { decodeBase64 } from '../decode/json.ts'
import { bind, normaliseAuthority, type Verdict } from '../compare.ts'
import type { Binding, Place } from '../ports.ts'
import type { Reading } from '../reading.ts'

/** Every message has these, whatever protocol it speaks. */
export function bindHttp(reading: Reading): Binding[] {
  const { url } = reading.message.target
  const { host, contentDigests } = reading.http
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
      const isSame = host.value === url.host || normaliseAuthority(host.value, url.protocol) === url.host
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
  for (const { algorithm, value, at } of contentDigests) found.push(bindDigest(reading, algorithm, value, at))
  return found
}

const ALGORITHMS: Readonly<Record<string, { readonly name: string; readonly bytes: number }>> = {
  'sha-256': { name: 'sha256', bytes: 32 },
  'sha-512': { name: 'sha512', bytes: 64 },
}

/**
 * A body that came as JSON has lost its bytes: then two ways to write it can match, and none can mismatch.
 * @param algorithm as RFC 9530 calls it, in lower case
 * @param value base64
 * @param at where it stands
 */
export function bindDigest({ digests }: Reading, algorithm: string, value: string, at: Place): Binding {
  const known = Object.hasOwn(ALGORITHMS, algorithm) ? ALGORITHMS[algorithm] : undefined
  const result = (verdict: Verdict, text: string) => bind('digest', verdict, at, '/body', text)
  if (known === undefined)
    return result('unverifiable', 'The digest uses an algorithm that is not checked here.')
  const expected = decodeBase64(value)
  if (expected?.length === known.bytes && digests.of(known.name).some((digest) => digest.equals(expected)))
    return result('match', 'The digest is that of the body.')
  return digests.isRaw
    ? result('mismatch', 'The digest is not that of the body.')
    : result(
        'unverifiable',
        'The raw bytes of the body are not known: send them as a string to have the digest checked.',
      )
}
