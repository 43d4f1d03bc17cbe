// Plain pages for people, generated from the registry and the catalogue.
import { sampleOf } from '../../documents/sample.ts'
import type { DoorParts } from '../parts.ts'
import { html, type Markup, prose } from './html.ts'

export type PageParts = Pick<DoorParts, 'registry' | 'config' | 'addresses' | 'documents'>

type Json = Readonly<Record<string, unknown>>

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

/** @param descriptor an entry of the catalogue */
export function capabilityPage(parts: PageParts, descriptor: Json): string {
  const pricing = descriptor['pricing'] as Json
  const mappings = descriptor['mappings'] as Readonly<Record<'mcp' | 'a2a', Json>>
  const name = String(descriptor['name'])
  const id = String(descriptor['id'])
  const isPaid = pricing['amount_atomic'] !== '0'
  return layout(
    parts,
    `${name}: Agent Gateway`,
    html`<h1>${name}</h1>
      <p>${prose(String(descriptor['description']))}</p>
      <h2>When to use it</h2>
      <p>${prose(String(descriptor['when_to_use']))}</p>
      <h2>What you get</h2>
      <p>${prose(String(pricing['delivered']))}</p>
      <h2>Price</h2>
      <p>${priceSentence(pricing)}</p>
      ${isPaid && html`<p>${prose(HOW_IT_IS_PAID)}</p>`}
      <h2>Limits</h2>
      <ul>
        ${(descriptor['limitations'] as readonly string[]).map((text) => html`<li>${prose(text)}</li> `)}
      </ul>
      <p>${prose(String(descriptor['latency_note']))}</p>
      <h2>Try it</h2>
      <pre>
curl -s ${String(descriptor['execute_url'])} -H 'content-type: application/json' -d @- &lt;&lt;'JSON'
${JSON.stringify(descriptor['example'], undefined, 2)}
JSON</pre>
      ${isPaid && html`<p>${prose(TRY_PAID)}</p>`}
      ${
        id !== mappings.mcp['tool'] &&
        html`<p>
          A labelled sample, free:
          <code>${JSON.stringify({ capability: id, intent: 'demo' })}</code>
        </p>`
      }
      <h2>Shape of the answer</h2>
      <pre>${JSON.stringify(sampleOf(descriptor['output_schema'] as Json), undefined, 2)}</pre>
      <p>
        MCP tool <code>${String(mappings.mcp['tool'])}</code>, A2A skill
        <code>${String(mappings.a2a['skill'])}</code>.
        <a href="${prefixOf(parts)}/v1/capabilities/${id}">Full description as JSON</a>
      </p>`,
  )
}

const HOW_IT_IS_PAID =
  'Paid with x402 (v2, and v1 for older buyers): the payer must be funded, no account is needed. The answer to a request ' +
  'without a payment is a 402 with the exact price and a signed quote for 300 seconds; nothing is done or charged then. What ' +
  'fails is not charged, and every paid answer has a signed receipt.'
const TRY_PAID =
  'This answers 402 with the price. An x402 client signs it and sends the identical request again with Payment-Signature; ' +
  'with "testnet": true it is paid with test money.'

const priceSentence = ({ amount_atomic, amount, currency, unit }: Json) =>
  amount_atomic === '0'
    ? 'Free: no payment and no account.'
    : `${String(amount)} ${String(currency)} for one ${String(unit)}.`

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
