import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkPath, parseTarget, SANDBOX_HOST } from '../../../src/egress/target.ts'
import { cites } from '../../requirements.ts'

const options = { ports: [443, 8443] }
const reasonOf = (text: string, given: Parameters<typeof parseTarget>[1] = options) => {
  const verdict = parseTarget(text, given)
  return verdict.ok ? 'ok' : `${verdict.code} ${verdict.reason}`
}

test('gives the parts of a canonical target', () => {
  expect(parseTarget('https://api.example.com:8443/v1/a%20b?x=1&y=%2F', options)).toMatchObject({
    ok: true,
    host: 'api.example.com',
    port: 8443,
    path: '/v1/a%20b',
  })
  expect(parseTarget('https://api.example.com', options)).toMatchObject({ ok: true, port: 443, path: '/' })
})

test.each([
  ['https://api.example.com/', 'ok'],
  ['https://a.b.c.xn--p1ai/', 'ok'],
  ['https://api.example.com/a..b/...', 'ok'],
  ['https://api.example.com/caf%C3%A9/', 'ok'],
  ['https://api.example.com/a?redirect=https://127.0.0.1/', 'ok'],
  ['https://api.example.com/a?q=%00%0d%0a', 'ok'],
  ['http://api.example.com/', 'target_invalid not_https'],
  ['HTTPS://api.example.com/', 'target_invalid not_https'],
  ['https:/api.example.com/', 'target_invalid not_https'],
  ['https://', 'target_invalid unparsable'],
  ['https://api.example.com:99999/', 'target_invalid unparsable'],
  ['https://user@api.example.com/', 'target_invalid userinfo'],
  ['https://@api.example.com/', 'target_invalid userinfo'],
  ['https://api.example.com/#', 'target_invalid fragment'],
  ['https://API.example.com/', 'target_invalid host_not_canonical'],
  ['https://api.example.com./', 'target_invalid host_not_canonical'],
  ['https://api%2eexample.com/', 'target_invalid host_not_canonical'],
  ['https://-api.example.com/', 'target_invalid host_not_canonical'],
  ['https://api_x.example.com/', 'target_invalid host_not_canonical'],
  ['https://api.example.com:443/', 'target_invalid port_not_canonical'],
  ['https://api.example.com:/', 'target_invalid port_not_canonical'],
  ['https://api.example.com:08443/', 'target_invalid port_not_canonical'],
  ['https://api.example.com:22/', 'target_blocked port_not_allowed'],
  ['https://127.0.0.1/', 'target_blocked ip_literal'],
  ['https://127.1/', 'target_blocked ip_literal'],
  ['https://0x7f000001/', 'target_blocked ip_literal'],
  ['https://2130706433/', 'target_blocked ip_literal'],
  ['https://①②⑦.0.0.1/', 'target_blocked ip_literal'],
  ['https://[::1]/', 'target_blocked ip_literal'],
  ['https://8.8.8.8/', 'target_blocked ip_literal'],
  ['https://localhost/', 'target_blocked local_name'],
  ['https://localhost./', 'target_blocked local_name'],
  ['https://a.localhost/', 'target_blocked local_name'],
  ['https://db.internal/', 'target_blocked local_name'],
  ['https://router.home.arpa/', 'target_blocked local_name'],
  ['https://kubernetes.default.svc/', 'target_blocked local_name'],
  ['https://intranet/', 'target_blocked local_name'],
  [`https://${SANDBOX_HOST}/`, 'target_blocked local_name'],
  ['https://api.example.com/ü', 'target_invalid not_printable_ascii'],
  ['https://api.example.com/a b', 'target_invalid not_printable_ascii'],
  ['https://api.exa\tmple.com/', 'target_invalid not_printable_ascii'],
  ['https://api.example.com/a/../b', 'target_invalid path_dot_segment'],
  ['https://api.example.com/a/%2E%2e/b', 'target_invalid path_dot_segment'],
  ['https://api.example.com/a%2Eb', 'target_invalid path_dot_segment'],
  ['https://api.example.com/a\\b', 'target_invalid path_not_canonical'],
  ['https://api.example.com\\a', 'target_invalid path_not_canonical'],
  ['https://api.example.com/a%2fb', 'target_invalid path_encoded_delimiter'],
  ['https://api.example.com/a%5Cb', 'target_invalid path_encoded_delimiter'],
  ['https://api.example.com/a%252fb', 'target_invalid path_encoded_delimiter'],
  ['https://api.example.com/a%00', 'target_invalid path_encoded_delimiter'],
  ['https://api.example.com/a//b', 'target_invalid path_empty_segment'],
  ['https://api.example.com/a;b=c/d', 'target_invalid path_parameter_segment'],
  ['https://api.example.com/a%3Bb', 'target_invalid path_parameter_segment'],
  ['https://api.example.com/%C0%AE%C0%AE/', 'target_invalid path_not_utf8'],
  ['https://api.example.com/%E0%80%AF', 'target_invalid path_not_utf8'],
  ['https://api.example.com/%0A', 'target_invalid path_control_character'],
  ['https://api.example.com/%C2%85', 'target_invalid path_control_character'],
  ['https://api.example.com/%EF%BC%8E%EF%BC%8E/', 'target_invalid path_look_alike'],
  ['https://api.example.com/%EF%BC%8F', 'target_invalid path_look_alike'],
  ['https://api.example.com/%E2%88%95', 'target_invalid path_look_alike'],
  ['https://api.example.com/%E2%80%A6', 'ok'],
  ['https://api.example.com/%61dmin', 'target_invalid path_needless_encoding'],
  ['https://api.example.com/caf%c3%a9', 'target_invalid path_needless_encoding'],
  ['https://api.example.com/%zz', 'target_invalid path_not_canonical'],
  ['https://api.example.com/a?', 'target_invalid query_not_canonical'],
  ["https://api.example.com/a?b='c'", 'target_invalid query_not_canonical'],
  ['https://api.example.com/a?b=%', 'target_invalid query_not_canonical'],
  ['https://api.example.com?a=b', 'target_invalid path_not_canonical'],
  ['https://api.example.x1/', 'ok'],
  ['https://printer/', 'target_blocked local_name'],
  ['https://api.example.com/a?b=%4', 'target_invalid query_not_canonical'],
  ['https://api.example.com/%4', 'target_invalid path_not_canonical'],
  ['https://api.example.com/caf%C3%A9/%61', 'target_invalid path_needless_encoding'],
  ['https://api.example.com/%E2%80%A5', 'target_invalid path_look_alike'],
  ['https://api.example.com/b..\\c', 'target_invalid path_not_canonical'],
  ['https://api.example.com/..b\\c', 'target_invalid path_not_canonical'],
  [`https://api.example.com/${'a'.repeat(8192 - 24)}`, 'ok'],
  [`https://api.example.com/${'a'.repeat(8192 - 23)}`, 'target_invalid too_long'],
])(cites('egress:url:https', '%s: %s'), (text, expected) => {
  expect(reasonOf(text)).toBe(expected)
})

