// What the main text is on pages that are no articles: tiles of shops, lists of topics, one product, threads.
import { describe, expect, it } from 'vitest'
import { previewHtml } from '../../../src/outcomes/capabilities/preview-html.ts'

const read = (html: string, baseUrl?: string) => {
  const { document, coverage } = previewHtml({ html, baseUrl, isSample: false })
  return { text: document.text, mode: coverage.mode }
}
const many = (count: number, write: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => write(i)).join('')
const prose = (i: number, about = 'tea') =>
  `<p>Paragraph ${i} is a sentence about ${about} that is as long as sentences of texts usually are.</p>`
const openGraph = (type: string) => `<meta property=og:type content=${type}>`
const tile = (i: number) =>
  `<div class="tile t${i}"><a href=/p/${i}><img src=/${i}.png></a><a href=/p/${i}>Kettle ${i}</a><span>$${i}9.50</span></div>`
const product = JSON.stringify({
  '@type': 'Product',
  name: 'Kettle',
  description:
    'A kettle of steel for two litres of water, which keeps them warm for an hour and never whistles.',
  offers: { '@type': 'Offer', price: '49.50', priceCurrency: 'USD' },
})
const stated = `<script type="application/ld+json">${product}</script>`

describe('listings', () => {
  it('keeps every tile with its price, however little prose is in it', () => {
    const { text, mode } = read(
      `<h1>Kettles</h1><div class=grid>${many(12, tile)}</div><div>${prose(1)}</div>`,
    )
    expect(mode).toBe('listing')
    for (let i = 0; i < 12; i++) expect(text).toMatch(new RegExp(`Kettle ${i}\\s?\\$${i}9\\.50`))
    expect(text).toContain('Paragraph 1')
  })

  it('keeps the topics of a list of links, and no menu', () => {
    const { text } = read(
      `<div class=x><a href=/a>Home</a><a href=/b>About</a><a href=/c>Help</a></div><section>${many(9, (i) => `<div class=topic><a href=/t/${i}>How long does white tea number ${i} keep</a><span>${i} replies</span></div>`)}</section>`,
    )
    for (let i = 0; i < 9; i++) expect(text).toContain(`number ${i} keep`)
    expect(text).not.toContain('Home')
  })

  it('is read as one although the page calls itself an article in Open Graph, unless there is an article', () => {
    const tiles = `<div>${many(40, tile)}</div>`
    expect(read(openGraph('article') + tiles).mode).toBe('listing')
    const article = read(`${openGraph('article')}<div>${many(4, prose)}</div>${tiles}`)
    expect(article.mode).toBe('scored')
    expect(article.text).toContain('Paragraph 3')
    expect(article.text).not.toContain('Kettle')
  })
})

