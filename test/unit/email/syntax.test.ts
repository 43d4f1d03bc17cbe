import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readSyntax, type SyntaxRule } from '../../../src/email/syntax.ts'
import { RULE_DETAILS } from '../../../src/email/words.ts'

/** Local part and domain as read, or rule and position. */
function outcome(text: string): string {
  const read = readSyntax(text)
  if (!read.ok) return `${read.rule} ${read.position}`
  return `${read.isQuoted ? 'quoted ' : ''}${read.localPart} at ${read.domain?.ascii ?? `[${read.literal}]`}`
}

const LONG = 'l'.repeat(64)
const LABEL = 'd'.repeat(63)

describe('addresses that mail is delivered to', () => {
  it.each<[string, string]>([
    ['ada@lovelace.org', 'ada at lovelace.org'],
    ['Ada.Byron@Lovelace.ORG', 'Ada.Byron at lovelace.org'],
    ["o'hara+news/2=_~@x-y.co.uk", "o'hara+news/2=_~ at x-y.co.uk"],
    ['!#$%&*/?^`{|}-@a.bc', '!#$%&*/?^`{|}- at a.bc'],
    ['1@2.de', '1 at 2.de'],
    ['a@b.c', 'a at b.c'],
    ['user@a--b.com', 'user at a--b.com'],
    [`${LONG}@a.de`, `${LONG} at a.de`],
    [`a@${LABEL}.de`, `a at ${LABEL}.de`],
    ['zoë@straße.example', 'zoë at xn--strae-oqa.example'],
    // Not in normal form as typed: it is in the answer.
    ['cafe\u0301@cafe\u0301.fr', 'caf\u00e9 at xn--caf-dma.fr'],
    ['почта@пример.рф', 'почта at xn--e1afmkfd.xn--p1ai'],
    ['用户@例え。テスト', '用户 at xn--r8jz45g.xn--zckzah'],
    ['نام\u200cه@example.org', 'نام\u200cه at example.org'],
    ['👩\u200d💻@example.org', '👩\u200d💻 at example.org'],
    ['𝕏@example.org', '𝕏 at example.org'],
  ])('%s', (address, read) => {
    expect(outcome(address)).toBe(read)
  })

  it.each<[string, string]>([
    ['"two words"@a.de', 'quoted "two words" at a.de'],
    ['"a@b"@a.de', 'quoted "a@b" at a.de'],
    ['"a..b"@a.de', 'quoted "a..b" at a.de'],
    ['"<a@b>"@a.de', 'quoted "<a@b>" at a.de'],
    ['""@a.de', 'quoted "" at a.de'],
    [String.raw`"a\"b\\c"@a.de`, String.raw`quoted "a\"b\\c" at a.de`],
    // Quotes and escapes that nothing needs: the same mailbox, written shorter.
    [String.raw`"plain\.text"@a.de`, 'quoted plain.text at a.de'],
    ['"δοκιμή"@a.de', 'quoted δοκιμή at a.de'],
    ['a@[192.0.2.7]', 'a at [192.0.2.7]'],
    ['a@[IPv6:2001:DB8::7]', 'a at [2001:db8::7]'],
    ['a@[ipv6:::ffff:192.0.2.7]', 'a at [::ffff:192.0.2.7]'],
  ])('%s, marked as unusual', (address, read) => {
    expect(outcome(address)).toBe(read)
  })
})

