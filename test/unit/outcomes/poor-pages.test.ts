// Nothing poor is sold as a success: a labelled set of checks, walls, errors and remnants beside ordinary pages that are as short.
import { describe, expect, it } from 'vitest'
import { SOURCE_REASONS } from '../../../schemas/sources.ts'
import { analyses } from '../../../src/outcomes/analyses.ts'
import { POOR_DETAILS, POOR_REASONS } from '../../../src/outcomes/extract/poor/reasons.ts'
import { LABELLED_ADDRESS, type LabelledPage, readLabelledPages } from '../../support/poor-pages.ts'

const pages = readLabelledPages()
const poor = pages.filter(({ label }) => label !== 'ordinary')
const ordinary = pages.filter(({ label }) => label === 'ordinary')
const input = (html: string) => ({
  body: Buffer.from(html),
  isCut: false,
  contentType: 'text/html; charset=utf-8',
  contentLanguage: null,
  url: LABELLED_ADDRESS,
})
const verdictOf = ({ html }: LabelledPage) => {
  const reading = analyses.page(input(html))
  return reading.ok ? 'ordinary' : reading.reason
}
const article = (words: number) =>
  `<main><article><h1>The wall</h1>${Array.from({ length: words / 12 }, (_, day) => `<p>The council met on day ${day} and spoke about the wall all evening.</p>`).join('')}</article></main>`

describe('the labelled set', () => {
  it('is as large as it has to be, with every reason and a third held out', () => {
    expect(poor.length).toBeGreaterThanOrEqual(600)
    expect(ordinary.length).toBeGreaterThanOrEqual(450)
    expect(new Set(pages.map(({ name }) => name)).size).toBe(pages.length)
    expect(new Set(poor.map(({ label }) => label))).toEqual(new Set(POOR_REASONS))
    expect(pages.filter(({ isHeldOut }) => isHeldOut).length / pages.length).toBeGreaterThan(0.3)
  })

  it.each([
    ['seen while the rules were made', false],
    ['held out', true],
  ])(
    '%s: at least .98 of what is refused is poor, and at least .95 of the poor is refused',
    (_, isHeldOut) => {
      const refused = (from: LabelledPage[]) =>
        from.filter((page) => page.isHeldOut === isHeldOut && verdictOf(page) !== 'ordinary')
      const right = refused(poor).length
      expect(right / (right + refused(ordinary).length)).toBeGreaterThanOrEqual(0.98)
      expect(right / poor.filter((page) => page.isHeldOut === isHeldOut).length).toBeGreaterThanOrEqual(0.95)
    },
  )

  it('names the right reason nearly always', () => {
    const refused = poor.map((page) => [page.label, verdictOf(page)]).filter(([, got]) => got !== 'ordinary')
    const right = refused.filter(([label, got]) => label === got)
    expect(right.length / refused.length).toBeGreaterThanOrEqual(0.95)
  })

  it.each(['products', 'feed'] as const)('is refused by %s with the same reasons', (analysis) => {
    const agrees = (page: LabelledPage) => {
      const reading = analyses[analysis](input(page.html))
      return !reading.ok && reading.reason === verdictOf(page)
    }
    const known = poor.filter((page) => POOR_REASONS.some((reason) => reason === verdictOf(page)))
    expect(known.filter((page) => !agrees(page)).map(({ name }) => name)).toEqual([])
  })
})

describe('what is said of a poor page', () => {
  it.each(POOR_REASONS)('%s: what happened and what to do', (reason) => {
    expect(SOURCE_REASONS).toContain(reason)
    expect(POOR_DETAILS[reason]).toMatch(/\. (?:Name|Try|Check|Send)\b|\band ask\b/)
  })
})

