// What an address may look like, class by class: what passes, what passes with a mark that makes it a review, and what is
// refused by which rule. The grammar decides: RFC 5321 (Mailbox), RFC 6531 (UTF-8), RFC 5322 (name-addr), UTS 46 for domains.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readSyntax, type SyntaxRule } from '../../../src/email/syntax.ts'

type Outcome =
  | 'plain'
  | 'in brackets'
  | 'misleading'
  | 'quoted'
  | 'literal'
  | `odd: ${SyntaxRule}`
  | `refused: ${SyntaxRule}`

/** All marks, in the order in which they are written above. */
function outcomeOf(address: string): string {
  const read = readSyntax(address)
  if (!read.ok) return `refused: ${read.rule}`
  const marks: [boolean, Outcome][] = [
    [read.isDisplayForm, read.isMisleading ? 'misleading' : 'in brackets'],
    [read.isQuoted, 'quoted'],
    [read.literal !== undefined, 'literal'],
  ]
  const names: string[] = marks.filter(([isSo]) => isSo).map(([, name]) => name)
  if (read.oddity) names.push(`odd: ${read.oddity.rule}`)
  return names.join(', ') || 'plain'
}

const L64 = 'l'.repeat(64)
const D63 = 'd'.repeat(63)
/** A domain of that many characters. */
const domainOf = (length: number) => {
  const tail = `.${D63}.${D63}.com`
  const head = 'h'.repeat(length - tail.length)
  return head.length > 63 ? `${head.slice(0, 63)}.${head.slice(64)}${tail}` : `${head}${tail}`
}

