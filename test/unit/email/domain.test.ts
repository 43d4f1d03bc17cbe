import { describe, expect, it } from 'vitest'
import { type DomainRule, readDomain } from '../../../src/email/domain.ts'

const LABEL = 'd'.repeat(63)

describe('readDomain', () => {
  it.each<[string, string, string, string | null]>([
    ['Example.COM', 'example.com', 'example.com', 'example.com'],
    ['mail.example.co.uk', 'mail.example.co.uk', 'mail.example.co.uk', 'example.co.uk'],
    // People who share a suffix are strangers to each other.
    ['shop.ada.github.io', 'shop.ada.github.io', 'shop.ada.github.io', 'ada.github.io'],
    ['co.uk', 'co.uk', 'co.uk', null],
    ['Bücher.example', 'xn--bcher-kva.example', 'bücher.example', 'xn--bcher-kva.example'],
    ['XN--BCHER-KVA.example', 'xn--bcher-kva.example', 'bücher.example', 'xn--bcher-kva.example'],
    ['straße.de', 'xn--strae-oqa.de', 'straße.de', 'xn--strae-oqa.de'],
    ['bü-cher.de', 'xn--b-cher-3ya.de', 'bü-cher.de', 'xn--b-cher-3ya.de'],
    ['ｆｕｌｌ．ｃｏｍ', 'full.com', 'full.com', 'full.com'],
    ['例え。テスト', 'xn--r8jz45g.xn--zckzah', '例え.テスト', 'xn--r8jz45g.xn--zckzah'],
    ['１２３.de', '123.de', '123.de', '123.de'],
    ['۰0.com', 'xn--0-gyc.com', '۰0.com', 'xn--0-gyc.com'],
    ['i❤.ws', 'xn--i-7iq.ws', 'i❤.ws', 'xn--i-7iq.ws'],
    ['i❤\ufe0f.ws', 'xn--i-7iq.ws', 'i❤.ws', 'xn--i-7iq.ws'],
    ['paral·lel.cat', 'xn--parallel-koa.cat', 'paral·lel.cat', 'xn--parallel-koa.cat'],
    ['नामस्\u200cते.com', 'xn--h2bhs4b2a1dyb5596a.com', 'नामस्\u200cते.com', 'xn--h2bhs4b2a1dyb5596a.com'],
    ['דוגמה.קום', 'xn--6dbbec0c.xn--9dbq2a', 'דוגמה.קום', 'xn--6dbbec0c.xn--9dbq2a'],
    [
      `${LABEL}.${LABEL}.${LABEL}.${'d'.repeat(58)}.de`,
      `${LABEL}.${LABEL}.${LABEL}.${'d'.repeat(58)}.de`,
      '',
      '',
    ],
  ])('reads %s', (text, ascii, unicode, registrable) => {
    const read = readDomain(text)
    expect(read).toMatchObject({ ok: true, name: { ascii } })
    if (read.ok && unicode !== '') expect(read.name).toMatchObject({ unicode, registrable })
  })

  it.each<[string, DomainRule, number]>([
    ['', 'domain_empty', 0],
    ['.a.de', 'domain_dot_start', 0],
    ['\u3002a.de', 'domain_dot_start', 0],
    ['a.de.', 'domain_dot_end', 4],
    ['a.de\uff0e', 'domain_dot_end', 4],
    ['a..de', 'domain_dot_twice', 2],
    ['.', 'domain_dot_start', 0],
    ['localhost', 'dotless_domain', 0],
    ['a.123', 'top_level_domain', 2],
    ['a.x1', 'top_level_domain', 2],
    ['１２７.0.0.1', 'top_level_domain', 8],
    ['-a.de', 'label_hyphen', 0],
    ['a.b-.de', 'label_hyphen', 2],
    ['a.-.de', 'label_hyphen', 2],
    ['-bücher.de', 'label_hyphen', 0],
    ['a.bücher-.de', 'label_hyphen', 2],
    ['\uff0dbücher.de', 'label_hyphen', 0],
    ['xn---bcher-4ya.de', 'label_hyphen', 0],
    ['a.xn--bcher--3ya.de', 'label_hyphen', 2],
    ['ab--c.de', 'hyphens_3_4', 0],
    ['a_b.de', 'domain_character', 1],
    ['a/b.de', 'domain_character', 1],
    ['a%41.de', 'domain_character', 1],
    ['a:25.de', 'domain_character', 1],
    // What they are mapped to is not for domains.
    ['a\uff0fb.de', 'domain_character', 0],
    ['a\u037eb.de', 'domain_character', 0],
    // One character that is "1." or a dot once mapped.
    ['a\u2488b.de', 'domain_character', 1],
    ['a\u2024b.de', 'domain_character', 1],
    ['a b.de', 'whitespace', 1],
    ['a\u200b.de', 'invisible_character', 1],
    ['a\u00ad.de', 'invisible_character', 1],
    ['a\ufe0f.de', 'invisible_character', 1],
    ['a.b\u{e0100}.de', 'invisible_character', 3],
    ['a\u180b.de', 'invisible_character', 1],
    ['a\u202e.de', 'bidi_character', 1],
    ['a\u0007.de', 'control_character', 1],
    ['a\ud800.de', 'surrogate', 1],
    ['\u0301a.de', 'combining_mark_first', 0],
    ['xn--.de', 'punycode', 0],
    ['xn--0.de', 'punycode', 0],
    ['xn--a.de', 'punycode', 0],
    ['xn--example-.de', 'punycode', 0],
    ['a.xn--zzzzzzzzzz99999.de', 'punycode', 2],
    // Decodes to a capital letter: nobody may register it under that name.
    ['xn--wca.de', 'punycode', 0],
    ['¡a.de', 'idna', 0],
    ['ـa.de', 'idna', 0],
    ['실〮.de', 'idna', 0],
    ['a·l.de', 'context', 0],
    ['α͵.gr', 'context', 0],
    ['׳ב.com', 'context', 0],
    ['ab・c.jp', 'context', 0],
    ['0a.א.com', 'bidi', 0],
    ['א.a1-.com', 'label_hyphen', 2],
    ['א.0.com', 'bidi', 2],
    [`${'d'.repeat(64)}.de`, 'label_too_long', 0],
    [`${'ü'.repeat(60)}.de`, 'label_too_long', 0],
    [`${LABEL}.${LABEL}.${LABEL}.${'d'.repeat(59)}.de`, 'domain_too_long', 253],
  ])('refuses %j: %s at %s', (text, rule, at) => {
    expect(readDomain(text)).toEqual({ ok: false, rule, at })
  })

  it('looks at no more than a domain can have', () => {
    for (const filling of ['a', 'ü', '.', 'a.', '・', 'xn--'])
      expect(readDomain(filling.repeat(100_000))).toEqual({ ok: false, rule: 'domain_too_long', at: 253 })
  })

  // Some versions of Node name the fault before this part is asked.
  it.each([
    'aא.com',
    'אa.com',
    '0א.com',
    'א-.com',
    'א0\u0660.com',
    'xn--0-zhc74b.com',
    'xn--a-0hc.com',
    'xn--0-zmc.com',
    'xn--0ca24w.com',
    'क\u200dष.com',
    'x\u200cy.com',
    'क\u094d\u200cषx\u200cy.com',
    'xn--11b2er09f.com',
  ])('refuses %s, which mixes directions or joins nothing', (text) => {
    expect(readDomain(text).ok).toBe(false)
  })
})
