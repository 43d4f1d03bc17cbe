import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hashPermit, isSameHash, lifetimeOf, readClaims, toSeconds } from '../../../src/actions/permits.ts'
import { APPROVAL_WINDOW_MS, PERMIT_TTL_MS } from '../../../src/actions/ports.ts'
import { newId } from '../../../src/lib/ids.ts'

const NOW = Date.UTC(2026, 5, 1) + 789

describe('how long a permit holds', () => {
  it('is 300 seconds, for the row and for whoever reads the JWS', () => {
    const { expiresAt, latest } = lifetimeOf({ expiresAt: NOW + 1e9 }, false, NOW)
    expect(expiresAt).toBe(NOW + PERMIT_TTL_MS)
    expect(toSeconds(latest) - toSeconds(NOW)).toBe(300)
  })

  it('is the approval window for a row that waits, and 300 seconds more for the JWS', () => {
    const { expiresAt, latest } = lifetimeOf({ expiresAt: NOW + 1e9 }, true, NOW)
    expect(expiresAt).toBe(NOW + APPROVAL_WINDOW_MS)
    expect(latest).toBe(NOW + APPROVAL_WINDOW_MS + PERMIT_TTL_MS)
  })

  it('never goes beyond the mandate', () => {
    fc.assert(
      fc.property(
        fc.boolean(),
        fc.integer({ min: 1, max: 2 * APPROVAL_WINDOW_MS }),
        (requiresApproval, left) => {
          const { expiresAt, latest } = lifetimeOf({ expiresAt: NOW + left }, requiresApproval, NOW)
          expect(expiresAt).toBeLessThanOrEqual(NOW + left)
          expect(latest).toBeLessThanOrEqual(NOW + left)
          expect(expiresAt).toBeLessThanOrEqual(latest)
          expect(toSeconds(latest) - toSeconds(NOW)).toBeLessThanOrEqual(requiresApproval ? 86_700 : 300)
        },
      ),
    )
  })
})

describe('what is read of a permit before its row is known', () => {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const jws = (payload: unknown) => `aGVhZA.${encode(payload)}.c2ln`
  const jti = newId('pmt', NOW)

  it('is its id', () => {
    expect(readClaims(jws({ jti }))?.jti).toBe(jti)
  })

  it.each<[string, string]>([
    ['nothing', ''],
    ['no JWS', 'permit'],
    ['two parts', 'aGVhZA.e30'],
    ['four parts', `${jws({ jti })}.c2ln`],
    ['another alphabet', `aGVhZA.${Buffer.from('{"jti":"?>?>?"}').toString('base64')}+/.c2ln`],
    ['a payload that is no JSON', 'aGVhZA.aGVhZA.c2ln'],
    ['a payload that is a list', jws([jti])],
    ['a payload that is nothing', jws(null)],
    ['no id', jws({})],
    ['the id of a receipt', jws({ jti: newId('rcp', NOW) })],
    ['an id in a list', jws({ jti: [jti] })],
    ['an id that is a number', jws({ jti: 1 })],
    ['an id with something behind it', jws({ jti: `${jti}\u0000` })],
    ['white space around it', ` ${jws({ jti })}`],
    ['a line end behind it', `${jws({ jti })}\n`],
  ])('is nothing of %s', (_what, text) => {
    expect(readClaims(text)).toBeUndefined()
  })

  it('never throws', () => {
    fc.assert(fc.property(fc.string(), (text) => void readClaims(text)))
    fc.assert(fc.property(fc.jsonValue(), (value) => void readClaims(jws(value))))
  })
})

describe('the hash of a permit', () => {
  it('is the same for the same bytes and for no others', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, other) => {
        expect(isSameHash(hashPermit(one), hashPermit(one))).toBe(true)
        expect(isSameHash(hashPermit(one), hashPermit(other))).toBe(one === other)
      }),
    )
    expect(isSameHash(hashPermit('a'), '')).toBe(false)
  })
})
