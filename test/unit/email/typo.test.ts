import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FAMOUS } from '../../../src/email/famous.ts'
import { findResemblance, isConfusableLocalPart } from '../../../src/email/confusable.ts'
import { distanceWithin, isBeyond, lettersOf } from '../../../src/lib/edit-distance.ts'
import { readDomain } from '../../../src/email/domain.ts'
import { PROVIDERS } from '../../../src/email/providers.ts'
import { findTypo } from '../../../src/email/typo.ts'

function name(domain: string) {
  const read = readDomain(domain)
  if (!read.ok) throw new Error(`${domain}: ${read.rule}`)
  return read.name
}
const isReal = (domain: string) => ['email.com', 'xmail.com', 'acme.com'].includes(domain)
const suggest = (domain: string) => findTypo(name(domain), isReal)

describe('findTypo', () => {
  it.each<[string, string]>([
    ['gmial.com', 'gmail.com'],
    ['gmal.com', 'gmail.com'],
    ['gmaill.com', 'gmail.com'],
    ['gnail.com', 'gmail.com'],
    ['gmail.co', 'gmail.com'],
    ['gmailot.com', 'gmail.com'],
    ['gnail.co', 'gmail.com'],
    ['gmail.cm', 'gmail.com'],
    ['gmail.con', 'gmail.com'],
    ['gmail.cmo', 'gmail.com'],
    ['gmial.con', 'gmail.com'],
    ['hotmial.con', 'hotmail.com'],
    ['yahooo.com', 'yahoo.com'],
    ['yaho.co.uk', 'yahoo.co.uk'],
    ['outlok.com', 'outlook.com'],
    ['outloook.co', 'outlook.com'],
    ['protonmial.com', 'protonmail.com'],
    ['lvie.com', 'live.com'],
    ['live.con', 'live.com'],
    ['gmx.dee', 'gmx.de'],
    ['comcast.ner', 'comcast.net'],
    ['acme.con', 'acme.com'],
    ['unknown-firm.cmo', 'unknown-firm.com'],
    ['xn--bcher-kva.con', 'xn--bcher-kva.com'],
  ])('takes %s for %s', (typed, meant) => {
    expect(suggest(typed)).toBe(meant)
  })

  it.each([
    ...PROVIDERS.slice(0, 20),
    ...FAMOUS,
    // Two letters of a short name are another name.
    'yuloo.com',
    'teads.net',
    'navi.com',
    'sbsnet.be',
    // Known to be real.
    'email.com',
    'xmail.com',
    // Short names are one letter away from each other, and from companies.
    'ge.com',
    'five.com',
    'main.com',
    'axl.com',
    'gmx.info',
    'mq.com',
    // The same name in another country.
    'yahoo.de',
    'hotmail.be',
    'gmail.de',
    'web.dev',
    // A country that has what looks like a slip.
    'acme.cm',
    'acme.co',
    'acme.om',
    'google.com',
    'wikipedia.org',
    'mail.acme.com',
  ])('has nothing to say about %s', (domain) => {
    expect(suggest(domain)).toBeUndefined()
  })

  it('finds every slip of one key in the big providers, and never turns one into another', () => {
    const missed: string[] = []
    for (const provider of [
      'gmail.com',
      'yahoo.com',
      'hotmail.com',
      'outlook.com',
      'icloud.com',
      'googlemail.com',
    ])
      for (let i = 1; i < provider.indexOf('.'); i++) {
        const [before, at, after] = [provider.slice(0, i), provider[i]!, provider.slice(i + 1)]
        const slips = [
          before + after,
          before + at + at + after,
          `${before}x${after}`,
          before.slice(0, -1) + at + before.at(-1) + after,
        ]
        for (const slip of slips.filter((one) => !PROVIDERS.includes(one)))
          if (suggest(slip) !== provider) missed.push(`${slip}: ${suggest(slip)}`)
      }
    expect(missed).toEqual([])
  })
})

