// Pages of the market: how to sell, and how figures come about. One address each: HTML for people, JSON for programs.
import { FIGURE_METHODS, SELLING_RULES, sellingDocument, sellingSteps } from '../../documents/market.ts'
import { fixDocument } from '../http/document.ts'
import type { Resource } from '../http/resource.ts'
import { html, prose } from './html.ts'
import { layout, PAGE_CSP, type PageParts } from './pages.ts'

/** The resources below `/marketplace/`. */
export function marketPages(parts: PageParts): Resource[] {
  return [
    negotiated('/marketplace/sell', sellingDocument(parts.addresses), sellingPage(parts)),
    negotiated('/marketplace/figures', { figures: FIGURE_METHODS }, figuresPage(parts)),
  ]
}

/** A browser says that it takes HTML; whoever does not is a program. */
function negotiated(path: string, value: unknown, page: string): Resource {
  const asJson = fixDocument(JSON.stringify(value), { type: 'application/json', headers: VARIES })
  const asPage = fixDocument(page, {
    type: 'text/html; charset=utf-8',
    headers: {
      ...VARIES,
      'content-security-policy': PAGE_CSP,
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
    },
  })
  return {
    path,
    open: 'public',
    methods: {
      GET({ req, res, context }) {
        const wantsPage = /\btext\/html\b/i.test(req.headers.accept ?? '')
        return (wantsPage ? asPage : asJson).send(req, res, { 'x-request-id': context.requestId })
      },
    },
  }
}

const VARIES = { vary: 'accept' }

const sellingPage = (parts: PageParts): string =>
  layout(
    parts,
    'Sell an HTTP API to agents: Agent Gateway',
    html`<h1>Sell an HTTP API to agents</h1>
      <ol>
        ${sellingSteps(parts.addresses).map(
          ({ title, words, method, url, body }) =>
            html`<li>
              <strong>${title}</strong>. ${prose(words)}<br /><code>${method} ${url}</code
              >${body ? html`<br /><code>${JSON.stringify(body)}</code>` : ''}
            </li> `,
        )}
      </ol>
      <h2>Rules</h2>
      <ul>
        ${SELLING_RULES.map((rule) => html`<li>${rule}</li> `)}
      </ul>`,
  )

const figuresPage = (parts: PageParts): string =>
  layout(
    parts,
    'Figures of the market: Agent Gateway',
    html`<h1>How figures come about</h1>
      <p>They are computed from receipts and from our own looks. Nobody can claim one.</p>
      <dl>
        ${FIGURE_METHODS.map(
          ({ figure, words }) =>
            html`<dt><code>${figure}</code></dt>
              <dd>${prose(words)}</dd> `,
        )}
      </dl>`,
  )