describe('pages with text of their own', () => {
  it.each([
    ['a check that an article quotes', `${article(60)}<p>It said "Verify you are human".</p>`],
    [
      'a cookie dialog beside an article',
      `<div role="dialog">We use cookies <button>Accept all</button></div>${article(60)}`,
    ],
    ['a password field beside an article', `<form><input type="password"></form>${article(60)}`],
    ['an invitation to subscribe below a long text', `${article(360)}<p>Subscribe to continue reading</p>`],
    [
      'a paywall that is declared and not there',
      `<script type="application/ld+json">{"@type":"Article","isAccessibleForFree":false}</script>${article(360)}`,
    ],
  ])('%s is a page', (_, html) => {
    expect(analyses.page(input(`<!doctype html><title>The wall</title><body>${html}`)).ok).toBe(true)
  })
})

it('is read however much its structured data holds beside the price of its text', () => {
  const members = Array.from({ length: 130_000 }, (_, at) => `"m${at}":{}`).join()
  const script = `<script type="application/ld+json">{"isAccessibleForFree":false,${members}}</script>`
  const reading = analyses.page(input(`<!doctype html><title>The wall</title>${script}<body>${article(36)}`))
  expect(reading).toMatchObject({ ok: false, reason: 'paywall' })
})

it('says how a document was made', () => {
  const html = `<!doctype html><title>The wall</title><body><nav>One two three</nav><div class="newsletter">Four five</div>${article(60)}`
  const reading = analyses.page(input(html))
  if (!reading.ok) throw new Error(reading.reason)
  const { quality, document } = reading.value
  expect(quality).toEqual({
    mode: 'scored',
    words: document.word_count,
    page_words: document.word_count + 5,
    boilerplate: [
      { kind: 'chrome', words: 3 },
      { kind: 'named', words: 2 },
    ],
  })
})

describe('pages that have a sentence of a poor one', () => {
  const short = (title: string, text: string) =>
    analyses.page(input(`<!doctype html><title>${title}</title><body><h1>${title}</h1><p>${text}</p>`))

  it.each([
    ['a word that is the name of an error', 'Error', 'noun. A mistake, or the state of being wrong.'],
    [
      'a rule for others',
      'Tours',
      'Every Saturday at two, with three tastings. You must be 18 to visit the brewery.',
    ],
    [
      'a statement about cookies without a choice',
      'Cookies',
      'We use cookies for the basket. They are deleted after a day.',
    ],
    [
      'a product that is gone and has a price',
      'Boots',
      'This product is no longer available. Last price: $120',
    ],
    [
      'a note on passwords',
      'Password rules',
      'Twelve characters or more. Forgot your password? Ask the desk.',
    ],
    [
      'news of a site that is down',
      'Tickets',
      'The site is down for maintenance, fans say. They were told to try again later.',
    ],
  ])('%s is a page', (_, title, text) => expect(short(title, text).ok).toBe(true))

  it.each([
    [
      'what is said to the visitor alone, beside words about nothing',
      'Uh oh',
      "The page you are looking for doesn't exist. How you got here is a mystery to all of us here.",
      'soft_404',
    ],
    ['a name beside the name of a server', '502 Bad Gateway', 'nginx/1.24.0', 'server_error'],
    [
      'a wall of payment behind the beginning of an article',
      'Tea',
      'Prices rose again in March, dealers in three harbours say. Subscribe to continue reading',
      'paywall',
    ],
  ])('%s is none', (_, title, text, reason) =>
    expect(short(title, text)).toMatchObject({ ok: false, reason }),
  )
})

describe('a source that is no page', () => {
  const read = (body: string, contentType: string, start?: number) =>
    analyses.page({ ...input(body), contentType, ...(start && { start }) })

  it.each([
    ['404 page not found', 'soft_404'],
    ['Access denied', 'access_denied'],
    ['502 Bad Gateway', 'server_error'],
    ['Just a moment...', 'captcha'],
  ])('is refused where it is the plain text %j', (text, reason) =>
    expect(read(text, 'text/plain')).toMatchObject({ ok: false, reason }),
  )

  it.each([
    'ok',
    '3.14.2',
    'v=spf1 -all',
    'errors: 0\nwarnings: 0',
    'MIT License\n\nCopyright (c) 2024 Ann',
    '✓',
  ])('is sold where it is the plain text %j', (text) => expect(read(text, 'text/plain').ok).toBe(true))

  it('is sold where it is the rest of a longer text', () => {
    expect(read(`${'word '.repeat(500)}\n\nNot found`, 'text/plain', 2501).ok).toBe(true)
  })

  it.each([
    ['.', 'text/plain'],
    ['---', 'text/markdown'],
    ['null', 'application/json'],
    ['<body>×</body>', 'text/html'],
  ])('is not sold where nobody reads anything out of it: %j', (body, type) =>
    expect(read(body, type)).toMatchObject({ ok: false, reason: 'no_content' }),
  )
})

