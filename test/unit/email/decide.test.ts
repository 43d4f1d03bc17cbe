import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EMAIL_REASONS, EmailVerification, type EmailReason } from '../../../schemas/email.ts'
import { decide, decisionOf, type Judgement } from '../../../src/email/decide.ts'
import { createKnowledge } from '../../../src/email/lists.ts'
import { createCompactSet } from '../../../src/email/compact-set.ts'
import { CURATED, FREE, OTHERS } from '../../../src/email/sources.ts'
import type { MailRoute } from '../../../src/email/ports.ts'
import { readAddress } from '../../../src/email/reading.ts'

const knowledge = createKnowledge(
  {
    names: createCompactSet(
      new Map([
        ['throwaway.com', CURATED],
        ['perhaps.com', OTHERS[0] | OTHERS[1]],
        ['letters.fr', FREE],
        ['disputed.com', CURATED | FREE],
        ['hotmial.com', CURATED],
        ['yahooo.com', CURATED | FREE],
        ['outlok.com', CURATED | OTHERS[0]],
        ['yopmail.com', CURATED],
      ]),
    ),
    sources: [
      { bit: CURATED, name: 'curated 1.0.0', date: '2026-09-21' },
      { bit: OTHERS[0], name: 'first 2.0.1', date: '2026-08-24' },
      { bit: OTHERS[1], name: 'second 6.0.0', date: '2026-07-18' },
    ],
  },
  { disposable: ['gmaul.com'], allowed: ['gmial.com', 'gmаil.com'], roles: [] },
)
const hosts = [{ host: 'mx.acme.io', priority: 10 }]
const MX: MailRoute = { status: 'mx', hosts, ttlSeconds: 120 }

function judge(text: string, route: MailRoute | undefined = MX, mailbox: Judgement['mailbox'] = 'unknown') {
  const reading = readAddress(text, knowledge)
  return decide(reading, reading.question?.kind === 'domain' ? route : undefined, mailbox)
}

