// The service with a DNS of the test's own: doubt never rejects, and nobody waits longer than two seconds.
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { ProgressReport } from '../../../src/core/progress.ts'
import { createAddressPolicy } from '../../../src/egress/address.ts'
import { createEmail } from '../../../src/email/index.ts'
import { createKnowledge } from '../../../src/email/lists.ts'
import { createCompactSet } from '../../../src/email/compact-set.ts'
import { CURATED } from '../../../src/email/sources.ts'
import type { DomainAges, MailDns, MailboxVerifier } from '../../../src/email/ports.ts'
import type { EmailKey } from '../../../src/store/ports.ts'

const knowledge = createKnowledge(
  {
    names: createCompactSet(new Map([['throwaway.com', CURATED]])),
    sources: [{ bit: CURATED, name: 'curated 1.0.0', date: '2026-09-21' }],
  },
  { disposable: [], allowed: [], roles: [] },
)

function setUp(dns: MailDns, mailbox?: MailboxVerifier, ages?: DomainAges) {
  const refuse = () => Promise.reject(new Error('no store here'))
  const email = createEmail({
    store: {
      createEmailKey: refuse,
      listEmailKeys: refuse,
      revokeEmailKey: refuse,
      takeEmailQuota: refuse,
      returnEmailQuota: refuse,
    },
    dns,
    addresses: createAddressPolicy([]),
    ages,
    newDomainDays: 30,
    sandboxDomains: new Set(['example.com']),
    mailbox,
    readKnowledge: async () => knowledge,
    dailyQuota: 0,
    areKeysLimited: false,
    now: () => 0,
    elapsedMs: () => 0,
    forgetKey: () => {},
  })
  const gone = new AbortController()
  const reports: ProgressReport[] = []
  const verify = (addresses: readonly string[]) =>
    email.verify(addresses, {
      caller: { kind: 'email', id: 'ek_1', address: '192.0.2.1' },
      signal: () => gone.signal,
      quota: () => {},
      progress: (report) => void reports.push(report),
    })
  return { verify, gone, reports }
}

const never = new Promise<never>(() => {})
const answers: MailDns = {
  mx: async (domain) => ({
    status: 'found',
    records: [{ exchange: `mx.${domain}`, priority: 1 }],
    ttlSeconds: 60,
  }),
  addresses: async () => ({ status: 'found', records: ['93.184.216.34'], ttlSeconds: 60 }),
  txt: async () => ({ status: 'no_data', ttlSeconds: 60 }),
}

afterEach(() => void vi.useRealTimers())

it('says of a batch how many are decided, in at most ten reports, and of a single address nothing', async () => {
  const { verify, reports } = setUp({
    mx: async () => ({
      status: 'found',
      records: [{ exchange: 'mx.example.net', priority: 1 }],
      ttlSeconds: 60,
    }),
    addresses: async () => ({ status: 'found', records: ['203.0.113.9'], ttlSeconds: 60 }),
    txt: answers.txt,
  })
  await verify(['ada@example.com'])
  expect(reports).toEqual([])
  await verify(Array.from({ length: 95 }, (_, at) => `ada@host${at}.example.com`))
  expect(reports.map(({ done, total }) => [done, total])).toEqual(
    [10, 20, 30, 40, 50, 60, 70, 80, 90].map((at) => [at, 95]),
  )
})

describe('ten thousand addresses', () => {
  it('of which one question in a hundred fails are never wrongly rejected', async () => {
    let seed = 42
    const random = () => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648
    const inDoubt = new Set<string>()
    const failing = (domain: string) => {
      if (random() >= 0.01) return false
      inDoubt.add(domain)
      return true
    }
    const { verify } = setUp({
      mx: async (domain, ms) =>
        failing(domain) ? { status: 'failed', reason: 'failure' } : answers.mx(domain, ms),
      addresses: async (host, family, ms) =>
        failing(host.slice(3))
          ? { status: 'failed', reason: 'failure' }
          : answers.addresses(host, family, ms),
      txt: answers.txt,
    })
    const decisions: Record<string, string[]> = { accept: [], review: [], reject: [] }
    for (let i = 0; i < 10_000; i += 100) {
      const emails = Array.from({ length: 100 }, (_, j) => `ada@company-${i + j}.com`)
      for (const [j, { decision }] of (await verify(emails)).entries())
        decisions[decision]!.push(`company-${i + j}.com`)
    }
    expect(decisions['reject']).toEqual([])
    expect(decisions['review']!.length).toBeGreaterThan(50)
    // A host whose IPv4 address is in doubt may still have an IPv6 one.
    expect(decisions['review']!.filter((domain) => !inDoubt.has(domain))).toEqual([])
    expect(decisions['accept']!.length + decisions['review']!.length).toBe(10_000)
  })
})

