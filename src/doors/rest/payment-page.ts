// The 402 for people: what is sold, what it costs, where and how to pay. No script, nothing loaded from elsewhere.
import type { PaymentRequirements } from '../../../schemas/x402.ts'
import { formatAtomic } from '../../../schemas/money.ts'
import type { Problem } from '../../core/errors.ts'
import { createNetworks } from '../../core/networks.ts'
import type { Challenge } from '../../core/charging.ts'
import type { DoorParts } from '../parts.ts'
import { html, type Markup, prose } from './html.ts'
import { layout, PAGE_CSP } from './pages.ts'

export type PaymentPageParts = Pick<DoorParts, 'config' | 'addresses'>

export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': PAGE_CSP,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
}

/** The 402 as a page for people: what is sold, for how much, and how a program pays. */
export function paymentPage(parts: PaymentPageParts, { required }: Challenge, problem: Problem): string {
  const { resource, accepts } = required
  return layout(
    parts,
    `${problem.title}: Agent Gateway`,
    html`<h1>${problem.title}</h1>
      <p>${prose(resource.description ?? '')}</p>
      ${problem.code !== 'payment_required' && html`<p>${prose(problem.detail)}</p>`}
      <h2>Price</h2>
      ${accepts.map(offer)}
      <h2>How to pay</h2>
      <p>
        This address is sold to programs, by the call, with x402: no account is needed. Call it with an x402
        client, such as <code>@x402/fetch</code>, whose wallet holds the amount on one of these networks. The
        client reads the offer from the header <code>Payment-Required</code> of this answer, signs a payment
        for exactly this amount, and repeats the identical request with it. Nothing is charged when the call
        fails.
      </p>
      <p>
        Address <code>${resource.url}</code>, request <code>${problem.request_id}</code>.
        <a href="https://x402.org">About x402</a>
      </p>`,
  )
}

function offer({ network, asset, amount, payTo }: PaymentRequirements): Markup {
  const known = createNetworks([Number(network.split(':')[1])]).all[0]
  return html`<dl>
    <dt>${formatAtomic(BigInt(amount))} USDC</dt>
    <dd>
      on ${known?.name ?? network} (<code>${network}</code>)${known?.revenue === false && ', a test network'}
    </dd>
    <dt>Paid to</dt>
    <dd><code>${payTo}</code></dd>
    <dt>Token</dt>
    <dd><code>${asset}</code></dd>
  </dl>`
}