describe('a page whose content comes by scripts', () => {
  const links = Array.from({ length: 20 }, (_, i) => `<a href=/${i}>Category ${i}</a>`).join(', ')
  const verdict = (html: string) => verdictOf({ html } as LabelledPage)

  it.each([
    ['its foot', `<div id=root></div><footer><dl><dt>Shop<dd>${links}</dl></footer>`],
    [
      'a note in a foot that is named one',
      '<div class="site-footer"><p>If you need help at once, call the number of the doctor who is on duty tonight.</p></div>',
    ],
    ['its menus', `<header><div><ul><li>${links}</ul></div></header><nav>${links}</nav>`],
  ])('and that shows nothing but %s is a remnant', (_, html) => {
    expect(verdict(`<body>${html}</body>`)).toBe('remnant')
  })

  it('is none where much else is in the page, whatever was taken for its text', () => {
    const items = Array.from({ length: 90 }, (_, i) => `<li><a href=/${i}>Lamp number ${i}</a></li>`).join('')
    expect(
      verdict(
        `<body><div class=carousel-menu><ul>${items}</ul></div><footer><p>${links}</p></footer></body>`,
      ),
    ).toBe('ordinary')
  })

  it('is none once anything stands in the middle, or once the foot holds a text', () => {
    const foot = `<footer><p>${links}</p></footer>`
    expect(
      verdict(
        `<body><main><p>We open again at nine in the morning, on every day but Friday.</p></main>${foot}</body>`,
      ),
    ).toBe('ordinary')
    expect(verdict(`<body><footer>${article(240)}</footer></body>`)).toBe('ordinary')
    expect(
      verdict(
        '<body><article><header><p>The mill is open from nine to five on all days of the week.</p></header></article></body>',
      ),
    ).toBe('ordinary')
  })
})

describe('wordings of which no rule was made', () => {
  it('are found by the form that stands there or by their address, and no ordinary page is', () => {
    const unseen = readLabelledPages('poor-at-first-sight')
    const refused = unseen.filter((page) => verdictOf(page) !== 'ordinary')
    expect(refused.filter(({ label }) => label === 'ordinary')).toEqual([])
    expect(refused.length).toBeGreaterThanOrEqual(15)
  })
})

