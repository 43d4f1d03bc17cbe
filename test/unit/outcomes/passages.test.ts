import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findPassages, type PassageDocument } from '../../../src/outcomes/text/passages.ts'
import { relate } from '../../../src/outcomes/text/relate.ts'
import { MAX_SEGMENT, segmentText } from '../../../src/outcomes/text/segments.ts'
import { stemOf } from '../../../src/outcomes/text/stem.ts'

const document = (text: string, headings: string[] = [], id = 'd1'): PassageDocument => ({
  id,
  text,
  headings,
})
const filler = (about: string) =>
  `${about} is described in this paragraph, which goes on for a while so that it stands alone. `
    .repeat(3)
    .trim()
const cut = (text: string, { start, end }: { start: number; end: number }) =>
  [...text].slice(start, end).join('')

const GUIDE = [
  'Brewing',
  filler('Water temperature'),
  'Storing',
  filler('A tin for leaves'),
  'Serving',
  filler('The right cup'),
].join('\n\n')
const HEADINGS = ['Brewing', 'Storing', 'Serving']

describe('passages that a query is about', () => {
  it('are the paragraphs that hold its words, under their heading', () => {
    const [first, ...others] = findPassages([document(GUIDE, HEADINGS)], 'temperatures of the water')
    expect(first).toMatchObject({ document: 'd1', heading: 'Brewing', terms: ['temperatures', 'water'] })
    expect(first!.text).toBe(filler('Water temperature'))
    expect(others).toEqual([])
  })

  it('are found by their heading', () => {
    const [first] = findPassages([document(GUIDE, HEADINGS)], 'how to store')
    expect(first).toMatchObject({ heading: 'Storing', text: filler('A tin for leaves'), terms: ['store'] })
  })

  it('rank rare words above common ones', () => {
    const text = [filler('Tea'), filler('Tea and bergamot'), filler('Tea'), filler('Tea')].join('\n\n')
    const [first] = findPassages([document(text)], 'tea bergamot')
    expect(first!.terms).toEqual(['tea', 'bergamot'])
  })

  it('are at most ten of all documents, the best first', () => {
    const many = (id: string) =>
      document(Array.from({ length: 20 }, (_, i) => filler(`Tea ${id} ${i}`)).join('\n\n'), [], id)
    const found = findPassages([many('d1'), many('d2'), many('d3')], 'tea')
    expect(found).toHaveLength(10)
    expect(found.map(({ score }) => score)).toEqual(found.map(({ score }) => score).toSorted((a, b) => b - a))
  })

  it('are shown once where two documents carry them', () => {
    const found = findPassages([document(GUIDE, HEADINGS), document(GUIDE, HEADINGS, 'd2')], 'tin')
    expect(found.map(({ document: id }) => id)).toEqual(['d1'])
  })

  it('do not include what only shares a common word', () => {
    const text = [
      'Sencha and gyokuro and matcha are kinds of green tea that differ in the way they are shaded before harvest. '.repeat(
        3,
      ),
      ...Array.from(
        { length: 30 },
        (_, i) => `${`Row ${i} of the list of green things, item ${i}, `.repeat(8)}.`,
      ),
    ].join('\n\n')
    expect(findPassages([document(text)], 'green gyokuro matcha sencha harvest')).toHaveLength(1)
  })

  it.each([
    ['hamza', 'احكام الاستئناف', 'أحكام الاستئناف امام المحكمة العليا'],
    ['ta marbuta', 'المكتبه العامه', 'افتتحت المكتبة العامة أبوابها'],
    ['vowel signs in the text', 'الكتاب', 'قَرَأْتُ الكِتَابَ أَمْسِ'],
    ['vowel signs in the query', 'الكِتَاب', 'قرأت الكتاب أمس'],
    ['the article', 'مدرسة', 'زار الوزير المدرسة الجديدة'],
    ['a conjunction with the article', 'الطلاب', 'حضر المعلمون والطلاب الحفل'],
    ['a plural ending', 'معلم', 'حضر المعلمون الحفل'],
    ['Arabic digits', '2026', 'موازنة عام ٢٠٢٦'],
  ])('are found in Arabic whatever the spelling: %s', (_, query, sentence) => {
    const text = [
      'تقع هذه المدينة على ساحل البحر منذ زمن بعيد جدا.',
      sentence,
      'وكان الطقس جميلا في ذلك اليوم.',
    ]
      .map((paragraph) => `${paragraph} ${'كلام آخر كثير. '.repeat(25)}`.trim())
      .join('\n\n')
    const [first] = findPassages([document(text)], query)
    expect(first?.text, query).toContain(sentence)
  })

  it('are found where a script has no spaces', () => {
    const text = [filler('Unrelated'), '緑茶は七十度から八十度のお湯で淹れると甘みが出ます。'].join('\n\n')
    const [first] = findPassages([document(text)], '緑茶 温度 お湯')
    expect(first!.text).toContain('緑茶')
    expect(first!.terms).toEqual(['緑茶', 'お湯'])
  })

  it('of a question of nothing but small words are those that hold them', () => {
    expect(findPassages([document('To be or not to be.\n\nAnother line.')], 'to be')).toHaveLength(1)
  })

  it.each(['', '   ', '!?—', 'bergamot'])('are none for %j', (query) => {
    expect(findPassages([document(GUIDE, HEADINGS)], query)).toEqual([])
  })

  it('are none without a query, which costs nothing else', () => {
    const documents = [document(GUIDE), document(GUIDE, [], 'd2')]
    expect(relate({ documents, query: null })).toEqual({
      passages: [],
      duplicates: [{ kind: 'exact', documents: ['d1', 'd2'], similarity: 1 }],
    })
  })

  it('stand in the text at their offsets, in characters and not in UTF-16 units', () => {
    const text = `${'😀'.repeat(40)}\n\n${filler('Tea 🍵')}\n\n${'😀 '.repeat(300)}tea`
    const found = findPassages([document(text)], 'tea')
    expect(found.length).toBeGreaterThan(1)
    for (const passage of found) expect(cut(text, passage)).toBe(passage.text)
  })

  const block = fc.oneof(
    fc.constantFrom(
      'tea',
      'Tea leaves. ',
      '緑茶',
      'شاي',
      '🍵',
      '\u0301',
      '\n',
      ' ',
      '\n\n',
      '. ',
      'x'.repeat(800),
    ),
    fc.string({ unit: 'binary', maxLength: 20 }),
  )
  const anyText = fc.array(block, { maxLength: 60 }).map((parts) => parts.join('').trim())

  it('recompute from any text', () => {
    fc.assert(
      fc.property(anyText, anyText, (one, two) => {
        const texts = new Map([
          ['d1', one],
          ['d2', two],
        ])
        for (const passage of findPassages(
          [document(one, ['tea']), document(two, [], 'd2')],
          'tea 緑茶 شاي x',
        )) {
          const text = texts.get(passage.document)!
          expect(cut(text, passage)).toBe(passage.text)
          expect([...passage.text].length).toBeLessThanOrEqual(700)
          expect(passage.terms.length).toBeGreaterThan(0)
        }
      }),
    )
  })

  it('cover any text: in order, apart, none too long, nothing but space left out', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        let at = 0
        let left = ''
        for (const { start, end } of segmentText(text, [])) {
          expect(start).toBeGreaterThanOrEqual(at)
          expect(end - start).toBeGreaterThan(0)
          expect(end - start).toBeLessThanOrEqual(MAX_SEGMENT)
          left += text.slice(at, start)
          at = end
        }
        expect((left + text.slice(at)).trim()).toBe('')
      }),
    )
  })
})

