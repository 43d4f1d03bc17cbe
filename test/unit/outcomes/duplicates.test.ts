import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findDuplicates } from '../../../src/outcomes/text/duplicates.ts'
import { foldText } from '../../../src/outcomes/text/fold.ts'
import { wordsOf } from '../../../src/outcomes/text/words.ts'

/** Words that no other seed shares, so that every run of four is its own. */
const prose = (seed: string, words: number) =>
  Array.from({ length: words }, (_, i) => `${seed}${i}`).join(' ')
const find = (...texts: string[]) => findDuplicates(texts.map((text, i) => ({ id: `d${i + 1}`, text })))

describe('duplicates among documents', () => {
  const base = prose('w', 100)

  it('are exact when the texts are equal', () => {
    expect(find(base, prose('x', 100), base)).toEqual([
      { kind: 'exact', documents: ['d1', 'd3'], similarity: 1 },
    ])
  })

  it('are near with another end, and not when too little is shared', () => {
    // 97 runs of four each; 60 of 134 are common, then 55 of 139.
    expect(find(base, `${prose('w', 63)} ${prose('y', 37)}`)).toEqual([
      { kind: 'near', documents: ['d1', 'd2'], similarity: 0.4478 },
    ])
    expect(find(base, `${prose('w', 58)} ${prose('y', 42)}`)).toEqual([])
  })

  it('are near at exactly two fifths', () => {
    // 40 of 100 runs.
    expect(find(prose('w', 73), `${prose('w', 43)} ${prose('y', 30)}`)).toEqual([
      { kind: 'near', documents: ['d1', 'd2'], similarity: 0.4 },
    ])
    expect(find(prose('w', 74), `${prose('w', 43)} ${prose('y', 30)}`)).toEqual([])
  })

  it('are contained when most of the shorter one is in the longer one', () => {
    const long = prose('w', 1000)
    expect(find(long, prose('w', 33))).toEqual([
      { kind: 'contained', documents: ['d1', 'd2'], similarity: 1 },
    ])
    expect(find(long, prose('w', 32)), 'below thirty runs it may be chance').toEqual([])
    // 80 of 100 runs, then 79.
    expect(find(long, `${prose('w', 83)} ${prose('y', 20)}`)).toMatchObject([{ similarity: 0.8 }])
    expect(find(long, `${prose('w', 82)} ${prose('y', 21)}`)).toEqual([])
  })

  it('do not care about case, punctuation, accents and vowel signs', () => {
    const one = 'Le café de la Gare — ouvert «chaque» jour, sauf dimanche matin.'
    const two = 'le cafe de la gare ouvert chaque jour sauf dimanche matin'
    expect(find(one, two)).toEqual([{ kind: 'near', documents: ['d1', 'd2'], similarity: 1 }])
    const arabic = 'أُعِيدَ افتتاحُ المكتبةِ العامّةِ في وسطِ المدينةِ القديمةِ'
    expect(find(arabic, 'اعيد افتتاح المكتبه العامه في وسط المدينه القديمه')).toMatchObject([
      { similarity: 1 },
    ])
  })

  it('are found where a script has no spaces', () => {
    const text = '東京都は日本の首都であり、世界最大の都市圏を形成している。'
    expect(find(text, text.replace('。', '！'))).toMatchObject([{ kind: 'near', similarity: 1 }])
    expect(find(text, '大阪府は西日本の中心であり、商業の町として知られている。')).toEqual([])
  })

  it('form the group of each kind without claiming more than holds', () => {
    const near = `${prose('w', 80)} ${prose('y', 20)}`
    expect(find(base, base, near)).toEqual([
      { kind: 'exact', documents: ['d1', 'd2'], similarity: 1 },
      { kind: 'near', documents: ['d1', 'd2', 'd3'], similarity: 0.6581 },
    ])
  })

  it('are linked through others', () => {
    const [a, b, c] = [
      `${prose('p', 60)} ${prose('q', 60)}`,
      `${prose('q', 60)} ${prose('r', 40)} ${prose('p', 40)}`,
      `${prose('r', 40)} ${prose('s', 40)} ${prose('p', 40)}`,
    ]
    expect(find(a, c)).toEqual([])
    expect(find(a, b, c)).toMatchObject([{ kind: 'near', documents: ['d1', 'd2', 'd3'] }])
  })

  it('are not made of nothing', () => {
    expect(find('', '')).toEqual([])
    expect(find('one two three', 'one two three four')).toEqual([])
    expect(find('one')).toEqual([])
    expect(find()).toEqual([])
  })

  it('do not depend on the order of the documents', () => {
    const word = fc.constantFrom('tea', 'leaf', 'water', 'cup', 'pot', 'heat')
    const text = fc.array(word, { maxLength: 30 }).map((words) => words.join(' '))
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(find(a, b)).toEqual(find(b, a))
        for (const { similarity } of find(a, b)) expect(similarity).toBeGreaterThanOrEqual(0.4)
      }),
    )
  })
})

describe('folded text', () => {
  it.each([
    ['hamza on alef', 'أحمد إلى آخر', 'احمد الي اخر'],
    ['hamza on waw and ya', 'مؤمن قارئ', 'مومن قاري'],
    ['ta marbuta and alef maqsura', 'مدرسة كبرى', 'مدرسه كبري'],
    ['vowel signs and tatweel', 'مُـحَـمَّـدٌ', 'محمد'],
    ['Persian letters', 'کتاب فارسی', 'كتاب فارسي'],
    ['Arabic digits', '٢٠٢٦ ۱۴', '2026 14'],
    ['presentation forms', 'ﻻ', 'لا'],
    ['accents', 'Crème Brûlée Ångström', 'creme brulee angstrom'],
    ['letters without decomposition', 'Straße Łódź Øre', 'strasse lodz ore'],
    ['capitals that are a form of another letter', 'ᴭℌ', 'aeh'],
    ['full width', 'ＡＢＣ１２', 'abc12'],
    ['Greek and Cyrillic', 'Άλφα ЁЛКА', 'αλφα елка'],
  ])('takes %s for one', (_, text, folded) => {
    expect(foldText(text)).toBe(folded)
  })

  it('keeps voiced kana, Hangul and the vowels of other scripts', () => {
    expect(foldText('がぎ 한국 हिन्दी ไทย')).toBe('がぎ 한국 हिन्दी ไทย')
  })

  it('is folded once and for all', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(foldText(foldText(text))).toBe(foldText(text))
      }),
    )
  })
})

describe('words', () => {
  it.each([
    ['spaces and punctuation', 'Tea, 75°C – hot!', ['tea', '75', 'c', 'hot']],
    ['pairs of characters', '東京都', ['東京', '京都']],
    ['a character alone', '茶', ['茶']],
    ['mixed scripts', 'iPhone用ケース', ['iphone', '用ケ', 'ケー', 'ース']],
    ['nothing', ' —!? ', []],
  ])('of %s', (_, text, words) => {
    expect(wordsOf(text)).toEqual(words)
  })

  it('are no longer than anybody looks for', () => {
    expect(wordsOf('x'.repeat(1000))).toEqual(['x'.repeat(64)])
  })
})
