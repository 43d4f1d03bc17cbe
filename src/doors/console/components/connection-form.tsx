// What a person decides about an assistant, on the page of consent and later: which credentials and how much of them, limits, an end date,
// and what goes beyond requests. What is shown is what is sent: a credential that grew meanwhile grants nothing more.
import type { VNode } from 'preact'
import type { BudgetState } from '../../../../schemas/budget.ts'
import type { ConnectionRecord } from '../../../../schemas/connection.ts'
import type { CredentialMetadata } from '../../../../schemas/egress.ts'
import { HttpMethod, type Scope } from '../../../../schemas/http.ts'
import type { ConnectionChoice } from '../../../identity/ports.ts'
import { Foreign, Ltr } from '../../site/components/foreign.tsx'
import { Link } from '../../site/components/link.tsx'
import type { ConsoleContext, ConsoleRequest } from '../ports.ts'
import { connectionTexts } from '../texts/connections.ts'
import { BudgetGrid, budgetsOf } from './budgets.tsx'
import { Area, Box, Boxes, linesOf, textOf } from './fields.tsx'
import { Field } from './form.tsx'

/** A credential that may be chosen. */
export type Offered = Pick<CredentialMetadata, 'credential_id' | 'label' | 'provider' | keyof Scope>

/** What the form starts from. */
export type Terms = Pick<
  ConnectionRecord,
  'credentials' | 'may_pay' | 'may_operate' | 'shows_balance' | 'max_uses' | 'budgets' | 'expires_at'
>

const DAY_MS = 24 * 3_600_000
const USUAL_DAYS = 90
/** A hundred credentials a page, and no more pages than anybody would tick. */
const MOST_PAGES = 3

/** Paid tools and tools of operators are off, and a day has an end: whoever wants more ticks it. */
export const usualTerms = (now: number): Terms => ({
  credentials: [],
  may_pay: false,
  may_operate: false,
  shows_balance: false,
  max_uses: null,
  budgets: [{ unit: 'calls', per: 'day', limit: '1000', used: '0', frees_at: null }] satisfies BudgetState[],
  expires_at: new Date(now + USUAL_DAYS * DAY_MS).toISOString(),
})

/** The credentials of the account that are not revoked, oldest first. */
export async function offeredIn({ call }: Pick<ConsoleRequest, 'call'>): Promise<Offered[]> {
  const offered: Offered[] = []
  let before: string | null = null
  for (let page = 0; page < MOST_PAGES; page++) {
    const { credentials, next } = (await call('gateway.egress.credentials.list', {
      limit: 100,
      ...(before !== null && { before }),
    })) as { credentials: CredentialMetadata[]; next: string | null }
    for (const { credential_id, label, provider, hosts, path_prefixes, methods, revoked_at } of credentials)
      if (revoked_at === null) offered.push({ credential_id, label, provider, hosts, path_prefixes, methods })
    before = next
    if (next === null) break
  }
  return offered.toReversed()
}

/** The form as a choice; what nobody can have meant is refused where it is stored. */
export function choiceOf(form: URLSearchParams): ConnectionChoice {
  const maxUses = textOf(form, 'max_uses')
  return {
    parts: form.getAll('use').map((id) => ({
      credentialId: id,
      scope: {
        hosts: form.getAll(`hosts.${id}`),
        path_prefixes: linesOf(form, `paths.${id}`),
        methods: HttpMethod.options.filter((method) => form.getAll(`methods.${id}`).includes(method)),
      },
    })),
    budgets: budgetsOf(form),
    maxUses: maxUses === undefined ? null : Number(maxUses),
    expiresAt: Date.parse(`${form.get('expires') ?? ''}T23:59:59.999Z`),
    mayPay: form.has('may_pay'),
    mayOperate: form.has('may_operate'),
    showsBalance: form.has('shows_balance'),
  }
}

/** A choice as the tool of connections takes it. */
export const termsInput = (choice: ConnectionChoice) => ({
  credentials: choice.parts.map(({ credentialId, scope }) => ({ credential_id: credentialId, ...scope })),
  budgets: choice.budgets,
  max_uses: choice.maxUses,
  // A date that is none is said to be none by the tool.
  expires_at: Number.isFinite(choice.expiresAt) ? new Date(choice.expiresAt).toISOString() : '',
  may_pay: choice.mayPay,
  may_operate: choice.mayOperate,
  shows_balance: choice.showsBalance,
})

interface FieldsProps {
  readonly page: ConsoleContext
  readonly offered: readonly Offered[]
  readonly terms: Terms
}

