// A permit as a person at a terminal reads it: words, and no JSON.
import { describe, expect, it } from 'vitest'
import type { PermitRecord } from '../../../schemas/actions.ts'
import { formatRecord } from '../../../src/cli/output.ts'
import { decisionInWords, permitRow } from '../../../src/cli/permit-words.ts'

const permit: PermitRecord = {
  permit_id: 'pmt_1',
  mandate_id: 'mdt_1',
  credential_id: 'cred_1',
  credential_version: 1,
  state: 'ready',
  method: 'POST',
  host: 'api.example.com',
  request_digest: 'digest',
  summary: null,
  created_at: '2026-11-23T12:00:00.000Z',
  expires_at: '2026-11-23T12:05:00.000Z',
  decided_at: '2026-11-23T12:00:01.000Z',
  decided_by: 'per_2',
  prepared_by: { kind: 'service_key', id: 'key_1', person_id: 'per_1', address: '192.0.2.7' },
  approval: { by: 'another', people: 2, fresh_sign_in: true },
  decisions: [
    {
      decision: 'approve',
      kind: 'person',
      id: 'per_2',
      method: 'passkey',
      session_id: 'ses_1',
      address: '192.0.2.8',
      at: '2026-11-23T12:00:01.000Z',
    },
  ],
  evidence_kept: true,
  attempt_id: null,
}

describe('a permit at a terminal', () => {
  it('is shown in words: who prepared it, who has to approve it, who said what and from where', () => {
    const text = [formatRecord(permitRow(permit)), ...permit.decisions.map(decisionInWords)].join('\n')
    expect(text).toMatch(/^prepared_by +service key key_1 of person per_1, from 192\.0\.2\.7$/m)
    expect(text).toMatch(
      /^approval +two different people, not whoever prepared it, each with a fresh sign-in$/m,
    )
    expect(text).toMatch(
      /^2026-11-23T12:00:01\.000Z {2}approved by person per_2 with a passkey, from 192\.0\.2\.8$/m,
    )
    expect(text).not.toMatch(/[{}[\]"]/)
  })

  it('says nothing where nothing is known or asked for', () => {
    const text = formatRecord(permitRow({ ...permit, prepared_by: null, approval: null, decisions: [] }))
    expect(text).toMatch(/^prepared_by +-$/m)
    expect(text).toMatch(/^approval +-$/m)
  })
})