const CLASSES: readonly (readonly [title: string, cases: readonly (readonly [string, Outcome])[]])[] = [
  [
    'dot-atoms take every special character of RFC 5322, and dots between them only',
    [
      ["!#$%&'*+-/=?^_`{|}~@example.org", 'plain'],
      ["a.!#.$%.&'.*+@example.org", 'plain'],
      ['-@example.org', 'plain'],
      ['_a_@example.org', 'plain'],
      ['0@example.org', 'plain'],
      ['a.b.c.d.e@example.org', 'plain'],
      ['.@example.org', 'refused: dot_start'],
      ['..@example.org', 'refused: dot_start'],
      ['a..@example.org', 'refused: dot_twice'],
      ['a.@example.org', 'refused: dot_end'],
      ...[...'()<>[]:;@\\,"'].map((character): [string, Outcome] => [
        `a${character}b@example.org`,
        `refused: ${
          (
            {
              '(': 'comment',
              ')': 'comment',
              '<': 'display_name',
              '>': 'display_name',
              '@': 'second_at',
              '"': 'quote_misplaced',
            } as Record<string, SyntaxRule>
          )[character] ?? 'local_part_character'
        }`,
      ]),
    ],
  ],
  [
    'lengths are counted in octets, at the boundary and one beyond it',
    [
      [`${L64}@example.org`, 'plain'],
      [`${L64}l@example.org`, 'refused: local_part_too_long'],
      [`${'é'.repeat(32)}@example.org`, 'plain'],
      [`${'é'.repeat(32)}l@example.org`, 'refused: local_part_too_long'],
      [`"${'q'.repeat(62)}"@example.org`, 'quoted'],
      [`"${'q'.repeat(63)}"@example.org`, 'refused: local_part_too_long'],
      [`${L64}@${domainOf(189)}`, 'plain'],
      [`${L64}@${domainOf(190)}`, 'refused: address_too_long'],
      [`a@${D63}.com`, 'plain'],
      [`a@${D63}d.com`, 'refused: label_too_long'],
      [`a@${'ü'.repeat(63)}.com`, 'refused: label_too_long'],
      [`a@${domainOf(252)}`, 'plain'],
      [`a@${domainOf(253)}`, 'refused: address_too_long'],
      [`a@${domainOf(254)}`, 'refused: domain_too_long'],
      [`a@${Array(100).fill('d').join('.')}.com`, 'plain'],
    ],
  ],
  [
    'domains are host names: no underscore, no empty part, hyphens inside only',
    [
      ['a@my_host.org', 'refused: domain_character'],
      ['a@_dmarc.example.org', 'refused: domain_character'],
      ['a_b@example.org', 'plain'],
      ['a@ex-ample.org', 'plain'],
      ['a@-example.org', 'refused: label_hyphen'],
      ['a@example-.org', 'refused: label_hyphen'],
      ['a@ex--ample.org', 'refused: hyphens_3_4'],
      ['a@exa--mple.org', 'plain'],
      ['a@example.org.', 'refused: domain_dot_end'],
      ['a@example.org..', 'refused: domain_dot_twice'],
      ['a@.example.org', 'refused: domain_dot_start'],
      ['a@example..org', 'refused: domain_dot_twice'],
      ['a@.', 'refused: domain_dot_start'],
      ['a@', 'refused: domain_empty'],
      ['a@localhost', 'refused: dotless_domain'],
      ['a@com', 'refused: dotless_domain'],
      ['a@example.org:25', 'refused: domain_character'],
      ['a@example.org/', 'refused: domain_character'],
      ['a@exa%6dple.org', 'refused: domain_character'],
      ['a@example!.org', 'refused: domain_character'],
    ],
  ],
  [
    'top-level domains are letters or A-labels: digits at the end are an address without its brackets',
    [
      ['a@example.123', 'refused: top_level_domain'],
      ['a@example.c0m', 'refused: top_level_domain'],
      ['a@1.2.3.4', 'refused: top_level_domain'],
      ['a@0x7f.1', 'refused: top_level_domain'],
      ['a@2130706433', 'refused: dotless_domain'],
      ['a@123.org', 'plain'],
      ['a@1.2.3.org', 'plain'],
      ['a@example.xn--p1ai', 'plain'],
      ['a@пример.рф', 'plain'],
      ['a@example.x', 'plain'],
    ],
  ],
  [
    'A-labels say something that had to be encoded, in its one encoding',
    [
      ['a@xn--bcher-kva.example', 'plain'],
      ['a@XN--BCHER-KVA.example', 'plain'],
      ['a@xn--.example', 'refused: punycode'],
      ['a@xn---.example', 'refused: punycode'],
      ['a@xn--example.org', 'refused: punycode'],
      ['a@xn--example-.org', 'refused: punycode'],
      ['a@xn--a-ecp.example', 'refused: punycode'],
      ['a@xn--99999999.example', 'refused: punycode'],
      ['a@ab--cd.example', 'refused: hyphens_3_4'],
      ['a@zn--bcher-kva.example', 'refused: hyphens_3_4'],
    ],
  ],
  [
    'international domains are mapped by UTS 46, and keep to IDNA 2008 but for emoji',
    [
      ['a@Bücher.example', 'plain'],
      ['a@bu\u0308cher.example', 'plain'],
      ['a@faß.example', 'plain'],
      ['a@例え.テスト', 'plain'],
      ['a@例え。テスト', 'plain'],
      ['a@ｅｘａｍｐｌｅ.org', 'plain'],
      ['a@example\uFF0Eorg', 'plain'],
      ['a@\u212Aelvin.example', 'plain'],
      ['a@क्\u200Dष.example', 'plain'],
      ['a@नी\u200Cक.example', 'refused: invisible_character'],
      ['a@نامه\u200Cای.example', 'plain'],
      ['a@ab\u200Dc.example', 'refused: invisible_character'],
      ['a@ab\u200Bc.example', 'refused: invisible_character'],
      ['a@ab\u00ADc.example', 'refused: invisible_character'],
      ['a@l·l.example', 'plain'],
      ['a@a·l.example', 'refused: context'],
      ['a@\u0301a.example', 'refused: combining_mark_first'],
      ['a@a\u2024org.example', 'refused: domain_character'],
      ['a@☃.example', 'plain'],
      ['a@💩.example', 'plain'],
      ['a@a\u{E0001}.example', 'refused: invisible_character'],
      ['a@a\uFFFF.example', 'refused: unassigned_character'],
      ['a@a\uE000.example', 'refused: private_use_character'],
    ],
  ],
  [
    'writing from right to left keeps to one direction a part',
    [
      ['a@مثال.إختبار', 'plain'],
      ['دعم@مثال.إختبار', 'plain'],
      ['שלום@דוגמה.ישראל', 'plain'],
      ['ada.שלום@example.org', 'plain'],
      ['a@שלום1.ישראל', 'plain'],
      ['a\u200F@example.org', 'odd: bidi_character'],
      ['a@exam\u202Eple.org', 'refused: bidi_character'],
    ],
  ],
  [
    'white space and folding have no place around or inside of an address',
    [
      [' a@example.org', 'refused: whitespace'],
      ['a@example.org ', 'refused: whitespace'],
      ['a @example.org', 'refused: whitespace'],
      ['a@ example.org', 'refused: whitespace'],
      ['a@example .org', 'refused: whitespace'],
      ['a b@example.org', 'refused: whitespace'],
      ['\ta@example.org', 'refused: control_character'],
      ['a@example.org\t', 'refused: control_character'],
      ['a@example.org\n', 'refused: control_character'],
      ['a\r\n @example.org', 'refused: control_character'],
      ['a@\r\n example.org', 'refused: control_character'],
      ['"a\r\n b"@example.org', 'refused: control_character'],
      ['a\u0000@example.org', 'refused: control_character'],
      ['a\u007F@example.org', 'refused: control_character'],
      ['   ', 'refused: whitespace'],
    ],
  ],
  [
    'comments have no place either, wherever RFC 5322 has one',
    [
      ['(c)a@example.org', 'refused: comment'],
      ['a(c)@example.org', 'refused: comment'],
      ['a@(c)example.org', 'refused: comment'],
      ['a@example(c).org', 'refused: comment'],
      ['a@example.org(c)', 'refused: comment'],
      ['a@[192.0.2.1](c)', 'refused: literal_after'],
      ['"a"(c)@example.org', 'refused: quote_misplaced'],
      ['"(c)"@example.org', 'quoted'],
    ],
  ],
  [
    'quoted strings hold what is printable, whole, and nothing of the old mixtures',
    [
      ['""@example.org', 'quoted'],
      ['" "@example.org', 'quoted'],
      ['"."@example.org', 'quoted'],
      ['"a..b."@example.org', 'quoted'],
      ['"a@b@c"@example.org', 'quoted'],
      ['"a,b;c:d"@example.org', 'quoted'],
      [String.raw`"\""@example.org`, 'quoted'],
      [String.raw`"\\"@example.org`, 'quoted'],
      [String.raw`"\ "@example.org`, 'quoted'],
      ['"é"@example.org', 'quoted'],
      [String.raw`"\"@example.org`, 'refused: quote_unclosed'],
      ['"@example.org', 'refused: quote_unclosed'],
      ['"""@example.org', 'refused: quote_misplaced'],
      ['"a"b@example.org', 'refused: quote_misplaced'],
      ['a"b"@example.org', 'refused: quote_misplaced'],
      ['"a"."b"@example.org', 'refused: quote_misplaced'],
      ['a."b".c@example.org', 'refused: quote_misplaced'],
      ['"a\tb"@example.org', 'refused: control_character'],
      ['"a\u0001b"@example.org', 'refused: control_character'],
      [String.raw`a\@b@example.org`, 'refused: local_part_character'],
      ["'a b'@example.org", 'refused: whitespace'],
    ],
  ],
  [
    'address literals are IPv4, or IPv6 with its tag',
    [
      ['a@[192.0.2.1]', 'literal'],
      ['a@[255.255.255.255]', 'literal'],
      ['a@[IPv6:2001:db8::1]', 'literal'],
      ['a@[IPv6:::]', 'literal'],
      ['a@[IPv6:1:2:3:4:5:6:7:8]', 'literal'],
      ['a@[IPv6:::ffff:192.0.2.1]', 'literal'],
      ['a@[192.0.2.256]', 'refused: literal_ipv4'],
      ['a@[192.0.2]', 'refused: literal_ipv4'],
      ['a@[192.0.2.01]', 'refused: literal_ipv4'],
      ['a@[0x7f.0.0.1]', 'refused: literal_tag'],
      ['a@[2001:db8::1]', 'refused: literal_tag'],
      ['a@[IPv6:2001:db8]', 'refused: literal_ipv6'],
      ['a@[IPv6:1:2:3:4:5:6:7:8:9]', 'refused: literal_ipv6'],
      ['a@[IPv6:g::1]', 'refused: literal_ipv6'],
      ['a@[tag:content]', 'refused: literal_tag'],
      ['a@[]', 'refused: literal_ipv4'],
      ['a@[ 192.0.2.1 ]', 'refused: literal_tag'],
      ['a@[192.0.2.1', 'refused: literal_unclosed'],
      ['a@192.0.2.1]', 'refused: domain_character'],
      ['a@[192.0.2.1].org', 'refused: literal_after'],
      ['a@[[192.0.2.1]]', 'refused: literal_after'],
    ],
  ],
  [
    'routes of another time: what is a character there is a character, what is a route is refused',
    [
      ['user%example.com@example.org', 'plain'],
      ['host!user@example.org', 'plain'],
      ['a!b!c%d@example.org', 'plain'],
      ['@relay.example,@other.example:a@example.org', 'refused: local_part_empty'],
      ['host!user', 'refused: no_at'],
      ['user%example.com', 'refused: no_at'],
      ['user@example.org@relay.example', 'refused: second_at'],
      ['<@relay.example:a@example.org>', 'refused: local_part_empty'],
    ],
  ],
  [
    'one address behind a name, or in brackets, passes; more than that is refused',
    [
      ['<a@example.org>', 'in brackets'],
      ['Ada <a@example.org>', 'in brackets'],
      ['Ada<a@example.org>', 'in brackets'],
      ['Ada Byron Lovelace <a@example.org>', 'in brackets'],
      ['"Ada B." Lovelace <a@example.org>', 'in brackets'],
      ['Ada\t <a@example.org>', 'in brackets'],
      ['Zoë Ångström <a@example.org>', 'in brackets'],
      ['"Lovelace, Ada" <a@example.org>', 'in brackets'],
      ['"a@example.com" <b@example.org>', 'misleading'],
      [String.raw`"\"Ada\" <x>" <a@example.org>`, 'misleading'],
      [String.raw`"Ada\\" <a@example.org>`, 'in brackets'],
      ['Dr "Ada" Lovelace <a@example.org>', 'in brackets'],
      ['Ada B. Lovelace <a@example.org>', 'refused: display_name'],
      [`${'n'.repeat(900)} <a@example.org>`, 'misleading'],
      [`${'n'.repeat(990)} <a@example.org>`, 'refused: address_too_long'],
      ['<>', 'refused: empty'],
      ['Ada <>', 'refused: empty'],
      ['Ada <a>', 'refused: no_at'],
      ['Ada <a@example>', 'refused: dotless_domain'],
      ['Ada <a..b@example.org>', 'refused: dot_twice'],
      ['Ada < a@example.org>', 'refused: whitespace'],
      ['Ada <a@example.org> ', 'refused: display_name'],
      [' Ada <a@example.org>', 'refused: display_name'],
      ['Ada <a@example.org', 'refused: display_name'],
      ['Ada a@example.org>', 'refused: whitespace'],
      ['Ada <<a@example.org>>', 'refused: display_name'],
      ['Ada (x) <a@example.org>', 'refused: display_name'],
      ['Lovelace, Ada <a@example.org>', 'refused: display_name'],
      ['a@example.com <b@example.org>', 'refused: whitespace'],
      ['"Ada <a@example.org>', 'refused: quote_unclosed'],
      ['Ada\r\nBcc: x <a@example.org>', 'refused: display_name'],
      ['Ada\u0000 <a@example.org>', 'refused: display_name'],
      ['"Ada\r\n" <a@example.org>', 'refused: control_character'],
      ['Ada\uD800 <a@example.org>', 'refused: display_name'],
      ['Ada <a@example.org>, Bob <b@example.org>', 'refused: several_addresses'],
      ['a@example.org, Bob <b@example.org>', 'refused: several_addresses'],
      ['a@example.org, b@example.org', 'refused: several_addresses'],
      ['Friends: a@example.org;', 'refused: local_part_character'],
      ['mailto:a@example.org', 'refused: scheme'],
      ['<mailto:a@example.org>', 'refused: scheme'],
      ['http://a@example.org', 'refused: local_part_character'],
    ],
  ],
  [
    'what UTF-8 can say and nobody can see, type or tell apart is a review',
    [
      ['a\u0080@example.org', 'odd: control_character'],
      ['a\u0085b@example.org', 'odd: control_character'],
      ['a\u009F@example.org', 'odd: control_character'],
      ['a\u00A0b@example.org', 'odd: whitespace'],
      ['a\u3000b@example.org', 'odd: whitespace'],
      ['a\u2028b@example.org', 'odd: whitespace'],
      ['a\u200Bb@example.org', 'odd: invisible_character'],
      ['a\u00ADb@example.org', 'odd: invisible_character'],
      ['\uFEFFa@example.org', 'odd: invisible_character'],
      ['a\u{E0041}@example.org', 'odd: invisible_character'],
      ['a\u3164@example.org', 'odd: invisible_character'],
      ['a\u2800b@example.org', 'odd: invisible_character'],
      ['a\u{1D159}@example.org', 'odd: invisible_character'],
      ['a\uFE0F@example.org', 'odd: invisible_character'],
      ['1\uFE0F@example.org', 'odd: invisible_character'],
      ['\uFE0Fa@example.org', 'odd: invisible_character'],
      ['a\u{E0100}@example.org', 'odd: invisible_character'],
      ['a\u180Bb@example.org', 'odd: invisible_character'],
      ['\u845B\u180B@example.org', 'odd: invisible_character'],
      ['a\u202Eb@example.org', 'odd: bidi_character'],
      ['a\u2067b@example.org', 'odd: bidi_character'],
      ['a\uE000@example.org', 'odd: private_use_character'],
      ['a\u{10FFFD}@example.org', 'odd: private_use_character'],
      ['a\uFDD0@example.org', 'odd: unassigned_character'],
      ['a\uFFFE@example.org', 'odd: unassigned_character'],
      ['a\u{1FFFF}@example.org', 'odd: unassigned_character'],
      ['a\u0378@example.org', 'odd: unassigned_character'],
      ['\u0301a@example.org', 'odd: combining_mark_first'],
      ['a.\u0301b@example.org', 'odd: combining_mark_first'],
      ['a\u037Eb@example.org', 'odd: normal_form'],
      ['"a\u0085"@example.org', 'quoted'],
      ['a\u200B..b@example.org', 'refused: dot_twice'],
      ['a\u200Bb', 'refused: no_at'],
      ['a\u200B@', 'refused: domain_empty'],
    ],
  ],
  [
    'what UTF-8 cannot say is refused, and so is what stands in the place of the @',
    [
      ['a\uD800@example.org', 'refused: surrogate'],
      ['a\uDC00b@example.org', 'refused: surrogate'],
      ['"a\uD800"@example.org', 'refused: surrogate'],
      ['a\uFF20example.org', 'refused: at_look_alike'],
      ['a\uFE6Bexample.org', 'refused: at_look_alike'],
      ['a\uFF20b@example.org', 'refused: at_look_alike'],
    ],
  ],
  [
    'letters, emoji and both normal forms of a letter are what people write',
    [
      ['zoë@example.org', 'plain'],
      ['zoe\u0308@example.org', 'plain'],
      ['\u1E69@example.org', 'plain'],
      ['s\u0323\u0307@example.org', 'plain'],
      ['用户@example.org', 'plain'],
      ['उपयोगकर्ता@example.org', 'plain'],
      ['👍🏽@example.org', 'plain'],
      ['❤️@example.org', 'plain'],
      ['1️⃣@example.org', 'plain'],
      ['葛\u{E0100}@example.org', 'plain'],
      ['\u1820\u180B@example.org', 'plain'],
      ['👨\u200D👩\u200D👧@example.org', 'plain'],
      ['🇩🇪@example.org', 'plain'],
      ['a\u200D@example.org', 'odd: invisible_character'],
      ['\u200D👧@example.org', 'odd: invisible_character'],
      ['аdа@example.org', 'plain'],
      ['ﬁ@example.org', 'plain'],
      ['Ⅷ@example.org', 'plain'],
      ['\u212A@example.org', 'plain'],
    ],
  ],
]

