// The lines that connect a client, one tab for each; all are there without a script, and what is copied works as it is.
import type { VNode } from 'preact'
import { type Connection, connectionsTo } from '../connections.ts'
import type { PageContext } from '../ports.ts'
import { connectTexts } from '../texts/connect.ts'
import { Code } from './code.tsx'
import { Link } from './link.tsx'
import { Tabs } from './tabs.tsx'

interface ConnectProps {
  readonly page: PageContext
}

/** Connection lines for every client, filled with the addresses of this gateway. */
export function Connect({ page }: ConnectProps): VNode {
  const t = connectTexts[page.language]
  const tabs = connectionsTo(page).map((connection) => ({
    label: connection.name,
    content: <Lines connection={connection} page={page} />,
  }))
  const [before = '', after = ''] = t.lead.split('{capability}')
  return (
    <div class="stack">
      <p class="lead">
        {before}
        <Link to={page.href('/docs/credential-broker')}>{t.capability}</Link>
        {after}
      </p>
      <Tabs label={t.label} name="connect" tabs={tabs} />
    </div>
  )
}

function Lines({ connection, page }: ConnectProps & { readonly connection: Connection }): VNode {
  const t = connectTexts[page.language]
  const { id, name, how, lines, opens, note } = connection
  return (
    <div class="stack connection" data-connection={id}>
      <p>{t.how[how]}</p>
      {note === 'notPublic' && <p class="notice warns">{t.notPublic}</p>}
      {opens !== undefined && (
        <p>
          <Link to={opens} class="button" opensProgram>
            {t.openIn.replace('{program}', name)}
          </Link>
        </p>
      )}
      {lines.map(({ where, text }) => (
        <Code text={text} page={page} label={where ?? t.terminal} />
      ))}
      {note === 'paths' && <p class="muted small">{t.paths}</p>}
    </div>
  )
}
