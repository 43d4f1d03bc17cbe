// Secrets by their public formats, what only looks like one, cards, and how much work it takes to look.
import fc from 'fast-check'
import { english } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import { findCards, findNumber, holdsDigits, passesLuhn } from '../../../src/commerce/secrets/cards.ts'
import { findMnemonic } from '../../../src/commerce/secrets/mnemonic.ts'
import { PATTERNS } from '../../../src/commerce/secrets/patterns.ts'
import { scanSecrets } from '../../../src/commerce/secrets/scan.ts'
import type { Text } from '../../../src/commerce/ports.ts'
import { WORD_STARTS } from '../../../src/data/mnemonic-words.ts'
import { HARMLESS, NAMED_TOKENS, TOKENS } from '../../data/commerce/tokens.ts'

const text = (value: string, name = 'note'): Text => ({
  source: { at: '/body', where: 'body', isDecoded: false },
  holder: undefined,
  key: '',
  value,
  name,
  isName: false,
})
const kindsOf = (value: string, name?: string) =>
  scanSecrets([text(value, name)]).found.map(({ kind }) => kind)

describe('secrets', () => {
  it('have an example here for every pattern', () => {
    const kinds = new Set(TOKENS.map(([kind]) => kind))
    expect(PATTERNS.map(({ kind }) => kind).filter((kind) => !kinds.has(kind))).toEqual([])
  })

  it.each(TOKENS)(
    '%s is found alone, in a sentence, in JSON, in a query and among other texts',
    (kind, token) => {
      expect(kindsOf(token)).toEqual([kind])
      expect(kindsOf(`use this: ${token}, please`)).toEqual([kind])
      expect(kindsOf(`{"x":"${token}"}`)).toEqual([kind])
      expect(kindsOf(`(${token})`)).toEqual([kind])
      const among = scanSecrets([text('before'.repeat(9)), text(token), text('behind'.repeat(9))])
      expect(among.found.map((one) => [one.kind, one.text.value])).toEqual([[kind, token]])
    },
  )

  it.each(TOKENS.filter(([kind]) => !['seed_phrase', 'basic_auth_url', 'private_key_pem'].includes(kind)))(
    '%s is not found cut short, or inside a longer word',
    (kind, token) => {
      const short = token.slice(0, 14)
      expect(kindsOf(short)).not.toContain(kind)
      if (/^\w/.test(token) && !['slack_webhook', 'discord_webhook'].includes(kind))
        expect(kindsOf(`A${token}`)).not.toContain(kind)
    },
  )

  it.each(NAMED_TOKENS)('%s: what stands there is a secret by its name', (name, value, kind) => {
    expect(kindsOf(value, name)).toEqual([kind])
    expect(kindsOf(`${name}=${value}`, 'note')).toEqual([kind])
    expect(kindsOf(JSON.stringify({ [name]: value }), 'note')).toEqual([kind])
  })

  it.each(HARMLESS)('%s: %s is none', (name, value) => {
    const texts = [text(value, name)]
    expect(scanSecrets(texts).found).toEqual([])
    expect(findCards(texts)).toEqual([])
  })

  it('of a text with several are told apart, and one inside another only once', () => {
    const [, aws] = TOKENS[0]!
    const [, github] = TOKENS[2]!
    expect(kindsOf(`${aws} ${github} ${aws}`)).toEqual(['aws_access_key', 'github_token'])
  })

  it('are not searched for beyond what is worth telling', () => {
    const many = Array.from({ length: 500 }, (_, index) =>
      text(`${TOKENS[2]![1].slice(0, -3)}${String(index).padStart(3, '0')}`),
    )
    expect(scanSecrets(many).found).toHaveLength(64)
  })
})

