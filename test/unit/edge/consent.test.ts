// What resolvers say, as a verdict: every fault is a refusal with its own word, and nothing outlives its time.
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type Consents, consentName, createConsentSource } from '../../../src/edge/consent.ts'
import type { TxtAnswer } from '../../../src/edge/ports.ts'

const HOST = 'shop.example.com'
const NAME = `_agent-gateway.${HOST}`
const GATEWAY = 'gw.example.com'
const TOKEN = 'a'.repeat(26)
const RECORD = `v=agw1; gw=${GATEWAY}; acct=${TOKEN}`
const START = Date.UTC(2026, 10, 21)

const found = (records: string[], ttlSeconds = 3600, aliases = 0): TxtAnswer => ({
  status: 'found',
  records,
  ttlSeconds,
  aliases,
})
const absent = (ttlSeconds: number | null = null, aliases = 0): TxtAnswer => ({
  status: 'absent',
  ttlSeconds,
  aliases,
})
const failed = (reason: Extract<TxtAnswer, { status: 'failed' }>['reason']): TxtAnswer => ({
  status: 'failed',
  reason,
})

interface Setting {
  readonly consents: Consents
  /** What the resolvers say from now on, one answer each. */
  say(...answers: TxtAnswer[]): void
  pass(seconds: number): void
  /** Questions so far, of all resolvers. */
  readonly questions: string[]
  readonly hosts: Map<string, { host: string; accountId: string }>
}

function set(answers: TxtAnswer[], options: { allowSandboxName?: boolean } = {}): Setting {
  let said = answers
  let time = START
  const questions: string[] = []
  const hosts = new Map([[TOKEN, { host: HOST, accountId: 'acc_1' }]])
  const consents = createConsentSource({
    txtResolvers: answers.map((_, i) => ({
      name: `192.0.2.${i}:53`,
      ask(name) {
        questions.push(name)
        return Promise.resolve(said[i]!)
      },
    })),
    store: { findEdgeHost: (token) => Promise.resolve(hosts.get(token)) },
    edgeName: GATEWAY,
    allowSandboxName: options.allowSandboxName ?? false,
    now: () => time,
  })
  return {
    consents,
    say: (...next) => void (said = next),
    pass: (seconds) => void (time += seconds * 1000),
    questions,
    hosts,
  }
}

async function refusalOf(consents: Consents, host = HOST): Promise<string> {
  const verdict = await consents.find(host)
  return verdict.ok ? 'consents' : verdict.refusal
}

