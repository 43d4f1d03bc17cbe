import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compactLists } from '../../../src/email/adapters/lists.ts'
import { type DomainName, readDomain } from '../../../src/email/domain.ts'
import {
  createKnowledge,
  type DomainLists,
  emailDomainsDocument,
  openLists,
} from '../../../src/email/lists.ts'
import { createCompactSet } from '../../../src/email/compact-set.ts'
import { PROVIDERS, RELAYS, ROLES } from '../../../src/email/providers.ts'
import { CURATED, FREE, OTHERS, REFRESHED } from '../../../src/email/sources.ts'

function name(domain: string): DomainName {
  const read = readDomain(domain)
  if (!read.ok) throw new Error(`${domain}: ${read.rule}`)
  return read.name
}

const lists: DomainLists = {
  names: createCompactSet(
    new Map([
      ['throwaway.com', CURATED],
      ['fresh.com', REFRESHED],
      ['both.com', CURATED | REFRESHED],
      ['perhaps.com', OTHERS[0] | OTHERS[2]],
      ['letters.fr', FREE],
      ['disputed.com', CURATED | FREE],
      ['still-disputed.com', REFRESHED | CURATED | OTHERS[0] | FREE],
      ['github.io', CURATED],
      ['ada.github.io', CURATED],
      ['gmail.com', CURATED],
      ['duck.com', OTHERS[0] | OTHERS[1]],
    ]),
  ),
  sources: [
    { bit: REFRESHED, name: 'lists.example', date: '2026-11-01' },
    { bit: CURATED, name: 'curated 1.0.0', date: '2026-09-21' },
    { bit: OTHERS[0], name: 'first 2.0.1', date: '2026-08-24' },
    { bit: OTHERS[1], name: 'second 6.0.0', date: null },
    { bit: OTHERS[2], name: 'third 1.7.0', date: '2024-12-13' },
  ],
}
const nothing = emailDomainsDocument.initial

describe('a compact set of names', () => {
  it('know exactly the names they were made of', () => {
    const names = fc.uniqueArray(fc.stringMatching(/^[a-z0-9.-]{1,40}$/), { maxLength: 300 })
    fc.assert(
      fc.property(names, fc.array(fc.stringMatching(/^[a-z0-9.-]{0,40}$/)), (inside, probes) => {
        const entries = new Map(inside.map((one, i) => [one, (i % 255) + 1]))
        const set = createCompactSet(entries)
        expect(set.size).toBe(entries.size)
        for (const one of [...inside, ...probes]) expect(set.get(one)).toBe(entries.get(one) ?? 0)
      }),
    )
  })

  it('tell names apart that share a hash, a beginning or a length', () => {
    // Both have the same 32-bit FNV-1a hash.
    const set = createCompactSet(new Map([['costarring', 7]]))
    expect([set.get('costarring'), set.get('liquid'), set.get('costarrinG')]).toEqual([7, 0, 0])
    expect(createCompactSet(new Map()).get('a')).toBe(0)
  })
})

