// What headers of a request name beside its target.
import { describe, expect, it } from 'vitest'
import { findSources } from '../../../../src/egress/relay/named-source.ts'
import { parseTarget } from '../../../../src/egress/target.ts'

const PORTS = { ports: [443, 8443] }
const PATH_STYLE = 's3.eu-west-1.amazonaws.com'

function targetOf(url: string) {
  const verdict = parseTarget(url, PORTS)
  if (!verdict.ok) throw new Error(verdict.reason)
  return verdict
}
const sources = (headers: [string, string][], host = PATH_STYLE, listed: string[] = []) =>
  findSources(headers, targetOf(`https://${host}/photos/x.jpg`), PORTS, listed)
/** The address that a header names, `unread` where it names one that nobody can read. */
const read = (value: string, host = PATH_STYLE, header = 'x-amz-copy-source') =>
  sources([[header, value]], host)?.map(({ target }) => target?.url.href ?? 'unread')[0]

describe('the source of a copy', () => {
  it.each([
    ['photos/a.jpg', '/photos/a.jpg'],
    ['/photos/a.jpg', '/photos/a.jpg'],
    [' /photos/a.jpg ', '/photos/a.jpg'],
    ['photos%2Fa.jpg', '/photos/a.jpg'],
    ['%2Fphotos%2Fa.jpg', '/photos/a.jpg'],
    ['/photos/a.jpg?versionId=UIORUnfndfiufdisojhr398493jfdkjFJjkndnqUifhnw89493jJFJ', '/photos/a.jpg'],
    ['/photos/a%20b%2Bc%C3%A9.jpg', '/photos/a%20b%2Bc%C3%A9.jpg'],
    ['/photos/%70ayroll/', '/photos/payroll/'],
    ['/payroll/photos/a.jpg', '/payroll/photos/a.jpg'],
    ["/photos/a (1)'!.jpg".replace(' ', '%20'), "/photos/a%20(1)'!.jpg"],
  ])('%s is an object of the same host', (value, path) =>
    expect(read(value)).toBe(`https://${PATH_STYLE}${path}`),
  )

  it.each([
    's3.amazonaws.com',
    's3-us-west-2.amazonaws.com',
    's3.dualstack.eu-west-1.amazonaws.com',
    's3-fips.us-gov-west-1.amazonaws.com',
    's3.cn-north-1.amazonaws.com.cn',
    'storage.googleapis.com',
    's3.eu-central-1.wasabisys.com',
    's3.us-west-004.backblazeb2.com',
    'fra1.digitaloceanspaces.com',
    '0123456789abcdef0123456789abcdef.r2.cloudflarestorage.com',
    '0123456789abcdef0123456789abcdef.eu.r2.cloudflarestorage.com:8443',
  ])('is behind a bucket in the path, or in the name, as the request has it: %s', (host) => {
    expect(read('payroll/a.csv', host)).toBe(`https://${host}/payroll/a.csv`)
    expect(read('payroll/a.csv', `my.photos.${host}`)).toBe(`https://payroll.${host}/a.csv`)
    expect(read('my.photos/payroll/a.csv', `my.photos.${host}`)).toBe(
      `https://my.photos.${host}/payroll/a.csv`,
    )
  })

  it.each([
    ['an access point', 'arn:aws:s3:us-west-2:123456789012:accesspoint/photos/object/a.jpg'],
    ['another directory', '/photos/../payroll/a.csv'],
    ['the same in escapes', '/photos/%2E%2E%2Fpayroll/a.csv'],
    ['escapes of escapes', '/photos/%252e%252e/payroll/a.csv'],
    ['an empty segment', '/photos//a.jpg'],
    ['a host', '//photos/payroll/a.csv'],
    ['no key', '/photos'],
    ['no key behind a slash', '/photos/'],
    ['an address', 'https://s3.eu-west-1.amazonaws.com/photos/a.jpg'],
    ['a plus, which is a space to some', '/photos/a+b.jpg'],
    ['a question mark', '/photos/a.jpg?x=1'],
    ['a fragment', '/photos/a.jpg#payroll'],
    ['a backslash', '/photos/..%5Cpayroll/a.csv'],
    ['no escape of UTF-8', '/photos/%FF.jpg'],
    ['a line break in an escape', '/photos/a%0Ab'],
    ['a bucket that is no name', '/.photos/a.jpg'],
  ])('nobody can read with %s in it', (_what, value) => expect(read(value)).toBe('unread'))

  it.each([
    'minio.example.com',
    'photos-123456789012.s3-accesspoint.eu-west-1.amazonaws.com',
    '123456789012.s3-control.eu-west-1.amazonaws.com',
    's3.amazonaws.com.example.com',
    'evils3.amazonaws.com',
  ])('nobody can read where nobody knows how buckets are named: %s', (host) =>
    expect(read('photos/a.jpg', host)).toBe('unread'),
  )

  it('is the address itself for Azure', () => {
    const from = (value: string) => read(value, 'team.blob.core.windows.net', 'x-ms-copy-source')
    expect(from('https://team.blob.core.windows.net/payroll/a%2Dcsv?sv=1&sig=a%2Fb')).toBe(
      'https://team.blob.core.windows.net/payroll/a-csv?sv=1&sig=a%2Fb',
    )
    for (const value of ['/team/payroll/a.csv', 'http://team.blob.core.windows.net/x', 'https://127.0.0.1/x'])
      expect(from(value)).toBe('unread')
  })

  it.each([
    'x-oss-copy-source',
    'x-cos-copy-source',
    'X-Obs-Copy-Source',
    'x-amz-rename-source',
    'x-ms-rename-source',
    'x-ms-file-rename-source',
    'x-upyun-move-source',
    'X-Copy-From',
    'X_Copy_From_Account',
    'X-Object-Manifest',
    'X-Symlink-Target',
    'x-oss-symlink-target',
  ])('is seen, and read by nobody, in %s', (header) =>
    expect(sources([[header, '/photos/a.jpg']])).toEqual([
      { header: header.toLowerCase().replaceAll('_', '-'), target: undefined },
    ]),
  )

  it('is in every header that names one, in every spelling that a server takes for it', () => {
    const found = sources([
      ['x-amz-copy-source', 'photos/a.jpg'],
      ['x_amz_copy_source', 'payroll/a.csv'],
    ])
    expect(found?.map(({ target }) => target?.path)).toEqual(['/photos/a.jpg', '/payroll/a.csv'])
  })

  it('is not what a condition on it, a part of it or an empty header says, or what the operator lists', () => {
    for (const header of [
      'x-amz-copy-source-if-match',
      'x-amz-copy-source-range',
      'x-amz-source-expected-bucket-owner',
      'x-amz-meta-source',
      'x-source',
      'destination',
    ])
      expect(sources([[header, '/payroll/a.csv']])).toBeUndefined()
    expect(sources([['x-amz-copy-source', ' ']])).toBeUndefined()
    expect(sources([['X_Amz_Copy_Source', 'payroll/a.csv']], PATH_STYLE, ['x-amz-copy-source'])).toEqual([])
  })

  describe('that nobody can read, at a host of one bucket', () => {
    const isElsewhere = (value: string, host: string, header = 'x-amz-copy-source') => {
      const [source] = sources([[header, value]], host) ?? []
      expect(source).toMatchObject({ target: undefined })
      return source?.isElsewhere === true
    }

    it.each([
      'other/my+file',
      '/other/my+file',
      'other/a;b',
      'other/a%25b',
      'other/a//b',
      '%6Fther/a+b',
      '//photos/a+b',
      'Photos/a+b',
      'photos2/a+b',
      'photos',
      'arn:aws:s3:us-east-1:1:accesspoint/ap/object/key',
    ])('may be in another: %s', (value) => {
      expect(isElsewhere(value, 'photos.s3.amazonaws.com')).toBe(true)
      // A scope of this host covers all its buckets.
      expect(isElsewhere(value, 's3.amazonaws.com')).toBe(false)
    })

    it.each(['photos/my+file', '/photos/my+file', 'photos/a//b', 'photos/a;b'])('is in it: %s', (value) =>
      expect(isElsewhere(value, 'photos.s3.amazonaws.com')).toBe(false),
    )

    it.each([
      ['x-amz-copy-source', 'photos-123456789012.s3-accesspoint.eu-west-1.amazonaws.com'],
      ['x-amz-copy-source', 'photos--use1-az4--x-s3.s3express-use1-az4.us-east-1.amazonaws.com'],
      ['x-oss-copy-source', 'photos.oss-cn-hangzhou.aliyuncs.com'],
      ['x-cos-copy-source', 'photos-1250000000.cos.ap-beijing.myqcloud.com'],
      ['x-obs-copy-source', 'photos.obs.cn-north-4.myhuaweicloud.com:8443'],
    ])('may be in another: %s at %s', (header, host) =>
      expect(isElsewhere('/other/key', host, header)).toBe(true),
    )

    it('may be of another account of Azure', () => {
      const host = 'team.blob.core.windows.net'
      for (const value of ['http://other.blob.core.windows.net/x', '/other/x', 'https://127.0.0.1/x'])
        expect(isElsewhere(value, host, 'x-ms-copy-source')).toBe(true)
    })

    it('is in it where it is renamed', () =>
      expect(isElsewhere('/photos/a.jpg', 'photos.s3.amazonaws.com', 'x-amz-rename-source')).toBe(false))
  })
})
