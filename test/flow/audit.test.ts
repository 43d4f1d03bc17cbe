// The audit log as an operator uses it: what is written, who may read it, and what shows when somebody has the database.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { verifyExport } from '../../src/audit/verify.ts'
import { loadConfig } from '../../src/app/config.ts'
import { encodingsOf, findSecret } from '../support/encodings.ts'
import { ENGINES, startTestGateway, type TestGateway } from '../support/gateway.ts'
import { runRaw } from '../support/raw-sql.ts'

const SECRET = 'CANARY_upstream_secret_0123456789'

interface Event {
  readonly seq: number
  readonly event: string
  readonly actor: Record<string, string>
  readonly subject: { type: string; id: string } | null
  readonly detail: Record<string, unknown>
}

describe.each(ENGINES)('the audit log (%s)', (engine) => {
  let gw: TestGateway
  let after = 0
  beforeAll(async () => {
    const env = { GATEWAY_SERVICE_KEY_CREDITS: '1000', GATEWAY_METRICS_PORT: '0' }
    gw = await startTestGateway({ engine, env })
  })
  afterAll(() => gw.close())
  beforeEach(async () => {
    gw.upstream.respond((_request, res) => res.writeHead(200).end('ok'))
    after = (await read()).at(-1)?.seq ?? 0
  })

  async function read(of = 'account', from = 0): Promise<Event[]> {
    const page = await gw.rest('GET', `/v1/audit/events?of=${of}&after=${from}&limit=500`)
    expect(page.status).toBe(200)
    return page.body.events
  }
  /** How often the metrics say that the log does not hold. */
  async function broken(): Promise<number | undefined> {
    const text = await (await fetch(gw.gateway.metricsUrl!)).text()
    const [, value] = /^agent_gateway_faults_total\{[^}]*"audit_broken"[^}]*\} (\d+)/m.exec(text) ?? []
    return value === undefined ? undefined : Number(value)
  }
  const since = () => read('account', after)
  const names = async () => (await since()).map(({ event }) => event)

  it('says who stored, issued, narrowed and revoked what', async () => {
    const { credentialId, capability, capabilityId } = await gw.grant({ secret: SECRET })
    const narrowed = await gw.rest('POST', '/v1/egress/capabilities/narrow', { methods: ['GET'] }, capability)
    expect(narrowed.status).toBe(201)
    await gw.rest('POST', `/v1/egress/credentials/${credentialId}/rotate`, { secret: `${SECRET}2` })
    await gw.rest('POST', `/v1/egress/capabilities/${capabilityId}/revoke`)
    await gw.rest('POST', `/v1/egress/credentials/${credentialId}/revoke`)

    const events = await since()
    expect(events.map(({ event }) => event)).toEqual([
      'credential.created',
      'capability.issued',
      'capability.narrowed',
      'credential.rotated',
      'capability.revoked',
      'credential.revoked',
    ])
    const byWhom = events.map(({ actor }) => [actor['kind'], actor['tool']])
    expect(byWhom[0]).toEqual(['service_key', 'gateway.egress.credentials.create'])
    expect(byWhom[2]).toEqual(['capability', 'gateway.egress.capabilities.narrow'])
    expect(events[2]?.actor['id']).toBe(capabilityId)
    expect(events[0]?.actor['address']).toBe('127.0.0.1')
    expect(findSecret(JSON.stringify(events), encodingsOf(SECRET))).toEqual([])
  })

  it('says what was refused: scope, private target, reflected secret', async () => {
    const { capability, capabilityId } = await gw.grant({
      secret: SECRET,
      capability: { path_prefixes: ['/v1/'] },
    })
    gw.upstream.respond((request, res) => res.writeHead(200).end(JSON.stringify(request.headers)))
    const asked = [
      [gw.url('/v2/other?token=hidden'), 'scope_denied'],
      ['https://169.254.169.254/v1/latest', 'target_blocked'],
      [gw.url('/v1/echo'), 'secret_reflected'],
    ]
    const attempts: string[] = []
    for (const [url, code] of asked) {
      const answer = await gw.fetch(capability, { url })
      expect(answer.body.code).toBe(code)
      attempts.push(answer.body.attempt_id)
    }
    const refused = (await since()).slice(2)
    expect(refused.map(({ event, detail }) => [event, detail['host']])).toEqual([
      ['scope.denied', 'api.example.com'],
      ['target.refused', '169.254.169.254'],
      ['secret.reflected', 'api.example.com'],
    ])
    expect(refused.at(-1)?.subject).toEqual({ type: 'attempt', id: attempts.at(-1) })
    for (const { actor } of refused) expect(actor).toMatchObject({ kind: 'capability', id: capabilityId })
    expect(JSON.stringify(refused)).not.toContain('hidden')
  })

  it('names the account whose revoked key or capability was tried, and keeps unknown ones with the installation', async () => {
    const made = await gw.rest('POST', '/v1/keys', { label: 'leaver' })
    await gw.rest('POST', `/v1/keys/${made.body.key_id}/revoke`)
    const { capability, capabilityId } = await gw.grant({ secret: SECRET })
    await gw.rest('POST', `/v1/egress/capabilities/${capabilityId}/revoke`)
    const before = (await read('installation')).length

    for (let i = 0; i < 20; i++)
      expect((await gw.rest('GET', '/v1/credits', undefined, made.body.key)).status).toBe(401)
    expect((await gw.fetch(capability, { url: gw.url('/') })).status).toBe(401)
    expect((await gw.rest('GET', '/v1/credits', undefined, 'agw_sk_mistyped')).status).toBe(401)

    const failed = (await since()).filter(({ event }) => event === 'sign_in.failed')
    expect(failed.map(({ subject, detail }) => [subject?.id, detail['state']])).toEqual([
      [made.body.key_id, 'revoked'],
      [capabilityId, 'revoked'],
    ])
    const unknown = (await read('installation')).slice(before)
    expect(unknown.map(({ event, subject }) => [event, subject])).toEqual([['sign_in.failed', null]])
    expect(JSON.stringify([failed, unknown])).not.toContain('agw_')
  })

  it('shows an account its own events alone, and the installation to administrators', async () => {
    const other = await gw.rest('POST', '/v1/keys', { account: 'new', name: 'team-b' })
    const own = await gw.rest('GET', '/v1/audit/events', undefined, other.body.key)
    expect(own.body.events.map(({ event }: Event) => event)).toEqual(['account.created'])
    const all = await gw.rest('GET', '/v1/audit/events?of=installation', undefined, other.body.key)
    expect([all.status, all.body.code]).toEqual([403, 'admin_required'])
    expect(await read('installation')).not.toEqual([])
    const { capability } = await gw.grant()
    expect((await gw.rest('GET', '/v1/audit/events', undefined, capability)).status).toBe(401)
    expect(await names()).not.toContain('account.created')
  })

  it('is signed to its end when the gateway stops', async () => {
    const ending = await startTestGateway({ engine })
    try {
      const seen = (await ending.rest('GET', '/v1/audit/events?limit=500')).body
      await ending.grant()
      await ending.gateway.close()
      const heads = ending
        .log()
        .split('\n')
        .filter((line) => line.includes('"event":"audit_head"'))
        .map((line) => JSON.parse(line))
        .filter(({ chain }) => chain === seen.chain)
      // A credential and a capability.
      expect(heads.at(-1)?.seq).toBe(seen.events.length + 2)
    } finally {
      await ending.close()
    }
  })

  it('shows, in the answer, the log and an export, that stored events were changed', async () => {
    const page = await gw.rest('GET', '/v1/audit/events?limit=1')
    const { chain, intact } = page.body
    expect(intact).toBe(true)
    expect(await broken()).toBe(0)
    const place = { config: loadConfig(gw.env) }
    const drop =
      engine === 'sqlite'
        ? 'DROP TRIGGER audit_events_no_delete'
        : 'ALTER TABLE audit_events DISABLE TRIGGER audit_events_append_only'
    const newest = (await read()).at(-1)?.seq ?? 0
    await runRaw(place, drop, `DELETE FROM audit_events WHERE chain = '${chain}' AND seq = ${newest - 1}`)
    const after = (await gw.rest('GET', '/v1/audit/events?limit=500')).body
    expect([after.intact, after.head]).toEqual([false, null])
    expect(gw.log()).toContain('"event":"audit_broken"')
    expect(await broken()).toBeGreaterThan(0)
    const keys = (await gw.rest('GET', '/.well-known/gateway-egress-key.json', undefined, '')).body
    const lines = [
      { type: 'export', v: 1, chain, after: 0 },
      ...after.events.map((event: Event) => ({ type: 'event', event })),
    ]
    const verdict = await verifyExport(lines.map((line) => JSON.stringify(line)).join('\n'), keys)
    expect(verdict).toMatchObject({ ok: false, fault: 'event_missing', seq: newest - 1 })
  })
})