describe('a page that says nothing of what its address and its title name', () => {
  const verdict = (path: string, title: string, main: string) => {
    const reading = analyses.page({
      ...input(`<!doctype html><title>${title}</title><body><nav><a href=/>A</a></nav><main>${main}</main>`),
      url: `https://a.example${path}`,
    })
    return reading.ok ? 'ordinary' : reading.reason
  }
  const lost = '<h1>Jejda</h1><p>Tady bylo kdysi něco hezkého.</p>'
  const home = '<a href="/">Domů</a>'
  const path = '/kolekce/modra-konvice'

  it.each([
    ['home', `${lost}${home}`],
    ['the home of its language', `${lost}<a href="/cs/">Domů</a>`],
    ['home, as a whole address', `${lost}<a href="https://a.example/index.html">Domů</a>`],
  ])('and leads only %s is none, in any language', (_, main) =>
    expect(verdict(path, 'Obchod', main)).toBe('soft_404'),
  )

  it.each([
    ['leads on', path, 'Obchod', `${lost}${home}<a href="/kolekce">Kolekce</a>`],
    ['leads to another site', path, 'Obchod', `${lost}<a href="https://b.example/">B</a>`],
    ['leads nowhere', path, 'Obchod', lost],
    ['says a word of its title', path, 'Obchod, kde bylo vše', `${lost}${home}`],
    ['has a title with a word of its address', path, 'Konvice', `${lost}${home}`],
    ['has no title', path, '', `${lost}${home}`],
    ['says a word of its address', path, 'Obchod', `<h1>Konvice</h1><p>Byla hezká.</p>${home}`],
    ['has an address of one word', '/konvice', 'Obchod', `${lost}${home}`],
    ['has a number for its address', '/p/8731', 'Obchod', `${lost}${home}`],
    ['has an address that cannot be read', '/%E0%A4-%A4', 'Obchod', `${lost}${home}`],
    [
      'is in other letters than its address',
      path,
      'Магазин',
      `<h1>Ой</h1><p>Тут было что-то.</p><a href="/">Домой</a>`,
    ],
    ['has a figure', path, 'Obchod', `${lost}<p>Od 9 do 17.</p>${home}`],
    ['has a picture', path, 'Obchod', `${lost}<img src=a.png>${home}`],
    ['has no heading', path, 'Obchod', `<p>Tady bylo kdysi něco hezkého.</p>${home}`],
    ['says more', path, 'Obchod', `${lost}<p>${'Stálo na polici. '.repeat(8)}</p>${home}`],
  ])('is a page where it %s', (_, at, title, main) => expect(verdict(at, title, main)).toBe('ordinary'))
})

it('waits for its scripts in few words of any language beside the empty root of an application', () => {
  const verdict = (html: string) => verdictOf({ html } as LabelledPage)
  expect(verdict('<body><div id=root></div><p>Zahříváme motory</p>')).toBe('script_shell')
  expect(verdict('<body><div id=root></div><h1>Zahříváme motory</h1>')).toBe('ordinary')
  expect(verdict('<body><div id=root></div><p>Zahříváme motory a pak pojedeme k moři</p>')).toBe('ordinary')
})

describe('a page that is one form', () => {
  const verdict = (html: string) => verdictOf({ html } as LabelledPage)
  const form = (fields: string, more = '') =>
    `<body><h1>Kunnon kello</h1><form method=post>${fields}<button>Jatka</button></form>${more}</body>`

  it.each([
    [
      'login_wall',
      form(
        '<input name=o><input type=password name=p>',
        '<p>Kahdeksan sanaa ovat tässä vieressä nyt juuri ne.</p>',
      ),
    ],
    ['captcha', form('<img src=/captcha.png><input name=letters>')],
    ['age_gate', form('<select name=dob_day><option>1</select><select name=dob_year><option>1980</select>')],
    [
      'captcha',
      `<header><form><input name=q></form></header>${form('<img src=x class="captcha-image"><input name=a>')}`,
    ],
  ])('is a %s by what it asks for, in any language', (reason, html) => {
    expect(verdict(html)).toBe(reason)
  })

  it.each([
    [
      'more is said beside it',
      form(
        '<input name=o><input type=password name=p>',
        `<p>${'Yksi kello soi aina liian myöhään. '.repeat(3)}</p>`,
      ),
    ],
    ['it asks for more', form('<img src=/captcha.png><input name=email><textarea name=text></textarea>')],
    [
      'it stands in the head',
      `<header>${form('<input name=o><input type=password name=p>').replaceAll(/<\/?body>/g, '')}</header><p>Kello soi kahdeksalta, ja me avaamme ovet.</p>`,
    ],
    [
      'it asks for nothing',
      form('<input type=hidden name=captcha>', '<p>Kello soi kahdeksalta, ja me avaamme ovet.</p>'),
    ],
    ['there are two', form('<input name=dob>') + form('<input name=dob>')],
    ['a comment holds another', `<!-- <form> -->${form('<img src=/captcha.png><input name=letters>')}`],
  ])('is a page where %s', (_, html) => {
    expect(verdict(html)).toBe('ordinary')
  })
})
