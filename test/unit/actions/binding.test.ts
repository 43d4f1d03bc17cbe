import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bindRequest, findDifferences, isBoundUrl } from '../../../src/actions/binding.ts'
import { digestRequest } from '../../../src/egress/digest.ts'
import { prepareRequest } from '../../../src/egress/request.ts'

interface Asked {
  url: string
  method: string
  headers: Record<string, string>
  body?: string | undefined
  body_base64?: string | undefined
}

function bind(asked: Asked, version = 1) {
  const request = prepareRequest(asked, { ports: [443], defaultHeaders: {} })
  const { method, headers, body, target } = request
  return bindRequest(
    request,
    digestRequest({
      method,
      url: target.url.href,
      headers,
      body,
      credentialId: 'cred_1',
      secretVersion: version,
    }),
  )
}

const base: Asked = {
  url: 'https://api.example.com/v1/things?a=1',
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: '{"a":1}',
}

describe('a request against the bound one', () => {
  it.each<[string, Partial<Asked>, string[]]>([
    ['as it is', {}, []],
    [
      'the same bytes as base64',
      { body: undefined, body_base64: Buffer.from('{"a":1}').toString('base64') },
      [],
    ],
    ['a header name in capitals', { headers: { 'Content-Type': 'application/json' } }, []],
    ['a default header written out', { headers: { ...base.headers, accept: '*/*' } }, []],
    ['another method', { method: 'PUT' }, ['method']],
    ['another path', { url: 'https://api.example.com/v1/things/?a=1' }, ['url']],
    ['another query', { url: 'https://api.example.com/v1/things?a=2' }, ['url']],
    ['no query', { url: 'https://api.example.com/v1/things' }, ['url']],
    ['another host', { url: 'https://www.example.com/v1/things?a=1' }, ['url']],
    ['another header value', { headers: { 'content-type': 'application/json;a=b' } }, ['headers']],
    ['one more header', { headers: { ...base.headers, prefer: 'x' } }, ['headers']],
    ['one less', { headers: {} }, ['headers']],
    ['a space more in the body', { body: '{"a": 1}' }, ['body']],
    ['no body', { body: undefined }, ['body']],
    [
      'everything else',
      { url: 'https://x.example.com/', method: 'PATCH', headers: {}, body: '' },
      ['method', 'url', 'headers', 'body'],
    ],
  ])('with %s', (_what, changes, expected) => {
    const [bound, asked] = [bind(base), bind({ ...base, ...changes })]
    expect(findDifferences(bound, asked)).toEqual(expected)
    // What explains agrees with what decides.
    expect(bound.digest === asked.digest).toBe(expected.length === 0)
  })

  it('has another digest, and no other part, under another version of the credential', () => {
    expect(findDifferences(bind(base, 1), bind(base, 2))).toEqual([])
    expect(bind(base, 1).digest).not.toBe(bind(base, 2).digest)
  })

  it('has another digest exactly where a part differs, whatever was changed', () => {
    const asked = fc.record({
      url: fc.constantFrom('https://a.example.com', 'https://a.example.com/', 'https://a.example.com/b'),
      method: fc.constantFrom('POST', 'PUT'),
      headers: fc.dictionary(fc.constantFrom('accept', 'Accept', 'prefer'), fc.constantFrom('a', '*/*'), {
        maxKeys: 1,
      }),
      body: fc.option(fc.constantFrom('', 'a', 'b'), { nil: undefined }),
    })
    fc.assert(
      fc.property(asked, asked, (one, other) => {
        const [bound, now] = [bind(one), bind(other)]
        expect(findDifferences(bound, now).length === 0).toBe(bound.digest === now.digest)
      }),
    )
  })
})

describe('a URL that cannot be sent', () => {
  it.each<[string, boolean]>([
    [base.url, true],
    ['https://API.example.com/v1/things?a=1', false],
    ['https://api.example.com:443/v1/things?a=1', false],
    ['https://api.example.com/v1/./things?a=1', false],
    ['', false],
  ])('%s is the bound one letter for letter: %s', (url, expected) => {
    expect(isBoundUrl(bind(base), url)).toBe(expected)
  })

  it('may leave out the path of a bare origin', () => {
    const bound = bind({ ...base, url: 'https://api.example.com' })
    expect(isBoundUrl(bound, 'https://api.example.com')).toBe(true)
    expect(isBoundUrl(bound, 'https://api.example.com/')).toBe(true)
  })
})
