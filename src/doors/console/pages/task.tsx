// One task: what was asked, what was said, what came of it.
import type { VNode } from 'preact'
import { Code } from '../../site/components/code.tsx'
import { Foreign, Ltr } from '../../site/components/foreign.tsx'
import { Link } from '../../site/components/link.tsx'
import { visibleCode } from '../../site/components/market/format.ts'
import { Facts } from '../components/records.tsx'
import { Time } from '../components/table.tsx'
import { TaskStateChip } from '../components/task.tsx'
import { type ConsoleContext, defineConsolePage } from '../ports.ts'
import { type Said, type TaskDetail, toTaskDetail } from '../records/task.ts'
import { consoleTexts } from '../texts/common.ts'
import { recordTexts } from '../texts/records.ts'

export const page = defineConsolePage<TaskDetail>({
  isWide: true,
  async load({ params, console, signedIn }) {
    const row = await console.store.getTaskOfAccount(params['task_id'] ?? '', signedIn.accountId)
    return row && toTaskDetail(row)
  },
  title: (_data, { language }) => recordTexts[language].task.one,
  View: ({ data, page }) => <Task task={data} page={page} />,
})

function Task({ task, page }: { readonly task: TaskDetail; readonly page: ConsoleContext }): VNode {
  const t = recordTexts[page.language].task
  const { owner } = task
  return (
    <div class="stack">
      <header class="stack tight">
        <p class="eyebrow">
          <Link to={page.href('/console/tasks')}>{consoleTexts[page.language].pages.tasks}</Link>
        </p>
        <h1 class="console-id">
          <Foreign text={task.task_id} max={80} class="mono" />
        </h1>
        <p>
          <TaskStateChip task={task} page={page} />
        </p>
      </header>
      <div class="console-two">
        <section class="panel stack" aria-labelledby="facts">
          <h2 id="facts">{t.status}</h2>
          {task.status && <Words said={task.status} page={page} />}
          <Facts
            facts={[
              [t.updated, <Time at={task.updated_at} />],
              [t.kept, <Time at={task.kept_until} />],
              [
                t.owner,
                owner === page.signedIn?.accountId ? (
                  t.account
                ) : (
                  <Link to={page.href(`/console/attempts?capability=${encodeURIComponent(owner)}`)}>
                    <Ltr class="mono">{owner}</Ltr>
                  </Link>
                ),
              ],
              [t.context, <Foreign text={task.context_id} max={200} class="mono" />],
              [t.revision, <Ltr>{String(task.changes)}</Ltr>],
            ]}
          />
        </section>
        {task.messages.length > 0 && (
          <section class="panel stack" aria-labelledby="messages">
            <h2 id="messages">{t.history}</h2>
            <ol class="console-timeline">
              {task.messages.map((said) => (
                <li>
                  <p class="small muted">{t[said.by]}</p>
                  <Words said={said} page={page} />
                </li>
              ))}
            </ol>
          </section>
        )}
      </div>
      {task.results.length > 0 && (
        <section class="panel stack" aria-labelledby="results">
          <h2 id="results">{t.results}</h2>
          {task.results.map((result) => (
            <div class="stack tight">
              {result.name !== '' && (
                <h3>
                  <Foreign text={result.name} max={200} />
                </h3>
              )}
              <Words said={result} page={page} />
            </div>
          ))}
        </section>
      )}
    </div>
  )
}

/** Texts as they are, data as JSON that somebody copies. */
function Words({ said, page }: { readonly said: Said; readonly page: ConsoleContext }): VNode {
  const t = recordTexts[page.language].task
  return (
    <>
      {said.text === '' && said.data === null && <p class="muted">{t.noWords}</p>}
      {said.text !== '' && (
        <p class="console-words">
          <Foreign text={said.text} max={20_000} />
        </p>
      )}
      {said.data !== null && <Code page={page} text={visibleCode(said.data)} label={t.data} />}
    </>
  )
}