describe('what lists say about a domain', () => {
  it.each<[string, string, string | null, string | null]>([
    ['throwaway.com', 'listed', 'curated 1.0.0', '2026-09-21'],
    ['mail.sub.throwaway.com', 'listed', 'curated 1.0.0', '2026-09-21'],
    ['notthrowaway.com', 'not_listed', null, null],
    ['throwaway.com.de', 'not_listed', null, null],
    ['fresh.com', 'listed', 'lists.example', '2026-11-01'],
    ['both.com', 'listed', 'lists.example', '2026-11-01'],
    ['perhaps.com', 'probable', 'first 2.0.1, third 1.7.0', '2024-12-13'],
    ['letters.fr', 'not_listed', null, null],
    ['ada.letters.fr', 'not_listed', null, null],
    // Where one list throws away what another calls a provider, nobody is turned away.
    ['disputed.com', 'probable', 'curated 1.0.0', '2026-09-21'],
    ['mail.disputed.com', 'probable', 'curated 1.0.0', '2026-09-21'],
    ['still-disputed.com', 'probable', 'lists.example, curated 1.0.0, first 2.0.1', '2026-08-24'],
    // Users of a shared suffix are strangers to each other.
    ['ada.github.io', 'listed', 'curated 1.0.0', '2026-09-21'],
    ['mail.ada.github.io', 'listed', 'curated 1.0.0', '2026-09-21'],
    ['bob.github.io', 'not_listed', null, null],
    // Whatever a list says, these are not thrown away.
    ['gmail.com', 'not_listed', null, null],
    ['duck.com', 'not_listed', null, null],
  ])('%s is %s', (domain, result, list, date) => {
    const knowledge = createKnowledge(lists, nothing)
    expect(knowledge.findDisposable(name(domain))).toEqual({ result, list, list_date: date })
  })

  it('has the operator overrule every list, in any spelling, sub-domains included', () => {
    const knowledge = createKnowledge(lists, {
      disposable: ['Duck.com', '@gmail.com', 'Bücher.example', 'not a domain'],
      allowed: ['throwaway.com', 'PERHAPS.com'],
      roles: ['Front-Desk'],
    })
    const result = (domain: string) => knowledge.findDisposable(name(domain)).result
    expect(result('mail.throwaway.com')).toBe('allowed')
    expect(result('perhaps.com')).toBe('allowed')
    for (const domain of ['duck.com', 'gmail.com', 'xn--bcher-kva.example'])
      expect(knowledge.findDisposable(name(domain))).toEqual({
        result: 'listed',
        list: 'operator: email-domains',
        list_date: null,
      })
    expect(knowledge.isRole('front.desk')).toBe(true)
  })

  it('has the operator settle what lists disagree about', () => {
    const told = createKnowledge(lists, {
      disposable: ['disputed.com'],
      allowed: ['still-disputed.com'],
      roles: [],
    })
    expect(told.findDisposable(name('disputed.com')).result).toBe('listed')
    expect(told.findDisposable(name('still-disputed.com')).result).toBe('allowed')
  })

  it('has allowed win over disposable in the same document', () => {
    const knowledge = createKnowledge(lists, { disposable: ['a.com'], allowed: ['mail.a.com'], roles: [] })
    expect(knowledge.findDisposable(name('mail.a.com')).result).toBe('allowed')
    expect(knowledge.findDisposable(name('a.com')).result).toBe('listed')
  })

  it('knows relays with the names they give out, free providers, and names without public DNS', () => {
    const knowledge = createKnowledge(lists, nothing)
    expect(knowledge.isRelay(name('ada.anonaddy.com'))).toBe(true)
    expect(knowledge.isRelay(name('anonaddy.example'))).toBe(false)
    expect(knowledge.isFree(name('letters.fr'))).toBe(true)
    expect(knowledge.isFree(name('gmail.com'))).toBe(true)
    expect(knowledge.isFree(name('throwaway.com'))).toBe(false)
    expect(knowledge.isFree(name('disputed.com'))).toBe(false)
    for (const domain of ['a.local', 'b.home.arpa', 'c.invalid', 'd.onion'])
      expect(knowledge.isSpecialUse(name(domain)), domain).toBe(true)
    // RFC 6761 has applications treat these as any other name.
    for (const domain of ['a.test', 'example.com', 'b.example', 'in-addr.arpa'])
      expect(knowledge.isSpecialUse(name(domain)), domain).toBe(false)
    expect(knowledge.isNeverAsked(name('d.onion'))).toBe(true)
    expect(knowledge.isNeverAsked(name('c.invalid'))).toBe(false)
  })

  it.each<[string, boolean]>([
    ['postmaster', true],
    ['No-Reply', true],
    ['no.reply', true],
    ['customer_service', true],
    ['infos', false],
    ['ada', false],
    ['info2', false],
  ])('takes %s for a role: %s', (localPart, isRole) => {
    expect(createKnowledge(lists, nothing).isRole(localPart)).toBe(isRole)
  })
})

describe('the operator’s document', () => {
  it('may be empty, and refuses words it does not know', () => {
    expect(emailDomainsDocument.parse({})).toEqual(nothing)
    expect(() => emailDomainsDocument.parse({ blocked: [] })).toThrow()
    expect(() => emailDomainsDocument.parse({ disposable: 'a.com' })).toThrow()
  })
})

describe('own data', () => {
  it('is spelt as it is compared', () => {
    for (const domain of [...PROVIDERS, ...RELAYS]) expect(name(domain).ascii).toBe(domain)
    expect(new Set(PROVIDERS).size).toBe(PROVIDERS.length)
    for (const role of ROLES) expect(role).toMatch(/^[a-z]+$/)
  })
})

describe('the lists of the installed packages', () => {
  const loaded = openLists(compactLists(undefined))
  const knowledge = createKnowledge(loaded, nothing)

  it('are named with their version and the day they were published', () => {
    expect(loaded.sources).toHaveLength(4)
    for (const { name, date } of loaded.sources) {
      expect(name).toMatch(/^[a-z-]+ \d+\.\d+\.\d+$/)
      // Red after an upgrade: look up the day of the new version.
      expect(date, name).toMatch(/^20\d\d-\d\d-\d\d$/)
    }
    expect(loaded.names.size).toBeGreaterThan(90_000)
  })

  it.each<[string, string]>([
    ['mailinator.com', 'listed'],
    ['inbox.mailinator.com', 'listed'],
    ['guerrillamail.com', 'listed'],
    ['gmail.com', 'not_listed'],
    ['wikipedia.org', 'not_listed'],
    ['mozmail.com', 'not_listed'],
    // A provider since the nineties, in the curated list and in that of free providers.
    ['sify.com', 'probable'],
  ])('have %s as %s', (domain, result) => {
    expect(knowledge.findDisposable(name(domain)).result).toBe(result)
  })

  it('have no name as probable that only one of the others has', () => {
    const probable = knowledge.findDisposable(name('gmaıl.net'))
    expect(probable.result).toBe('not_listed')
  })

  it('have no provider or relay among what is thrown away, and know the big ones as free', () => {
    for (const domain of [...PROVIDERS, ...RELAYS])
      expect(knowledge.findDisposable(name(domain)).result, domain).toBe('not_listed')
    for (const domain of ['gmail.com', 'gmx.de', 'yahoo.co.jp'])
      expect(knowledge.isFree(name(domain))).toBe(true)
    expect(knowledge.isFree(name('yaho.com'))).toBe(false)
  })

  it('join what was refreshed', () => {
    const joined = openLists(
      compactLists({ name: 'lists.example', date: '2026-11-20', names: ['brand-new.example'] }),
    )
    expect(createKnowledge(joined, nothing).findDisposable(name('a.brand-new.example'))).toEqual({
      result: 'listed',
      list: 'lists.example',
      list_date: '2026-11-20',
    })
  })
})
