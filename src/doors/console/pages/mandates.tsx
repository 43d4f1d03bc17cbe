// What permits may be prepared for, and a form that writes one more.
import type { VNode } from 'preact'
import type { MandateRecord } from '../../../../schemas/actions.ts'
import { HttpMethod } from '../../../../schemas/http.ts'
import { actionsMandatesCreate } from '../../../../tools/actions-mandates-create.ts'
import { isForRole } from '../../../core/roles.ts'
import { Foreign, Ltr } from '../../site/components/foreign.tsx'
import { Link } from '../../site/components/link.tsx'
import { State } from '../../site/components/state.tsx'

import { Box, Boxes, Choice, textOf } from '../components/fields.tsx'
import { Act, Field, Form, Refusal } from '../components/form.tsx'
import { doneWord, Said } from '../components/said.tsx'
import { ruleOf, Spent } from '../components/permit.tsx'
import { type Column, Table, Time } from '../components/table.tsx'
import { type ConsoleContext, defineConsolePage } from '../ports.ts'
import { cursor } from '../records/query.ts'
import { inboxTexts } from '../texts/inbox.ts'

const DAY_MS = 24 * 3600 * 1000
const DAYS = 30

interface Credential {
  readonly credential_id: string
  readonly label: string
  readonly host: string
}

interface MandatesData {
  readonly mandates: readonly MandateRecord[]
  readonly next: string | null
  readonly credentials: readonly Credential[]
  readonly may_write: boolean
  readonly now: number
}

export const page = defineConsolePage<MandatesData>({
  isWide: true,
  async load({ call, query, console, signedIn }) {
    const before = cursor(query)
    const [{ mandates, next }, { items }] = await Promise.all([
      call('gateway.actions.mandates.list', {
        limit: 50,
        ...(before !== undefined && { before }),
      }) as Promise<{
        mandates: MandateRecord[]
        next: string | null
      }>,
      console.store.listCredentials(signedIn.accountId, { limit: 100 }),
    ])
    const credentials = items
      .filter(({ revokedAt }) => revokedAt === null)
      .map(({ id, label, scope }) => ({ credential_id: id, label, host: scope.hosts[0] ?? '' }))
    return {
      mandates,
      next,
      credentials,
      may_write: isForRole(actionsMandatesCreate, signedIn.role),
      now: console.now(),
    }
  },
  actions: {
    async create(form, { call, console }) {
      await call('gateway.actions.mandates.create', termsIn(form, console.now()))
      return { goTo: '/console/mandates?done=created' }
    },
    async revoke(form, { call }) {
      await call('gateway.actions.mandates.revoke', { mandate_id: form.get('mandate_id') ?? '' })
      return { goTo: '/console/mandates?done=revoked' }
    },
  },
  title: (_data, { language }) => inboxTexts[language].mandates,
  View: ({ data, page }) => <Mandates data={data} page={page} />,
})

/** The form as the tool takes it: what was left empty is left out, and the tool says what is wrong. */
function termsIn(form: URLSearchParams, now: number): Readonly<Record<string, unknown>> {
  const number = (name: string) => {
    const text = textOf(form, name)
    return text === undefined ? undefined : Number(text)
  }
  const days = number('days') ?? DAYS
  const rule = {
    ...(form.has('another') && { by: 'another' }),
    ...(form.has('two') && { people: 2 }),
    ...(form.has('fresh') && { fresh_sign_in: true }),
  }
  const [maxCalls, maxCredits] = [number('max_calls'), number('max_credits')]
  return {
    purpose: textOf(form, 'purpose') ?? '',
    credential_id: form.get('credential') ?? '',
    host: textOf(form, 'host') ?? '',
    path_prefix: textOf(form, 'path') ?? '/',
    methods: form.getAll('methods'),
    ...(maxCalls !== undefined && { max_calls: maxCalls }),
    ...(maxCredits !== undefined && { max_credits: maxCredits }),
    expires_at: new Date(Number.isFinite(days) ? now + days * DAY_MS : now).toISOString(),
    requires_approval: form.has('approval'),
    ...(Object.keys(rule).length > 0 && { approval: rule }),
  }
}

function Mandates({ data, page }: { readonly data: MandatesData; readonly page: ConsoleContext }): VNode {
  const t = inboxTexts[page.language]
  return (
    <div class="stack">
      <header class="stack tight">
        <h1>{t.mandates}</h1>
        <p class="muted">{t.mandatesLead}</p>
      </header>
      <Said word={doneWord(page)} words={t.done} />
      <Refusal page={page} />
      <Table
        page={page}
        label={t.mandates}
        columns={columnsOf(data, page)}
        rows={data.mandates}
        next={data.next}
        empty={<p>{t.mandatesEmpty}</p>}
      />
      {data.may_write && <NewMandate data={data} page={page} />}
    </div>
  )
}

