// The charset of a source: declared late, declared by nobody, declared wrongly.
import { describe, expect, it } from 'vitest'
import { decodeText } from '../../../src/outbound/charset.ts'
import { analyses } from '../../../src/outcomes/analyses.ts'
import { decodeSource } from '../../../src/outcomes/text/decode.ts'
import { encodeAs } from '../../support/legacy-charsets.ts'

const decode = (body: Uint8Array, label?: string) =>
  decodeSource(body, label, { isCut: false, markup: 'html' })
const page = (text: string, head = '') =>
  `<!doctype html><html><head><title>-</title>${head}<script>var a = "b";</script></head><body><div class="main"><p class="text">${text}</p></div></body></html>`

const RUSSIAN =
  'Зелёный чай заваривают водой, которая уже не кипит. Если оставить его в чайнике слишком долго, он становится горьким, и спасти его уже нельзя.'
const TEXTS: readonly (readonly [charset: string, text: string])[] = [
  ['windows-1251', RUSSIAN],
  ['koi8-r', RUSSIAN],
  [
    'koi8-u',
    'Зелений чай заварюють водою, яка вже не кипить. Якщо залишити його в чайнику надто довго, він стає гірким, і врятувати його вже не можна.',
  ],
  [
    'windows-1256',
    'يُحضَّر الشاي الأخضر بماء لا يغلي. وإذا تُرك في الإبريق وقتا طويلا أصبح مرا، ولا يمكن بعد ذلك إصلاحه، ولهذا يراقب الناس الساعة وهم ينتظرون.',
  ],
  [
    'windows-1256',
    'گزارش امروز درباره قيمت چاي و پسته و ژاله است. گفتگو با چند کشاورز در گيلان و لاهيجان نشان مي دهد که پرورش چاي در اين سال ها کمتر شده و پول زيادي نياز دارد. چرا که کارگر کم است و گرما زياد. پس از آن گروهي از جوانان به روستا برگشتند و چند باغ کهنه را دوباره زنده کردند.',
  ],
  [
    'shift_jis',
    '緑茶は沸騰していないお湯で淹れます。急須の中に長く置いておくと苦くなり、もう元には戻りません。だから時計を見ながら待ちます。',
  ],
  [
    'euc-jp',
    '緑茶は沸騰していないお湯で淹れます。急須の中に長く置いておくと苦くなり、もう元には戻りません。だから時計を見ながら待ちます。',
  ],
  [
    'euc-kr',
    '녹차는 끓지 않는 물로 우려냅니다. 주전자에 너무 오래 두면 쓴맛이 나고 다시 되돌릴 수 없습니다. 그래서 시계를 보면서 기다립니다.',
  ],
  [
    'gbk',
    '绿茶要用没有沸腾的水来泡。如果在茶壶里放得太久,它就会变苦,再也没有办法补救。所以人们一边看着时钟一边等待。',
  ],
  [
    'big5',
    '綠茶要用沒有沸騰的水來泡。如果在茶壺裡放得太久，它就會變苦，再也沒有辦法補救。所以人們一邊看著時鐘一邊等待。',
  ],
  [
    'iso-8859-2',
    'Zelený čaj se zalévá vodou, která už nevře. Když ho necháte v konvici příliš dlouho, zhořkne a už se s tím nedá nic dělat, proto lidé hledí na hodiny.',
  ],
  [
    'windows-1250',
    'Zieloną herbatę parzy się wodą, która już nie wrze. Jeśli zostawisz ją w czajniku zbyt długo, stanie się gorzka i nic już się z tym nie da zrobić, więc świeć i patrz na zegar.',
  ],
  [
    'windows-1253',
    'Το πράσινο τσάι γίνεται με νερό που δεν βράζει πια. Αν το αφήσεις στην τσαγιέρα πάρα πολλή ώρα, γίνεται πικρό και δεν μπορείς να το σώσεις.',
  ],
  [
    'windows-1255',
    'את התה הירוק חולטים במים שכבר אינם רותחים. אם משאירים אותו בקנקן זמן רב מדי הוא נעשה מר, ואי אפשר להציל אותו.',
  ],
  [
    'windows-1252',
    'Le thé vert se prépare avec de l’eau qui ne bout plus. S’il reste trop longtemps dans la théière, il devient amer et l’on ne peut plus le sauver, même après coup.',
  ],
]

