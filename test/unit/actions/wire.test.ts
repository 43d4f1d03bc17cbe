import { describe, expect, it } from 'vitest'
import { findConflict } from '../../../src/actions/permit-grant.ts'
import type { PermitDependencies } from '../../../src/actions/revocation-check.ts'
import { stateOf, toActionStats } from '../../../src/actions/wire.ts'
import type { Permit } from '../../../src/store/ports.ts'

const NOW = 1_000_000
const permit: Permit = {
  id: 'pmt_1',
  accountId: 'acct_1',
  mandateId: 'mdt_1',
  credentialId: 'cred_1',
  credentialVersion: 2,
  state: 'ready',
  tokenSha256: '',
  requestDigest: '',
  method: 'POST',
  host: 'api.example.com',
  cost: 1,
  summary: null,
  createdAt: NOW - 1,
  expiresAt: NOW + 1,
  decidedAt: null,
  decidedBy: null,
  attemptId: null,
  approval: null,
  preparedKind: 'service_key',
  preparedBy: 'key_1',
  preparedPerson: null,
  preparedAddress: null,
  evidenceBytes: null,
}
const good: PermitDependencies = { mandate: { revokedAt: null }, credential: { revokedAt: null, version: 2 } }

describe('the state of a permit as it is shown', () => {
  it.each<[string, Partial<Permit>, Partial<PermitDependencies>, string]>([
    ['ready', {}, {}, 'ready'],
    ['waiting', { state: 'pending_approval' }, {}, 'pending_approval'],
    ['past its time', { expiresAt: NOW }, {}, 'expired'],
    ['waiting past its time', { state: 'pending_approval', expiresAt: NOW }, {}, 'expired'],
    ['under a revoked mandate', {}, { mandate: { revokedAt: 1 } }, 'revoked'],
    ['under a mandate that is gone', {}, { mandate: undefined }, 'revoked'],
    ['with a revoked credential', {}, { credential: { revokedAt: 1, version: 2 } }, 'revoked'],
    ['with a replaced secret', {}, { credential: { revokedAt: null, version: 3 } }, 'revoked'],
    ['expired before it was revoked', { expiresAt: NOW }, { mandate: { revokedAt: 1 } }, 'expired'],
    ['executed, then revoked', { state: 'executed' }, { mandate: { revokedAt: 1 } }, 'executed'],
    ['refused, then revoked', { state: 'refused' }, { mandate: { revokedAt: 1 } }, 'refused'],
    ['executed long ago', { state: 'executed', expiresAt: 0 }, {}, 'executed'],
  ])('is right for one that is %s', (_what, row, dependencies, expected) => {
    expect(stateOf({ ...permit, ...row }, { ...good, ...dependencies }, NOW)).toBe(expected)
  })
})

describe('an execution finds', () => {
  it.each<[string, Partial<Permit>, string | undefined, string | undefined]>([
    ['nothing against a ready permit', {}, undefined, undefined],
    ['a used one', { state: 'executed', attemptId: 'att_1' }, 'permit_used', 'replay'],
    [
      'a used one whose time is over too',
      { state: 'executed', attemptId: 'att_1', expiresAt: 0 },
      'permit_used',
      'replay',
    ],
    ['one that waits', { state: 'pending_approval' }, 'permit_pending', 'state'],
    ['one that waited too long', { state: 'pending_approval', expiresAt: NOW }, 'permit_expired', 'state'],
    ['a refused one', { state: 'refused' }, 'permit_refused', 'state'],
    ['one whose expiry is written down', { state: 'expired' }, 'permit_expired', 'state'],
    ['one at its last moment', { expiresAt: NOW + 1 }, undefined, undefined],
    ['one a moment later', { expiresAt: NOW }, 'permit_expired', 'state'],
  ])('%s', (_what, row, code, conflict) => {
    const found = findConflict({ ...permit, ...row }, NOW)
    expect([found?.code, found?.extras['conflict']]).toEqual([code, conflict])
    expect(found?.extras.attempt_id).toBe(row.attemptId ?? undefined)
  })
})

it('counts what is under way as what was started and has no end yet', () => {
  const stats = toActionStats(
    {
      permitsPrepared: 9,
      permitsApproved: 2,
      permitsRefused: 1,
      executions: 6,
      settled: 2,
      ambiguous: 1,
      refunded: 1,
      creditsCharged: 6,
      creditsRefunded: 1,
    },
    'account',
  )
  expect(stats.executions).toEqual({ started: 6, settled: 2, ambiguous: 1, refunded: 1, in_flight: 2 })
  expect(stats.credits).toEqual({ charged: 6, refunded: 1, net: 5 })
})