describe.each(CLASSES)('%s', (_title, cases) => {
  it.each(cases)('%j: %s', (address, outcome) => {
    const marks = outcomeOf(address)
    // A mark for what is odd comes beside the others.
    expect(marks.replace(/, odd: .*/, '')).toBe(outcome)
  })
})

describe('a domain that mixes directions', () => {
  // Which of the two rules says so differs between versions of Node.
  it.each(['a@1שלום.ישראל', 'a@aשלום.ישראל', 'a@שלוםa.ישראל', 'a@٣٣.مثال'])('%s is refused', (address) => {
    expect(['refused: bidi', 'refused: idna']).toContain(outcomeOf(address))
  })
})

describe('marks', () => {
  it('stand beside each other, each with its place', () => {
    expect(outcomeOf('Ada <"a\u0085"@[192.0.2.1]>')).toBe(
      'in brackets, quoted, literal, odd: control_character',
    )
    expect(readSyntax('Ada <"a\u0085"@[192.0.2.1]>')).toMatchObject({ oddity: { position: 7 } })
    expect(readSyntax('Ada <a..b@example.org>')).toMatchObject({ ok: false, position: 7 })
    expect(readSyntax('a\u{1F600}\u200B\u0085@example.org')).toMatchObject({
      oddity: { rule: 'invisible_character', position: 3 },
    })
  })

  it('leave what is odd as it was typed', () => {
    expect(readSyntax('e\u0301\u037E@example.org')).toMatchObject({ localPart: 'e\u0301\u037E' })
    expect(readSyntax('"a\u2028b"@example.org')).toMatchObject({ localPart: '"a\u2028b"' })
  })
})

