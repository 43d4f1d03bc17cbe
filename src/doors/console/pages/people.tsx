// People of the account: roles, invitations, and who is signed in where.
import type { InvitationRecord, PersonRecord, SessionRecord } from '../../../../schemas/person.ts'
import { ROLES } from '../../../../schemas/role.ts'
import { Foreign } from '../../site/components/foreign.tsx'
import { Act, Field, Form, Refusal } from '../components/form.tsx'
import { Box, Choice, forForm, textOf } from '../components/fields.tsx'
import { Once } from '../components/once.tsx'
import { doneWord, Said } from '../components/said.tsx'
import { SessionTable } from '../components/sessions.tsx'
import { Table, Time } from '../components/table.tsx'
import { type ConsoleContext, defineConsolePage, type SignedInRequest } from '../ports.ts'
import { consoleTexts } from '../texts/common.ts'
import { peopleTexts } from '../texts/people.ts'

interface PeopleData {
  readonly people: readonly PersonRecord[]
  readonly next: string | null
  readonly invitations: readonly InvitationRecord[]
  readonly sessions: readonly SessionRecord[]
  readonly me: string
  readonly mayChange: boolean
  /** Of an operator those are their own. */
  readonly mayEnd: boolean
  /** Shown this once. */
  readonly made: { readonly link: string; readonly expires_at: string } | null
}

const DONE = '/console/people?done='
const PAGE = 50

async function read({ call, query, signedIn }: SignedInRequest): Promise<PeopleData> {
  const before = query.get('before')
  const [listed, sessions] = (await Promise.all([
    call('gateway.people.list', { limit: PAGE, ...(before !== null && { before }) }),
    call('gateway.sessions.list', { limit: PAGE }),
  ])) as [Pick<PeopleData, 'people' | 'next' | 'invitations'>, Pick<PeopleData, 'sessions'>]
  return {
    ...listed,
    sessions: sessions.sessions,
    me: signedIn.personId,
    mayChange: signedIn.role === 'owner',
    mayEnd: signedIn.role === 'owner' || signedIn.role === 'operator',
    made: null,
  }
}

const invite = async (request: SignedInRequest, input: Record<string, unknown>) => ({
  show: {
    ...(await read(request)),
    made: (await request.call('gateway.people.invite', input)) as PeopleData['made'],
  },
})

