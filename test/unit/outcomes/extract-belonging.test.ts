// What belongs to the main text although a rule about single blocks would leave it out: what stands between equal parts, around the title of
// the page, around a text of one paragraph, below a text as links.
import { describe, expect, it } from 'vitest'
import { previewHtml } from '../../../src/outcomes/capabilities/preview-html.ts'

const read = (html: string) => previewHtml({ html, baseUrl: undefined, isSample: false }).document.text
const prose = (i: number) =>
  `<p>Paragraph ${i} is a sentence about tea that is as long as sentences of texts usually are.</p>`
const many = (count: number, write: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => write(i)).join('')

describe('what stands between equal parts of the text', () => {
  const person = (i: number) =>
    `<div class=member><h4>Person ${i}</h4><div class=role>Taster</div><div class=firm>Firm ${i}</div></div>`

  it('is read, however far the next sentence is', () => {
    const text = read(`<main>${prose(1)}<div class=board>${many(12, person)}</div>${prose(2)}</main>`)
    for (let i = 0; i < 12; i++) expect(text).toContain(`Person ${i}\n\nTaster\n\nFirm ${i}`)
  })

  it('is not read where it looks different or is all links', () => {
    const other = (i: number) => `<div class=x><span>Sign ${i}</span></div>`
    const linked = (i: number) => `<div class=member><a href=/${i}>Another page ${i}</a></div>`
    const text = read(
      `<main>${prose(1)}<div class=board>${many(3, person)}${many(12, other)}${many(9, linked)}${many(3, person)}</div>${prose(2)}</main>`,
    )
    expect(text).not.toContain('Sign 5')
    expect(text).not.toContain('Another page 5')
  })
})

describe('what the title of the page stands in', () => {
  const list = many(
    9,
    (i) =>
      `<div class=tile><a href=/p/${i}><img src=/${i}.png>Kettle ${i} of steel</a> <b>$${i}9.50</b></div>`,
  )
  const offer = (title: string) =>
    `<main><section class="products with-filters facets">${title}<p>Kettles that keep water warm.</p>${prose(7)}${prose(8)}${prose(9)}${list}</section><section>${prose(1)}${prose(2)}${prose(3)}${prose(4)}${prose(5)}${prose(6)}</section></main>`

  it('is read whatever its names say', () => {
    const text = read(offer('<h1>Kettles</h1>'))
    expect(text).toContain('Kettles that keep water warm.')
    expect(text).toContain('Kettle 4 of steel')
  })

  it('is left out by its names where the title is elsewhere, or there are several', () => {
    expect(read(offer('<h2>Kettles</h2>'))).not.toContain('Kettle 4 of steel')
    expect(read(offer('<h1>Kettles</h1>') + '<h1>Tea</h1>')).not.toContain('Kettle 4 of steel')
  })

  it('is left out where it is a head', () => {
    const text = read(
      `<div class=topbar><header><h1>Tea Times</h1></header><p>The paper for those who drink tea, since 1901.</p></div>${prose(1)}${prose(2)}`,
    )
    expect(text).not.toContain('since 1901')
  })
})

describe('parts of a builder of pages', () => {
  it('are no widgets of a side bar', () => {
    const part = (inner: string) =>
      `<div class="span12 widget-span widget-type-custom_widget"><div class="hs_cos_wrapper hs_cos_wrapper_widget"><section id=widget_17552>${inner}</section></div></div>`
    const text = read(part('<h2>What we do</h2>') + part(prose(1)) + part(prose(2)))
    expect(text).toContain('What we do')
    expect(read(`<div class=widget><h2>What we do</h2></div>${prose(1)}${prose(2)}`)).not.toContain(
      'What we do',
    )
  })
})

describe('a text of one paragraph', () => {
  const long = '<p>Our club is the largest of its kind, and everybody who likes tea is welcome. '.padEnd(
    700,
    'We meet on Mondays. ',
  )

  it('has the heading and the link that stand with it', () => {
    const text = read(
      `<div><div class=text><h4>The tea club</h4>${long}</p><p><a href=/x>Learn more</a></p></div></div>`,
    )
    expect(text).toMatch(/^The tea club\n\n.*\n\nLearn more$/s)
  })

  it('has not what fills a larger part', () => {
    const rest = many(20, (i) => `<div>Sign ${i} stands here</div>`)
    expect(read(`<div><h4>The tea club</h4>${long}</p>${rest}</div>`)).not.toContain('Sign 15')
  })
})

describe('a paragraph of links right behind one of sentences', () => {
  const links = '<p><a href=/a>Green tea</a> | <a href=/b>White tea</a> | <a href=/c>Black tea</a></p>'

  it('ends it', () => {
    expect(read(`<div>${prose(1)}${prose(2)}${links}</div>`)).toContain('Green tea | White tea | Black tea')
  })

  it('leads to other texts in news, and is a menu in another part', () => {
    const article = '<meta property=og:type content=article>'
    expect(read(`${article}<div>${prose(1)}${prose(2)}${links}${prose(3)}</div>`)).not.toContain('White tea')
    expect(read(`<div>${prose(1)}${prose(2)}<div>${links}</div></div>`)).not.toContain('White tea')
  })
})

describe('rows of a table that lays out a page', () => {
  it('keep what each of them says again', () => {
    const row = (what: string) =>
      `<tr><td><b>Marietta, Georgia, on the 13th of January 2023</b><br><h3>${what}</h3>${prose(1).replace('tea', what)}</td></tr>`
    const text = read(`<table>${row('lamps')}${row('wires')}</table>`)
    expect(text.match(/Marietta, Georgia/g)).toHaveLength(2)
  })
})

describe('words that only a style sheet sets apart', () => {
  it('are apart in cells of tables and in rows of buttons', () => {
    const cells = '<td><a href=/m>Drake Maye</a><span class=points>295</span></td>'.repeat(2)
    expect(
      read(
        `${prose(1)}<table><tr><th>Passing</th><th>Rushing</th></tr>${`<tr>${cells}</tr>`.repeat(3)}</table>${prose(2)}`,
      ),
    ).toContain('Drake Maye 295')
    const buttons = '<div><button>Reload</button><button>Clear</button><a href=/f>Fork</a></div>'
    expect(read(prose(1) + buttons + prose(2))).toContain('Reload Clear Fork')
  })
})
