import { describe, expect, it } from 'vitest'
import type { CredentialSettings } from '../../../../schemas/credential-settings.ts'
import { checkParts, readParts } from '../../../../src/egress/placement/parts.ts'
import { placementsOf } from '../../../../src/egress/placement/place.ts'
import { checkSettings, checkTexts } from '../../../../src/egress/placement/settings.ts'

interface Given {
  secret?: string
  parts?: Record<string, string>
  header?: string
  scheme?: string
  settings?: CredentialSettings
}

function check({ secret, parts, header = 'authorization', scheme = 'Bearer', settings = {} }: Given): void {
  const given = readParts(parts ? { parts } : { secret: secret ?? 'a-long-secret' })
  const placements = placementsOf({ header, scheme, settings })
  checkParts(given, settings.parts)
  checkSettings(settings, placements)
  checkTexts(given, placements)
}
const both = { user: 'public', password: 'secret' } as const
const two = { a: 'secret', b: 'secret' } as const
const many = (count: number, text: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, text]))
const describeAll = (parts: Record<string, string>) =>
  Object.fromEntries(Object.keys(parts).map((name) => [name, 'secret'] as const))

describe('what takes long to look for in an answer is refused when it is stored:', () => {
  it.each<[string, Record<string, string>, string | undefined]>([
    ['a secret of 8 KiB is not', { a: 'k'.repeat(8_192), b: 'abcdefgh' }, undefined],
    ['a longer one', { a: 'k'.repeat(8_193), b: 'abcdefgh' }, '/parts/a: a secret is at most 8192 bytes'],
    ['one of 8 KiB in UTF-8', { a: 'abcdefgh', b: '密'.repeat(2_731) }, '/parts/b: a secret is at most'],
    ['16 KiB together are not', many(4, 'k'.repeat(4_096)), undefined],
    [
      'more together',
      { ...many(4, 'k'.repeat(4_096)), q: 'abcdefgh' },
      '/parts/q: the secrets of a credential are at most 16384 bytes together',
    ],
    ['sixteen parts are not', many(16, 'abcdefgh'), undefined],
    ['seventeen', many(17, 'abcdefgh'), '/parts/p16: a credential has at most 16 parts'],
  ])('%s', (_, parts, message) => {
    const store = () => checkParts(readParts({ parts }), describeAll(parts))
    if (message === undefined) expect(store).not.toThrow()
    else expect(store).toThrow(message)
  })

  it('a public part, such as a chain of certificates, may be longer', () => {
    const parts = { password: 'abcdefgh', user: 'u'.repeat(16_384) }
    expect(() => checkParts(readParts({ parts }), both)).not.toThrow()
  })
})

