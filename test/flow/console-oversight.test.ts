// The pages on which an operator sees how the gateway does and looks after it: whose figures they show, and what a role may do there.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { verifyExport } from '../../src/audit/verify.ts'
import { type ConsoleWorld, startConsoleWorld } from '../support/console-world.ts'
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