describe('products', () => {
  const page = (head: string) =>
    `${head}<main><div><h1>Kettle</h1><div>$49.50</div><div>In stock</div></div><div>${prose(1)}${prose(2)}</div>` +
    `<div><h2>Reviews</h2>${many(3, (i) => `<div class=opinion><b>Reader ${i}</b>${prose(i, 'this kettle')}</div>`)}</div>` +
    `<div><h2>More</h2>${many(4, (i) => tile(i).replace('Kettle', 'Teapot of glass with flowers').replace('<span>', '<span>Nobody asked for it, and it is sold here for no more than '))}</div></main>`

  it.each([
    ['in structured data', stated],
    ['in Open Graph', openGraph('product')],
  ])(
    'come with name, price and opinions among the text, without what else is for sale, where they are declared %s',
    (_, head) => {
      const { text } = read(page(head))
      expect(text).toMatch(/^Kettle\n\n\$49\.50\n\nIn stock\n/)
      for (let i = 0; i < 3; i++) expect(text).toContain(`Paragraph ${i} is a sentence about this kettle`)
      expect(text).not.toContain('Teapot')
    },
  )

  it.each(['reviews', 'product-reviews', 'jdgm-widget'])(
    'come without what buyers say of them, where that part is called %s, which other pages keep as their content',
    (name) => {
      const html = `<main><div><h1>Kettle</h1><div>$49.50</div></div><div>${many(5, prose)}</div><div class="${name}">${many(3, (i) => prose(i, 'how I liked it'))}</div></main>`
      const { text } = read(stated + html)
      expect(text).toContain('Paragraph 4')
      expect(text).not.toContain('how I liked it')
      if (name.includes('reviews')) expect(read(html).text).toContain('how I liked it')
    },
  )

  it('come without each review that has that name, also where the part around them has none', () => {
    const html = `<main><div><h1>Kettle</h1><div>$49.50</div></div><div>${many(5, prose)}</div><ul>${many(3, (i) => `<li class="review r${i}">${prose(i, 'how I liked it')}</li>`)}</ul></main>`
    expect(read(stated + html).text).not.toContain('how I liked it')
    expect(read(html).text).toContain('how I liked it')
  })

  it.each([
    ['microdata', '<div itemscope itemtype="https://schema.org/Product">', 'https://a.example/kettle'],
    ['the address of a large shop', '<div>', 'https://shop.example/steel-kettle/dp/B0D1XD1ZV3?ref=x'],
    ['the address of an auction', '<div>', 'https://shop.example/itm/225991068401'],
  ])('are known by %s where they state nothing', (_, open, url) => {
    const html = `${open}<main><div><h1>Kettle</h1><div>$49.50</div></div><div>${many(5, prose)}</div><div class=reviews>${many(4, (i) => prose(i, 'how I liked it'))}</div></main></div>`
    expect(read(html, url).text).not.toContain('how I liked it')
    expect(read(html.replace(open, '<div>'), 'https://a.example/itm/old').text).toContain('how I liked it')
  })

  it('are none where microdata lists many', () => {
    const item = '<i itemscope itemtype="http://schema.org/Product"></i>'.repeat(3)
    const html = `${item}<main><h1>Kettles</h1>${many(5, prose)}<div class=reviews>${many(4, (i) => prose(i, 'how I liked it'))}</div></main>`
    expect(read(html).text).toContain('how I liked it')
  })

  it('reach from the name, beside which the price stands, to a description far from it', () => {
    const html = `${stated}<div><div><h1>Kettle</h1><div>$49.50</div></div><div>${many(5, prose)}</div></div>`
    expect(read(html).text).toMatch(/^Kettle\n\n\$49\.50\n\nParagraph 0/)
  })

  it('come with the description that they state and the page does not show, and once if it does', () => {
    const shell = '<main><h1>Kettle</h1><p>Buy now and get a kettle by tomorrow morning.</p></main>'
    expect(read(stated + shell)).toMatchObject({
      mode: 'json-ld',
      text: expect.stringContaining('never whistles'),
    })
    const shown = read(`${stated}<main><h1>Kettle</h1><p>${JSON.parse(product).description}</p></main>`)
    expect(shown.text.match(/never whistles/g)).toHaveLength(1)
  })
})

describe('threads', () => {
  it('are known by their address, and what stands around the posts stays out', () => {
    const post = (i: number) =>
      `<div class=post><div>Reader ${i}</div><ul><li>Posts: ${i}1</li><li>Joined: 2020</li><li>Karma: 7</li><li>Badges: 2</li></ul>${prose(i)}</div>`
    const html = `<div>${many(5, post)}</div>`
    const { text } = read(html, 'https://a.example/forum/thread-1')
    for (let i = 0; i < 5; i++) expect(text).toContain(`Paragraph ${i}`)
    expect(text).not.toContain('Joined: 2020')
    expect(read(html, 'https://a.example/places/1').text).toContain('Joined: 2020')
  })
})

describe('what belongs to the text', () => {
  const around = (inside: string) => `<div>${many(12, (i) => prose(i + 50))}${inside}${prose(3)}</div>`

  it.each([
    ['a long list of short items', `<ul>${many(15, (i) => `<li>pot ${i}</li>`)}</ul>`, 'pot 7'],
    [
      'a list of links',
      `<ul>${many(15, (i) => `<li><a href=/${i}>the tea garden number ${i}</a></li>`)}</ul>`,
      'number 7',
    ],
    [
      'a table of links',
      `<table><tr><th>Tea</th><th>From</th></tr>${many(15, (i) => `<tr><td><a href=/${i}>Tea ${i}</a></td><td><a href=/c${i}>Country ${i}</a></td></tr>`)}</table>`,
      'Country 7',
    ],
    [
      'a part with text that is called a widget',
      `<div class="panel widget">${prose(7)}${prose(8)}</div>`,
      'Paragraph 7',
    ],
    [
      'folded answers that are called a list of tabs',
      `<div role=tablist>${many(4, (i) => `<h4><a href=#a${i}>Question ${i}</a></h4>${prose(i + 20)}`)}</div>`,
      'Paragraph 22',
    ],
  ])('keeps %s', (_, html, wanted) => {
    for (const head of ['', openGraph('article')]) expect(read(head + around(html)).text).toContain(wanted)
  })

  it('says a paragraph once that is sent for narrow and wide windows, and items as often as they come', () => {
    const twice = `${prose(9)}<ul><li>one</li><li>two</li></ul>`
    const { text } = read(around(`<div>${twice}</div><div>${twice}</div>`))
    expect(text.match(/Paragraph 9/g)).toHaveLength(1)
    expect(text.match(/^two$/gm)).toHaveLength(2)
  })
})