describe('a host', () => {
  it('consents when every resolver finds the record for us', async () => {
    const { consents, questions } = set([found([RECORD]), found([RECORD])])
    expect(await consents.find(HOST)).toEqual({
      ok: true,
      accountId: 'acc_1',
      consent: {
        accountToken: TOKEN,
        paths: ['/'],
        methods: ['POST'],
        until: null,
        recordDigest: createHash('sha256').update(RECORD).digest('base64url'),
      },
    })
    expect(questions).toEqual([NAME, NAME])
  })

  it.each<[string, TxtAnswer]>([
    ['records of other gateways beside it', found([RECORD.replace(GATEWAY, 'other.example'), RECORD])],
    ['records of a later version beside it', found(['v=agw2; x=y', RECORD])],
    ['a broken record beside it', found([`${RECORD};`, RECORD])],
    ['records that have nothing to do with it beside it', found(['v=spf1 -all', RECORD])],
    ['one alias in front', found([RECORD], 300, 1)],
    ['the record twice, which DNS does not know', found([RECORD, RECORD])],
  ])('consents with %s', async (_what, answer) => {
    expect(await refusalOf(set([answer]).consents)).toBe('consents')
  })

  it.each<[string, TxtAnswer[], string]>([
    ['no record', [absent()], 'absent'],
    ['only records that have nothing to do with it', [found(['v=spf1 -all', ''])], 'absent'],
    ['a record that cannot be read', [found([`${RECORD};`])], 'malformed'],
    [
      'a broken record beside one for another gateway',
      [found([`${RECORD};`, RECORD.replace(GATEWAY, 'b.example')])],
      'malformed',
    ],
    ['a record of a later version', [found(['v=agw2; x=y'])], 'unsupported_version'],
    ['a record for another gateway', [found([RECORD.replace(GATEWAY, 'other.example')])], 'wrong_gateway'],
    [
      'a record for a gateway with the same end',
      [found([RECORD.replace(GATEWAY, `a.${GATEWAY}`)])],
      'wrong_gateway',
    ],
    ['an account that nobody asked for', [found([RECORD.replace('aaa', 'bbb')])], 'wrong_account'],
    ['a record that has expired', [found([`${RECORD}; until=${START / 1000}`])], 'expired'],
    ['two records for us', [found([RECORD, `${RECORD}; paths=/v1/`])], 'several_records'],
    [
      'two records for us that differ in case only',
      [found([RECORD, RECORD.replace(GATEWAY, GATEWAY.toUpperCase())])],
      'several_records',
    ],
    ['two aliases in front', [found([RECORD], 300, 2)], 'alias_chain'],
    ['two aliases to nowhere', [absent(300, 2)], 'alias_chain'],
    ['a loop of aliases', [failed('alias_loop')], 'alias_chain'],
    ['an answer that is too large', [failed('too_large')], 'answer_too_large'],
    ['a resolver that fails', [failed('server_failure')], 'resolver_failed'],
    ['a resolver that does not answer', [failed('timeout')], 'resolver_failed'],
    ['a resolver that answers nonsense', [failed('malformed')], 'resolver_failed'],
    ['no resolver at all', [], 'resolver_failed'],
    ['one resolver of two that fails', [found([RECORD]), failed('server_failure')], 'resolver_failed'],
    ['one resolver of two that does not answer', [failed('timeout'), found([RECORD])], 'resolver_failed'],
    ['a record that one of two does not see', [found([RECORD]), absent()], 'resolvers_disagree'],
    [
      'a record of another path on one of two',
      [found([RECORD]), found([`${RECORD}; paths=/a`])],
      'resolvers_disagree',
    ],
    ['one more record on one of two', [found([RECORD]), found([RECORD, 'x'])], 'resolvers_disagree'],
    ['an empty record that one of two does not see', [found(['']), absent()], 'resolvers_disagree'],
  ])('is refused with %s', async (_what, answers, refusal) => {
    const { consents } = set(answers)
    const verdict = await consents.find(HOST)
    expect(verdict).toMatchObject({ ok: false, refusal })
    // It says what to do, and repeats nothing that a stranger published.
    if (!verdict.ok) expect(verdict.detail).toMatch(/[A-Z].*\.$/)
    if (!verdict.ok) expect(verdict.detail).not.toMatch(/aaaa|bbbb|other\.example/)
  })

  it('consents whatever the order in which resolvers list the records', async () => {
    expect(await refusalOf(set([found([RECORD, 'x']), found(['x', RECORD])]).consents)).toBe('consents')
  })

  it('is not spoken for by the name above it or below it', async () => {
    const { consents, hosts } = set([found([RECORD])])
    // The same record answers for every name below a wildcard; its token is of one host.
    expect(await refusalOf(consents, `a.${HOST}`)).toBe('wrong_account')
    hosts.set(TOKEN, { host: `a.${HOST}`, accountId: 'acc_1' })
    expect(await refusalOf(consents, HOST)).toBe('wrong_account')
    expect(consentName('a.b')).toBe('_agent-gateway.a.b')
  })

  it.each(['com', 'co.uk', 'github.io', 'blogspot.com'])(
    'that is a public suffix is not asked: %s',
    async (host) => {
      const { consents, questions } = set([found([RECORD])])
      expect(await refusalOf(consents, host)).toBe('public_suffix')
      expect((await consents.inquire(host, RECORD)).verdict).toMatchObject({ refusal: 'public_suffix' })
      expect(questions).toEqual([])
    },
  )
  it.each(['example.com', 'shop.co.uk', 'me.github.io'])('below one is: %s', async (host) => {
    const { consents, hosts } = set([found([RECORD])])
    hosts.set(TOKEN, { host, accountId: 'acc_1' })
    expect(await refusalOf(consents, host)).toBe('consents')
  })
})