describe('a credential that would never work is refused when it is stored:', () => {
  it.each<[string, Given, string]>([
    ['Bearer twice', { secret: 'Bearer abcdefgh' }, 'leave the word Bearer out of the secret'],
    ['bearer twice in another case', { secret: 'bearer abcdefgh' }, 'leave the word Bearer out'],
    ['Token twice', { secret: 'Token abcdefgh', scheme: 'Token' }, 'leave the word Token out'],
    ['Basic that is not encoded', { secret: 'someone:a-password', scheme: 'Basic' }, 'send `parts`'],
    [
      'a colon in a user name',
      { parts: { user: 'some:one', password: 'a-password' }, scheme: 'Basic', settings: { parts: both } },
      'holds no colon',
    ],
    [
      'parts without places',
      { parts: { a: 'abcdefgh', b: 'ijklmnop' }, settings: { parts: two } },
      'where each `part` goes',
    ],
    [
      'a part that goes nowhere',
      {
        parts: { a: 'abcdefgh', b: 'ijklmnop' },
        settings: { parts: two, placements: [{ in: 'header', name: 'x-a', part: 'a' }] },
      },
      'the part b goes nowhere',
    ],
    [
      'a place for no part',
      { settings: { placements: [{ in: 'header', name: 'x-a', part: 'c' }] } },
      'has no part of this name',
    ],
    [
      'a part that is missing',
      { parts: { a: 'abcdefgh' }, settings: { parts: two } },
      '/parts/b: the credential needs a and b',
    ],
    ['a part too many', { parts: { secret: 'abcdefgh', b: 'ijklmnop' } }, '/parts/b'],
    [
      'a part that is too short',
      {
        parts: { a: 'abc' },
        settings: { parts: { a: 'secret' }, placements: [{ in: 'query', name: 'a' }] },
      },
      'shorter than 8',
    ],
    [
      'nothing that is secret',
      {
        parts: { a: 'abcdefgh' },
        settings: { parts: { a: 'public' }, placements: [{ in: 'query', name: 'a' }] },
      },
      'one part at least',
    ],
    [
      'one place twice',
      {
        settings: {
          placements: [
            { in: 'query', name: 'key' },
            { in: 'query', name: 'Key' },
          ],
        },
      },
      'fills the same place',
    ],
    [
      'a form and JSON',
      {
        settings: {
          placements: [
            { in: 'form', name: 'a' },
            { in: 'json', pointer: '/a' },
          ],
        },
      },
      'not both',
    ],
    ['a header of the message', { header: 'content-length', scheme: '' }, 'cannot carry a secret'],
    ['a header of the caller', { header: 'accept', scheme: '' }, 'cannot carry a secret'],
    [
      'a slash in a path',
      { secret: 'a-secret/../b', settings: { placements: [{ in: 'path', at: 0 }] } },
      'a secret in a path',
    ],
    [
      'dots for a path',
      { secret: '........', settings: { placements: [{ in: 'path', at: 0 }] } },
      'dots alone',
    ],
    [
      'a semicolon in a cookie',
      { secret: 'a-secret; b=1', settings: { placements: [{ in: 'cookie', name: 'sid' }] } },
      'a secret in a cookie',
    ],
    [
      'a line break in a header',
      { parts: { a: 'a-secret\r\nx: y' }, settings: { parts: { a: 'secret' } } },
      'without line breaks',
    ],
    ...['authorization', 'cookie', 'x-forwarded-host', 'proxy-authorization', 'host', 'range'].map(
      (name): [string, Given, string] => [
        `${name} from callers`,
        { settings: { request_headers: [name] } },
        'may not be sent by callers',
      ],
    ),
    [
      'the header of the secret from callers',
      { header: 'x-key', scheme: '', settings: { request_headers: ['x-key'] } },
      'may not be sent by callers',
    ],
    ...['set-cookie', 'www-authenticate', 'alt-svc', 'trailer'].map((name): [string, Given, string] => [
      `${name} for callers`,
      { settings: { response_headers: [name] } },
      'is never passed on',
    ]),
  ])('%s', (_, given, words) => {
    expect(() => check(given)).toThrow(words)
    // The words are for logs and screens.
    try {
      check(given)
    } catch (thrown) {
      expect(String(thrown)).not.toMatch(/abcdefgh|a-password|a-secret/)
    }
  })
})

it.each<[string, Given]>([
  ['a word before it that the scheme is not', { secret: 'Bearer abcdefgh', scheme: '' }],
  ['Basic that is encoded', { secret: Buffer.from('a:a-password').toString('base64'), scheme: 'Basic' }],
  [
    'user and password for Basic',
    { parts: { user: 'a', password: 'a-password' }, scheme: 'Basic', settings: { parts: both } },
  ],
  [
    'a public part of any length',
    {
      parts: { a: 'x', b: 'ijklmnop' },
      settings: {
        parts: { a: 'public', b: 'secret' },
        placements: [
          { in: 'header', name: 'x-a', part: 'a' },
          { in: 'header', name: 'x-b', part: 'b' },
        ],
      },
    },
  ],
  [
    'any text in a query',
    {
      parts: { a: 'ä \n ö/;&=' },
      settings: { parts: { a: 'secret' }, placements: [{ in: 'query', name: 'a' }] },
    },
  ],
  ['headers of an API', { settings: { request_headers: ['stripe-account'], response_headers: ['x-cost'] } }],
])('stores %s', (_, given) => {
  expect(() => check(given)).not.toThrow()
})

it('takes one text or its parts, not both and not neither', () => {
  expect(() => readParts({})).toThrow('/secret')
  expect(() => readParts({ secret: 'a', parts: { b: 'c' } })).toThrow('not both')
})
