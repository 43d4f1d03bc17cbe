// Sessions of people: where, since when, with what. What a browser calls itself is anybody's text, so its device is told in a few words of ours.
import type { VNode } from 'preact'
import type { SessionRecord } from '../../../../schemas/person.ts'
import { deviceOf } from '../../../identity/device.ts'
import { Foreign, Ltr } from '../../site/components/foreign.tsx'
import { State } from '../../site/components/state.tsx'
import type { ConsoleContext } from '../ports.ts'
import { peopleTexts } from '../texts/people.ts'
import { Act } from './form.tsx'
import { type Column, Table, Time } from './table.tsx'

interface SessionTableProps {
  readonly page: ConsoleContext
  readonly label: string
  readonly sessions: readonly SessionRecord[]
  readonly next: string | null
  /** Names of the people, where it is not one person's page. */
  readonly names?: ReadonlyMap<string, string>
  readonly mayEnd: boolean
}

type ColumnsOf = Pick<SessionTableProps, 'page' | 'names' | 'mayEnd'>

function columnsOf({ page, names, mayEnd }: ColumnsOf): readonly Column<SessionRecord>[] {
  const t = peopleTexts[page.language]
  const who: Column<SessionRecord> = {
    head: t.person,
    cell: ({ person_id: id }) => <Foreign text={names?.get(id) ?? id} max={100} />,
  }
  return [
    ...(names ? [who] : []),
    {
      head: t.where,
      cell: ({ address, user_agent: userAgent }) => (
        <>
          {deviceOf({ userAgent })} <Ltr class="mono small muted">{address}</Ltr>
        </>
      ),
    },
    { head: t.method, cell: ({ method }) => t.methods[method] },
    { head: t.since, cell: ({ created_at: at }) => <Time at={at} /> },
    { head: t.seen, cell: ({ last_seen_at: at }) => <Time at={at} /> },
    { head: t.until, cell: ({ expires_at: at }) => <Time at={at} /> },
    {
      head: t.end,
      cell: ({ session_id: id, current }) => {
        if (current) return <State is="done" page={page} words={t.thisSession} />
        return mayEnd ? <Act page={page} action="end" values={{ session: id }} label={t.end} /> : null
      },
    },
  ]
}

/** The sessions, each with the button that ends it. */
export const SessionTable = ({ label, sessions, next, ...props }: SessionTableProps): VNode => (
  <Table
    page={props.page}
    label={label}
    rows={sessions}
    empty={peopleTexts[props.page.language].noSessions}
    next={next}
    columns={columnsOf(props)}
  />
)