export const page = defineConsolePage<PeopleData>({
  isWide: true,
  load: read,
  actions: {
    async invite(form, request) {
      const name = textOf(form, 'name')
      return invite(request, { role: form.get('role') ?? '', ...(name !== undefined && { name }) })
    },
    reset: (form, request) => invite(request, { person_id: form.get('person') ?? '' }),
    async withdraw(form, { call }) {
      await call('gateway.people.withdraw', { invitation_id: form.get('invitation') ?? '' })
      return { goTo: `${DONE}withdrawn` }
    },
    async role(form, { call }) {
      await call('gateway.people.role', {
        person_id: form.get('person') ?? '',
        role: form.get('role') ?? '',
      })
      return { goTo: `${DONE}role` }
    },
    async remove(form, { call }) {
      await call('gateway.people.remove', {
        person_id: form.get('person') ?? '',
        keep_keys: form.get('keep_keys') === 'on',
      })
      return { goTo: `${DONE}removed` }
    },
    async end(form, { call }) {
      await call('gateway.sessions.end', { session_id: form.get('session') ?? '' })
      return { goTo: `${DONE}ended` }
    },
  },
  title: (_data, { language }) => peopleTexts[language].people,
  View({ data, page }) {
    const t = peopleTexts[page.language]
    const { roles } = consoleTexts[page.language]
    const { people, invitations, sessions, made, mayChange, me } = data
    const names = new Map(people.map(({ person_id, name }) => [person_id, name]))
    return (
      <>
        <h1>{t.people}</h1>
        <p class="lead">{t.peopleLead}</p>
        <Said word={doneWord(page)} words={t.said} />
        <Refusal page={page} />
        {made && (
          <Once page={page} label={t.link} text={made.link}>
            {t.linkLead} <Time at={made.expires_at} />
          </Once>
        )}
        <Table
          page={page}
          label={t.people}
          rows={people}
          empty={t.noPeople}
          next={data.next}
          columns={[
            {
              head: t.person,
              cell: ({ name, person_id: id }) => (
                <>
                  <Foreign text={name} max={100} /> {id === me && <span class="muted">({t.you})</span>}
                </>
              ),
            },
            { head: t.role, cell: ({ role }) => roles[role] },
            {
              head: t.passkeys,
              cell: ({ passkeys }) => (passkeys === 0 ? t.throughProvider : String(passkeys)),
            },
            { head: t.joined, cell: ({ joined_at: at }) => <Time at={at} /> },
            { head: t.seen, cell: ({ last_seen_at: at }) => <Time at={at} /> },
            ...(mayChange
              ? [
                  {
                    head: t.change,
                    cell: (person: PersonRecord) => <Change person={person} page={page} />,
                  },
                ]
              : []),
          ]}
        />
        {invitations.length > 0 && (
          <section class="stack" aria-labelledby="waiting">
            <h2 id="waiting">{t.waiting}</h2>
            <Table
              page={page}
              label={t.waiting}
              rows={invitations}
              empty=""
              next={null}
              columns={[
                {
                  head: t.person,
                  cell: ({ name }) =>
                    name === '' ? (
                      <span class="muted">{t.somebodyNew}</span>
                    ) : (
                      <Foreign text={name} max={100} />
                    ),
                },
                {
                  head: t.role,
                  cell: ({ role, person_id: id }) => (id === null ? roles[role] : t.newPasskey),
                },
                { head: t.expires, cell: ({ expires_at: at }) => <Time at={at} /> },
                ...(mayChange
                  ? [
                      {
                        head: t.change,
                        cell: ({ invitation_id: id }: InvitationRecord) => (
                          <Act page={page} action="withdraw" values={{ invitation: id }} label={t.withdraw} />
                        ),
                      },
                    ]
                  : []),
              ]}
            />
          </section>
        )}
        {mayChange ? <Invite page={forForm(page, 'invite')} /> : <p class="muted">{t.onlyOwners}</p>}
        <section class="stack" aria-labelledby="sessions">
          <h2 id="sessions">{t.sessions}</h2>
          <SessionTable
            page={page}
            label={t.sessions}
            sessions={sessions}
            next={null}
            names={names}
            mayEnd={data.mayEnd}
          />
        </section>
      </>
    )
  },
})

function Invite({ page }: { readonly page: ConsoleContext }) {
  const t = peopleTexts[page.language]
  const { roles } = consoleTexts[page.language]
  return (
    <section class="stack" aria-labelledby="invite">
      <h2 id="invite">{t.invite}</h2>
      <p class="muted">{t.inviteHelp}</p>
      <Form page={page} action="invite" class="stack panel">
        <Field page={page} name="name" label={t.name} />
        <Choice
          page={page}
          name="role"
          label={t.role}
          value="operator"
          options={ROLES.map((value) => ({ value, label: `${roles[value]}: ${t.does[value]}` }))}
        />
        <p>
          <button class="primary">{t.makeLink}</button>
        </p>
      </Form>
    </section>
  )
}

function Change({ person, page }: { readonly person: PersonRecord; readonly page: ConsoleContext }) {
  const t = peopleTexts[page.language]
  const { roles } = consoleTexts[page.language]
  const values = { person: person.person_id }
  return (
    <details>
      <summary>{t.change}</summary>
      <div class="stack">
        <Form page={page} action="role" values={values} class="stack">
          <label class="field">
            <span>{t.role}</span>
            <select name="role">
              {ROLES.map((role) => (
                <option value={role} selected={role === person.role}>
                  {roles[role]}
                </option>
              ))}
            </select>
          </label>
          <p>
            <button>{t.setRole}</button>
          </p>
        </Form>
        {person.passkeys > 0 && (
          <div>
            <Act page={page} action="reset" values={values} label={t.newPasskey} />
            <p class="muted small">{t.newPasskeyHelp}</p>
          </div>
        )}
        <div>
          <Form page={page} action="remove" values={values}>
            <Box page={page} name="keep_keys" label={t.keepKeys} />
            <button class="dangerous">{t.remove}</button>
          </Form>
          <p class="muted small">{t.removeHelp}</p>
        </div>
      </div>
    </details>
  )
}
