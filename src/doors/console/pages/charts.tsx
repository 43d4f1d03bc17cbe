// How calls go over time, and what they cost: counted from the attempts of the account. Who looks after the installation also sees what
// this process counted of every call, and what runs by itself.
import type { CapabilityRecord, CredentialMetadata } from '../../../../schemas/egress.ts'
import type { LastHour } from '../../../core/call-watch.ts'
import type { UpkeepRun } from '../../../core/upkeep.ts'
import { Link } from '../../site/components/link.tsx'
import { type AttemptCharts, chartsOf, isSpan, type Span, SPANS } from '../figures.ts'
import { Budgets, type BudgetRow } from '../components/charts/budgets.tsx'
import { Outgoing } from '../components/charts/outgoing.tsx'
import { Process, type Rotation } from '../components/charts/process.tsx'
import { defineConsolePage, type SignedInRequest } from '../ports.ts'
import { chartsTexts } from '../texts/charts.ts'
import { consoleTexts } from '../texts/common.ts'

interface Charts extends AttemptCharts {
  readonly span: Span
  /** Since when attempts are counted, where there were too many. */
  readonly cutAt: number | null
  readonly budgets: readonly BudgetRow[]
  readonly process: {
    readonly calls: LastHour
    readonly upkeep: readonly UpkeepRun[]
    readonly rotation: Rotation | null
  } | null
}

/** Most rows of the list of budgets; the fullest are on it. */
const MOST_BUDGETS = 15

export const page = defineConsolePage<Charts>({
  isWide: true,
  async load(request) {
    const { query, signedIn, console: parts } = request
    const { store, services, now } = parts
    const asked = query.get('last')
    const span = isSpan(asked) ? asked : 'day'
    const { ms, slotMs } = SPANS[span]
    const at = now()
    const first = (Math.floor(at / slotMs) - ms / slotMs + 1) * slotMs
    const [figures, budgets, rotation] = await Promise.all([
      store.countAttempts({ accountId: signedIn.accountId, since: first, slotMs }),
      readBudgets(request),
      signedIn.admin ? readRotation(request) : null,
    ])
    return {
      ...chartsOf(figures, span, at),
      span,
      cutAt: figures.isCut ? figures.since : null,
      budgets,
      process: signedIn.admin
        ? { calls: services.recentCalls.lastHour(() => true), upkeep: services.upkeep.list(), rotation }
        : null,
    }
  },
  title: (_data, { language }) => consoleTexts[language].pages.charts,
  View({ data, page }) {
    const t = chartsTexts[page.language]
    return (
      <div class="stack charts-page">
        <h1>{consoleTexts[page.language].pages.charts}</h1>
        <p class="lead">{t.lead}</p>
        <nav class="charts-spans" aria-label={t.over}>
          {(Object.keys(SPANS) as Span[]).map((span) => (
            <Link to={page.href(`/console/charts?last=${span}`)} current={span === data.span} class="button">
              {t.spans[span]}
            </Link>
          ))}
        </nav>
        <Outgoing data={data} page={page} t={t} />
        <Budgets rows={data.budgets} page={page} t={t} />
        {data.process && <Process {...data.process} page={page} t={t} />}
      </div>
    )
  },
})

/** Budgets of what is in use, fullest first. */
async function readBudgets(request: SignedInRequest): Promise<readonly BudgetRow[]> {
  const [capabilities, credentials] = await Promise.all([
    request.try('gateway.egress.capabilities.list', { limit: 100 }),
    request.try('gateway.egress.credentials.list', { limit: 100 }),
  ])
  const rows: BudgetRow[] = []
  if (capabilities.ok)
    for (const { capability_id: id, label, budgets, revoked_at } of (
      capabilities.output as { capabilities: readonly CapabilityRecord[] }
    ).capabilities)
      if (revoked_at === null) rows.push(...budgets.map((budget) => ({ ...budget, id, label })))
  if (credentials.ok)
    for (const { credential_id: id, label, budgets, revoked_at } of (
      credentials.output as { credentials: readonly CredentialMetadata[] }
    ).credentials)
      if (revoked_at === null) rows.push(...budgets.map((budget) => ({ ...budget, id, label })))
  const share = ({ used, limit }: BudgetRow) => Number(used) / Number(limit)
  return rows.toSorted((a, b) => share(b) - share(a)).slice(0, MOST_BUDGETS)
}

async function readRotation(request: SignedInRequest): Promise<Rotation | null> {
  const result = await request.try('gateway.authority.rotation', {})
  return result.ok ? (result.output as { rotation: Rotation | null }).rotation : null
}