describe('addresses that are refused, by rule and position', () => {
  it.each<[string, SyntaxRule, number | null]>([
    ['', 'empty', null],
    ['plain', 'no_at', null],
    ['"quoted"', 'no_at', null],
    ['@a.de', 'local_part_empty', 0],
    ['.a@b.de', 'dot_start', 0],
    ['a.@b.de', 'dot_end', 1],
    ['a..b@b.de', 'dot_twice', 2],
    [`${LONG}l@a.de`, 'local_part_too_long', 64],
    [`${'é'.repeat(33)}@a.de`, 'local_part_too_long', 32],
    [`"${'q'.repeat(63)}"@a.de`, 'local_part_too_long', 64],
    [`${LONG}@${LABEL}.${LABEL}.${LABEL}.de`, 'address_too_long', null],
    ['a b@c.de', 'whitespace', 1],
    [' a@c.de', 'whitespace', 0],
    ['a@c.de ', 'whitespace', 6],
    ['a\t@c.de', 'control_character', 1],
    ['a@c.de\r\nBcc: x@y.de', 'control_character', 6],
    ['a\u0000@c.de', 'control_character', 1],
    ['a\ud800@c.de', 'surrogate', 1],
    ['a\\b@c.de', 'local_part_character', 1],
    ['a,b@c.de', 'local_part_character', 1],
    ['(x)a@c.de', 'comment', 0],
    ['a(x)@c.de', 'comment', 1],
    ['a@(x)c.de', 'comment', 2],
    ['a@c.de(x)', 'comment', 6],
    ['a@c.de>', 'display_name', 6],
    ['Ada <a@c.de', 'display_name', 4],
    ['"Ada" <a@c.de', 'display_name', 6],
    ['mailto:a@c.de', 'scheme', 0],
    ['a@b.de,c@d.de', 'several_addresses', 6],
    ['a@b.de; c@d.de', 'several_addresses', 6],
    ['a@b@c.de', 'second_at', 3],
    ['a\uff20c.de', 'at_look_alike', 1],
    ['a"b"@c.de', 'quote_misplaced', 1],
    ['"a".b@c.de', 'quote_misplaced', 3],
    ['"a@c.de', 'quote_unclosed', 7],
    [String.raw`"a\"@c.de`, 'quote_unclosed', 9],
    [String.raw`"a\é"@c.de`, 'quoted_character', 3],
    ['"a\n"@c.de', 'control_character', 2],
    ['a@', 'domain_empty', 2],
    ['a@[1.2.3]', 'literal_ipv4', 3],
    ['a@[1.2.3.256]', 'literal_ipv4', 3],
    ['a@[IPv6:1::2::3]', 'literal_ipv6', 8],
    ['a@[IPv6:fe80::1%eth0]', 'literal_ipv6', 8],
    ['a@[2001:db8::1]', 'literal_tag', 3],
    ['a@[x:y]', 'literal_tag', 3],
    ['a@[name]', 'literal_tag', 3],
    ['a@[1.2.3.4', 'literal_unclosed', 10],
    ['a@[1.2.3.4]x', 'literal_after', 11],
    ['a@1.2.3.4', 'top_level_domain', 8],
  ])('%j: %s at %s', (address, rule, position) => {
    expect(readSyntax(address)).toMatchObject({ ok: false, rule, position })
  })

  it('says what to change for every rule', () => {
    for (const detail of Object.values(RULE_DETAILS)) expect(detail).toMatch(/^[A-Z].*\.$/)
  })

  it('looks at no more than an address can have', () => {
    for (const filling of ['a', '(', '"', '\\', '.', 'é', '<', ' ', 'a@', '\u0301'])
      expect(readSyntax(filling.repeat(100_000))).toMatchObject({ ok: false, rule: 'address_too_long' })
  })
})

describe('any text', () => {
  const anything = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 400 }),
    fc
      .array(
        fc.constantFrom(
          'a',
          '.',
          '@',
          '"',
          '\\',
          '(',
          '<',
          '>',
          '[',
          ']',
          ' ',
          '\r\n',
          'é',
          '\u200d',
          '-',
          'xn--',
        ),
      )
      .map((parts) => parts.join('')),
  )

  it('is read without an error, and what passes once passes again in its normal form', () => {
    fc.assert(
      fc.property(anything, (text) => {
        const read = readSyntax(text)
        if (!read.ok) {
          expect(read.position ?? 0).toBeLessThanOrEqual(text.length)
          return
        }
        if (!read.domain) return
        const again = readSyntax(`${read.localPart}@${read.domain.ascii}`)
        expect(again).toMatchObject({
          ok: true,
          isDisplayForm: false,
          isMisleading: false,
          oddity: read.oddity && { rule: read.oddity.rule },
          localPart: read.localPart,
          content: read.content,
        })
        expect(again.ok && again.domain?.ascii).toBe(read.domain.ascii)
      }),
      { numRuns: 2_000 },
    )
  })

  it('never passes with a character that ends a line or a header, and never unmarked with one that might', () => {
    const evils = fc.constantFrom('\r', '\n', '\0', '\u0085', '\u2028', '\u2029')
    const texts = fc.oneof(
      fc.string({ maxLength: 20 }),
      fc.constantFrom('a@b.de', '"a b"@b.de', 'N <a@b.de>'),
    )
    fc.assert(
      fc.property(texts, evils, (text, evil) => {
        for (const at of [0, 1, text.length]) {
          const read = readSyntax(`${text.slice(0, at)}${evil}${text.slice(at)}`)
          if (evil <= '\u007F') expect(read.ok).toBe(false)
          else expect(read.ok && !read.oddity && !read.isMisleading).toBe(false)
        }
      }),
    )
  })
})
