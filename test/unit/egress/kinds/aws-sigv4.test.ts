import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { Secret } from '../../../../src/lib/secret.ts'
import { signSigv4 } from '../../../../src/egress/kinds/aws-sigv4.ts'
import type { RequestToSign } from '../../../../src/egress/kinds/kind.ts'

// The cases and signatures of AWS's published test suite for Signature Version 4. Left out are those that put bytes on the wire which no
// canonical URL holds (get-utf8, spaces, dot segments).
const NOW = Date.parse('2015-08-30T12:36:00Z')
const SUITE = { type: 'aws_sigv4', region: 'us-east-1', service: 'service' } as const
const KEYS = {
  access_key_id: 'AKIDEXAMPLE',
  secret_access_key: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
}
const partsOf = (texts: Record<string, string>) =>
  new Map(Object.entries(texts).map(([name, text]) => [name, new Secret(text)]))
const requestTo = (url: string, rest: Partial<RequestToSign> = {}): RequestToSign => ({
  method: 'GET',
  url: new URL(url),
  headers: [],
  body: undefined,
  ...rest,
})
const HOST = 'https://example.amazonaws.com'
const UNRESERVED = '-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const POST = { method: 'POST' }

const CASES: readonly (readonly [string, string, Partial<RequestToSign>, string])[] = [
  ['get-vanilla', '/', {}, '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  [
    'get-unreserved',
    `/${UNRESERVED}`,
    {},
    '07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f',
  ],
  [
    'get-vanilla-empty-query-key',
    '/?Param1=value1',
    {},
    'a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb',
  ],
  [
    'get-vanilla-query-order-key-case',
    '/?Param2=value2&Param1=value1',
    {},
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  ],
  [
    'get-vanilla-query-unreserved',
    `/?${UNRESERVED}=${UNRESERVED}`,
    {},
    '9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197',
  ],
  [
    'get-vanilla-utf8-query',
    '/?%E1%88%B4=bar',
    {},
    '2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04',
  ],
  ['post-vanilla', '/', POST, '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
  [
    'post-vanilla-query',
    '/?Param1=value1',
    POST,
    '28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11',
  ],
  [
    'post-vanilla-query-nonunreserved',
    `/?${encodeURIComponent('@#$%^')}=&${encodeURIComponent('+')}=${encodeURIComponent('/,?><`";:\\|][{}')}`,
    POST,
    '66c82657c86e26fb25238d0e69f011edc4c6df5ae71119d7cb98ed9b87393c1e',
  ],
  [
    'post-x-www-form-urlencoded',
    '/',
    {
      ...POST,
      headers: [['content-type', 'application/x-www-form-urlencoded']],
      body: Buffer.from('Param1=value1'),
    },
    'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
  ],
]

describe('AWS Signature Version 4', () => {
  it.each(CASES)('signs %s as the published suite does', async (_, path, rest, signature) => {
    const signed = await signSigv4(SUITE, partsOf(KEYS), requestTo(`${HOST}${path}`, rest), NOW)
    expect(signed.value).toBe(signature)
    const names = rest.headers ? 'content-type;host;x-amz-date' : 'host;x-amz-date'
    expect(Object.fromEntries(signed.headers)).toEqual({
      'x-amz-date': '20150830T123600Z',
      authorization: `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=${names}, Signature=${signature}`,
    })
  })

  it('sends and signs the session token of temporary keys (post-sts-header-before)', async () => {
    const token =
      'AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA=='
    const signed = await signSigv4(
      SUITE,
      partsOf({ ...KEYS, session_token: token }),
      requestTo(`${HOST}/`, POST),
      NOW,
    )
    expect(signed.value).toBe('85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead')
    expect(signed.headers).toContainEqual(['x-amz-security-token', token])
  })

  it('signs the digest of the body for S3, and its path as S3 spells it (GET object of the S3 manual)', async () => {
    const s3 = { ...SUITE, service: 's3' }
    const at = (path: string) =>
      signSigv4(s3, partsOf(KEYS), requestTo(`https://bucket.s3.amazonaws.com${path}`), NOW)
    const plain = await at("/a!b'(c)*.txt")
    expect(plain.headers.map(([name]) => name)).toEqual([
      'x-amz-date',
      'x-amz-content-sha256',
      'authorization',
    ])
    expect(plain.headers).toContainEqual([
      'x-amz-content-sha256',
      'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    ])
    expect((await at('/a%21b%27%28c%29%2A.txt')).value).toBe(plain.value)
  })

  it('signs the word for chunks without signatures in place of a digest, and takes such a signature for one that opens other bodies', async () => {
    const put = (value: string, body: string) =>
      signSigv4(
        { ...SUITE, service: 's3' },
        partsOf(KEYS),
        requestTo(`${HOST}/key`, {
          method: 'PUT',
          headers: [['x-amz-content-sha256', value]],
          body: Buffer.from(body),
        }),
        NOW,
      )
    const chunks = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER'
    const signed = await put(chunks, 'one')
    expect(signed.headers).toContainEqual(['x-amz-content-sha256', chunks])
    expect(signed.opensOthers).toBe(true)
    expect((await put(chunks, 'other')).value).toBe(signed.value)
    // Any other word is replaced by the digest.
    const digested = await put('UNSIGNED-PAYLOAD', 'one')
    expect(digested.headers).toContainEqual([
      'x-amz-content-sha256',
      createHash('sha256').update('one').digest('hex'),
    ])
    expect(digested.opensOthers).toBe(false)
  })

  it('refuses a plus in the query, which servers read in two ways, and signs its escape', async () => {
    const to = (query: string) => signSigv4(SUITE, partsOf(KEYS), requestTo(`${HOST}/?q=${query}`), NOW)
    await expect(to('a+b')).rejects.toMatchObject({ code: 'target_invalid' })
    await expect(to('a%2Bb')).resolves.toBeDefined()
  })

  it.each(['%E9', '%', '%GG'])('refuses %s in the query, which is no text', async (query) => {
    await expect(
      signSigv4(SUITE, partsOf(KEYS), requestTo(`${HOST}/?q=${query}`), NOW),
    ).rejects.toMatchObject({ code: 'target_invalid' })
  })

  it('keeps parameters that stand twice, and one called __proto__', async () => {
    const of = async (query: string) =>
      (await signSigv4(SUITE, partsOf(KEYS), requestTo(`${HOST}/?${query}`), NOW)).value
    expect(await of('a=1&a=2')).not.toBe(await of('a=1'))
    expect(await of('__proto__=1')).not.toBe(await of(''))
  })
})
