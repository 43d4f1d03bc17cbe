// The labelled pages of test/data/outcomes/poor: checks, walls, error pages and remnants that answer 200, and ordinary pages as short as they
// are. Every page was written for this set. A third is held out by the hash of its name: nobody looks at those while rules are made.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'

/**
 * Where each of them was found: it names something in several words, as addresses of articles and products do. Of the ordinary ones none is
 * about it, which is the worst that can be said of a good page.
 */
export const LABELLED_ADDRESS = 'https://a.example/things/brass-zither'

const DATA = new URL('../data/outcomes/', import.meta.url)

export interface LabelledPage {
  readonly name: string
  /** A reason of the coverage, or `ordinary`. */
  readonly label: string
  readonly language: string
  readonly isHeldOut: boolean
  readonly html: string
}

/** Every page of the set: `@@ name | label | language | shell | title`, and its body up to the next. */
export function readLabelledPages(
  /** No wording of `poor-at-first-sight` was ever made a rule. */
  set: 'poor' | 'poor-at-first-sight' = 'poor',
): LabelledPage[] {
  const folder = new URL(`${set}/`, DATA)
  return readdirSync(folder)
    .filter((file) => file.endsWith('.txt'))
    .sort()
    .flatMap((file) => readFileSync(new URL(file, folder), 'utf8').split(/^@@ /m).slice(1))
    .map((entry) => {
      const end = entry.indexOf('\n')
      const [name = '', label = '', language = '', shell = '', ...title] = entry.slice(0, end).split(' | ')
      return {
        name,
        label,
        language,
        isHeldOut: createHash('sha256').update(name).digest()[0]! % 3 === 0,
        html: wrap(shell, { language, title: title.join(' | ').trim(), body: entry.slice(end + 1).trim() }),
      }
    })
}

interface Inside {
  readonly language: string
  readonly title: string
  readonly body: string
}

/** Words of what stands around the content of a site; other languages have none of it. */
const AROUND: Readonly<Record<string, { links: readonly string[]; foot: string }>> = {
  en: { links: ['Home', 'About', 'Contact', 'Log in'], foot: '© 2025 All rights reserved. Privacy policy' },
  de: { links: ['Startseite', 'Über uns', 'Kontakt'], foot: '© 2025 Impressum Datenschutz' },
  fr: { links: ['Accueil', 'À propos', 'Contact'], foot: '© 2025 Mentions légales' },
  es: { links: ['Inicio', 'Nosotros', 'Contacto'], foot: '© 2025 Aviso legal' },
}

function wrap(shell: string, { language, title, body }: Inside): string {
  const { links, foot } = AROUND[language] ?? { links: [], foot: '© 2025' }
  const list = links.map((text, i) => `<li><a href="/p${i}">${text}</a></li>`).join('')
  const head = (more = '') =>
    `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><title>${title}</title>${more}</head>`
  switch (shell) {
    case 'site':
      return `${head('<link rel="stylesheet" href="/site.css">')}<body><header><nav><ul>${list}</ul></nav></header><main>${body}</main><footer><p>${foot}</p></footer></body></html>`
    case 'shop':
      return `${head('<meta name="viewport" content="width=device-width">')}<body><div class="topbar"><ul class="menu">${list}</ul><div class="minicart">0</div></div><div id="content" class="page-wrapper">${body}</div><div class="footer"><div class="newsletter"></div><p>${foot}</p></div><script src="/shop.js"></script></body></html>`
    case 'news':
      return `${head('<meta property="og:site_name" content="Harbour News">')}<body><div class="header"><ul class="navigation">${list}</ul></div><div class="content">${body}</div><div id="footer">${foot}</div></body></html>`
    case 'docs':
      return `${head()}<body><nav class="sidebar"><ul>${list}</ul></nav><div role="main"><section>${body}</section></div><footer>${foot}</footer></body></html>`
    case 'spa':
      return `${head('<script defer src="/static/main.3f1c.js"></script>')}<body>${body}<script>window.__STATE__={}</script></body></html>`
    default:
      return `${head()}<body>${body}</body></html>`
  }
}