describe('what was answered', () => {
  it.each<[string, number, number]>([
    ['its TTL', 60, 60],
    ['300 s, however long its TTL', 86_400, 300],
  ])('consents for %s', async (_what, ttl, seconds) => {
    const { consents, say, pass, questions } = set([found([RECORD], ttl)])
    expect(await refusalOf(consents)).toBe('consents')
    say(absent())
    pass(seconds - 1)
    expect(await refusalOf(consents)).toBe('consents')
    expect(questions).toHaveLength(1)
    pass(1)
    expect(await refusalOf(consents)).toBe('absent')
  })
  it('lasts as long as the resolver says that lets go first', async () => {
    const { consents, say, pass } = set([found([RECORD], 300), found([RECORD], 10)])
    await consents.find(HOST)
    say(absent(), absent())
    pass(10)
    expect(await refusalOf(consents)).toBe('absent')
  })
  it('does not last at all with a TTL of 0', async () => {
    const { consents, say } = set([found([RECORD], 0)])
    expect(await refusalOf(consents)).toBe('consents')
    say(absent())
    expect(await refusalOf(consents)).toBe('absent')
  })
  it('lasts from when it was asked, not from when it was answered', async () => {
    let time = START
    let answer: (answer: TxtAnswer) => void = () => {}
    let asked = 0
    const consents = createConsentSource({
      txtResolvers: [{ name: 'slow', ask: () => (asked++, new Promise((resolve) => (answer = resolve))) }],
      store: { findEdgeHost: () => Promise.resolve({ host: HOST, accountId: 'acc_1' }) },
      edgeName: GATEWAY,
      allowSandboxName: false,
      now: () => time,
    })
    const first = consents.find(HOST)
    time += 4000
    answer(found([RECORD], 10))
    expect((await first).ok).toBe(true)
    time += 6000
    const second = consents.find(HOST)
    expect(asked).toBe(2)
    answer(absent())
    expect((await second).ok).toBe(false)
  })
  it.each<[string, TxtAnswer, number]>([
    ['60 s', absent(null), 60],
    ['60 s, however long the zone says', absent(3600), 60],
    ['as long as the zone says', absent(5), 5],
    ['60 s though a record is there', found(['v=spf1 -all'], 3600), 60],
  ])('refuses for %s', async (_what, answer, seconds) => {
    const { consents, say, pass, questions } = set([answer])
    expect(await refusalOf(consents)).toBe('absent')
    say(found([RECORD]))
    pass(seconds - 1)
    expect(await refusalOf(consents)).toBe('absent')
    expect(questions).toHaveLength(1)
    pass(1)
    expect(await refusalOf(consents)).toBe('consents')
  })
  it.each<[string, TxtAnswer[]]>([
    ['a failure', [found([RECORD]), failed('server_failure')]],
    ['a disagreement', [found([RECORD]), absent()]],
  ])('is not remembered when it was %s', async (_what, answers) => {
    const { consents, say } = set(answers)
    expect(await refusalOf(consents)).not.toBe('consents')
    say(found([RECORD]), found([RECORD]))
    expect(await refusalOf(consents)).toBe('consents')
  })
  it('does not stand in for resolvers that fail later: nothing stale allows', async () => {
    const { consents, say, pass } = set([found([RECORD], 300)])
    await consents.find(HOST)
    say(failed('timeout'))
    pass(300)
    expect(await refusalOf(consents)).toBe('resolver_failed')
  })
  it('is judged by the clock at every call', async () => {
    const { consents, pass, questions } = set([found([`${RECORD}; until=${START / 1000 + 30}`])])
    expect(await refusalOf(consents)).toBe('consents')
    pass(29)
    expect(await refusalOf(consents)).toBe('consents')
    pass(1)
    expect(await refusalOf(consents)).toBe('expired')
    expect(questions).toHaveLength(1)
  })
  it('is asked anew when the clock was set back', async () => {
    const { consents, say, pass } = set([found([RECORD])])
    await consents.find(HOST)
    say(absent())
    pass(-3600)
    expect(await refusalOf(consents)).toBe('absent')
  })
  it('holds for an account that asks for the host afterwards', async () => {
    const { consents, hosts, questions } = set([found([RECORD])])
    hosts.clear()
    expect(await refusalOf(consents)).toBe('wrong_account')
    hosts.set(TOKEN, { host: HOST, accountId: 'acc_2' })
    expect(await consents.find(HOST)).toMatchObject({ ok: true, accountId: 'acc_2' })
    expect(questions).toHaveLength(1)
  })
  it('is one question for all that ask at the same time', async () => {
    const { consents, questions } = set([found([RECORD]), found([RECORD])])
    const verdicts = await Promise.all(Array.from({ length: 20 }, () => consents.find(HOST)))
    expect(verdicts.every(({ ok }) => ok)).toBe(true)
    expect(questions).toHaveLength(2)
  })
  it('does not wait behind names that strangers make up, whose servers never answer', async () => {
    const open: (() => void)[] = []
    let time = START
    const consents = createConsentSource({
      txtResolvers: [
        {
          name: '192.0.2.0:53',
          ask: (name) =>
            name === NAME
              ? Promise.resolve(found([RECORD], 60))
              : new Promise((resolve) => open.push(() => resolve(failed('timeout')))),
        },
      ],
      store: { findEdgeHost: async () => ({ host: HOST, accountId: 'acc_1' }) },
      edgeName: GATEWAY,
      allowSandboxName: false,
      now: () => time,
    })
    expect(await refusalOf(consents)).toBe('consents')
    time += 61_000
    const strangers = Array.from({ length: 400 }, (_, i) => refusalOf(consents, `a${i % 200}.example.com`))
    // Told at once, while the others still wait.
    expect(await Promise.race(strangers)).toBe('resolver_failed')
    expect(open.length).toBe(128)
    expect(await refusalOf(consents)).toBe('consents')
    for (const answer of open) answer()
    expect(new Set(await Promise.all(strangers))).toEqual(new Set(['resolver_failed']))
    void refusalOf(consents, 'later.example.com')
    expect(open.length).toBe(129)
    // Nor behind what operators look up, beside it.
    const inquiries = Array.from({ length: 40 }, (_, i) => consents.inquire(`b${i}.example.com`, ''))
    expect(await Promise.race(inquiries)).toMatchObject({
      verdict: { refusal: 'resolver_failed' },
      answers: [],
    })
    expect(open.length).toBe(129 + 32)
    time += 61_000
    expect(await refusalOf(consents)).toBe('consents')
    for (const answer of open) answer()
    await Promise.all(inquiries)
  })

  it('is told to 200 who ask at once and were never served before, and to no more than half of all calls', async () => {
    let answer = () => {}
    const consents = createConsentSource({
      txtResolvers: [
        {
          name: '192.0.2.0:53',
          ask: () => new Promise((resolve) => (answer = () => resolve(found([RECORD])))),
        },
      ],
      store: { findEdgeHost: async () => ({ host: HOST, accountId: 'acc_1' }) },
      edgeName: GATEWAY,
      allowSandboxName: false,
      now: () => START,
    })
    const asked = Array.from({ length: 300 }, () => refusalOf(consents))
    answer()
    const told = await Promise.all(asked)
    expect(told.filter((word) => word === 'consents')).toHaveLength(256)
    expect(told.filter((word) => word === 'resolver_failed')).toHaveLength(44)
  })

  it('is not pushed out by hosts that strangers make up', async () => {
    const { consents, say, questions } = set([found([RECORD])])
    await consents.find(HOST)
    say(absent())
    for (let i = 0; i < 1001; i++) await consents.find(`n${i}.example.com`)
    questions.length = 0
    expect(await refusalOf(consents)).toBe('consents')
    expect(questions).toEqual([])
    // Of the others the oldest is forgotten, so that memory has a bound.
    await consents.find('n1.example.com')
    expect(questions).toEqual([])
    await consents.find('n0.example.com')
    expect(questions).toEqual(['_agent-gateway.n0.example.com'])
  })
})