test('refuses what is no text at all', () => {
  expect(reasonOf(7 as unknown as string)).toBe('target_invalid not_text')
})

// Prefixes that operators write come here without the parse that resolves dot segments.
test.each([
  ['/a/../b', 'path_dot_segment'],
  ['/a/./b', 'path_dot_segment'],
  ['/a/..', 'path_dot_segment'],
  ['/.', 'path_dot_segment'],
  ['/a../..b/...', 'ok'],
  ['/a\nb', 'path_not_canonical'],
  ['/a%4', 'path_not_canonical'],
])('the path %j: %s', (path, expected) => {
  const verdict = checkPath(path)
  expect(verdict.ok ? 'ok' : verdict.reason).toBe(expected)
})

test('lets the one sandbox name through where it is asked to, and no other', () => {
  const sandbox = { ...options, allowSandboxName: true }
  expect(reasonOf(`https://${SANDBOX_HOST}/article`, sandbox)).toBe('ok')
  expect(reasonOf(`https://x.${SANDBOX_HOST}/`, sandbox)).toBe('target_blocked local_name')
  expect(reasonOf('https://agent-gateway.test/', sandbox)).toBe('target_blocked local_name')
})

describe('properties', () => {
  const piece = fc.constantFrom(
    ...'abcXYZ019-._~!$&*+,:=@/?#\\;%|^`{}[]<>"\' \t\n\r\u0000'.split(''),
    '%2e',
    '%2F',
    '%25',
    '..',
    './',
    '//',
    '://',
    '%c0%ae',
    '\uff0e',
    '127.0.0.1',
    'localhost',
    '@',
    'api.example.com',
  )
  const anything = fc
    .array(piece, { maxLength: 12 })
    .map((parts) => `https://api.example.com${parts.join('')}`)

  test(
    cites('egress:url:stable', 'whatever is accepted is what every parser would send, and stays what it is'),
    () => {
      fc.assert(
        fc.property(fc.oneof(anything, fc.webUrl(), fc.string()), (text) => {
          const verdict = parseTarget(text, options)
          if (!verdict.ok) return
          expect([text, `${text}/`]).toContain(verdict.url.href)
          expect(parseTarget(verdict.url.href, options)).toMatchObject({ ok: true, path: verdict.path })
          expect(verdict.url.username + verdict.url.password + verdict.url.hash).toBe('')
          // However often an upstream decodes the path, the segments stay where they are.
          let decoded = verdict.path
          for (let i = 0; i < 3; i++) decoded = decodeURIComponent(decoded)
          expect(decoded.split('/')).toHaveLength(verdict.path.split('/').length)
          expect(decoded.split(/[/\\]/).some((segment) => segment === '.' || segment === '..')).toBe(false)
        }),
        { numRuns: 3000 },
      )
    },
  )

  test('segments written by encodeURIComponent are accepted, unless they hold a delimiter', () => {
    const safe = /^[^/\\%;\p{Cc}\p{Zl}\p{Zp}]+$/u
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 8 }), (segment) => {
        fc.pre(safe.test(segment) && !/^\.{1,2}$/.test(segment))
        expect(checkPath(`/v1/${encodeURIComponent(segment)}`)).toEqual({ ok: true })
      }),
      { numRuns: 1000 },
    )
  })
})

test('takes a hundred escaped slashes where a credential allows them', () => {
  const checked = (count: number) => checkPath(`/a${'%2Fa'.repeat(count)}`, { allowEncodedSlash: true })
  expect(checked(100)).toEqual({ ok: true })
  expect(checked(101)).toEqual({ ok: false, reason: 'path_encoded_delimiter' })
})