describe('time', () => {
  it('is two seconds for a whole batch: what DNS did not say by then is a review, the rest is what it is', async () => {
    vi.useFakeTimers()
    const { verify } = setUp({
      ...answers,
      mx: (domain, ms) => (domain === 'slow.com' ? never : answers.mx(domain, ms)),
    })
    const done = verify([
      'ada@good.com',
      'ada@slow.com',
      'bob@slow.com',
      'ada..x@good.com',
      'ada@throwaway.com',
    ])
    await vi.advanceTimersByTimeAsync(1_999)
    let isDone = false
    void done.then(() => (isDone = true))
    await vi.advanceTimersByTimeAsync(0)
    expect(isDone).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect((await done).map(({ decision, reasons }) => [decision, ...reasons].join(' '))).toEqual([
      'accept',
      'review dns_timeout',
      'review dns_timeout',
      'reject syntax',
      'reject disposable',
    ])
  })
  it('is over at once for a caller that goes away', async () => {
    const { verify, gone } = setUp({ ...answers, mx: () => never })
    const done = verify(['ada@slow.com'])
    gone.abort()
    expect((await done)[0]).toMatchObject({ decision: 'review', reasons: ['dns_timeout'] })
  })
  it('of a verifier that says nothing is the same two seconds', async () => {
    vi.useFakeTimers()
    const { verify } = setUp(answers, { verify: () => never })
    const done = verify(['ada@good.com'])
    await vi.advanceTimersByTimeAsync(2_000)
    expect((await done)[0]).toMatchObject({ decision: 'accept', mailbox: 'unknown' })
  })
})

describe('the same address many times', () => {
  it('is one question to a verifier of mailboxes', async () => {
    const asked: string[] = []
    const { verify } = setUp(answers, { verify: async (address) => (asked.push(address), 'undeliverable') })
    const results = await verify([...Array<string>(99).fill('ada@good.com'), 'eve@good.com'])
    expect(asked).toEqual(['ada@good.com', 'eve@good.com'])
    expect(new Set(results.map(({ mailbox }) => mailbox))).toEqual(new Set(['undeliverable']))
  })
})

describe('when a domain was registered', () => {
  const DAY = 86_400_000
  const dated = (days: Readonly<Record<string, number>>) => {
    const asked: string[] = []
    const ages: DomainAges = {
      registeredAt: async (domain) => {
        asked.push(domain)
        const days_ = days[domain]
        return days_ === undefined ? undefined : -days_ * DAY
      },
    }
    return { asked, ages }
  }

  it('is a reason to look while it is less than 30 days ago, and told from then on', async () => {
    const { ages } = dated({ 'new.com': 29, 'old.com': 30 })
    const { verify } = setUp(answers, undefined, ages)
    const results = await verify(['ada@new.com', 'ada@mail.new.com', 'ada@old.com', 'ada@unheard.com'])
    expect(
      results.map(({ decision, reasons, checks }) => [decision, reasons, checks.domain.registered_on]),
    ).toEqual([
      ['review', ['new_domain'], '1969-12-03'],
      ['review', ['new_domain'], '1969-12-03'],
      ['accept', [], '1969-12-02'],
      ['accept', [], null],
    ])
  })

  it('is asked of nobody for providers, disposable domains, those of a sandbox, and where nothing is configured', async () => {
    const { asked, ages } = dated({})
    const { verify } = setUp(answers, undefined, ages)
    await verify([
      'ada@gmail.com',
      'ada@duck.com',
      'ada@throwaway.com',
      'ada@example.com',
      'ada@[192.0.2.1]',
      'ada',
    ])
    expect(asked).toEqual([])
    const [answer] = await setUp(answers).verify(['ada@new.com'])
    expect(answer?.checks.domain.registered_on).toBeNull()
  })

  it('keeps nobody waiting beyond the two seconds, and is then unknown', async () => {
    vi.useFakeTimers()
    const { verify } = setUp(answers, undefined, { registeredAt: () => never })
    const done = verify(['ada@new.com'])
    await vi.advanceTimersByTimeAsync(2_000)
    expect((await done)[0]).toMatchObject({ decision: 'accept', reasons: [] })
  })
})