describe('decide', () => {
  it.each<[string, Judgement['decision'], string, string | null]>([
    ['ada@acme.io', 'accept', '', null],
    ['Ada@ACME.io', 'accept', '', null],
    ['ada+shop@acme.io', 'accept', 'subaddress', null],
    ['ada@letters.fr', 'accept', 'free_provider', null],
    ['ada@gmail.com', 'accept', 'free_provider', null],
    ['ada@duck.com', 'accept', 'relay', null],
    ['почта@пример.рф', 'accept', '', null],
    ['info@acme.io', 'review', 'role_address', null],
    ['info+x@gmail.com', 'review', 'role_address subaddress free_provider', null],
    ['ada@gmai.com', 'review', 'typo', 'ada@gmail.com'],
    ['ada+x@gmail.con', 'review', 'typo subaddress', 'ada+x@gmail.com'],
    ['ada@perhaps.com', 'review', 'probably_disposable', null],
    ['"a b"@acme.io', 'review', 'quoted_local_part', null],
    ['"info"@acme.io', 'review', 'role_address quoted_local_part', null],
    ['ada@[192.0.2.1]', 'review', 'address_literal', null],
    ['ada@nas.local', 'review', 'special_use_domain', null],
    ['ada@hidden.onion', 'review', 'special_use_domain', null],
    ['ada@аррӏе.com', 'review', 'confusable', null],
    ['ada@yаhoo.com', 'review', 'confusable', 'ada@yahoo.com'],
    ['ada@throwaway.com', 'reject', 'disposable', null],
    ['info@mail.throwaway.com', 'reject', 'disposable role_address', null],
    ['ada@disputed.com', 'review', 'probably_disposable', null],
    // Somebody who mistyped learns it, whoever caught the name.
    ['ada@hotmial.com', 'review', 'probably_disposable typo', 'ada@hotmail.com'],
    ['ada@outlok.com', 'review', 'probably_disposable typo', 'ada@outlook.com'],
    ['info@hotmial.com', 'review', 'probably_disposable role_address typo', 'info@hotmail.com'],
    // What the operator listed is no slip, and a disposable domain that is like none stays one.
    ['ada@gmaul.com', 'reject', 'disposable typo', 'ada@gmail.com'],
    ['ada@yopmail.com', 'reject', 'disposable', null],
    ['ada@yahooo.com', 'review', 'probably_disposable typo', 'ada@yahoo.com'],
    ['ada@acme', 'reject', 'domain_invalid', null],
    ['ada@acme..io', 'reject', 'domain_invalid', null],
    ['ada', 'reject', 'syntax', null],
    ['ada@acme.io.', 'reject', 'domain_invalid', 'ada@acme.io'],
    [' ada@acme.io\n', 'reject', 'syntax', 'ada@acme.io'],
    // A name is no part of the address behind it, whatever else there is to say of that.
    ['Ada Lovelace <ada@acme.io>', 'accept', 'display_name', null],
    ['"Ada L." <ada@acme.io>', 'accept', 'display_name', null],
    // Brackets that set off nothing were pasted from somewhere.
    ['<ada@acme.io>', 'review', 'angle_brackets display_name', 'ada@acme.io'],
    ['"" <ada@acme.io>', 'review', 'angle_brackets display_name', 'ada@acme.io'],
    ['"  " <ada@acme.io>', 'review', 'angle_brackets display_name', 'ada@acme.io'],
    ['<ada@gmai.com>', 'review', 'typo angle_brackets display_name', 'ada@gmail.com'],
    ['<ada@[192.0.2.1]>', 'review', 'angle_brackets address_literal display_name', 'ada@[192.0.2.1]'],
    ['<ada@throwaway.com>', 'reject', 'disposable angle_brackets display_name', 'ada@throwaway.com'],
    ['Ada L. <ada@acme.io>', 'reject', 'syntax', 'ada@acme.io'],
    [
      '<ada+x@gmail.com>',
      'review',
      'angle_brackets display_name subaddress free_provider',
      'ada+x@gmail.com',
    ],
    ['Ada <ada@Bücher.example>', 'accept', 'display_name', null],
    ['Ada <info@acme.io>', 'review', 'role_address display_name', null],
    ['Ada <ada@gmai.com>', 'review', 'typo display_name', 'ada@gmail.com'],
    ['Ada <ada@[192.0.2.1]>', 'review', 'address_literal display_name', null],
    ['Ada <ada@throwaway.com>', 'reject', 'disposable display_name', null],
    ['Ada <ada@acme>', 'reject', 'domain_invalid', null],
    ['Ada <ada@acme.io>, Bob <bob@acme.io>', 'reject', 'domain_invalid', null],
    ['ada@acme.io <eve@letters.fr>', 'reject', 'domain_invalid', null],
    // A name that can be taken for something else: what was checked is offered, and nothing is put in its place.
    ['"ada@acme.io" <eve@acme.io>', 'review', 'misleading_name display_name', 'eve@acme.io'],
    ['"acme.io" <eve@gmai.com>', 'review', 'typo misleading_name display_name', 'eve@gmail.com'],
    [
      '"acme.io" <eve@[192.0.2.1]>',
      'review',
      'misleading_name address_literal display_name',
      'eve@[192.0.2.1]',
    ],
    ['Ada\u202e <eve@acme.io>', 'review', 'misleading_name display_name', 'eve@acme.io'],
    [
      '"acme.io" <eve@throwaway.com>',
      'reject',
      'disposable misleading_name display_name',
      'eve@throwaway.com',
    ],
    // The grammar allows it and nobody can use it: a review, and nothing to send mail to.
    ['a\u0085da@acme.io', 'review', 'unusual_character', null],
    ['a\uffffda@acme.io', 'review', 'unusual_character', null],
    ['ada\u202e@acme.io', 'review', 'unusual_character', null],
    ['ada\u200b+x@gmail.com', 'review', 'unusual_character subaddress free_provider', null],
    ['a\u200bda@throwaway.com', 'reject', 'disposable unusual_character', null],
    ['"a\u0085"@acme.io', 'review', 'unusual_character quoted_local_part', null],
    ['Ada <a\u00a0da@acme.io>', 'review', 'unusual_character display_name', null],
    // What came along when it was pasted is left out of what is offered.
    ['\u00a0ada@acme.io', 'review', 'unusual_character', 'ada@acme.io'],
    ['\u200b\ufeffada@acme.io', 'review', 'unusual_character', 'ada@acme.io'],
    ['Ada <\u200bada@acme.io>', 'review', 'unusual_character display_name', 'ada@acme.io'],
    ['ada@acme.io\u200b', 'reject', 'domain_invalid', 'ada@acme.io'],
    ['mailto:ada@acme.io', 'reject', 'syntax', 'ada@acme.io'],
    ['ada＠acme.io', 'reject', 'syntax', 'ada@acme.io'],
    // A command that was smuggled in is nobody's suggestion.
    ['ada@acme.io\r\nRCPT TO:<eve@letters.fr>', 'reject', 'domain_invalid', null],
    ['ada@acme.io\u0000<eve@letters.fr>', 'reject', 'domain_invalid', null],
    // What the operator allows is neither a typo nor a disguise.
    ['ada@gmial.com', 'accept', '', null],
    ['ada@gmаil.com', 'accept', '', null],
  ])('%j with a mail route: %s (%s), did you mean %s', (address, decision, reasons, didYouMean) => {
    const judgement = judge(address)
    expect(judgement.decision).toBe(decision)
    expect(judgement.reasons.join(' ')).toBe(reasons)
    expect(judgement.did_you_mean).toBe(didYouMean)
  })

  it.each<[string, unknown]>([
    ['null', null],
    ['42', 42],
    ['true', true],
    ['[object]', { email: 'ada@acme.io' }],
    ['[array]', ['ada@acme.io']],
    ['undefined', undefined],
  ])('%s instead of text is no address, and is not looked into', (shown, value) => {
    const judgement = decide(readAddress(value, knowledge), undefined, 'unknown')
    expect(judgement).toMatchObject({
      email: shown,
      decision: 'reject',
      reasons: ['syntax'],
      normalized: null,
      did_you_mean: null,
      checks: { syntax: { result: 'fail', rule: 'not_a_string', position: null } },
    })
  })

  it('takes the mail of a sandbox domain for granted, and says so', () => {
    expect(judge('ada@example.com', { status: 'sandbox', ttlSeconds: 300 })).toMatchObject({
      decision: 'accept',
      reasons: ['sandbox_domain'],
      checks: { mx: { result: 'pass', hosts: [] } },
      cache_ttl_seconds: 300,
    })
  })

  it('tells a local part that reads as another one from a domain that does', () => {
    const local = judge('pаypal@acme.io')
    expect(local).toMatchObject({
      decision: 'review',
      reasons: ['confusable'],
      normalized: null,
      did_you_mean: null,
    })
    expect(judge('<pаypal@gmai.com>').did_you_mean).toBeNull()
    expect(local.checks.syntax).toMatchObject({ result: 'pass', rule: 'confusable_local_part' })
    expect(judge('ada@аррӏе.com').checks.syntax.rule).toBeNull()
  })

  it.each<[string, MailRoute, Judgement['decision'], string, Judgement['checks']['mx']['result']]>([
    [
      'implicit',
      { status: 'implicit', addresses: ['192.0.2.1'], sendsNoMail: false, ttlSeconds: 60 },
      'accept',
      'implicit_mx',
      'pass',
    ],
    ['null MX', { status: 'null_mx', ttlSeconds: 60 }, 'reject', 'null_mx', 'fail'],
    ['no domain', { status: 'no_domain', ttlSeconds: 60 }, 'reject', 'domain_not_found', 'fail'],
    ['no route', { status: 'no_route', ttlSeconds: 60 }, 'reject', 'no_mail_route', 'fail'],
    ['unreachable', { status: 'unreachable', hosts, ttlSeconds: 60 }, 'reject', 'unreachable_route', 'fail'],
    ['time-out', { status: 'unknown', reason: 'timeout' }, 'review', 'dns_timeout', 'unknown'],
    ['failure', { status: 'unknown', reason: 'failure' }, 'review', 'dns_failure', 'unknown'],
  ])('with %s of a plain address', (_, route, decision, reasons, result) => {
    const judgement = judge('ada@acme.io', route)
    expect(judgement).toMatchObject({ decision, reasons: [reasons], checks: { mx: { result } } })
    expect(judgement.checks.mx.null_mx).toBe(route.status === 'null_mx')
    expect(judgement.checks.mx.implicit_mx).toBe(route.status === 'implicit')
    expect(judgement.checks.mx.hosts).toEqual('hosts' in route ? hosts : [])
    expect(judgement.cache_ttl_seconds).toBe(route.status === 'unknown' ? 0 : 60)
  })

  it('rejects a literal that is not on the internet', () => {
    const reading = readAddress('ada@[127.0.0.1]', knowledge)
    expect(reading.question).toEqual({ kind: 'literal', address: '127.0.0.1' })
    expect(decide(reading, { status: 'unreachable', hosts: [], ttlSeconds: 0 }, 'unknown')).toMatchObject({
      decision: 'reject',
      reasons: ['unreachable_route', 'address_literal'],
      normalized: 'ada@[127.0.0.1]',
    })
  })

  it('lets a verifier raise a doubt, and never a rejection or an acceptance', () => {
    expect(judge('ada@acme.io', MX, 'undeliverable')).toMatchObject({
      decision: 'review',
      reasons: ['mailbox_undeliverable'],
      mailbox: 'undeliverable',
    })
    expect(judge('info@acme.io', MX, 'deliverable')).toMatchObject({
      decision: 'review',
      mailbox: 'deliverable',
    })
  })

  it('says all that was checked', () => {
    expect(judge('Zoë+shop@Bücher.example')).toEqual({
      email: 'Zoë+shop@Bücher.example',
      decision: 'accept',
      reasons: ['subaddress'],
      normalized: 'Zoë+shop@xn--bcher-kva.example',
      did_you_mean: null,
      checks: {
        syntax: { result: 'pass', rule: null, detail: null, position: null },
        domain: {
          result: 'pass',
          ascii: 'xn--bcher-kva.example',
          unicode: 'bücher.example',
          registrable: 'xn--bcher-kva.example',
          registered_on: null,
        },
        mx: {
          result: 'pass',
          hosts,
          null_mx: false,
          implicit_mx: false,
          sends_no_mail: false,
          service: null,
        },
        disposable: { result: 'not_listed', list: null, list_date: null },
        role: false,
        free_provider: false,
        relay: false,
        subaddress: 'shop',
        internationalized: { local_part: true, domain: true },
      },
      mailbox: 'unknown',
      cache_ttl_seconds: 120,
    })
    expect(judge('a b@acme.io')).toMatchObject({
      normalized: null,
      checks: {
        syntax: { result: 'fail', rule: 'whitespace', detail: 'There is white space in it.', position: 1 },
        domain: { result: 'skipped', ascii: null },
        mx: { result: 'skipped' },
        disposable: { result: 'skipped' },
      },
    })
    expect(judge('ada@throwaway.com').checks.disposable).toEqual({
      result: 'listed',
      list: 'curated 1.0.0',
      list_date: '2026-09-21',
    })
  })

  it('asks DNS nothing about names that must not be looked up', () => {
    expect(readAddress('ada@hidden.onion', knowledge).question).toBeUndefined()
    // A slip that is listed is a review whether or not somebody waits for it there; one that is not listed may be no domain at all.
    expect(readAddress('ada@hotmial.com', knowledge).question).toBeUndefined()
    expect(readAddress('ada@gmai.com', knowledge).question).toEqual({ kind: 'domain', domain: 'gmai.com' })
    expect(readAddress('ada@nas.local', knowledge).question).toEqual({ kind: 'domain', domain: 'nas.local' })
    expect(readAddress('ada', knowledge).question).toBeUndefined()
  })

  it('shows what was sent cut and without controls', () => {
    expect(judge('a\r\nBcc: x@y.de').email).toBe('a\\u000d\\u000aBcc: x@y.de')
    expect(judge('a\u202eb@c.de').email).toBe('a\\u202eb@c.de')
    expect(judge(`${'a'.repeat(319)}😀@b.de`).email).toBe(`${'a'.repeat(319)}\\ud83d`)
    expect(judge('x'.repeat(10_240)).email).toHaveLength(320)
  })

  it('says what is unusual about a spelling that passes, and where', () => {
    expect(judge('Ada <ada@acme.io>')).toMatchObject({
      email: 'Ada <ada@acme.io>',
      normalized: 'ada@acme.io',
      checks: {
        syntax: { result: 'pass', rule: null },
        domain: { ascii: 'acme.io' },
        mx: { result: 'pass' },
      },
    })
    expect(judge('"ada@acme.io" <eve@acme.io>')).toMatchObject({
      email: '"ada@acme.io" <eve@acme.io>',
      normalized: null,
      checks: {
        syntax: {
          result: 'pass',
          rule: 'misleading_name',
          detail: expect.stringContaining('Send the address alone.'),
          position: null,
        },
        domain: { result: 'pass', ascii: 'acme.io' },
        mx: { result: 'pass' },
      },
    })
    expect(judge('a\u202eda+\u202e@acme.io')).toMatchObject({
      email: 'a\\u202eda+\\u202e@acme.io',
      normalized: null,
      checks: { syntax: { result: 'pass', rule: 'bidi_character', position: 1 }, subaddress: '\\u202e' },
    })
    expect(judge('Ada <ada@nowhere.io>', { status: 'no_domain', ttlSeconds: 9 })).toMatchObject({
      decision: 'reject',
      reasons: ['domain_not_found', 'display_name'],
      cache_ttl_seconds: 9,
    })
  })

  it('keeps a subaddress only where there is one', () => {
    for (const address of ['+ada@acme.io', 'ada+@acme.io', '"ada+x"@acme.io'])
      expect(judge(address).checks.subaddress, address).toBeNull()
    expect(judge('ada+a+b@acme.io').checks.subaddress).toBe('a+b')
  })
})

