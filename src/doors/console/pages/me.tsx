// One's own sign-in: name, accounts, passkeys, recovery codes, sessions. Only the person themself does any of it, so no tool does.
import type { SessionRecord } from '../../../../schemas/person.ts'
import type { Role } from '../../../../schemas/role.ts'
import { isFresh } from '../../../core/roles.ts'
import { toSessionRecord } from '../../../identity/wire.ts'
import { actAs } from '../../../lib/acting.ts'
import { Foreign } from '../../site/components/foreign.tsx'
import { Codes } from '../components/codes.tsx'
import { forForm } from '../components/fields.tsx'
import { Act, Field, Form, Refusal } from '../components/form.tsx'
import { PasskeyForm } from '../components/passkey.tsx'
import { doneWord, Said } from '../components/said.tsx'
import { SessionTable } from '../components/sessions.tsx'
import { Table, Time } from '../components/table.tsx'
import { type ConsoleContext, type ConsolePage, defineConsolePage, type SignedInRequest } from '../ports.ts'
import { consoleTexts } from '../texts/common.ts'
import { peopleTexts } from '../texts/people.ts'
import { signInTexts } from '../texts/sign-in.ts'
import { nameOf } from './join.tsx'

interface MeData {
  readonly name: string
  readonly accounts: readonly {
    readonly id: string
    readonly name: string
    readonly role: Role
    readonly isShown: boolean
  }[]
  readonly passkeys: readonly {
    readonly id: string
    readonly label: string
    readonly isBackedUp: boolean
    readonly createdAt: number
    readonly usedAt: number | null
  }[]
  readonly codesLeft: number
  readonly sessions: readonly SessionRecord[]
  readonly isFresh: boolean
  /** Shown this once. */
  readonly codes: readonly string[] | null
}

const DONE = '/console/me?done='
const fromOf = ({ visitor: { address, userAgent } }: SignedInRequest) => ({ address, userAgent })

async function read({ signedIn, console: parts }: SignedInRequest): Promise<MeData> {
  const { people, signIn, sessions } = parts.identity
  const { personId, accountId, sessionId, name } = signedIn
  const [accounts, passkeys, codesLeft, open] = await Promise.all([
    people.accountsOf(personId),
    signIn.passkeys(personId),
    signIn.recoveryCodesLeft(personId),
    sessions.ofPerson(personId),
  ])
  return {
    name,
    accounts: accounts.map((account) => ({
      id: account.accountId,
      name: account.accountName,
      role: account.role,
      isShown: account.accountId === accountId,
    })),
    passkeys: passkeys.map(({ id, label, isBackedUp, createdAt, usedAt }) => ({
      id,
      label,
      isBackedUp,
      createdAt,
      usedAt,
    })),
    codesLeft,
    sessions: open.map((session) => toSessionRecord(session, sessionId)),
    isFresh: isFresh(signedIn, parts.now()),
    codes: null,
  }
}

type Actions = NonNullable<ConsolePage<MeData>['actions']>

/** What no tool does is written down in the name of the person all the same. */
function inTheirName(actions: Actions): Actions {
  return Object.fromEntries(
    Object.entries(actions).map(([name, act]): [string, Actions[string]] => [
      name,
      (form, request) => {
        const { address, requestId } = request.visitor
        const { personId: id } = request.signedIn
        return actAs({ kind: 'person', id, address, door: 'console', request_id: requestId }, () =>
          act(form, request),
        )
      },
    ]),
  )
}

