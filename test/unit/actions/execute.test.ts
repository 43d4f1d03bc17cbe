// Whether the row of a permit is read: not for one that was prepared here and is executed as it was meant.
import { describe, expect, it } from 'vitest'
import type { CreditCharge } from '../../../src/core/credit-charge.ts'
import { chargeOf } from '../../support/no-gate.ts'
import { createExecute } from '../../../src/actions/execute.ts'
import { createFindShown } from '../../../src/actions/find-shown.ts'
import { createPermitWaits } from '../../../src/actions/permit-waits.ts'
import { hashPermit } from '../../../src/actions/permits.ts'
import type { ActionParts } from '../../../src/actions/ports.ts'
import { createPreparedPermits } from '../../../src/actions/prepared-permit-cache.ts'
import type { Grant } from '../../../src/egress/grant.ts'
import { GatewayError } from '../../../src/core/errors.ts'
import { newId } from '../../../src/lib/ids.ts'
import type { ActionResult, Permit } from '../../../src/store/ports.ts'

const NOW = 1_800_000_000_000
const id = newId('pmt', NOW)
const jws = `e30.${Buffer.from(JSON.stringify({ jti: id, request: {} })).toString('base64url')}.c2ln`
const row: Permit = {
  id,
  accountId: 'acct_1',
  mandateId: 'mdt_1',
  credentialId: 'cred_1',
  credentialVersion: 3,
  state: 'ready',
  tokenSha256: hashPermit(jws),
  requestDigest: 'digest',
  method: 'POST',
  host: 'api.example.com',
  cost: 1,
  summary: null,
  createdAt: NOW,
  expiresAt: NOW + 300_000,
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
const request = { url: 'https://api.example.com/', method: 'POST', headers: {} } as const

/** An engine that does nothing but ask the grant. */
function open(options: { stored?: Permit; result?: ActionResult; engine?: () => void } = {}) {
  const { stored = row, result = { ok: true, balance: 9 }, engine = () => {} } = options
  const said = { reads: 0, reserved: 0, grants: [] as Grant[] }
  const preparedPermits = createPreparedPermits()
  const store = {
    getPermit: async () => (said.reads++, stored),
    reserveAction: async () => (said.reserved++, result),
    lookAtPermits: async () => [],
  } as unknown as ActionParts['store']
  const now = () => NOW
  const execute = createExecute({
    preparedPermits,
    now,
    store,
    waits: createPermitWaits({ store, now, log: { warn: () => {} } }),
    findShown: createFindShown({ store, verifyOwn: () => undefined }),
    forward: {
      async send(_asked: unknown, grant: Grant, charge: CreditCharge) {
        said.grants.push(grant)
        engine()
        const reserved = await grant.reserve({} as never)
        if (!reserved.ok && reserved.reason === 'refused') throw reserved.error
        if (reserved.ok) charge.taken(1, 'att_1')
        return {}
      },
    },
  } as unknown as Parameters<typeof createExecute>[0])
  return { execute: () => execute({ permit: jws, request }, chargeOf()), preparedPermits, said }
}

const codeOf = async (executing: Promise<unknown>) => {
  const thrown = await executing.then(
    () => undefined,
    (error: unknown) => error,
  )
  return thrown instanceof GatewayError ? thrown.code : thrown
}

describe('an execution', () => {
  it('reads no row where the permit was prepared here, and stands on the same facts as one that does', async () => {
    const { execute, preparedPermits, said } = open()
    preparedPermits.keep(row)
    expect(await execute()).toEqual({ permit_id: id })
    expect(said).toMatchObject({ reads: 0, reserved: 1 })
    expect(await execute()).toEqual({ permit_id: id })
    expect(said).toMatchObject({ reads: 1, reserved: 2 })
    const facts = ({ kind, accountId, credentialId, capabilityId, permitId }: Grant) => ({
      kind,
      accountId,
      credentialId,
      capabilityId,
      permitId,
    })
    expect(facts(said.grants[0]!)).toEqual(facts(said.grants[1]!))
  })

  it('asks the row for whatever is in the way before the store was asked', async () => {
    const used = open({
      stored: { ...row, state: 'executed', attemptId: 'att_1' },
      engine() {
        throw new GatewayError('target_blocked', 'No.')
      },
    })
    used.preparedPermits.keep(row)
    expect(await codeOf(used.execute())).toBe('permit_used')
    expect(used.said).toMatchObject({ reads: 1, reserved: 0 })
  })

  it('is not tried again once the store was asked, whatever it said', async () => {
    const refused = open({ result: { ok: false, reason: 'mandate_gone' } })
    refused.preparedPermits.keep(row)
    expect(await codeOf(refused.execute())).toBe('permit_revoked')
    expect(refused.said).toMatchObject({ reads: 0, reserved: 1 })
  })

  it('takes no word for a permit but its own bytes', async () => {
    const { execute, preparedPermits, said } = open({
      stored: { ...row, tokenSha256: hashPermit(`${jws}x`) },
    })
    preparedPermits.keep({ ...row, tokenSha256: hashPermit(`${jws}x`) })
    expect(await codeOf(execute())).toBe('permit_invalid')
    expect(said).toMatchObject({ reads: 1, reserved: 0 })
  })
})