describe('any address, any route', () => {
  const reasons = Object.keys(EMAIL_REASONS) as EmailReason[]
  const routes = fc.oneof(
    fc.constantFrom<MailRoute | undefined>(
      undefined,
      MX,
      { status: 'implicit', addresses: ['192.0.2.1'], sendsNoMail: false, ttlSeconds: 0.5 },
      { status: 'null_mx', ttlSeconds: 1 },
      { status: 'no_domain', ttlSeconds: 99_999_999 },
      { status: 'no_route', ttlSeconds: -1 },
      { status: 'unreachable', hosts: [], ttlSeconds: 3 },
      { status: 'unknown', reason: 'timeout' },
      { status: 'unknown', reason: 'failure' },
    ),
  )
  const word = fc.constantFrom('ada', 'info', 'ada+x', '"a b"', 'zoë', '', 'a..b', 'a\0')
  const domain = fc.constantFrom(
    'acme.io',
    'gmai.com',
    'throwaway.com',
    'perhaps.com',
    'x',
    '[192.0.2.1]',
    'a.onion',
    'пример.рф',
    'gmаil.com',
  )
  const name = fc.constantFrom('', 'Ada ', '"Ada B." ', '"acme.io" ', 'Ada\u200b ', 'Аda ')
  const address = fc.oneof(
    fc.tuple(word, domain).map(([local, at]) => `${local}@${at}`),
    fc.tuple(name, word, domain).map(([name, local, at]) => `${name}<${local}@${at}>`),
    fc.string({ unit: 'binary', maxLength: 50 }),
    fc.string({ unit: 'grapheme', maxLength: 30 }).map((text) => `${text}@acme.io`),
  )
  const mailbox = fc.constantFrom<Judgement['mailbox']>('unknown', 'deliverable', 'undeliverable')

  it('gets an answer of the published shape, decided by its reasons alone', () => {
    fc.assert(
      fc.property(address, routes, mailbox, (text, route, says) => {
        const judgement = decide(readAddress(text, knowledge), route, says)
        EmailVerification.parse({ ...judgement, checked_at: '2026-11-21T12:00:00.000Z' })
        expect(judgement.decision).toBe(decisionOf(judgement.reasons))
        expect(judgement.reasons).toEqual([...new Set(judgement.reasons)])
        const { result, rule } = judgement.checks.syntax
        expect(judgement.normalized === null).toBe(rule !== null)
        expect(result === 'fail').toBe(
          judgement.reasons.some((reason) => /^(syntax|domain_invalid)$/.test(reason)),
        )
      }),
      { numRuns: 1_000 },
    )
  })

  it('is never rejected because nobody knows, nor kept', () => {
    fc.assert(
      fc.property(address, fc.constantFrom<'timeout' | 'failure'>('timeout', 'failure'), (text, reason) => {
        const reading = readAddress(text, knowledge)
        const [without, unknown] = [undefined, { status: 'unknown', reason } as const].map((route) =>
          decide(reading, route, 'unknown'),
        )
        expect(unknown!.decision === 'reject').toBe(without!.decision === 'reject')
        if (unknown!.decision !== 'reject') expect(unknown!.decision).toBe('review')
        expect(unknown!.cache_ttl_seconds).toBe(0)
      }),
    )
  })

  it('gets the worst decision that any of its reasons asks for', () => {
    fc.assert(
      fc.property(fc.subarray(reasons), (some) => {
        const asked = some.map((reason) => EMAIL_REASONS[reason])
        const worst = asked.includes('reject') ? 'reject' : asked.includes('review') ? 'review' : 'accept'
        expect(decisionOf(some)).toBe(worst)
      }),
    )
  })

  it('gets the same answer whatever the case of its domain', () => {
    fc.assert(
      fc.property(word, domain, routes, (local, at, route) => {
        const [a, b] = [at, at.toUpperCase()].map((one) => {
          const { email: _, ...rest } = decide(readAddress(`${local}@${one}`, knowledge), route, 'unknown')
          return rest
        })
        expect(a).toEqual(b)
      }),
    )
  })
})