describe('what names and places say', () => {
  const links = (count: number, about = 'kettle') =>
    many(count, (i) => `<li><a href=/${i}><h3>${about} number ${i} of steel</h3> $${i}9.50</a></li>`)

  it('a part called related is content where it holds most of the page, and none beside a text', () => {
    const related = (count: number) => `<section class=related-product><ul>${links(count)}</ul></section>`
    const menu = `<nav>${links(9, 'menu')}</nav>`
    expect(read(`${menu}<h1>Kettles</h1>${related(8)}<p>Ask us.</p>`).text).toContain('number 7 of steel')
    expect(read(`${menu}<main>${many(9, prose)}</main>${related(8)}`).text).not.toContain('number 7')
  })

  it('what a form orders with is no part of a product, and a form around a whole page is read', () => {
    const rows = many(9, (i) => `<tr><td>Kettle, colour ${i}</td><td>Decrease the number of these</td></tr>`)
    const inside = `<h1>Kettle</h1>${many(6, prose)}<form><table>${rows}</table></form>`
    expect(read(`${stated}<main>${inside}</main>`).text).not.toContain('Decrease')
    expect(read(`${stated}<form>${many(9, prose)}</form>`).text).toContain('Paragraph 8')
  })

  it('a chapter is read whatever its address calls it, and a banner is none', () => {
    const chapters = `<section id=cookies><h2>Cookies</h2>${prose(97)}</section><div class=sect2 id=share><div class=titlepage><h3>Sharing</h3></div>${prose(98)}</div>`
    const banner = `<div id=cookie-banner><h2>Cookies</h2>${prose(99)}</div><section class=newsletter id=join><h2>Join</h2>${prose(96)}</section>`
    const { text } = read(`<main>${many(12, prose)}${chapters}${banner}${prose(13)}</main>`)
    expect(text).toMatch(/Cookies\n\nParagraph 97/)
    expect(text).toContain('Paragraph 98')
    expect(text).not.toMatch(/Paragraph 9[69]/)
  })

  it('what introduces a text below its name is read, also outside the part that holds most of it', () => {
    const { text } = read(
      `<div><h1>Tea</h1>${prose(50)}</div><div>${many(12, prose)}</div><div>${prose(51)}</div>`,
    )
    expect(text).toContain('Paragraph 50')
    expect(text).not.toContain('Paragraph 51')
  })

  it('what a sign explains is left out of the heading that it stands in', () => {
    const heading =
      '<h4>Style <tool-tip class=tool-tip><div class=tool-tip__content>All styles explained</div></tool-tip></h4>'
    const { text } = read(`<main>${prose(1)}${heading}${prose(2)}</main>`)
    expect(text).toContain('\n\nStyle\n\n')
    expect(text).not.toContain('All styles')
  })
})

describe('what is said twice', () => {
  const around = (inside: string) => `<main>${many(9, (i) => prose(i + 50))}${inside}</main>`

  it('is said once with its heading in another part of the page', () => {
    const slide = `<div><h2>Colours of tea</h2>${prose(7)}</div>`
    const { text } = read(around(slide.repeat(3)))
    expect(text.match(/Colours of tea/g)).toHaveLength(1)
    expect(text.match(/Paragraph 7 /g)).toHaveLength(1)
  })

  it('stays in the same part, and so do equal headings of different texts', () => {
    const { text } = read(around(`<div><h3>Tea</h3>${prose(7)}<h3>Tea</h3>${prose(8)}${prose(7)}</div>`))
    expect(text.match(/Paragraph 7 /g)).toHaveLength(2)
    expect(text.match(/^Tea$/gm)).toHaveLength(2)
  })
})

it('all properties of a product stand in its text, however many there are', () => {
  const property = (i: number) =>
    `<div><dl><dt><div>Property ${i}</div></dt><dd><div><span>Value ${i}</span></div></dd></dl></div>`
  const { text } = read(
    `${stated}<main><h1>Kettle</h1>${prose(1)}<h2>Properties</h2><div>${many(30, property)}</div>${prose(2)}${prose(3)}</main>`,
  )
  for (let i = 0; i < 30; i++) expect(text).toContain(`Value ${i}`)
})