describe('seed phrases', () => {
  it('are known by the list that everybody uses', () => {
    expect(WORD_STARTS).toBe(english.map((word) => word.slice(0, 4).padEnd(4)).join(''))
  })
  it.each([
    ['in capitals', 'LEGAL WINNER THANK YEAR WAVE SAUSAGE WORTH USEFUL LEGAL WINNER THANK YELLOW'],
    ['over lines', 'legal\nwinner\nthank\nyear\nwave\nsausage\nworth\nuseful\nlegal\nwinner\nthank\nyellow'],
    ['with commas', 'legal, winner, thank, year, wave, sausage, worth, useful, legal, winner, thank, yellow'],
    [
      'behind other words of the list',
      'market street legal winner thank year wave sausage worth useful legal winner thank yellow',
    ],
    [
      'numbered',
      '1. legal 2. winner 3. thank 4. year 5. wave 6. sausage 7) worth 8: useful 9. legal 10. winner 11. thank 12 yellow',
    ],
    [
      'between spaces of other scripts',
      'legal\u00a0winner\u2003thank\u3000year\ufeffwave\u1680sausage\u2028worth useful legal winner thank yellow',
    ],
    [
      'behind a row of letters without end',
      `${'x'.repeat(64)}legal winner thank year wave sausage worth useful legal winner thank yellow`,
    ],
    [
      'behind words that are none',
      'the phrase is: legal winner thank year wave sausage worth useful legal winner thank yellow',
    ],
  ])('are found %s', (_how, phrase) => {
    expect(findMnemonic(phrase)?.toLowerCase()).toMatch(/^(?:market street )?legal winner .* thank yellow$/)
  })
  it.each(['-', '123 ', ' 1.1 ', '\u200b', ' \u212a ', ' legalises ', ' é '])(
    'are none with %j between',
    (other) => {
      const phrase = 'legal winner thank year wave sausage worth useful legal winner thank yellow'
      expect(findMnemonic(phrase.replace(' sausage ', `${other}sausage `))).toBeUndefined()
    },
  )
  it('have between their words white space of any script, commas and numbers alone', () => {
    const words = 'legal winner thank year wave sausage worth useful legal winner thank yellow'
    const wrong: string[] = []
    for (let code = 0; code <= 0xffff; code++) {
      const char = String.fromCharCode(code)
      const isFound = findMnemonic(`it is: ${words.replace(' sausage', `${char}sausage`)}`) !== undefined
      if (isFound !== /[\s,0-9]/.test(char)) wrong.push(code.toString(16))
    }
    expect(wrong).toEqual([])
  })
  it('are none without their checksum', () => {
    expect(
      findMnemonic('legal winner thank year wave sausage worth useful legal winner thank zoo'),
    ).toBeUndefined()
  })
})

const number = (...parts: string[]) => parts.join('')
const CARDS: readonly string[] = [
  number('42424242', '42424242'),
  number('4000000', '000000000002'.slice(3)),
  number('55555555', '55554444'),
  number('22230031', '22003222'),
  number('37828', '2246310005'),
  number('60111111', '11111117'),
  number('30569', '309025904'),
  number('35660020', '20360505'),
  number('62000000', '00000005'),
]

