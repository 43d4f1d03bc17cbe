// What operators and agents do with credentials and capabilities that they have: edit, delete, end.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { egressCapabilitiesRevoke } from '../../tools/egress-capabilities-revoke.ts'
import { egressCredentialsDelete } from '../../tools/egress-credentials-delete.ts'
import { egressCredentialsEdit } from '../../tools/egress-credentials-edit.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { throughDoor } from '../support/three-doors.ts'

describe('credentials and capabilities in use', () => {
  let gw: TestGateway
  beforeAll(async () => {
    gw = await startTestGateway({ env: { GATEWAY_SERVICE_KEY_CREDITS: '1000' } })
  })
  afterAll(() => gw.close())

  const send = (path: string, init: RequestInit) => fetch(`${gw.baseUrl}${path}`, init)
  const DOORS = ['rest', 'mcp', 'a2a'] as const
  const fetchOnce = (capability: string, path = '/v1/things') => gw.fetch(capability, { url: gw.url(path) })
  const edit = (id: string, wishes: object) => gw.rest('POST', `/v1/egress/credentials/${id}/edit`, wishes)

  it('are edited without the secret, which goes on working under the next version', async () => {
    const { credentialId, capability } = await gw.grant({ secret: 'edited-secret-1' })
    expect((await fetchOnce(capability)).status).toBe(200)
    const edited = await edit(credentialId, {
      label: 'only things',
      path_prefixes: ['/v1'],
      budgets: [{ unit: 'calls', per: 'month', limit: 2 }],
    })
    expect(edited.body).toMatchObject({
      label: 'only things',
      path_prefixes: ['/v1'],
      hosts: ['api.example.com'],
      version: 2,
      rotated_at: null,
      edited_at: expect.any(String),
      budgets: [{ unit: 'calls', per: 'month', limit: '2', used: '0' }],
    })
    expect(edited.text).not.toContain('edited-secret-1')

    expect((await fetchOnce(capability, '/other')).body).toMatchObject({
      code: 'scope_denied',
      refused_by: 'credential',
    })
    expect((await fetchOnce(capability)).status).toBe(200)
    expect(gw.upstream.requests.at(-1)?.headers).toContainEqual(['authorization', 'Bearer edited-secret-1'])
    expect((await fetchOnce(capability)).status).toBe(200)
    expect((await fetchOnce(capability)).body).toMatchObject({
      code: 'calls_spent',
      refused_by: 'credential',
    })

    // Budgets that are left out stay, and an empty list removes them.
    expect((await edit(credentialId, { label: 'x' })).body.budgets).toMatchObject([{ used: '2' }])
    expect((await edit(credentialId, { budgets: [] })).body).toMatchObject({ budgets: [], version: 4 })
    expect((await fetchOnce(capability)).status).toBe(200)
  })

  it.each([
    ['a path that no request can match', { path_prefixes: ['/a/../b'] }, 'input_invalid'],
    ['other parts of a secret', { settings: { parts: { user: 'public' } } }, 'input_unknown_property'],
    [
      'another placement of the secret',
      { settings: { placements: [{ in: 'query', name: 'k' }] } },
      'input_unknown_property',
    ],
    ['another secret', { secret: 'something-else' }, 'input_unknown_property'],
  ])('are not edited to %s', async (_what, wishes, code) => {
    const { credentialId, capability } = await gw.grant()
    expect((await edit(credentialId, wishes)).body.code).toBe(code)
    expect((await fetchOnce(capability)).status).toBe(200)
  })

  it('are of no use to another account', async () => {
    const { credentialId } = await gw.grant()
    const stranger = (await gw.rest('POST', '/v1/keys', { label: 'stranger', account: 'new' })).body.key as
      string | undefined
    for (const verb of ['edit', 'delete']) {
      const path = `/v1/egress/credentials/${credentialId}/${verb}`
      if (stranger !== undefined)
        expect((await gw.rest('POST', path, {}, stranger)).body.code).toBe('credential_not_found')
      expect((await gw.rest('POST', path, {}, '')).body.code).toBe('key_required')
    }
  })

  it.each(DOORS)('are edited and deleted over %s, and a deleted one leaves its attempts', async (door) => {
    const { credentialId, capability } = await gw.grant()
    const done = await fetchOnce(capability)
    const input = { credential_id: credentialId, label: 'renamed' }
    const edited = await throughDoor[door](send, egressCredentialsEdit, input, gw.operatorKey)
    expect([edited.code, edited.output]).toMatchObject(['ok', { label: 'renamed', version: 2 }])
    const id = { credential_id: credentialId }
    const deleted = await throughDoor[door](send, egressCredentialsDelete, id, gw.operatorKey)
    expect([deleted.code, deleted.output]).toEqual(['ok', { ...id, deleted: true }])
    expect((await throughDoor[door](send, egressCredentialsDelete, id, gw.operatorKey)).code).toBe(
      'credential_not_found',
    )
    expect((await fetchOnce(capability)).body.code).toBe('capability_invalid')
    const attempt = await gw.rest('GET', `/v1/egress/attempts/${done.body.attempt_id}`)
    expect(attempt.body).toMatchObject({ credential_id: credentialId, state: 'settled' })
  })

  it.each(DOORS)('are ended by the agent that holds them, over %s, and no others', async (door) => {
    const { capability, capabilityId } = await gw.grant()
    const narrow = async () => (await gw.rest('POST', '/v1/egress/capabilities/narrow', {}, capability)).body
    const [first, second] = [await narrow(), await narrow()]
    const end = (token: string, capability_id: string) =>
      throughDoor[door](send, egressCapabilitiesRevoke, { capability_id }, token)

    for (const foreign of [capabilityId, second.capability_id, 'cap_none'])
      expect((await end(first.capability, foreign)).code).toBe('capability_not_found')
    expect((await end(capability, second.capability_id)).output).toEqual({
      capability_id: second.capability_id,
      revoked: 1,
    })
    expect((await fetchOnce(second.capability)).body.code).toBe('capability_invalid')
    expect((await fetchOnce(first.capability)).status).toBe(200)
    expect((await end(capability, 'self')).output).toEqual({ capability_id: capabilityId, revoked: 2 })
    expect((await fetchOnce(first.capability)).body.code).toBe('capability_invalid')
    expect((await end(gw.operatorKey, 'self')).code).toBe('capability_not_found')
  })
})
