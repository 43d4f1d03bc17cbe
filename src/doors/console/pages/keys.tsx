// Service keys: what programs call with, each in a role.
import type { KeyRecord } from '../../../../schemas/key.ts'
import { ROLES } from '../../../../schemas/role.ts'
import { Foreign, Ltr } from '../../site/components/foreign.tsx'
import { State } from '../../site/components/state.tsx'
import { Choice, forForm, textOf } from '../components/fields.tsx'
import { Act, Field, Form, Refusal } from '../components/form.tsx'
import { Once } from '../components/once.tsx'
import { doneWord, Said } from '../components/said.tsx'
import { Table, Time } from '../components/table.tsx'
import { defineConsolePage, type SignedInRequest } from '../ports.ts'
import { consoleTexts } from '../texts/common.ts'
import { peopleTexts } from '../texts/people.ts'

interface KeysData {
  readonly keys: readonly KeyRecord[]
  readonly next: string | null
  readonly ownAccount: string
  readonly isAdmin: boolean
  readonly mayChange: boolean
  readonly isOwner: boolean
  /** Shown this once. */
  readonly made: string | null
}

async function read({ call, query, signedIn }: SignedInRequest): Promise<KeysData> {
  const before = query.get('before')
  const listed = await call('gateway.keys.list', { limit: 50, ...(before !== null && { before }) })
  const { role, admin, accountId } = signedIn
  return {
    ...(listed as Pick<KeysData, 'keys' | 'next'>),
    ownAccount: accountId,
    isAdmin: admin,
    mayChange: role === 'owner' || role === 'operator',
    isOwner: role === 'owner',
    made: null,
  }
}

/** The new key first, so that the list has it. */
async function make(request: SignedInRequest, input: Record<string, unknown>) {
  const { key } = (await request.call('gateway.keys.create', input)) as { key: string }
  return { show: { ...(await read(request)), made: key } }
}

export const page = defineConsolePage<KeysData>({
  isWide: true,
  load: read,
  actions: {
    async create(form, request) {
      const label = textOf(form, 'label')
      return make(request, { role: form.get('role') ?? '', ...(label !== undefined && { label }) })
    },
    open: (form, request) =>
      make(request, { account: 'new', name: textOf(form, 'account_name') ?? '', label: 'first key' }),
    async revoke(form, { call }) {
      await call('gateway.keys.revoke', { key_id: form.get('key') ?? '' })
      return { goTo: '/console/keys?done=revoked' }
    },
  },
  title: (_data, { language }) => peopleTexts[language].keys,
  View({ data, page }) {
    const t = peopleTexts[page.language]
    const { roles } = consoleTexts[page.language]
    const { keys, next, made, isAdmin, isOwner, mayChange } = data
    const forCreate = forForm(page, 'create')
    const forOpen = forForm(page, 'open')
    return (
      <>
        <h1>{t.keys}</h1>
        <p class="lead">{t.keysLead}</p>
        <Said word={doneWord(page)} words={t.said} />
        <Refusal page={page} />
        {made !== null && (
          <Once page={page} label={t.newKey} text={made}>
            {t.newKeyLead}
          </Once>
        )}
        <Table
          page={page}
          label={t.keys}
          rows={keys}
          empty={t.noKeys}
          next={next}
          columns={[
            { head: t.label, cell: ({ label }) => <Foreign text={label} max={100} /> },
            { head: t.role, cell: ({ role }) => roles[role] },
            ...(isAdmin
              ? [
                  {
                    head: t.account,
                    cell: ({ account_id: id, admin }: KeyRecord) =>
                      admin ? t.admin : <Ltr class="mono small">{id}</Ltr>,
                  },
                ]
              : []),
            { head: t.made, cell: ({ created_at: at }) => <Time at={at} /> },
            {
              head: t.until,
              cell: ({ revoked_at: at }) =>
                at === null ? (
                  <State is="done" page={page} words={t.live} />
                ) : (
                  <>
                    <State is="failed" page={page} words={t.revoked} /> <Time at={at} />
                  </>
                ),
            },
            ...(mayChange
              ? [
                  {
                    head: t.end,
                    cell: ({ key_id: id, revoked_at: at, role }: KeyRecord) =>
                      at === null && (isOwner || role !== 'owner') ? (
                        <Act page={page} action="revoke" values={{ key: id }} label={t.revoke} isDangerous />
                      ) : null,
                  },
                ]
              : []),
          ]}
        />
        {mayChange && (
          <section class="stack" aria-labelledby="make">
            <h2 id="make">{t.makeKey}</h2>
            <Form page={page} action="create" class="stack panel">
              <Field page={forCreate} name="label" label={t.label} isRequired />
              <Choice
                page={forCreate}
                name="role"
                label={t.role}
                help={t.roleHelp}
                value="operator"
                options={ROLES.filter((role) => isOwner || role !== 'owner').map((value) => ({
                  value,
                  label: `${roles[value]}: ${t.does[value]}`,
                }))}
              />
              <p>
                <button class="primary">{t.makeKey}</button>
              </p>
            </Form>
          </section>
        )}
        {mayChange && isAdmin && (
          <details>
            <summary>{t.newAccount}</summary>
            <Form page={page} action="open" class="stack">
              <Field
                page={forOpen}
                name="account_name"
                label={t.accountName}
                help={t.newAccountHelp}
                isRequired
              />
              <p>
                <button>{t.open}</button>
              </p>
            </Form>
          </details>
        )}
      </>
    )
  },
})
