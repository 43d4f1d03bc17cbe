// The first page: what to do first, what waits for somebody, and what went on last.
import type { ConnectionRecord } from '../../../../schemas/connection.ts'
import type { AttemptRecord, CredentialMetadata } from '../../../../schemas/egress.ts'
import { Ltr } from '../../site/components/foreign.tsx'
import { Link } from '../../site/components/link.tsx'
import { AttemptStateChip } from '../components/attempt.tsx'
import { type FirstRun, FirstRunGuide } from '../components/first-run.tsx'
import { Table, Time } from '../components/table.tsx'
import { defineConsolePage, type SignedInRequest } from '../ports.ts'
import { overviewTexts } from '../texts/overview.ts'

interface Data {
  readonly run: FirstRun
  readonly attempts: readonly AttemptRecord[]
  /** Shown as `+` where there are more than were counted. */
  readonly waiting: number
  readonly isMoreWaiting: boolean
  readonly failing: number
  readonly connections: number
  readonly isMoreConnections: boolean
  readonly credits: number | null
  /** Undefined for whom they are not. */
  readonly brokenPolicies?: number
}

const COUNTED = 100
const LAST = 10

export const page = defineConsolePage<Data>({
  load,
  isWide: true,
  title: (_data, { language }) => overviewTexts[language].title,
  View({ data, page }) {
    const t = overviewTexts[page.language]
    const { brokenPolicies } = data
    const figures = [
      { word: t.waiting, to: '/console/inbox', n: data.waiting, isMore: data.isMoreWaiting },
      { word: t.failing, to: '/console/credentials', n: data.failing, isMore: false },
      {
        word: t.connections,
        to: '/console/connections',
        n: data.connections,
        isMore: data.isMoreConnections,
      },
      { word: t.credits, to: '/console/ledger', n: data.credits ?? 0, isMore: false },
      ...(brokenPolicies === undefined
        ? []
        : [{ word: t.policiesBroken, to: '/console/policies', n: brokenPolicies, isMore: false }]),
    ]
    return (
      <div class="stack">
        <h1>{t.title}</h1>
        <section aria-label={t.numbers}>
          <ul class="console-numbers">
            {figures.map(({ word, to, n, isMore }) => (
              <li>
                <Link to={page.href(to)}>
                  <span class="figure-number">
                    <Ltr>{n.toLocaleString('en') + (isMore ? '+' : '')}</Ltr>
                  </span>
                  <span class="small">{word}</span>
                </Link>
              </li>
            ))}
          </ul>
        </section>
        <FirstRunGuide page={page} run={data.run} />
        <section class="stack tight">
          <div class="console-head">
            <h2>{t.lastCalls}</h2>
            {data.attempts.length > 0 && <Link to={page.href('/console/attempts')}>{t.allCalls}</Link>}
          </div>
          <Table
            page={page}
            label={t.lastCalls}
            rows={data.attempts}
            next={null}
            empty={<p>{t.noCalls}</p>}
            columns={[
              { head: t.at, cell: ({ created_at }) => <Time at={created_at} /> },
              {
                head: t.what,
                cell: ({ attempt_id, method, host }) => (
                  <Link to={page.href(`/console/attempts/${attempt_id}`)}>
                    <Ltr>{`${method} ${host}`}</Ltr>
                  </Link>
                ),
              },
              { head: t.state, cell: (attempt) => <AttemptStateChip attempt={attempt} page={page} /> },
            ]}
          />
        </section>
      </div>
    )
  },
})

async function load(request: SignedInRequest): Promise<Data> {
  const { console: parts, signedIn } = request
  const [credentials, capabilities, connections, permits, attempts, credits, policies] = await Promise.all([
    ask<{ credentials: CredentialMetadata[] }>(request, 'gateway.egress.credentials.list', {
      limit: COUNTED,
    }),
    ask<{ capabilities: unknown[] }>(request, 'gateway.egress.capabilities.list', { limit: 1 }),
    ask<{ connections: ConnectionRecord[]; next: string | null }>(request, 'gateway.connections.list', {
      limit: COUNTED,
    }),
    ask<{ permits: unknown[]; next: string | null }>(request, 'gateway.actions.permits.list', {
      state: 'pending_approval',
      limit: COUNTED,
    }),
    ask<{ attempts: AttemptRecord[] }>(request, 'gateway.egress.attempts.list', { limit: LAST }),
    ask<{ balance: number | null }>(request, 'gateway.credits.balance', { limit: 1 }),
    signedIn.admin
      ? ask<{ policies: { problems: unknown[] }[] }>(request, 'gateway.policies.list', {})
      : undefined,
  ])
  const live = credentials?.credentials.filter(({ revoked_at }) => revoked_at === null) ?? []
  const health = await parts.services.egress.tokenHealth(signedIn.accountId, live)
  const calls = attempts?.attempts ?? []
  const isLive = ({ ended_at, expires_at, suspended }: ConnectionRecord) =>
    ended_at === null && !suspended && Date.parse(expires_at) > parts.now()
  return {
    run: {
      credentialId: live[0]?.credential_id ?? null,
      isConnected: (connections?.connections.length ?? 0) + (capabilities?.capabilities.length ?? 0) > 0,
      hasCalls: calls.length > 0,
      attemptId: calls.find(({ receipt_id }) => receipt_id !== null)?.attempt_id ?? null,
    },
    attempts: calls,
    waiting: permits?.permits.length ?? 0,
    isMoreWaiting: (permits?.next ?? null) !== null,
    failing: [...health.values()].filter(({ state }) => state === 'failing').length,
    connections: connections?.connections.filter(isLive).length ?? 0,
    isMoreConnections: (connections?.next ?? null) !== null,
    credits: credits?.balance ?? null,
    ...(policies && {
      brokenPolicies: policies.policies.filter(({ problems }) => problems.length > 0).length,
    }),
  }
}

/** What the role of the person may not read is left out of the page; everything else that is refused is shown. */
async function ask<T>(
  request: SignedInRequest,
  tool: string,
  input: Readonly<Record<string, unknown>>,
): Promise<T | undefined> {
  const result = await request.try(tool, input)
  if (result.ok) return result.output as T
  if (result.error.code === 'role_required') return undefined
  throw result.error
}
