// The transaction as it is shown: what somebody wrote into a field is shown where it has the form of that field, and not at all
// where it has another.
import type { z } from 'zod'
import type { TransactionReport } from '../../../schemas/commerce.ts'
import { findNumber } from '../secrets/cards.ts'
import type { Found, TransactionFacts } from '../ports.ts'

type Gate = (text: string) => string

const LAST_INSTANT_SECONDS = 8.64e12

const FORMS = {
  amount: /^-?[\d.]{1,80}(?:e[+-]?\d{1,4})?$/i,
  currency: /^[A-Z]{3,5}$/,
  asset: /^[\w.:-]{1,128}$/,
  network: /^[\w.:-]{1,64}$/,
  // Names of shops are written in every script.
  payee: /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}<>]{1,256}$/u,
  payer: /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}<>]{1,256}$/u,
} as const

/** Each fact where it has the form of its field and passes the gate; null where it has not. */
export function reportFacts(facts: TransactionFacts, gate: Gate): z.infer<typeof TransactionReport> {
  const show = (name: keyof typeof FORMS, found: Found<string> | null) =>
    found !== null && FORMS[name].test(found.value) && (name === 'amount' || !holdsCard(found.value))
      ? gate(found.value)
      : null
  const { amount, expiresAt } = facts
  // Nobody pays so many minor units: it is a card number in the wrong field. It may well be an amount of a token.
  const isCard = amount !== null && facts.asset === null && holdsCard(amount.value)
  return {
    amount: isCard ? null : show('amount', amount),
    currency: show('currency', facts.currency),
    asset: show('asset', facts.asset),
    network: show('network', facts.network),
    payee: show('payee', facts.payee),
    payer: show('payer', facts.payer),
    resource: showResource(facts.resource, gate),
    expires_at:
      expiresAt !== null && Math.abs(expiresAt.value) <= LAST_INSTANT_SECONDS
        ? new Date(expiresAt.value * 1000).toISOString()
        : null,
    nonce_present: facts.nonce !== null,
    idempotency_key_present: facts.idempotencyKey !== null,
  }
}

/** Asked here too: `eip155:<number>` is put together from a number that stands elsewhere by itself. */
const holdsCard = (text: string) => findNumber(text, true) !== undefined

const MAX_RESOURCE_CHARS = 2048

/** An address without what may be secret in it: user name, password, and the values of its query. */
function showResource(resource: Found<string> | null, gate: Gate): string | null {
  if (resource === null || resource.value.length > MAX_RESOURCE_CHARS) return null
  const { value } = resource
  const url = /^[a-z][a-z\d+.-]*:\/\//i.test(value) ? URL.parse(value) : null
  if (url === null) return /^[\w.:~/-]{1,256}$/.test(value) ? gate(value) : null
  // Each change writes the address anew: one with none of these parts is left alone.
  if (!/[?#@]/.test(value)) return gate(url.href)
  url.username = ''
  url.password = ''
  url.hash = ''
  const names = [...url.searchParams.keys()]
  url.search = ''
  const query = names.map((name) => `${encodeURIComponent(name)}=…`).join('&')
  return gate(query === '' ? url.href : `${url.href}?${query}`)
}