describe('who takes the mail', () => {
  const through = (exchange: string): MailDns => ({
    ...answers,
    mx: async () => ({ status: 'found', records: [{ exchange, priority: 1 }], ttlSeconds: 60 }),
  })
  it.each<[string, string | null, string, string, readonly string[]]>([
    ['aspmx.l.google.com', 'Google', 'mailboxes', 'accept', []],
    ['acme-com.mail.protection.outlook.com', 'Microsoft', 'mailboxes', 'accept', []],
    ['route1.mx.cloudflare.net', 'Cloudflare Email Routing', 'forwarding', 'accept', ['catch_all_likely']],
    ['mx1.improvmx.com', 'ImprovMX', 'forwarding', 'accept', ['catch_all_likely']],
    ['inbound-smtp.eu-west-1.amazonaws.com', 'Amazon SES', 'program', 'accept', ['catch_all_likely']],
    ['mxa.mailgun.org', 'Mailgun', 'program', 'accept', ['catch_all_likely']],
    ['mx0a-00.pphosted.com', 'Proofpoint', 'filter', 'accept', ['catch_all_likely']],
    ['mx.throwaway.com', 'throwaway.com', 'throwaway', 'review', ['throwaway_route']],
    ['mx.acme.com', null, '', 'accept', []],
    // The end of a name counts, and a whole label of it.
    ['google.com.acme.io', null, '', 'accept', []],
    ['notmailgun.org', null, '', 'accept', []],
  ])('is told of %s: %s', async (host, name, kind, decision, reasons) => {
    const [answer] = await setUp(through(host)).verify(['ada@some-firm.com'])
    expect(answer).toMatchObject({ decision, reasons })
    expect(answer?.checks.mx.service).toEqual(name === null ? null : { name, kind })
  })
})

describe('keys', () => {
  const KEY: EmailKey = { id: 'ek_1', createdAt: 0, revokedAt: null, lastSeenDay: '1970-01-01' }

  function setUpKeys(stored: readonly EmailKey[], dailyQuota = 100) {
    const told: string[] = []
    let loads = 0
    const refuse = () => Promise.reject(new Error('not asked for'))
    const email = createEmail({
      store: {
        createEmailKey: async () => ({ ok: true }),
        listEmailKeys: async ({ day }) => {
          told.push(day)
          return { items: stored.map((key) => ({ ...key, usedToday: 7 })), next: null }
        },
        revokeEmailKey: async ({ id, now }) =>
          stored.some((key) => key.id === id) ? { ...KEY, id, revokedAt: now } : undefined,
        takeEmailQuota: refuse,
        returnEmailQuota: refuse,
      },
      dns: answers,
      addresses: createAddressPolicy([]),
      ages: undefined,
      newDomainDays: 30,
      sandboxDomains: new Set(['example.com']),
      mailbox: undefined,
      readKnowledge: () => (loads++, Promise.reject(new Error('away'))),
      dailyQuota,
      areKeysLimited: true,
      now: () => 1_000,
      elapsedMs: () => 0,
      forgetKey: (id) => void told.push(`forget ${id}`),
    })
    return { email, told, loads: () => loads }
  }

  it('that are there have the lists loaded before the first verification; without one nothing is loaded', async () => {
    for (const [stored, loaded] of [[[], 0] as const, [[KEY], 1] as const]) {
      const { email, loads } = setUpKeys(stored)
      await email.prepare()
      expect(loads()).toBe(loaded)
    }
  })

  it('that are made have them loaded, and are not kept waiting or refused by it', async () => {
    const { email, loads } = setUpKeys([])
    expect((await email.createFreeKey('192.0.2.1')).dailyQuota).toBe(100)
    expect(loads()).toBe(1)
  })

  it('are listed with what they used of the day, where it is counted', async () => {
    const { email, told } = setUpKeys([KEY])
    expect(await email.listKeys({ limit: 5 })).toEqual({ items: [{ ...KEY, usedToday: 7 }], next: null })
    expect(told).toEqual(['1970-01-01'])
    const unlimited = await setUpKeys([KEY], 0).email.listKeys({ limit: 5 })
    expect(unlimited.items).toEqual([{ ...KEY, usedToday: null }])
  })

  it('that are revoked are forgotten; of one that is not there, nobody is told', async () => {
    const { email, told } = setUpKeys([KEY])
    expect(await email.revokeKey('ek_1')).toMatchObject({ id: 'ek_1', revokedAt: 1_000 })
    await expect(email.revokeKey('ek_2')).rejects.toMatchObject({ code: 'key_not_found' })
    expect(told).toEqual(['forget ek_1'])
  })
})
