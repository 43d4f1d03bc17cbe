import { describe, expect, it } from 'vitest'
import { withoutPresigning } from '../../../../src/egress/relay/presigned.ts'

const HOST = 'https://s3.example.com/photos/cat.jpg'
const V4 =
  'X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=KEY%2F20260101%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20260101T000000Z&' +
  'X-Amz-Expires=3600&X-Amz-SignedHeaders=host&X-Amz-Security-Token=placeholder&X-Amz-Signature=00'
const V2 = 'AWSAccessKeyId=KEY&Signature=abc%3D&Expires=1700000000'

describe('an address that was signed', () => {
  it.each([
    ['in version 4', V4, ''],
    ['in version 2', V2, ''],
    ['between others', `a=1&${V4}&response-expires=2`, '?a=1&response-expires=2'],
    ['in another spelling', V4.replaceAll('X-Amz', 'x%2Damz'), ''],
  ])('with a placeholder loses its signature: %s', (_how, query, left) => {
    for (const key of ['placeholder', 'AKIAPLACEHOLDER'])
      expect(withoutPresigning(`${HOST}?${query.replace('KEY', key)}`)).toBe(HOST + left)
  })

  it.each([
    ['version 4', V4],
    ['version 2', V2],
    ['version 4 by nobody', V4.replace('X-Amz-Credential', 'x')],
  ])('with a key is refused: %s', (_how, query) =>
    expect(() => withoutPresigning(`${HOST}?${query.replace('KEY', 'AKIAIOSFODNN7EXAMPLE')}`)).toThrow(
      expect.objectContaining({ code: 'target_invalid', reason: 'presigned' }),
    ),
  )

  it.each(['', '?a=1', '?signature=mine&expires=1', '?X-Amz-Date=1'])('is not this: %s', (query) =>
    expect(withoutPresigning(HOST + query)).toBe(HOST + query),
  )
})
