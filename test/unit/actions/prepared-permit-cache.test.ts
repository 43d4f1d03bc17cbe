import { describe, expect, it } from 'vitest'
import { createPreparedPermits } from '../../../src/actions/prepared-permit-cache.ts'
import type { NewPermit } from '../../../src/store/ports.ts'

const permit = (n: number): NewPermit => ({
  id: `pmt_${n}`,
  accountId: 'acct_1',
  mandateId: 'mdt_1',
  credentialId: 'cred_1',
  credentialVersion: 3,
  state: 'ready',
  tokenSha256: `hash ${n}`,
  requestDigest: `digest ${n}`,
  method: 'POST',
  host: 'api.example.com',
  cost: 1,
  summary: null,
  createdAt: 1,
  expiresAt: 2,
  approval: null,
  preparedKind: null,
  preparedBy: null,
  preparedPerson: null,
  preparedAddress: null,
})

describe('permits that nobody has shown yet', () => {
  it('are handed out once, with what never changes of their row', () => {
    const preparedPermits = createPreparedPermits()
    preparedPermits.keep(permit(1))
    expect(preparedPermits.take('hash 2')).toBeUndefined()
    expect(preparedPermits.take('hash 1')).toEqual({
      id: 'pmt_1',
      accountId: 'acct_1',
      mandateId: 'mdt_1',
      credentialId: 'cred_1',
      credentialVersion: 3,
      requestDigest: 'digest 1',
    })
    expect(preparedPermits.take('hash 1')).toBeUndefined()
  })

  it('are as many as fit, the oldest forgotten first', () => {
    const preparedPermits = createPreparedPermits(2)
    for (const n of [1, 2, 3]) preparedPermits.keep(permit(n))
    expect([1, 2, 3].map((n) => preparedPermits.take(`hash ${n}`)?.id)).toEqual([undefined, 'pmt_2', 'pmt_3'])
  })
})