/** The first plane whole, of the others both ends. */
function* someCodePoints(): Generator<number> {
  for (let code = 0; code <= 0xffff; code++) yield code
  for (let plane = 1; plane <= 16; plane++)
    for (let code = 0; code <= 0xffff; code += code === 0x3ff ? 0xfbf0 : 1) yield plane * 0x10000 + code
}

describe('every character', () => {
  it('in a local part is plain or odd, or refused where it is ASCII, half of a pair or like an @', () => {
    const refused: number[] = []
    const counts = { plain: 0, odd: 0 }
    for (const code of someCodePoints()) {
      const read = readSyntax(`a${String.fromCodePoint(code)}a@example.org`)
      if (!read.ok) refused.push(code)
      else counts[read.oddity ? 'odd' : 'plain']++
    }
    const isHalf = (code: number) => code >= 0xd800 && code <= 0xdfff
    expect(refused.filter(isHalf)).toHaveLength(2048)
    expect(refused.filter((code) => code > 0x7f && !isHalf(code))).toEqual([0xfe6b, 0xff20])
    const ascii = String.fromCodePoint(...Array(128).keys())
    expect(refused.filter((code) => code <= 0x7f).map((code) => String.fromCodePoint(code))).toEqual(
      [...ascii].filter((character) => !/[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]/.test(character)),
    )
    expect(counts.plain).toBeGreaterThan(50_000)
    expect(counts.odd).toBeGreaterThan(6_400)
  })

  it('becomes ASCII that has a meaning of its own by its normal form in one case only', () => {
    const found: string[] = []
    for (const code of someCodePoints()) {
      const character = code > 0x7f ? String.fromCodePoint(code) : 'a'
      if (/[^A-Za-z0-9!#$%&'*+/=?^_`{|}~\u0080-\u{10FFFF}-]/u.test(character.normalize('NFC')))
        found.push(code.toString(16))
    }
    expect(found.filter((code) => !/^d[89a-f]/.test(code) || code.length !== 4)).toEqual(['37e'])
  })
})

describe('any name in front of an address in brackets', () => {
  it('changes nothing about how the address is read, or is refused', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 30 }),
        fc.constantFrom(
          'a@example.org',
          'a..b@example.org',
          '"x y"@[192.0.2.1]',
          'a\u200B@example.org',
          'a@b',
        ),
        (name, address) => {
          const read = readSyntax(`${name}<${address}>`)
          if (!read.ok) return
          const {
            isDisplayForm: _,
            isMisleading: __,
            isBare: ____,
            oddity: ___,
            ...bare
          } = readSyntax(address) as typeof read
          expect(read).toMatchObject({ ...bare, isDisplayForm: true })
        },
      ),
      { numRuns: 2_000 },
    )
  })
})
