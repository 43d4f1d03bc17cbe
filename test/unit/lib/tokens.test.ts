import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toCanonicalJson } from '../../../src/lib/canonical-json.ts'
import { JWS_TYPES } from '../../../src/receipts/types.ts'
import {
  findEncodedToken,
  findToken,
  hashToken,
  newToken,
  parseToken,
  type TokenKind,
} from '../../../src/lib/tokens.ts'

const KINDS: TokenKind[] = ['sk', 'cap', 'ek']
const ZERO = newToken('sk', Buffer.alloc(32))

describe('tokens', () => {
  it.each(KINDS)('makes agw_%s_ tokens that parse', (kind) => {
    const token = newToken(kind)
    expect(token).toMatch(new RegExp(`^agw_${kind}_[0-9A-Za-z]{49}$`))
    expect(parseToken(token)).toEqual({ kind })
  })

  it('has the same length for the smallest and the largest secret', () => {
    expect(ZERO).toHaveLength(newToken('sk', Buffer.alloc(32, 0xff)).length)
    expect(parseToken(newToken('sk', Buffer.alloc(32, 0xff)))).toEqual({ kind: 'sk' })
  })

  it('keeps all 256 bits apart', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 255 }), (bit) => {
        const random = Buffer.alloc(32)
        random[bit >> 3] = 1 << (bit & 7)
        expect(newToken('sk', random)).not.toBe(ZERO)
        expect(parseToken(newToken('sk', random))).toBeDefined()
      }),
    )
  })

  it('notices every single mistyped character', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...KINDS),
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.nat(),
        fc.constantFrom(...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'),
        (kind, random, at, char) => {
          const token = newToken(kind, Buffer.from(random))
          const start = token.indexOf('_', 4) + 1
          const place = start + (at % (token.length - start))
          fc.pre(token[place] !== char)
          expect(parseToken(token.slice(0, place) + char + token.slice(place + 1))).toBeUndefined()
        },
      ),
    )
  })

  it.each([
    '',
    'agw_sk_',
    ZERO.replace('_sk_', '_cap_'),
    ZERO.replace('_sk_', '_xx_'),
    `${ZERO}a`,
    ` ${ZERO}`,
    `${ZERO}\n`,
  ])('does not take %j for a token', (text) => {
    expect(parseToken(text)).toBeUndefined()
  })

  it('hashes to 32 bytes that differ by token', () => {
    expect(hashToken(ZERO)).toHaveLength(32)
    expect(hashToken(ZERO)).toEqual(hashToken(ZERO))
    expect(hashToken(ZERO)).not.toEqual(hashToken(newToken('sk')))
  })
})

describe('findToken', () => {
  const token = newToken('cap')
  /** As the signer writes it. */
  const signed = (typ: string) =>
    `${Buffer.from(toCanonicalJson({ alg: 'EdDSA', kid: 'k'.repeat(43), typ })).toString('base64url')}.eyJhIjoxfQ.c2ln`
  const permit = signed(JWS_TYPES.permit)
  it.each<[string, string, boolean]>([
    ['a permit', permit, true],
    ['a permit among other words', `{"permit":"${permit}"}`, true],
    ['a permit that lost its signature', permit.split('.').slice(0, 2).join('.'), true],
    ['the header of a permit alone', permit.split('.')[0]!, false],
    ['a receipt', signed(JWS_TYPES.receipt), false],
    ['a signed document of somebody else', signed('jwt'), false],
    ['a token', token, true],
    ['one among other words', `Bearer ${token}, x`, true],
    ['one that is mistyped', `${token.slice(0, -1)}?`, true],
    ['one that is cut off', token.slice(0, 20), true],
    ['a token of somebody else', 'Bearer sk_live_0123456789', false],
    ['words about tokens', 'tokens begin with agw_sk_ or agw_cap_', false],
    ['nothing', '', false],
  ])('judges %s', (_, text, expected) => {
    expect(findToken(text)).toBe(expected)
    expect(findToken(Buffer.concat([Buffer.from([0, 255]), Buffer.from(text)]))).toBe(expected)
  })
})

describe('findEncodedToken', () => {
  const token = newToken('rt')
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  it.each<[string, string, boolean]>([
    ['a token as it is', `x=${token}`, true],
    ['an escaped one', token.replaceAll('_', '%5F'), true],
    ['one whose letters are escaped', token.replace('agw', '%61%67%77'), true],
    ['the password of Basic', `Basic ${base64(`me:${token}`)}`, true],
    ['a document in base64', base64(JSON.stringify({ token })), true],
    ['base64 in an address', `/x?auth=${encodeURIComponent(base64(`a>?:${token}`))}`, true],
    ['a segment of a path', `/x/${Buffer.from(token).toString('base64url')}/y`, true],
    ['the password of somebody else', `Basic ${base64('me:sk_live_0123456789')}`, false],
    ['what is no escape', '100%zz %5F', false],
    ['nothing', '', false],
  ])('judges %s', (_, text, expected) => expect(findEncodedToken(text)).toBe(expected))
})
