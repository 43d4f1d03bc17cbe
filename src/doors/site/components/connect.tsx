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
  /** The lines are for assistants that sign in: a person decides what they may do before they do anything. */
  readonly isSignedIn?: boolean
}

/** Connection lines for every client, filled with the addresses of this gateway. */
export function Connect({ page, isSignedIn }: ConnectProps): VNode {
  const t = connectTexts[page.language]
  const signInUrl = `${page.mcpUrl}/connect`
  const connections = isSignedIn
    ? connectionsTo({ ...page, mcpUrl: signInUrl }).filter(({ id }) => SIGN_IN.includes(id))
    : connectionsTo(page)
  const tabs = connections.map((connection) => ({
    label: connection.name,
    content: <Lines connection={connection} page={page} />,
  }))
  const [before = '', after = ''] = t.lead.split('{capability}')
  const [first = '', last = ''] = t.signIn.split('{address}')
  return (
    <div class="stack">
      {!isSignedIn && (
        <>
          <p class="lead">
            {before}
            <Link to={page.href('/docs/credential-broker')}>{t.capability}</Link>
            {after}
          </p>
          <p>
            {first}
            <code dir="ltr">{signInUrl}</code>
            {last}
          </p>
        </>
      )}
      <Tabs label={t.label} name="connect" tabs={tabs} />
    </div>
  )
}

/** Clients that sign in by address alone. */
const SIGN_IN = ['claude-code', 'claude-desktop', 'chatgpt', 'codex', 'cursor', 'vscode', 'gemini-cli']

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
