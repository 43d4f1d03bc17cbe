// What policies say, in sentences. Each has a code, so that a page in another language says the same.

export interface Statement {
  readonly code: StatementCode
  /** What stands in the braces of its sentence. */
  readonly values: Readonly<Record<string, string>>
}

export const SENTENCES = {
  egress_paused: 'Every outbound request is refused until `paused` is false again.',
  egress_open: 'Outbound requests go out where their capability allows it.',
  hosts_denied: 'No request reaches {list}, or anything below these names, whatever a credential allows.',
  no_host_denied: 'No host is denied to everybody: capabilities alone decide.',
  payments_paused: 'Every payment is refused until `paused` is false again.',
  payments_open: 'Payments are taken.',
  payers_denied: 'Nothing is taken from {list}.',
  payees_denied: 'Nothing is settled for {list}.',
  payees_known:
    'Without a service key, {list} may be paid through /settle where the operator lets only known payees.',
  nobody_known: 'Nobody is a known payee.',
  halted: '{who}: every transaction is denied until `halted` is false again.',
  key_required: '{who}: a transaction without an idempotency key is denied.',
  key_reviewed: '{who}: a transaction without an idempotency key is reviewed.',
  cap: '{who}: at most {max} units of {asset} in one payment.',
  spend_hour_all: '{who}: within any hour, payments that are counted come to at most {max} units of {asset}.',
  spend_hour_counterparty:
    '{who}: within any hour, payments to one recipient that are counted come to at most {max} units of {asset}.',
  spend_hour_mandate:
    '{who}: within any hour, payments under one mandate or checkout that are counted come to at most {max} units of {asset}.',
  spend_day_all:
    '{who}: within any 24 hours, payments that are counted come to at most {max} units of {asset}.',
  spend_day_counterparty:
    '{who}: within any 24 hours, payments to one recipient that are counted come to at most {max} units of {asset}.',
  spend_day_mandate:
    '{who}: within any 24 hours, payments under one mandate or checkout that are counted come to at most {max} units of {asset}.',
  no_cap: '{who}: there is no cap, so every payment waits for a review.',
  assets: '{who}: assets that may be paid with: {list}.',
  known_assets: '{who}: the {n} stablecoins that the gateway knows may be paid with.',
  no_asset: '{who}: no asset may be paid with.',
  networks: '{who}: networks that may be paid on: {list}.',
  known_networks: '{who}: the {n} networks that the gateway knows may be paid on.',
  no_network: '{who}: no network may be paid on.',
  currencies: '{who}: currencies that may be paid in: {list}.',
  schemes: '{who}: payment schemes: {list}.',
  recipients: '{who}: only {list} may be paid.',
  no_recipient: '{who}: nobody may be paid.',
  any_recipient: '{who}: anybody may be paid who is not denied.',
  recipients_denied: '{who}: {list} may not be paid.',
  window: '{who}: a payment may stay valid for {seconds} seconds, a mandate for {mandate}.',
} as const
export type StatementCode = keyof typeof SENTENCES

/** Why something that was decided cannot be judged again. */
export const GAPS = {
  refused_before:
    'Requests that a capability or the shape of the request refused are on no record with their host: what a wider policy would let through is not known.',
  other_accounts: 'Requests of other accounts are not looked at.',
  minted:
    'Token endpoints that the gateway asks by itself are under this policy, too, and are not looked at.',
  payments_refused: 'Payments that were refused before they were claimed are on no record.',
  pause_only: 'Known payees count at /settle alone, by who called it: that is not judged again.',
  inspections:
    'Inspections are not kept, since what was inspected may hold secrets. In their place the last payments on record are judged by the rules on amount, asset, network and recipient.',
  spend_windows:
    'What spend windows counted is kept as digests. In its place the last payments on record are added up, those of one account or, without one, of one payer; nothing is known of their mandates.',
  contents: 'Rules on validity, idempotency keys and contents need the message, which is not kept.',
} as const

export const say = (code: StatementCode, values: Readonly<Record<string, string>> = {}): Statement => ({
  code,
  values,
})

/** The sentence in English. */
export const toSentence = ({ code, values }: Statement): string =>
  SENTENCES[code].replaceAll(/\{([a-z]+)\}/g, (whole, name: string) => values[name] ?? whole)

const MOST_NAMED = 8

/** Some of many, and how many more there are. */
export const listed = (items: readonly string[]): string =>
  items.length <= MOST_NAMED
    ? items.join(', ')
    : `${items.slice(0, MOST_NAMED).join(', ')} (+${items.length - MOST_NAMED})`
