// An address with a signature of AWS in its query. What a program signed with its placeholder loses it: the request is signed anew, in its
// headers, and services refuse one that is signed twice. What was signed with a key is no request of this credential.
import { GatewayError } from '../../core/errors.ts'

/** Of version 4, and of version 2, in lower case. */
const MEMBERS: ReadonlySet<string> = new Set(
  (
    'x-amz-algorithm x-amz-credential x-amz-date x-amz-expires x-amz-signedheaders x-amz-signature x-amz-security-token ' +
    'awsaccesskeyid signature expires'
  ).split(' '),
)
/** What `run` gives programs for an access key id, and what people write in its place. */
const PLACEHOLDER = /placeholder/i

/**
 * @param url absolute, as the program wrote it
 * @returns without the signature that a placeholder made; any other address as it was
 * @throws {GatewayError} target_invalid for one that is signed with a key
 */
export function withoutPresigning(url: string): string {
  const at = url.indexOf('?')
  if (at < 0) return url
  const pairs = url.slice(at + 1).split('&')
  const given = new Map(pairs.map((pair) => [nameOf(pair), pair]))
  const signer = given.has('x-amz-signature')
    ? (given.get('x-amz-credential') ?? '')
    : given.has('signature')
      ? given.get('awsaccesskeyid')
      : undefined
  if (signer === undefined) return url
  if (!PLACEHOLDER.test(signer))
    throw new GatewayError(
      'target_invalid',
      'The address is signed with a key (X-Amz-Signature, or AWSAccessKeyId and Signature), and this credential would sign it again, which ' +
        'services refuse. Have the program sign it in the run, with its placeholder, or leave the signature out. Nothing was sent or charged.',
      { reason: 'presigned' },
    )
  const left = pairs.filter((pair) => !MEMBERS.has(nameOf(pair)))
  return url.slice(0, at) + (left.length === 0 ? '' : `?${left.join('&')}`)
}

const nameOf = (pair: string) => {
  const name = pair.split('=')[0] ?? ''
  return (new URLSearchParams(`_=${name}`).get('_') ?? name).toLowerCase()
}