describe('what the page of a product says twice', () => {
  const wet = 'It keeps two litres of water warm for an hour and more.'
  const quiet = 'It never whistles, not even when it boils over at night.'
  const features = `<ul><li>Steel</li><li>Two litres of water</li><li>Handle of beech wood</li></ul>`
  const sheet = `<table><tr><th>Weight</th><td>900 g</td></tr><tr><th>Height</th><td>21 cm</td></tr><tr><th>Colour</th><td>Black and a red handle</td></tr></table>`
  const of = (inside: string, head = stated) =>
    read(`${head}<main><h1>Kettle</h1>${prose(1)}${prose(2)}${inside}</main>`).text
  const times = (text: string, part: string) => text.split(part).length - 1

  it.each([
    [
      'a sentence in another paragraph',
      `<div><p>${wet} ${quiet}</p></div><div><p>Made of steel. ${quiet}</p></div>`,
      quiet,
      'Made of steel.',
    ],
    [
      'a sentence in other quotation marks',
      `<div><p>"${wet}" ${quiet}</p></div><div><p>“${wet}” It has a handle.</p></div>`,
      wet,
      'It has a handle.',
    ],
    [
      'a sentence within one item',
      `<ul><li>${wet} ${quiet} ${wet} It has a handle.</li><li>Steel</li></ul>`,
      wet,
      'It has a handle.',
    ],
    [
      'a list as a whole',
      `<div>${features}</div><p>${quiet}</p><div>${features}</div>`,
      'Handle of beech wood',
      quiet,
    ],
    [
      'a table as a whole',
      `<div>${sheet}</div><p>${quiet}</p><div>${sheet}</div>`,
      'Black and a red handle',
      quiet,
    ],
  ])('is said once: %s', (_, inside, part, other) => {
    const text = of(inside)
    expect([times(text, part), times(text, other)]).toEqual([1, 1])
  })

  it.each([
    [
      'items of different lists',
      `<ul><li>${wet}</li><li>Small</li></ul><p>${quiet}</p><ul><li>${wet}</li><li>Large</li></ul>`,
      wet,
    ],
    [
      'labels of few words',
      `<div><p>Free delivery. ${wet}</p></div><div><p>Free delivery. ${quiet}</p></div>`,
      'Free delivery.',
    ],
    [
      'short lists',
      `<ul><li>Steel</li><li>Black</li></ul><p>${quiet}</p><ul><li>Steel</li><li>Black</li></ul>`,
      'Steel',
    ],
    ['code', `<div><p><code>${wet}</code></p></div><div><p>So: <code>${wet}</code></p></div>`, wet],
  ])('stays where it is more than a repetition: %s', (_, inside, part) =>
    expect(times(of(inside), part)).toBe(2),
  )

  it('stays on other pages, where equal lists belong to different things', () => {
    const text = of(
      `<div><h2>Small plan</h2>${features}</div><p>${quiet}</p><div><h2>Large plan</h2>${features}</div>`,
      '',
    )
    expect(times(text, 'Handle of beech wood')).toBe(2)
  })
})

describe('headings', () => {
  it('are kept in a list of an article however many follow each other', () => {
    const list = `<ul>${many(20, (i) => `<li><h3>Pot number ${i}</h3></li>`)}</ul>`
    const { text } = read(
      `${openGraph('article')}<article>${many(4, prose)}${list}${many(4, prose)}</article>`,
    )
    expect(text).toContain('Pot number 10')
  })

  it('that are links are kept over their summary, and not without one', () => {
    const entry = (i: number) =>
      `<div><h2><a href=/${i}>How tea number ${i} is grown</a></h2><span>by Ada</span>${prose(i)}</div>`
    const bare = '<div><h2><a href=/x>Another story of another day</a></h2></div>'
    const { text } = read(`${openGraph('article')}<article>${many(3, prose)}${entry(5)}${bare}</article>`)
    expect(text).toContain('How tea number 5 is grown')
    expect(text).not.toContain('Another story')
  })
})

describe('questions and answers', () => {
  const answer = (i: number) =>
    `<div class=answer>${many(4, (k) => prose(10 * i + k, 'an answer'))}<div class=signature>Sent from my kettle, which is made of steel and cast iron</div></div>`
  const page = `<div><h1>How hot?</h1><div class=question>${prose(1, 'my question')}</div></div><div id=answers>${many(6, answer)}<div id=follow-ups-7>${prose(99, 'a remark')}</div></div><div><table>${many(9, (i) => `<tr><td>Another topic number ${i} that has answers</td><td>${i}</td></tr>`)}</table></div>`

  it('begin with the question, end with the answers, and leave out signatures', () => {
    const { text } = read(page, 'https://a.example/questions/7/how-hot')
    expect(text).toMatch(/^How hot\?\n\nParagraph 1 is a sentence about my question/)
    expect(text).toContain('about a remark')
    expect(text).not.toMatch(/Another topic|Sent from/)
  })

  it('are the only pages on which a signature is none of the text', () => {
    expect(read(page, 'https://a.example/letters/7').text).toContain('Sent from')
  })
})
