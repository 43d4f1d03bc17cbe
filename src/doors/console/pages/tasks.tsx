// Work that agents of the account asked for over A2A: narrowed by the address, a page at a time.
import type { VNode } from 'preact'
import { Foreign, Ltr } from '../../site/components/foreign.tsx'
import { Link } from '../../site/components/link.tsx'
import { Short } from '../components/payment.tsx'
import { Choice, Exports, Filters, Nothing } from '../components/records.tsx'
import { Table, Time } from '../components/table.tsx'
import { TaskStateChip } from '../components/task.tsx'
import { type ConsoleContext, defineConsolePage } from '../ports.ts'
import { EXPORT_ROWS, sendFile } from '../records/export.ts'
import { pages, PAGE_ROWS } from '../records/fill.ts'
import * as read from '../records/query.ts'
import { TASK_COLUMNS, TASK_STATES, type TaskRecord, toTaskRecord } from '../records/task.ts'
import { consoleTexts } from '../texts/common.ts'
import { recordTexts, taskStates } from '../texts/records.ts'

interface TasksData {
  readonly tasks: readonly TaskRecord[]
  readonly next: string | null
  readonly account_id: string
}

export const page = defineConsolePage<TasksData>({
  isWide: true,
  async load({ query, console, signedIn: { accountId } }) {
    const state = read.oneOf(query, 'state', TASK_STATES)
    const found = await console.store.listTasksOfAccount(
      { accountId, state },
      { limit: PAGE_ROWS, before: read.cursor(query) },
    )
    return { tasks: found.items.map(toTaskRecord), next: found.next, account_id: accountId }
  },
  actions: {
    export(form, request) {
      const { accountId } = request.signedIn
      const { store } = request.console
      const state = read.oneOf(request.query, 'state', TASK_STATES)
      return sendFile({ form, request, name: 'tasks', columns: TASK_COLUMNS }, records())
      async function* records() {
        for await (const page of pages(
          (asked) => store.listTasksOfAccount({ accountId, state }, asked),
          EXPORT_ROWS,
        ))
          yield page.map(toTaskRecord)
      }
    },
  },
  title: (_data, { language }) => consoleTexts[language].pages.tasks,
  View: ({ data, page }) => <Tasks data={data} page={page} />,
})

function Tasks({ data, page }: { readonly data: TasksData; readonly page: ConsoleContext }): VNode {
  const t = recordTexts[page.language].task
  return (
    <div class="stack">
      <header class="console-head">
        <div class="stack tight">
          <h1>{consoleTexts[page.language].pages.tasks}</h1>
          <p class="muted">{t.intro}</p>
        </div>
        <Exports page={page} />
      </header>
      <Filters page={page}>
        <Choice
          page={page}
          name="state"
          label={t.state}
          options={TASK_STATES.map((state) => [state, taskStates[page.language][state]])}
        />
      </Filters>
      <Table
        page={page}
        label={t.label}
        rows={data.tasks}
        next={data.next}
        columns={[
          {
            head: t.updated,
            cell: ({ task_id: id, updated_at: at }) => (
              <Link to={page.href(`/console/tasks/${encodeURIComponent(id)}`)}>
                <Time at={at} />
              </Link>
            ),
          },
          { head: t.state, cell: (task) => <TaskStateChip task={task} page={page} /> },
          { head: t.one, cell: ({ task_id: id }) => <Short text={id} /> },
          {
            head: t.owner,
            cell: ({ owner }) =>
              owner === data.account_id ? (
                t.account
              ) : (
                <Link to={page.href(`/console/attempts?capability=${encodeURIComponent(owner)}`)}>
                  <Short text={owner} />
                </Link>
              ),
          },
          {
            head: t.context,
            cell: ({ context_id: id }) => <Foreign text={id} max={24} class="mono small" />,
          },
          { head: t.revision, isNumber: true, cell: ({ changes }) => <Ltr>{String(changes)}</Ltr> },
        ]}
        empty={
          <Nothing page={page}>
            <p>{t.empty}</p>
          </Nothing>
        }
      />
    </div>
  )
}
