// The pages on which an operator sees how the gateway does and looks after it: whose figures they show, and what a role may do there.
import { createHash } from 'node:crypto'
import { copyFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { loadConfig } from '../../src/app/config.ts'
import { restore } from '../../src/app/transfer/restore.ts'
import { verifyExport } from '../../src/audit/verify.ts'
import { type ConsoleWorld, startConsoleWorld } from '../support/console-world.ts'
import { startTestGateway } from '../support/gateway.ts'
import { signIn, type TestPerson } from '../support/people.ts'

let world: ConsoleWorld
let owner: TestPerson
let stranger: TestPerson
beforeAll(async () => {
  world = await startConsoleWorld()
  ;({ owner } = world)
  const { gateway } = world
  const other = await gateway.rest('POST', '/v1/keys', { account: 'new', name: 'other' }, gateway.operatorKey)
  stranger = await signIn(gateway, { accountId: other.body.account_id as string, admin: false })
})
afterAll(() => world?.close())

interface Charts {
  readonly attempts: number
  readonly hosts: readonly { readonly host: string }[]
  readonly process: object | null
}

describe('the charts', () => {
  it('count the attempts of the account alone', async () => {
    const own = await owner.data<Charts>('/console/charts?last=hour')
    expect(own.hosts.map(({ host }) => host)).toEqual(['api.example.com'])
    expect(own.attempts).toBeGreaterThan(2)
    const theirs = await stranger.data<Charts>('/console/charts')
    expect([theirs.attempts, theirs.hosts]).toEqual([0, []])
  })

  it('show what the process did of everybody to who looks after it alone', async () => {
    expect((await owner.data<Charts>('/console/charts')).process).not.toBeNull()
    expect((await stranger.data<Charts>('/console/charts')).process).toBeNull()
    const page = await (await stranger.get('/console/charts')).text()
    expect(page).not.toContain('gateway.egress.fetch')
  })
})

interface Event {
  readonly seq: number
  readonly chain: string
  readonly event: string
}
interface AuditData {
  readonly events: readonly Event[]
  readonly next: number | null
  readonly total: number
  readonly job: {
    readonly state: string
    readonly result: { readonly ok: boolean; readonly fault?: string }
  } | null
}

/** What came of the verification, once it has ended. */
async function verified(path: string): Promise<AuditData['job']> {
  await owner.post(path, { _action: 'verify' })
  for (;;) {
    const { job } = await owner.data<AuditData>(path)
    if (job?.state !== 'running') return job
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

describe('the audit log', () => {
  it('is newest first, narrowed by the address, and of the account alone', async () => {
    const all = await owner.data<AuditData>('/console/audit')
    expect(all.events.map(({ seq }) => seq)).toEqual(
      Array.from({ length: all.total }, (_, at) => all.total - at),
    )
    const { events } = await owner.data<AuditData>('/console/audit?event=credential.')
    expect(events.map(({ event }) => event)).toEqual(['credential.created'])
    const older = await owner.data<AuditData>('/console/audit?before=3')
    expect(older.events.map(({ seq }) => seq)).toEqual([2, 1])
    const theirs = await stranger.data<AuditData>('/console/audit')
    expect(new Set(theirs.events.map(({ chain }) => chain))).toEqual(new Set([stranger.accountId]))
  })

  it('of the installation is for who looks after it alone', async () => {
    const { events } = await owner.data<AuditData>('/console/audit?of=installation')
    expect(new Set(events.map(({ chain }) => chain))).toEqual(new Set(['installation']))
    const theirs = await stranger.data<AuditData>('/console/audit?of=installation')
    expect(new Set(theirs.events.map(({ chain }) => chain))).toEqual(new Set([stranger.accountId]))
  })

  it('is verified from its first event to its last, and what was changed is found', async () => {
    expect(await verified('/console/audit')).toMatchObject({ state: 'done', result: { ok: true } })
    const { audit } = world.gateway.services
    const { read } = audit
    const held = audit as { read: typeof read }
    held.read = async (input) => {
      const page = await read(input)
      const events = page.events.map((event) =>
        event.seq === 2 ? { ...event, event: 'key.revoked' } : event,
      )
      return { ...page, events }
    }
    try {
      expect(await verified('/console/audit')).toMatchObject({
        result: { ok: false, fault: 'event_changed', seq: 2 },
      })
      expect(await (await owner.get('/console/audit')).text()).toContain('An event was changed')
    } finally {
      held.read = read
    }
    expect((await stranger.data<AuditData>('/console/audit')).job).toBeNull()
  })

  it('leaves as the file that is verified offline', async () => {
    const answer = await owner.post('/console/audit', { _action: 'export' })
    expect(answer.headers.get('content-disposition')).toMatch(
      /^attachment; filename="audit-account-.*jsonl"$/,
    )
    const keys = await (await fetch(`${world.url}/.well-known/gateway-egress-key.json`)).json()
    const text = await answer.text()
    expect(await verifyExport(text, keys as { keys: object[] })).toMatchObject({
      ok: true,
      chain: owner.accountId,
    })
  })

  it('is read by an auditor, and by no seller', async () => {
    const { gateway } = world
    const auditor = await signIn(gateway, { role: 'auditor' })
    expect((await auditor.post('/console/audit', { _action: 'export' })).status).toBe(200)
    const seller = await signIn(gateway, { role: 'seller' })
    expect((await seller.get('/console/audit')).status).toBe(403)
  })
})

describe('the doctor', () => {
  it('says what `agent-gateway doctor` says, to who looks after the installation alone', async () => {
    expect((await owner.data<{ job: object | null }>('/console/doctor')).job).toBeNull()
    await owner.post('/console/doctor', { _action: 'check' })
    interface Data {
      readonly job: { readonly state: string; readonly result: { readonly findings: readonly Finding[] } }
    }
    interface Finding {
      readonly level: string
      readonly check: string
      readonly says: string
    }
    let data: Data
    do data = await owner.data<Data>('/console/doctor')
    while (data.job.state === 'running' && (await new Promise((resolve) => setTimeout(resolve, 50, true))))
    const { findings } = data.job.result
    const levelOf = (name: string) => findings.find(({ check }) => check === name)?.level
    expect(
      ['database', 'data directory owner', 'signing key', 'authority key', 'clock'].map(levelOf),
    ).toEqual(Array.from({ length: 5 }, () => 'ok'))
    expect(levelOf('doctor')).toBeUndefined()
    expect(JSON.stringify(findings)).not.toContain('agw_')
    expect((await stranger.get('/console/doctor')).status).toBe(403)
    // The lock of the directory is the gateway's still: looking at it has not let it go.
    const { DirectoryInUse, lockDirectory } = await import('../../src/store/sqlite/lock.ts')
    expect(() => lockDirectory(`${world.gateway.dataDir}/data`)).toThrow(DirectoryInUse)
  })
})

describe('the settings', () => {
  it('pause every outbound request at once, and are written down with who changed them', async () => {
    const { gateway } = world
    const { capability } = await gateway.grant()
    const fetched = async () =>
      (await gateway.fetch(capability, { url: gateway.url('/ok'), method: 'GET' })).body.code as unknown
    expect(await fetched()).toBeUndefined()
    expect((await owner.post('/console/settings', { _action: 'egress', paused: 'yes' })).status).toBe(303)
    await vi.waitFor(async () => expect(await fetched()).toBe('egress_paused'), { timeout: 60_000 })
    await owner.post('/console/settings', { _action: 'egress', paused: 'no' })
    await vi.waitFor(async () => expect(await fetched()).toBeUndefined(), { timeout: 60_000 })
    interface Data {
      readonly history: readonly {
        readonly actor: object
        readonly subject: object
        readonly detail: object
      }[]
    }
    const { history } = await owner.data<Data>('/console/settings')
    expect(history.map(({ detail }) => detail)).toEqual([
      { from: true, to: false },
      { from: false, to: true },
    ])
    expect(history[0]?.actor).toMatchObject({ kind: 'person', id: owner.personId, door: 'console' })
  })

  it('limit the calls a minute of a caller from the next one on', async () => {
    const { gateway } = world
    expect(
      (await owner.post('/console/settings', { _action: 'change', calls_per_minute: '59' })).status,
    ).toBe(400)
    await owner.post('/console/settings', { _action: 'change', calls_per_minute: '60' })
    const statuses = await Promise.all(
      Array.from({ length: 61 }, async () => (await gateway.rest('GET', '/v1/receipts/rcp_x')).status),
    )
    expect(statuses.filter((status) => status === 429)).toHaveLength(1)
    await owner.post('/console/settings', { _action: 'change', calls_per_minute: '' })
    expect((await gateway.rest('GET', '/v1/receipts/rcp_x')).status).toBe(404)
  })

  it('are read by an approver, and changed by none', async () => {
    const approver = await signIn(world.gateway, { role: 'approver' })
    expect((await approver.get('/console/settings')).status).toBe(200)
    expect((await approver.post('/console/settings', { _action: 'egress', paused: 'yes' })).status).toBe(403)
    expect((await stranger.get('/console/settings')).status).toBe(403)
  })
})

describe('a backup', () => {
  interface Data {
    readonly job: {
      readonly state: string
      readonly error: string | null
      readonly result: { readonly sha256: string }
    } | null
    readonly keys: readonly string[]
  }

  it('has all that a restore needs but the keys, and a gateway starts on it', async () => {
    const { gateway } = world
    const { capability } = await gateway.grant({ secret: 'planted-secret-of-an-upstream' })
    await owner.post('/console/backup', { _action: 'make' })
    let data: Data
    do data = await owner.data<Data>('/console/backup')
    while (data.job?.state === 'running' && (await new Promise((resolve) => setTimeout(resolve, 20, true))))
    expect(data.job).toMatchObject({ state: 'done', error: null })

    const answer = await owner.post('/console/backup', { _action: 'download' })
    const file = Buffer.from(await answer.arrayBuffer())
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="backup-[-0-9TZ]+\.gz"$/)
    expect(createHash('sha256').update(file).digest('hex')).toBe(data.job?.result.sha256)
    const text = gunzipSync(file)
    expect(text.includes('planted-secret-of-an-upstream')).toBe(false)
    for (const key of data.keys) expect(text.includes(readFileSync(key, 'utf8').trim())).toBe(false)

    const folder = mkdtempSync(join(tmpdir(), 'restored-'))
    writeFileSync(join(folder, 'x.gz'), file)
    for (const key of data.keys) copyFileSync(key, join(folder, basename(key)))
    const config = loadConfig({ ...gateway.env, GATEWAY_DATA_DIR: folder })
    await restore({ config, file: join(folder, 'x.gz'), now: Date.now })
    const restored = await startTestGateway({
      world: { ...gateway, env: { ...gateway.env, GATEWAY_DATA_DIR: folder }, close: async () => {} },
    })
    try {
      const fetched = await restored.fetch(capability, { url: gateway.url('/ok'), method: 'GET' })
      expect([fetched.status, fetched.body.code]).toEqual([200, undefined])
    } finally {
      await restored.close()
    }
    const { events } = await owner.data<{ events: { event: string; actor: { id?: string } }[] }>(
      '/console/audit?of=installation&event=backup.',
    )
    expect(events.map(({ event, actor }) => [event, actor.id])).toEqual([
      ['backup.downloaded', owner.personId],
      ['backup.made', owner.personId],
    ])
  })

  it('is for owners of the first account who have just shown that it is them', async () => {
    const { gateway } = world
    const operator = await signIn(gateway, { role: 'operator' })
    const stale = await signIn(gateway)
    const { sessions } = gateway.services.identity
    const { find } = sessions
    for (const action of ['make', 'download'])
      expect([action, (await operator.post('/console/backup', { _action: action })).status]).toEqual([
        action,
        403,
      ])
    const held = sessions as { find: typeof find }
    held.find = async (token) => {
      const found = await find(token)
      return found && { ...found, freshAt: found.freshAt - 6 * 60_000 }
    }
    try {
      const answer = await stale.post('/console/backup', { _action: 'download' })
      expect([answer.status, answer.headers.get('content-disposition')]).toEqual([403, null])
    } finally {
      held.find = find
    }
    expect((await stranger.get('/console/backup')).status).toBe(403)
    const notOwned = await gateway.rest('POST', '/v1/backup', {}, '')
    expect(notOwned.status).toBe(401)
  })
})
