// Plain pages for people, generated from the registry and the catalogue.
import type { DoorParts } from '../parts.ts'
import { html, type Markup } from './html.ts'

export type PageParts = Pick<DoorParts, 'registry' | 'config' | 'addresses' | 'documents'>

/** Path prefix of the base URL, so that links work behind a proxy that mounts the gateway below `/`. */
const prefixOf = ({ addresses }: Pick<PageParts, 'addresses'>) =>
  new URL(addresses.baseUrl).pathname.replace(/\/$/, '')

/** @param body markup that was escaped where it was made */
export function layout(parts: Pick<PageParts, 'addresses' | 'config'>, title: string, body: Markup): string {
  const root = prefixOf(parts)
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <link rel="stylesheet" href="${root}/site.css" />
        <link rel="icon" href="${root}/favicon.ico" />
      </head>
      <body>
        ${
          parts.config.mode === 'sandbox' &&
          html`<p class="banner">SANDBOX: test money and test keys only</p>`
        }
        <header><a href="${root}/">Agent Gateway</a></header>
        <main>${body}</main>
      </body>
    </html> `.markup
}

export const PAGE_CSP =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

export const SITE_CSS = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{margin:0}
.banner{background:#b45309;color:#fff;margin:0;padding:.4rem 1rem;text-align:center;font-weight:600}
header,main{max-width:60rem;margin:0 auto;padding:1rem;overflow-wrap:anywhere}
header{font-weight:600;padding-bottom:0}
main{padding-top:0;padding-bottom:3rem}
h1,h2{line-height:1.25}
h2{margin-top:2rem}
a{color:light-dark(#0b57d0,#8ab4f8)}
header a{color:inherit;text-decoration:none}
code{font-size:.95em;background:#8881;padding:.1em .3em;border-radius:.2em}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #8884;vertical-align:top}
dt{font-weight:600}
dd{margin:0 0 .5rem 1.5rem}
pre{white-space:pre-wrap;padding:1rem;background:#8881;border-radius:.2em}
@media(max-width:40rem){thead{display:none}tr{display:block;padding:.5rem 0;border-bottom:1px solid #8884}
td{display:inline-block;border:0;padding:0 1rem 0 0}td:nth-child(-n+2){display:block}}
`