function columnsOf(data: MandatesData, page: ConsoleContext): readonly Column<MandateRecord>[] {
  const t = inboxTexts[page.language]
  const labels = new Map(data.credentials.map(({ credential_id: id, label }) => [id, label]))
  const isOver = ({ expires_at: until }: MandateRecord) => Date.parse(until) <= data.now
  return [
    {
      head: t.purpose,
      cell: ({ purpose, mandate_id: id }) => (
        <>
          <Foreign text={purpose} max={120} />
          <span class="sub">
            <Ltr class="mono">{`${id.slice(0, 12)}…`}</Ltr>
          </span>
        </>
      ),
    },
    {
      head: t.credential,
      cell: ({ credential_id: id }) => (
        <Link to={page.href(`/console/credentials/${id}`)}>
          <Foreign text={labels.get(id) ?? id} max={40} />
        </Link>
      ),
    },
    {
      head: t.request,
      cell: ({ methods, host, path_prefix: path }) => (
        <>
          <Ltr class="mono">{`${host}${path}`}</Ltr>
          <span class="sub">
            <Ltr>{methods.join(' ')}</Ltr>
          </span>
        </>
      ),
    },
    {
      head: t.rule,
      cell: ({ requires_approval: asks, approval }) =>
        asks ? ruleOf(approval, page) : <span class="muted">{t.nobody}</span>,
    },
    {
      head: t.spent,
      cell: (mandate) => <Spent mandate={{ ...mandate, is_over: isOver(mandate) }} page={page} />,
    },
    {
      head: t.state,
      cell: (mandate) => (
        <>
          <State
            is={mandate.revoked_at !== null ? 'failed' : isOver(mandate) ? 'unknown' : 'done'}
            page={page}
            words={mandate.revoked_at !== null ? t.revoked : isOver(mandate) ? t.over : t.holds}
          />
          <span class="sub">
            {t.expires} <Time at={mandate.expires_at} />
          </span>
        </>
      ),
    },
    {
      head: '',
      cell: (mandate) =>
        data.may_write &&
        mandate.revoked_at === null &&
        !isOver(mandate) && (
          <Act
            page={page}
            action="revoke"
            label={t.revoke}
            isDangerous
            values={{ mandate_id: mandate.mandate_id }}
          />
        ),
    },
  ]
}

function NewMandate({ data, page }: { readonly data: MandatesData; readonly page: ConsoleContext }): VNode {
  const t = inboxTexts[page.language]
  const [first] = data.credentials
  return (
    <section class="panel stack" aria-labelledby="new">
      <h2 id="new">{t.newMandate}</h2>
      {first === undefined ? (
        <p>
          {t.noCredentials} <Link to={page.href('/console/credentials/new')}>{t.storeCredential}</Link>
        </p>
      ) : (
        <Form page={page} action="create" class="stack">
          <Field page={page} name="purpose" label={t.purpose} help={t.purposeHelp} isRequired />
          <Choice
            page={page}
            name="credential"
            label={t.credential}
            options={data.credentials.map(({ credential_id: value, label }) => ({ value, label }))}
          />
          <Field page={page} name="host" label={t.host} help={t.hostHelp} value={first.host} isRequired />
          <Field page={page} name="path" label={t.path} value="/" />
          <Boxes
            page={page}
            name="methods"
            label={t.callMethods}
            options={HttpMethod.options}
            chosen={['POST']}
          />
          <div class="console-pair">
            <Field
              page={page}
              name="max_calls"
              label={t.maxCalls}
              help={t.limitHelp}
              type="number"
              value="20"
            />
            <Field page={page} name="max_credits" label={t.maxCredits} type="number" />
          </div>
          <Field
            page={page}
            name="days"
            label={t.days}
            help={t.daysHelp}
            type="number"
            value={String(DAYS)}
          />
          <fieldset class="stack tight">
            <legend>{t.rule}</legend>
            <Box page={page} name="approval" label={t.asksPerson} isChecked />
            <Box page={page} name="another" label={t.another} />
            <Box page={page} name="two" label={t.two} />
            <Box page={page} name="fresh" label={t.fresh} />
          </fieldset>
          <p>
            <button class="primary">{t.store}</button>
          </p>
        </Form>
      )}
    </section>
  )
}