export const page = defineConsolePage<MeData>({
  isWide: true,
  load: read,
  actions: inTheirName({
    async rename(form, { signedIn, console: parts }) {
      await parts.identity.people.rename(signedIn.personId, nameOf(form))
      return { goTo: `${DONE}renamed` }
    },
    async switch(form, { signedIn: { sessionId, personId }, console: parts }) {
      await parts.identity.sessions.switchTo({
        sessionId,
        personId,
        accountId: form.get('account') ?? '',
      })
      return { goTo: `${DONE}switched` }
    },
    ask: async (_form, { signedIn, console: parts }) => ({
      answer: await parts.identity.signIn.askPasskeyToAdd(signedIn),
    }),
    async add(form, request) {
      await request.console.identity.signIn.addPasskey({
        signedIn: request.signedIn,
        answer: form.get('secret_answer') ?? '',
        label: (form.get('label') ?? '').trim().slice(0, 100),
        from: fromOf(request),
      })
      return { goTo: `${DONE}passkey` }
    },
    async remove(form, request) {
      await request.console.identity.signIn.removePasskey({
        signedIn: request.signedIn,
        passkeyId: form.get('passkey') ?? '',
        from: fromOf(request),
      })
      return { goTo: `${DONE}unkeyed` }
    },
    async codes(_form, request) {
      const codes = await request.console.identity.signIn.newRecoveryCodes({
        signedIn: request.signedIn,
        from: fromOf(request),
      })
      return { show: { ...(await read(request)), codes } }
    },
    async end(form, { signedIn: { personId }, console: parts }) {
      await parts.identity.sessions.end({ sessionId: form.get('session') ?? '', personId })
      return { goTo: `${DONE}ended` }
    },
    async end_others(_form, { signedIn: { personId, accountId, sessionId }, console: parts }) {
      await parts.identity.sessions.endOthers({ personId, accountId, sessionId })
      return { goTo: `${DONE}others` }
    },
  }),
  title: (_data, { language }) => peopleTexts[language].me,
  View({ data, page }) {
    const t = peopleTexts[page.language]
    const { roles } = consoleTexts[page.language]
    return (
      <>
        <h1>{t.me}</h1>
        <Said word={doneWord(page)} words={t.said} />
        <Refusal page={page} />
        {data.codes && (
          <section class="notice warns stack" role="status">
            <p>
              <strong>{signInTexts[page.language].codes}</strong>
            </p>
            <p>{signInTexts[page.language].codesLead}</p>
            <Codes codes={data.codes} page={page} />
          </section>
        )}
        <Form page={page} action="rename" class="console-filters">
          <Field
            page={forForm(page, 'rename')}
            name="name"
            label={t.yourName}
            value={data.name}
            isRequired
            autoComplete="name"
          />
          <button>{t.rename}</button>
        </Form>
        {data.accounts.length > 1 && (
          <section class="stack" aria-labelledby="accounts">
            <h2 id="accounts">{t.accounts}</h2>
            <Table
              page={page}
              label={t.accounts}
              rows={data.accounts}
              empty=""
              next={null}
              columns={[
                { head: t.account, cell: ({ name }) => <Foreign text={name} max={100} /> },
                { head: t.role, cell: ({ role }) => roles[role] },
                {
                  head: t.show,
                  cell: ({ id, isShown }) =>
                    isShown ? (
                      <span class="muted">{t.shown}</span>
                    ) : (
                      <Act page={page} action="switch" values={{ account: id }} label={t.show} />
                    ),
                },
              ]}
            />
          </section>
        )}
        <Passkeys data={data} page={page} />
        <section class="stack" aria-labelledby="codes">
          <h2 id="codes">{t.codes}</h2>
          <p class={data.codesLeft === 0 ? 'notice warns' : 'muted'}>{t.codesLeft(data.codesLeft)}</p>
          <Act page={page} action="codes" label={t.makeCodes} />
        </section>
        <section class="stack" aria-labelledby="sessions">
          <h2 id="sessions">{t.yourSessions}</h2>
          <SessionTable
            page={page}
            label={t.yourSessions}
            sessions={data.sessions}
            next={null}
            mayEnd={true}
          />
          <div class="console-actions">
            {data.sessions.length > 1 && <Act page={page} action="end_others" label={t.endOthers} />}
            <Act page={page} action="sign_out" to={page.href('/console/sign-in')} label={t.signOut} />
          </div>
        </section>
      </>
    )
  },
})

function Passkeys({ data, page }: { readonly data: MeData; readonly page: ConsoleContext }) {
  const t = peopleTexts[page.language]
  return (
    <section class="stack" aria-labelledby="passkeys">
      <h2 id="passkeys">{t.yourPasskeys}</h2>
      <Table
        page={page}
        label={t.yourPasskeys}
        rows={data.passkeys}
        empty={t.noPasskeys}
        next={null}
        columns={[
          {
            head: t.name,
            cell: ({ label, isBackedUp }) => (
              <>
                <Foreign text={label} max={100} />{' '}
                <span class="muted small">{isBackedUp ? t.onSeveral : t.onOne}</span>
              </>
            ),
          },
          { head: t.made, cell: ({ createdAt }) => <Time at={createdAt} /> },
          { head: t.lastUsed, cell: ({ usedAt }) => <Time at={usedAt} /> },
          {
            head: t.removePasskey,
            cell: ({ id }) =>
              data.passkeys.length > 1 ? (
                <Act page={page} action="remove" values={{ passkey: id }} label={t.removePasskey} />
              ) : null,
          },
        ]}
      />
      {data.isFresh ? (
        <PasskeyForm
          page={page}
          kind="make"
          ask="ask"
          action="add"
          to={page.href('/console/me')}
          label={t.addPasskey}
          isQuiet
        >
          <Field page={forForm(page, 'add')} name="label" label={t.deviceName} />
        </PasskeyForm>
      ) : (
        <>
          <p class="muted">{t.needFresh}</p>
          <PasskeyForm
            page={page}
            kind="use"
            ask="ask_again"
            action="again"
            to={page.href('/console/sign-in')}
            label={t.showMe}
            isQuiet
            values={{ again: '1', next: '/console/me?done=again' }}
          />
        </>
      )}
    </section>
  )
}