describe('distances', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '.'), maxLength: 9 })
  /** Straight from the definition. */
  function optimalAlignment(a: string, b: string): number {
    if (a === '' || b === '') return a.length + b.length
    const cost = a.at(-1) === b.at(-1) ? 0 : 1
    const [x, y] = [a.slice(0, -1), b.slice(0, -1)]
    let best = Math.min(optimalAlignment(x, b) + 1, optimalAlignment(a, y) + 1, optimalAlignment(x, y) + cost)
    if (a.length > 1 && b.length > 1 && a.at(-1) === b.at(-2) && a.at(-2) === b.at(-1))
      best = Math.min(best, optimalAlignment(a.slice(0, -2), b.slice(0, -2)) + 1)
    return best
  }
  const short = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 5 })

  it('are those of the definition, up to the limit', () => {
    fc.assert(
      fc.property(short, short, fc.integer({ min: 0, max: 3 }), (a, b, limit) => {
        expect(distanceWithin(limit, a, b) > limit).toBe(optimalAlignment(a, b) > limit)
        if (optimalAlignment(a, b) <= limit) expect(distanceWithin(limit, a, b)).toBe(optimalAlignment(a, b))
      }),
    )
  })

  it('are never within a limit that the letters rule out', () => {
    fc.assert(
      fc.property(word, word, (a, b) => {
        if (isBeyond(2, lettersOf(a), lettersOf(b))) expect(distanceWithin(2, a, b)).toBe(3)
      }),
    )
  })
})

describe('findResemblance', () => {
  it.each<[string, boolean, string | undefined]>([
    ['gmаil.com', true, 'gmail.com'],
    ['yahᴏᴏ.com', true, 'yahoo.com'],
    ['p\uA4EEypal.com', true, undefined],
    ['gооgle.com', true, undefined],
    ['аррӏе.com', true, undefined],
    ['ехаmple.org', true, undefined],
    ['ɡmail.com', true, 'gmail.com'],
    ['gmaíl.com', true, 'gmail.com'],
    ['xn--gmil-63d.com', true, 'gmail.com'],
    ['пример.com', false, undefined],
    ['пример.рф', false, undefined],
    // Made of letters that pass for Latin ones, below a domain of the same script.
    ['сору.рф', false, undefined],
    ['παράδειγμα.gr', false, undefined],
    ['bücher.de', false, undefined],
    ['東京tower.jp', false, undefined],
    ['例えtest.jp', false, undefined],
    ['gmail.com', false, undefined],
  ])('%s: %s, imitates %s', (domain, isConfusable, imitates) => {
    expect(findResemblance(name(domain))).toEqual({ isConfusable, imitates })
  })
})

describe('isConfusableLocalPart', () => {
  it.each<[string, string, string]>([
    ['Cyrillic among Latin letters', 'pаypal', 'acme.io'],
    ['Greek among Latin letters', 'supρort', 'acme.io'],
    ['Armenian among Latin letters', 'hօme', 'acme.io'],
    ['Cherokee among Latin letters', 'ᎪdA', 'acme.io'],
    ['Cyrillic among Greek letters', 'αдα', 'acme.io'],
    ['one word of several', 'ada.lоvelace', 'acme.io'],
    ['a word of imitations beside a Latin one', 'j.а.smith', 'acme.io'],
    ['imitations alone, before a Latin domain', 'аррӏе', 'acme.io'],
    ['full-width letters', 'ａda', 'acme.io'],
    ['mathematical letters', '𝐚da', 'acme.io'],
    ['enclosed letters', 'ⓐda', 'acme.io'],
    ['a letter of phonetics', 'ɡrace', 'acme.io'],
    ['a small capital', 'ᴀda', 'acme.io'],
    ['digits of two kinds', 'user1٢', 'acme.io'],
    ['a Thai digit among European ones', 'ada1๒', 'acme.io'],
  ])('is so for %s', (_, content, host) => {
    expect(isConfusableLocalPart(content, host)).toBe(true)
  })

  it.each<[string, string, string]>([
    ['plain letters', 'ada.lovelace+x', 'acme.io'],
    ['accents', 'josé.müller', 'acme.io'],
    ['a dotless i', 'ışık', 'acme.io'],
    ['Cyrillic', 'почта', 'пример.рф'],
    ['Cyrillic before a Latin domain', 'роман.иванов', 'gmail.com'],
    ['letters that all pass for Latin ones, before a domain of their script', 'сара', 'пример.рф'],
    ['a name in two scripts', 'ivan.иванов', 'acme.io'],
    ['Japanese beside Latin', 'tokyo東京たろう', 'acme.jp'],
    ['Korean beside Latin', '김adam', 'acme.kr'],
    ['Greek', 'παράδειγμα', 'acme.gr'],
    ['Arabic with its digits', 'محمد٢٣', 'acme.ae'],
    ['Devanagari with European digits', 'राम22', 'acme.in'],
  ])('is not so for %s', (_, content, host) => {
    expect(isConfusableLocalPart(content, host)).toBe(false)
  })
})
