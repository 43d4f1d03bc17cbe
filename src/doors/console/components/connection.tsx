// A connected assistant as its table and its own page show it.
import type { VNode } from 'preact'
import type { ConnectionRecord } from '../../../../schemas/connection.ts'
import { fill } from '../../site/components/market/format.ts'
import { Foreign, Ltr } from '../../site/components/foreign.tsx'
import { State } from '../../site/components/state.tsx'
import type { ConsoleContext, SignedInRequest } from '../ports.ts'
import { connectionTexts } from '../texts/connections.ts'

export interface Names {
  /** Of people, by id. */
  readonly people: Readonly<Record<string, string>>
  /** Of credentials, by id. */
  readonly credentials: Readonly<Record<string, string>>
}

/** Names of the account's people and credentials; the first hundred of each. */
export async function namesIn({ console: parts, signedIn }: SignedInRequest): Promise<Names> {
  const { accountId } = signedIn
  const [people, credentials] = await Promise.all([
    parts.identity.people.list(accountId, { limit: 100 }),
    parts.store.listCredentials(accountId, { limit: 100 }),
  ])
  return {
    people: Object.fromEntries(people.items.map(({ personId, person }) => [personId, person.name])),
    credentials: Object.fromEntries(credentials.items.map(({ id, label }) => [id, label])),
  }
}

/** Whether this person ends and changes connections. */
export const mayAct = ({ signedIn }: Pick<ConsoleContext, 'signedIn'>): boolean =>
  signedIn?.role === 'owner' || signedIn?.role === 'operator'

interface Props {
  readonly page: ConsoleContext
  readonly connection: ConnectionRecord
}

/** @param now milliseconds, as the server drew the page */
export function ConnectionState({ page, connection, now }: Props & { readonly now: number }): VNode {
  const { ended_at: endedAt, expires_at: expiresAt, suspended } = connection
  return <Standing page={page} endedAt={endedAt} expiresAt={expiresAt} isSuspended={suspended} now={now} />
}

/** Live, ended by somebody, over, or refused because of who stands behind it. */
export function Standing({
  page,
  endedAt,
  expiresAt,
  isSuspended = false,
  now,
}: {
  readonly page: ConsoleContext
  readonly endedAt: string | null
  readonly expiresAt: string
  readonly isSuspended?: boolean
  readonly now: number
}): VNode {
  const t = connectionTexts[page.language]
  if (endedAt !== null) return <State is="unknown" page={page} words={t.ended} />
  if (Date.parse(expiresAt) <= now) return <State is="unknown" page={page} words={t.expired} />
  if (isSuspended) return <State is="failed" page={page} words={t.suspended} />
  return <State is="done" page={page} words={t.live} />
}

/** The host that the client proved, or that it proved none. */
export function ClientProof({ page, connection: { client } }: Props): VNode {
  const t = connectionTexts[page.language]
  return client.host === null ? (
    <span class="small muted">{t.unverified}</span>
  ) : (
    <Ltr class="small mono">{client.host}</Ltr>
  )
}

/** Its credentials by their names, and what goes beyond them. */
export function May({ page, connection, names }: Props & { readonly names: Names }): VNode {
  const t = connectionTexts[page.language]
  const { credentials, may_pay, may_operate } = connection
  return (
    <span class="console-chips">
      {credentials.length === 0 && <span class="muted">{t.nothing}</span>}
      {credentials.map(({ credential_id: id }) => (
        <Foreign text={names.credentials[id] ?? id} max={40} class="console-chip" />
      ))}
      {may_pay && <span class="console-chip warns">{t.pays}</span>}
      {may_operate && <span class="console-chip warns">{t.operates}</span>}
    </span>
  )
}

/** How many requests it has sent, of how many. */
export function requestsOf({ page, connection: { uses, max_uses } }: Props): string {
  const t = connectionTexts[page.language]
  return max_uses === null ? fill(t.requests, { n: uses }) : fill(t.requestsOf, { n: uses, max: max_uses })
}

/** Who allowed it, as far as they are still there. */
export function Who({ page, connection, names }: Props & { readonly names: Names }): VNode {
  const name = names.people[connection.person_id]
  if (name === undefined) return <span class="muted">{connectionTexts[page.language].gonePerson}</span>
  return <Foreign text={name} max={60} />
}
