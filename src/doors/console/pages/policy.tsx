// One policy: its text in an editor, what it does in words, what another text would have decided, and who changed it when.
import type { z } from 'zod'
import type { PolicyRevisionRecord, PolicyState } from '../../../../schemas/policy.ts'
import type { policiesRevision } from '../../../../tools/policies-revision.ts'
import { Foreign, Ltr } from '../../site/components/foreign.tsx'
import { Link } from '../../site/components/link.tsx'
import { Area } from '../components/fields.tsx'
import { Field, Form, Refusal } from '../components/form.tsx'
import { PolicyChange } from '../components/policies/change.tsx'
import { Problems, Statements } from '../components/policies/statements.tsx'
import { type Checked, Trial } from '../components/policies/trial.tsx'
import { doneWord, Said } from '../components/said.tsx'
import { Table, Time } from '../components/table.tsx'
import { type ConsoleContext, defineConsolePage, type SignedInRequest } from '../ports.ts'
import { policyTexts } from '../texts/policies.ts'

type Revision = z.infer<(typeof policiesRevision)['output']>

interface Data {
  readonly policy: PolicyState
  readonly history: readonly PolicyRevisionRecord[]
  readonly next: string | null
  /** Names of the people in the history, by id. */
  readonly names: Readonly<Record<string, string>>
  /** The change that is looked at. */
  readonly revision: Revision | null
  /** What is in the editor, where that is not the text that stands. */
  readonly draft?: { readonly text: string; readonly note: string; readonly revision?: string }
  readonly checked?: Checked
}

const POLICIES: readonly string[] = ['egress', 'payment', 'transaction']
const SHOWN = 20

export const page = defineConsolePage<Data>({
  load: async (request) => (POLICIES.includes(policyOf(request)) ? load(request) : undefined),
  actions: {
    async edit(form, request) {
      const policy = policyOf(request)
      const text = (form.get('text') ?? '').replaceAll('\r\n', '\n')
      const note = form.get('note') ?? ''
      if (form.get('do') === 'save') {
        await request.call('gateway.policies.update', {
          policy,
          text,
          note,
          revision: form.get('revision') ?? '',
        })
        return { goTo: `/console/policies/${policy}?done=saved` }
      }
      const checked = (await request.call('gateway.policies.check', { policy, text })) as Checked
      const revision = form.get('revision') ?? ''
      return { show: { ...(await load(request)), draft: { text, note, revision }, checked } }
    },
  },
  title: ({ policy: { policy } }, { language }) => policyTexts[language].names[policy] ?? policy,
  View({ data, page }) {
    const t = policyTexts[page.language]
    const { policy, revision } = data
    const here = `/console/policies/${policy.policy}`
    return (
      <div class="stack">
        <h1>{t.names[policy.policy]}</h1>
        <p class="muted">{t.what[policy.policy]}</p>
        <Said word={doneWord(page)} words={t.done} />
        <Refusal page={page} />
        {data.checked ? (
          <Trial page={page} checked={data.checked} />
        ) : (
          <section class="stack tight">
            <h2>{t.does}</h2>
            <Problems page={page} problems={policy.problems} />
            <Statements page={page} statements={policy.statements} />
          </section>
        )}
        {page.refused?.error.code === 'state_conflict' && (
          <section class="console-section">
            <h2>{t.conflict}</h2>
            <pre class="console-answer" dir="ltr">
              {policy.text}
            </pre>
          </section>
        )}
        <Editor page={page} data={data} />
        {revision && (
          <PolicyChange
            page={page}
            before={revision.before}
            after={revision.after}
            editAfter={`${here}?from=${revision.revision_id}`}
          />
        )}
        <section class="stack tight">
          <h2>{t.history}</h2>
          <Table
            page={page}
            label={t.history}
            rows={data.history}
            next={data.next}
            empty={<p>{t.historyEmpty}</p>}
            columns={[
              { head: t.at, cell: ({ at }) => <Time at={at} /> },
              { head: t.who, cell: ({ by }) => <Who by={by} names={data.names} page={page} /> },
              { head: t.way, cell: ({ way }) => t.ways[way] },
              { head: t.note, cell: ({ note }) => <Foreign text={note} max={200} /> },
              {
                head: t.change,
                cell: ({ revision_id }) => (
                  <Link to={page.href(`${here}?revision=${revision_id}#change`)}>{t.show}</Link>
                ),
              },
            ]}
          />
        </section>
      </div>
    )
  },
})

function Editor({ page, data }: { readonly page: ConsoleContext; readonly data: Data }) {
  const t = policyTexts[page.language]
  const { policy, draft } = data
  const text = draft?.text ?? policy.text
  // Whoever is shown the text that stands now has read it; nobody else is taken to have.
  const { refused } = page
  const read = refused && refused.error.code !== 'state_conflict' ? refused.form.get('revision') : null
  return (
    <Form
      page={page}
      action="edit"
      class="stack console-editor"
      values={{ revision: read ?? draft?.revision ?? policy.revision }}
    >
      <h2>{t.edit}</h2>
      <Area
        page={page}
        name="text"
        label={t.text}
        value={text}
        rows={Math.min(30, Math.max(8, text.split('\n').length + 1))}
        isRequired
      />
      <Field page={page} name="note" label={t.note} help={t.noteHelp} value={draft?.note ?? ''} />
      <p class="console-actions">
        <button name="do" value="try">
          {t.tryIt}
        </button>
        <button name="do" value="save" class="primary">
          {t.save}
        </button>
      </p>
    </Form>
  )
}

interface WhoProps {
  readonly by: PolicyRevisionRecord['by']
  readonly names: Data['names']
  readonly page: ConsoleContext
}

function Who({ by: { kind, id }, names, page }: WhoProps) {
  const name = id === null ? undefined : names[id]
  const known = policyTexts[page.language].kinds[kind] ?? kind
  if (name !== undefined) return <Foreign text={name} max={60} />
  return (
    <>
      {known} {id !== null && <Ltr class="small mono muted">{id}</Ltr>}
    </>
  )
}

const policyOf = ({ params }: SignedInRequest) => params['policy'] ?? ''

async function load(request: SignedInRequest): Promise<Data> {
  const { call, query } = request
  const policy = policyOf(request)
  const before = query.get('before')
  const [state, { revisions, next }] = await Promise.all([
    call('gateway.policies.get', { policy }) as Promise<PolicyState>,
    call('gateway.policies.history', {
      policy,
      limit: SHOWN,
      ...(before !== null && { before }),
    }) as Promise<{ revisions: PolicyRevisionRecord[]; next: string | null }>,
  ])
  const find = async (id: string | null) =>
    id === null ? null : ((await call('gateway.policies.revision', { policy, revision_id: id })) as Revision)
  const [revision, from] = await Promise.all([find(query.get('revision')), find(query.get('from'))])
  return {
    policy: state,
    history: revisions,
    next,
    names: await namesOf(request),
    revision,
    ...(from && { draft: { text: from.after, note: '' } }),
  }
}

/** People of the account, who alone are in the history of its installation. */
async function namesOf({ console: { identity }, signedIn }: SignedInRequest): Promise<Data['names']> {
  const { items } = await identity.people.list(signedIn.accountId, { limit: 100 })
  return Object.fromEntries(items.map(({ person }) => [person.id, person.name]))
}