describe('segments', () => {
  const segments = (text: string, headings: string[] = []) =>
    segmentText(text, headings).map(({ start, end, heading }) => [heading, text.slice(start, end)])

  it('end at the end of a sentence where a block is too long', () => {
    const sentence = `${'word '.repeat(30)}end. `
    const pieces = segments(sentence.repeat(12).trim())
    expect(pieces.length).toBeGreaterThan(2)
    for (const [, piece] of pieces) expect(piece).toMatch(/end\.$/)
  })

  it('never split a character', () => {
    for (const [, piece] of segments('👩🏽'.repeat(1000)))
      expect(piece).not.toMatch(/^[\udc00-\udfff]|[\ud800-\udbff]$/)
    for (const [, piece] of segments('e\u0301'.repeat(1000))) expect(piece).not.toMatch(/^\u0301/)
  })

  it('join short neighbours under one heading only', () => {
    expect(segments('A\n\none\n\ntwo\n\nB\n\nthree', ['A', 'B'])).toEqual([
      ['A', 'one\n\ntwo'],
      ['B', 'three'],
    ])
  })

  it('leave a title to itself, but take a list of headlines for content', () => {
    expect(segments('Title\n\nPart\n\ntext', ['Title', 'Part'])).toEqual([['Part', 'text']])
    expect(segments('One\n\nTwo\n\nThree', ['One', 'Two', 'Three'])).toEqual([[null, 'One\n\nTwo\n\nThree']])
    expect(segments('Only a title', ['Only a title'])).toEqual([[null, 'Only a title']])
  })
})

describe('stems', () => {
  it.each([
    ['price', 'prices', 'priced', 'pricing'],
    ['delivery', 'deliveries'],
    ['box', 'boxes'],
    ['process', 'processes', 'processed', 'processing'],
    ['run', 'runs', 'running'],
    ['carry', 'carries', 'carried'],
    ['مدرس', 'مدرسه', 'المدرسه', 'والمدرسه', 'مدرسات'],
    ['كتاب', 'الكتاب', 'والكتاب', 'بالكتاب', 'للكتاب'],
  ])('are one for %s and its kin', (...words) => {
    expect(new Set(words.map(stemOf)).size).toBe(1)
  })

  it.each(['bus', 'news', 'this', 'class', 'need', 'king', 'red', 'bring', 'ولد', 'الان', '2026', 'größe'])(
    'leave %s something to be found by',
    (word) => {
      expect(stemOf(word).length).toBeGreaterThanOrEqual(3)
    },
  )
})