describe('an inquiry', () => {
  it('asks every resolver whatever is remembered, and says what each of them said', async () => {
    const { consents, say } = set([found([RECORD]), found([RECORD])])
    await consents.find(HOST)
    say(found([RECORD]), absent())
    expect(await consents.inquire(HOST, RECORD)).toEqual({
      verdict: expect.objectContaining({ ok: false, refusal: 'resolvers_disagree' }),
      answers: [
        { resolver: '192.0.2.0:53', answer: found([RECORD]) },
        { resolver: '192.0.2.1:53', answer: absent() },
      ],
    })
  })
  it.each<[string, TxtAnswer, TxtAnswer, string]>([
    ['a removal', found([RECORD]), absent(), 'absent'],
    ['a publication', absent(), found([RECORD]), 'consents'],
  ])('makes %s known to calls at once', async (_what, before, after, refusal) => {
    const { consents, say } = set([before])
    await consents.find(HOST)
    say(after)
    await consents.inquire(HOST, RECORD)
    expect(await refusalOf(consents)).toBe(refusal)
  })
  it('is not undone by an older question that is answered later', async () => {
    let time = START
    const waiting: ((answer: TxtAnswer) => void)[] = []
    const consents = createConsentSource({
      txtResolvers: [{ name: 'slow', ask: () => new Promise((resolve) => void waiting.push(resolve)) }],
      store: { findEdgeHost: () => Promise.resolve({ host: HOST, accountId: 'acc_1' }) },
      edgeName: GATEWAY,
      allowSandboxName: false,
      now: () => time,
    })
    const old = consents.find(HOST)
    time += 1000
    const fresh = consents.inquire(HOST, RECORD)
    waiting[1]!(absent())
    await fresh
    waiting[0]!(found([RECORD]))
    expect((await old).ok).toBe(true)
    expect(await refusalOf(consents)).toBe('absent')
  })
})

describe('the sample site of the sandbox', () => {
  const SITE = 'sandbox.agent-gateway.test'
  it('publishes the record of who asks about it, and is in no DNS', async () => {
    const { consents, hosts, questions } = set([absent()], { allowSandboxName: true })
    hosts.set(TOKEN, { host: SITE, accountId: 'acc_1' })
    expect(await refusalOf(consents, SITE)).toBe('absent')
    expect((await consents.inquire(SITE, RECORD)).verdict.ok).toBe(true)
    expect(await refusalOf(consents, SITE)).toBe('consents')
    expect(questions).toEqual([])
  })
  it('is a name like any other in production', async () => {
    const { consents, hosts, questions } = set([absent()])
    hosts.set(TOKEN, { host: SITE, accountId: 'acc_1' })
    expect((await consents.inquire(SITE, RECORD)).verdict).toMatchObject({ refusal: 'absent' })
    expect(questions).toEqual([`_agent-gateway.${SITE}`])
  })
})