describe('a charset that nobody declares', () => {
  it.each(TEXTS)('is found by its text: %s', (charset, text) => {
    const decoded = decode(encodeAs(charset, page(text)))
    expect(decoded.text).toBe(page(text))
    expect(decoded.charset).toMatchObject({ from: 'detected', replaced: 0 })
    expect(decoded.charset.confidence).toBeGreaterThanOrEqual(0.2)
    expect(decoded.charset.confidence).toBeLessThanOrEqual(1)
  })

  it('is UTF-8 where all of it is, and nothing is guessed', () => {
    for (const [, text] of TEXTS)
      expect(decode(Buffer.from(page(text))).charset).toEqual({ name: 'utf-8', from: 'content', replaced: 0 })
  })

  it('is UTF-8 where nearly all of it is: one broken character does not spoil the page', () => {
    const broken = Buffer.concat([Buffer.from(page(RUSSIAN)), Buffer.from([0xd0, 0x20])])
    expect(decode(broken)).toMatchObject({
      text: expect.stringContaining(RUSSIAN),
      charset: { name: 'utf-8', from: 'detected', replaced: 1 },
    })
  })

  it('is windows-1252 where there is too little to say', () => {
    expect(decode(encodeAs('windows-1252', page('Café'))).charset.name).toBe('windows-1252')
    expect(decode(Buffer.from([0x2d, 0xfe])).charset).toEqual({
      name: 'windows-1252',
      from: 'content',
      replaced: 0,
    })
  })

  it('is not guessed where it is declared, nor for who does not ask', () => {
    const body = encodeAs('windows-1251', page(RUSSIAN))
    expect(decode(body, 'windows-1251').charset).toMatchObject({ from: 'header' })
    expect(decodeText(body, undefined, { isCut: false, markup: 'html' }).charset).toMatchObject({
      name: 'windows-1252',
      from: 'content',
    })
  })

  it('is in the reading of a page, a shop and a feed', () => {
    const read = (name: 'page' | 'feed' | 'products', text: string, contentType: string) =>
      analyses[name]({
        body: encodeAs('windows-1251', text),
        isCut: false,
        contentType,
        contentLanguage: null,
        url: 'https://a.example/',
      })
    const product = `<script type="application/ld+json">{"@type":"Product","name":"${RUSSIAN}","offers":{"price":"5","priceCurrency":"EUR"}}</script>`
    const feed = `<rss version="2.0"><channel><title>${RUSSIAN}</title><item><title>${RUSSIAN}</title></item></channel></rss>`
    for (const reading of [
      read('page', page(RUSSIAN), 'text/html'),
      read('products', page('', product), 'text/html'),
      read('feed', feed, 'application/rss+xml'),
    ])
      expect(reading).toMatchObject({ ok: true, charset: { name: 'windows-1251', from: 'detected' } })
  })
})

describe('a declaration behind the first kilobyte', () => {
  const late = (before: string) =>
    encodeAs('windows-1251', page(RUSSIAN, `${before}<meta charset="windows-1251">`))

  it.each([
    ['a long script', `<script>${'var a = 1; '.repeat(500)}</script>`],
    ['a long comment', `<!-- ${'words '.repeat(500)} -->`],
    [
      'a script that writes another',
      `<script>${' '.repeat(1500)}document.write('<meta charset="big5">')</script>`,
    ],
    ['a comment that has another', `<!--${' '.repeat(1500)}<meta charset="big5">-->`],
    ['many tags', '<link rel="x">'.repeat(500)],
  ])('counts behind %s', (_, before) => {
    expect(decode(late(before))).toMatchObject({
      text: expect.stringContaining(RUSSIAN),
      charset: { name: 'windows-1251', from: 'meta' },
    })
  })

  it('does not count behind 64 KiB, nor where the header says otherwise', () => {
    expect(decode(late(`<!--${'x'.repeat(70_000)}-->`)).charset.from).toBe('detected')
    expect(decode(late(`<!--${'x'.repeat(2000)}-->`), 'koi8-r').charset).toMatchObject({
      name: 'koi8-r',
      from: 'header',
    })
  })
})

describe('mojibake', () => {
  const warning = (body: Uint8Array, label?: string) => decode(body, label).charset.warning

  it.each(['windows-1252', 'windows-1251', 'iso-8859-1', 'koi8-r', 'shift_jis'])(
    'is said of UTF-8 that is called %s',
    (label) => expect(warning(Buffer.from(page(RUSSIAN)), label)).toBe('mojibake'),
  )

  it('is said of another charset that is called UTF-8', () => {
    expect(warning(encodeAs('windows-1251', page(RUSSIAN)), 'utf-8')).toBe('mojibake')
  })

  it('is said of text that was spoilt before it was sent', () => {
    const spoilt = Buffer.from(page(RUSSIAN)).toString('latin1')
    expect(warning(Buffer.from(spoilt), 'utf-8')).toBe('mojibake')
    const french = new TextDecoder('windows-1252').decode(
      Buffer.from(page('Déjà vu à côté d’un café, l’été.')),
    )
    expect(warning(Buffer.from(french), 'utf-8')).toBe('mojibake')
  })

  it.each<readonly [string, string]>([
    ...TEXTS,
    ['quoted words', '“Café” and “Spaß” and “señor” – “voilà”, ‘déjà’, „Ä“ »Ö« «È»'],
    [
      'a word about it',
      'Mojibake such as Ã© is what UTF-8 becomes. Das Café, die Straße, der Fuß, das Öl, das Ärgernis.',
    ],
    ['one broken character', 'Zażółć gęślą jaźń \ufffd i jeszcze wiele innych słów'],
  ])('is not said of ordinary text: %s', (_, text) => {
    expect(warning(Buffer.from(page(text)), 'utf-8')).toBeUndefined()
    expect(warning(Buffer.from(page(text)))).toBeUndefined()
  })
})

describe('hostile bytes', () => {
  it.each([
    ['tags without end', '<meta '.repeat(300_000)],
    ['comments without end', '<!--'.repeat(300_000)],
    ['scripts without end', '<script'.repeat(200_000)],
    ['brackets', '<'.repeat(2_000_000)],
    ['spaces in a tag', `<meta ${' '.repeat(2_000_000)}`],
    ['letters', 'a'.repeat(2_000_000)],
  ])('%s decode to as many characters', (_, text) => {
    expect(decode(Buffer.concat([Buffer.from(text), Buffer.from([0xe9])])).text).toHaveLength(text.length + 1)
  })
})