describe('card numbers', () => {
  it('are looked for where thirteen digits stand in a row, or two groups of four', () => {
    const joints = [' ', '-', '\u00a0', '\u2007', '\u2009', '\u2010', '\u2011', '\u2013', '\u202f']
    const part = fc.constantFrom(
      '1',
      '12',
      '1234',
      '123456',
      '1234567890123',
      'a',
      'abcd',
      '\n',
      '  ',
      ...joints,
    )
    const digits = new RegExp(String.raw`\d{13}|\d{4}[${joints.join('').replace('-', '\\-')}]\d{4}`)
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        expect(holdsDigits(parts.join(''))).toBe(digits.test(parts.join('')))
      }),
      { numRuns: 2000 },
    )
  })

  it.each(CARDS)('%s is one, and is none with another last digit', (digits) => {
    expect(passesLuhn(digits)).toBe(true)
    expect(findNumber(digits, false)?.digits).toBe(digits)
    const other = digits.slice(0, -1) + ((Number(digits.at(-1)) + 1) % 10)
    expect(findNumber(other, true)).toBeUndefined()
  })

  it.each([' ', '-'])('are found in groups with %j between', (separator) => {
    const grouped = CARDS[0]!.replaceAll(/(....)(?=.)/g, `$1${separator}`)
    expect(findNumber(`card ${grouped} 12/28 123`, false)?.digits).toBe(CARDS[0])
    const amex = CARDS[4]!.replace(/^(....)(......)/, `$1${separator}$2${separator}`)
    expect(findNumber(amex, false)?.digits).toBe(CARDS[4])
  })

  it('are none inside hexadecimal, words, fractions and longer numbers', () => {
    for (const around of [
      `0xa${CARDS[0]}`,
      `${CARDS[0]}f`,
      `0.${CARDS[0]}`,
      `${CARDS[0]}.25`,
      `9${CARDS[0]}1234`,
      `id_${CARDS[0]}`,
    ])
      expect(findNumber(around, true), around).toBeUndefined()
  })

  it('of unusual length count under the name of a card', () => {
    const long = number('6304', '0000', '0000', '00', '0000', '0')
    const digits = Array.from({ length: 10 }, (_, last) => long.slice(0, -1) + last).find(passesLuhn)!
    expect(findNumber(digits, false)).toBeUndefined()
    expect(findNumber(digits, true)?.digits).toBe(digits)
  })

  it('are told with their last four digits, codes with none', () => {
    const found = findCards([
      text(CARDS[0]!, 'number'),
      text('123', 'cvc'),
      text('1234', 'cvv'),
      text('12', 'cvc'),
      text('123', 'quantity'),
    ])
    expect(found.map(({ kind, last4 }) => [kind, last4])).toEqual([
      ['card_number', '4242'],
      ['card_verification_code', null],
      ['card_verification_code', null],
    ])
  })
})

describe('the work of looking', () => {
  const STARTS = PATTERNS.flatMap(({ starts }) => starts)
  const families: readonly (readonly [string, (chars: number) => string])[] = [
    ['plain words', (chars) => 'tea and more '.repeat(chars).slice(0, chars)],
    ['digits', (chars) => '4'.repeat(chars)],
    ['digits in groups', (chars) => '4242 '.repeat(chars).slice(0, chars)],
    ['words of seed phrases', (chars) => 'zoo '.repeat(chars).slice(0, chars)],
    ['beginnings of JWTs', (chars) => `eyJ${'a'.repeat(20)} `.repeat(chars).slice(0, chars)],
    ['JWTs in a row', (chars) => `eyJ${'a'.repeat(20)}.`.repeat(chars).slice(0, chars)],
    ['names of secrets', (chars) => 'api_key=apiKey:secret= '.repeat(chars).slice(0, chars)],
    ['dots', (chars) => '.'.repeat(chars)],
    ...STARTS.map((start): readonly [string, (chars: number) => string] => [
      `${start} again and again`,
      (chars) => `${start} `.repeat(chars).slice(0, chars),
    ]),
  ]

  it.each(families)('grows with the text and no faster: %s', (_name, make) => {
    const [small, large] = [16_384, 131_072].map((chars) => scanSecrets([text(make(chars))]).work)
    expect(large! / small!).toBeLessThan(8.5)
    // No character is looked at more often than the patterns are many and long.
    expect(large!).toBeLessThan(131_072 * 20_000)
  })

  it('has bounded counts in every pattern, and no count inside a count', () => {
    for (const { shape, reach } of PATTERNS) {
      const bare = shape.source.replaceAll(/\\./g, 'x').replaceAll(/\[[^\]]*\]/g, 'c')
      expect(bare).not.toMatch(/[*+]|\{\d+,\}/)
      expect(bare).not.toMatch(/\([^()]*\{[^()]*\)[{*+?]/)
      expect(shape.sticky).toBe(true)
      expect(reach).toBeLessThan(13_000)
    }
  })
})