/** Every field of a connection. */
export function ConnectionFields({ page, offered, terms }: FieldsProps): VNode {
  const t = connectionTexts[page.language]
  const shared = sharedHost(offered)
  return (
    <>
      <fieldset class="console-section">
        <legend>{t.credentials}</legend>
        <p class="muted small">{t.credentialsHint}</p>
        {offered.length === 0 ? (
          <p>
            {t.noCredentials} <Link to={page.href('/console/credentials/new')}>{t.store}</Link>
          </p>
        ) : (
          <ul class="console-plain stack">
            {offered.map((credential) => (
              <li>
                <Credential page={page} credential={credential} terms={terms} />
              </li>
            ))}
          </ul>
        )}
        {shared !== undefined && (
          <p class="muted small">
            <Filled words={t.overlap} name="host">
              <Ltr class="mono">{shared}</Ltr>
            </Filled>
          </p>
        )}
      </fieldset>
      <fieldset class="console-section">
        <legend>{t.limits}</legend>
        <p class="muted small">{t.limitsHint}</p>
        <BudgetGrid page={page} budgets={terms.budgets} periods={['day', 'total']} />
        <div class="console-pair">
          {terms.max_uses !== null && (
            <Field
              page={page}
              name="max_uses"
              label={t.maxUses}
              help={t.maxUsesHelp}
              value={String(terms.max_uses)}
            />
          )}
          <Field
            page={page}
            name="expires"
            type="date"
            label={t.expires}
            help={t.expiresHelp}
            value={terms.expires_at.slice(0, 10)}
            isRequired
          />
        </div>
      </fieldset>
      <fieldset class="console-section">
        <legend>{t.more}</legend>
        {(
          [
            ['may_pay', t.mayPay, t.mayPayHelp],
            ['may_operate', t.mayOperate, t.mayOperateHelp],
          ] as const
        ).map(([name, label, help]) => (
          <div>
            <Box page={page} name={name} label={label} isChecked={terms[name]} />
            <p class="muted small">{help}</p>
          </div>
        ))}
        <Box page={page} name="shows_balance" label={t.showsBalance} isChecked={terms.shows_balance} />
      </fieldset>
    </>
  )
}

function Credential({
  page,
  credential,
  terms,
}: {
  readonly page: ConsoleContext
  readonly credential: Offered
  readonly terms: Terms
}): VNode {
  const t = connectionTexts[page.language]
  const { credential_id: id, label, provider, hosts, path_prefixes, methods } = credential
  const held = terms.credentials.find(({ credential_id }) => credential_id === id)
  const scope = held ?? credential
  const isNarrowed = held !== undefined && !isSame(held, credential)
  const isTicked = page.refused ? page.refused.form.getAll('use').includes(id) : held !== undefined
  return (
    <div class="console-grant">
      <label class="console-box">
        <input type="checkbox" name="use" value={id} checked={isTicked} />
        <strong>
          <Foreign text={label} max={60} />
        </strong>
        <Ltr class="console-chip">{provider}</Ltr>
        {isNarrowed && <span class="console-chip">{t.narrowed}</span>}
      </label>
      <p class="small muted console-grant-scope">
        <Ltr>{`${scope.hosts.join(', ')} · ${scope.path_prefixes.join(', ')} · ${scope.methods.join(' ')}`}</Ltr>
      </p>
      <details class="console-grant-scope">
        <summary>{t.narrow}</summary>
        <div class="stack">
          <Boxes page={page} name={`hosts.${id}`} label={t.hosts} options={hosts} chosen={scope.hosts} />
          <Area
            page={page}
            name={`paths.${id}`}
            label={t.paths}
            help={t.pathsHelp}
            rows={Math.min(6, path_prefixes.length + 1)}
            value={scope.path_prefixes.join('\n')}
          />
          <Boxes
            page={page}
            name={`methods.${id}`}
            label={t.methods}
            options={methods}
            chosen={scope.methods}
          />
        </div>
      </details>
    </div>
  )
}

const isSame = (a: Scope, b: Scope) =>
  (['hosts', 'path_prefixes', 'methods'] as const).every(
    (field) => a[field].length === b[field].length && a[field].every((entry, i) => b[field][i] === entry),
  )

/** The first host that two of them cover. */
function sharedHost(offered: readonly Offered[]): string | undefined {
  const seen = new Set<string>()
  for (const { hosts } of offered)
    for (const host of hosts) {
      if (seen.has(host)) return host
      seen.add(host)
    }
  return undefined
}

/** Words with something drawn where their `{name}` stands. */
export function Filled({
  words,
  name,
  children,
}: {
  readonly words: string
  readonly name: string
  readonly children: VNode
}): VNode {
  const [before = '', after = ''] = words.split(`{${name}}`, 2)
  return (
    <>
      {before}
      {children}
      {after}
    </>
  )
}
