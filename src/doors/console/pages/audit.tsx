// The audit log: newest first, narrowed by the address, a page at a time; the whole of it as a file; and whether its chain holds.
import type { VNode } from 'preact'
import type { AuditEvent } from '../../../../schemas/audit.ts'
import { exportLines } from '../../../audit/export.ts'
import type { FoundEvents } from '../../../audit/ports.ts'
import { type AuditVerdict, beginCheck } from '../../../audit/verify.ts'
import type { Job, Report } from '../../../core/jobs.ts'
import { publishedKeys } from '../../../receipts/published-keys.ts'
import { INSTALLATION_CHAIN } from '../../../store/ports/audit.ts'
import { Ltr } from '../../site/components/foreign.tsx'
import { fill } from '../../site/components/market/format.ts'
import { State } from '../../site/components/state.tsx'
import { Form } from '../components/form.tsx'
import { JobState } from '../components/job/state.tsx'
import { Facts, Filters, Nothing, Typed } from '../components/records.tsx'
import { type Column, Table, Time } from '../components/table.tsx'
import { type ConsoleContext, defineConsolePage, type SignedInRequest } from '../ports.ts'
import { sendDownload } from '../records/download.ts'
import * as read from '../records/query.ts'
import { auditTexts } from '../texts/audit.ts'
import { consoleTexts } from '../texts/common.ts'

interface AuditData extends FoundEvents {
  readonly of: 'account' | 'installation'
  readonly job: Job<AuditVerdict> | null
}

const PAGE_ROWS = 50
const jobOf = (of: AuditData['of']) => `audit of the ${of}`

export const page = defineConsolePage<AuditData>({
  isWide: true,
  async load(request) {
    const { query, signedIn, console: parts } = request
    const { of, chain } = chainOf(request)
    const before = Number(query.get('before') ?? 'NaN')
    const found = await parts.services.audit.search(
      {
        chain,
        event: read.text(query, 'event'),
        id: read.text(query, 'id'),
        from: read.text(query, 'from'),
      },
      { limit: PAGE_ROWS, before: Number.isSafeInteger(before) && before > 0 ? before : undefined },
    )
    return {
      ...found,
      of,
      job: parts.services.jobs.latest<AuditVerdict>(signedIn.accountId, jobOf(of)) ?? null,
    }
  },
  actions: {
    async verify(_form, request) {
      const { signedIn, console: parts } = request
      const { of, chain } = chainOf(request)
      parts.services.jobs.begin(
        { kind: jobOf(of), accountId: signedIn.accountId, by: signedIn.personId },
        (report, signal) => verify(parts, chain, report, signal),
      )
      return { goTo: `/console/audit${of === 'installation' ? '?of=installation' : ''}` }
    },
    async export(_form, request) {
      const { console: parts } = request
      const { of, chain } = chainOf(request)
      const day = new Date(parts.now()).toISOString().slice(0, 10)
      return sendDownload(
        { request, name: `audit-${of}-${day}.jsonl`, type: 'application/x-ndjson; charset=utf-8' },
        withEnds(linesOf(parts, chain)),
      )
    },
  },
  title: (_data, { language }) => consoleTexts[language].pages.audit,
  View: ({ data, page }) => <Audit data={data} page={page} />,
})

/** The chain of the account, or for who looks after the installation that of nobody's. */
function chainOf({ query, signedIn }: SignedInRequest): {
  readonly of: AuditData['of']
  readonly chain: string
} {
  return query.get('of') === 'installation' && signedIn.admin
    ? { of: 'installation', chain: INSTALLATION_CHAIN }
    : { of: 'account', chain: signedIn.accountId }
}

type Parts = SignedInRequest['console']

const linesOf = (
  { services, addresses }: Parts,
  chain: string,
  onPage?: (page: { readonly last: number; readonly intact: boolean }) => void,
) =>
  exportLines((from) => services.audit.read({ chain, ...from }), {
    gateway: addresses.baseUrl,
    ...(onPage && { onPage }),
  })

async function* withEnds(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`
}

/** Reads the whole chain as an export has it, and checks it with the published keys alone. */
async function verify(
  parts: Parts,
  chain: string,
  report: Report,
  signal: AbortSignal,
): Promise<AuditVerdict> {
  const keys = publishedKeys(await parts.store.listPublishedKeys())
  const total = (await parts.store.getAuditChain(chain))?.seq ?? 0
  const lines = linesOf(parts, chain, ({ last }) => report(last, total))
  const opening = await lines.next()
  const check = beginCheck(opening.done ? '' : opening.value, keys)
  if ('ok' in check) return check
  for await (const line of lines) {
    signal.throwIfAborted()
    const fault = await check.line(line)
    if (fault) return fault
  }
  return check.end()
}

function Audit({ data, page }: { readonly data: AuditData; readonly page: ConsoleContext }): VNode {
  const t = auditTexts[page.language]
  return (
    <div class="stack">
      <header class="console-head">
        <div class="stack tight">
          <h1>{consoleTexts[page.language].pages.audit}</h1>
          <p class="muted">{t.lead}</p>
        </div>
        <Form page={page} action="export">
          <button title={t.exportHow}>{t.export}</button>
        </Form>
      </header>
      <Verification data={data} page={page} />
      <Filters page={page}>
        {page.signedIn?.admin && (
          <label class="field">
            <span>{t.of}</span>
            <select name="of">
              <option value="account">{t.account}</option>
              <option value="installation" selected={data.of === 'installation'}>
                {t.installation}
              </option>
            </select>
          </label>
        )}
        <Typed page={page} name="event" label={t.event} />
        <Typed page={page} name="id" label={t.id} />
        <Typed page={page} name="from" label={t.from} />
      </Filters>
      <Table
        page={page}
        label={t.label}
        columns={columnsOf(page)}
        rows={data.events}
        next={data.next === null ? null : String(data.next)}
        empty={
          <Nothing page={page}>
            <p>{t.empty}</p>
          </Nothing>
        }
      />
    </div>
  )
}

function Verification({ data, page }: { readonly data: AuditData; readonly page: ConsoleContext }): VNode {
  const t = auditTexts[page.language]
  const { job } = data
  return (
    <section class="panel stack">
      <div class="row between">
        <h2>{t.verification}</h2>
        <Form page={page} action="verify">
          <button disabled={job?.state === 'running'}>{job?.state === 'done' ? t.again : t.verify}</button>
        </Form>
      </div>
      <JobState job={job} page={page} running={t.verifying} failed={t.failed} never={t.never}>
        {(verdict) =>
          verdict.ok ? (
            <>
              <p>
                <State
                  is="done"
                  page={page}
                  words={fill(t.good, { n: verdict.events.toLocaleString('en'), seq: verdict.seq })}
                />
              </p>
              <Facts
                facts={[
                  [t.head, <Ltr class="mono">{verdict.hash}</Ltr>],
                  [
                    t.by,
                    <>
                      <Ltr class="mono">{verdict.kid}</Ltr> <Time at={verdict.signedAt * 1000} />
                    </>,
                  ],
                  [t.heads, verdict.heads.toLocaleString('en')],
                  [t.when, <Time at={job?.endedAt ?? null} />],
                ]}
              />
            </>
          ) : (
            <div class="notice fails" role="alert">
              <p>
                <strong>{t.bad}.</strong> {t.faults[verdict.fault]}{' '}
                {verdict.seq !== undefined && fill(t.where, { seq: verdict.seq })}
              </p>
            </div>
          )
        }
      </JobState>
      <p class="small muted">{t.witness}</p>
    </section>
  )
}

function columnsOf(page: ConsoleContext): readonly Column<AuditEvent>[] {
  const t = auditTexts[page.language]
  return [
    { head: t.seq, isNumber: true, cell: ({ seq }) => <Ltr>{String(seq)}</Ltr> },
    { head: t.at, cell: ({ at }) => <Time at={at} /> },
    { head: t.what, cell: ({ event }) => <Ltr class="mono">{event}</Ltr> },
    {
      head: t.who,
      cell: ({ actor }) => (
        <>
          {t.kinds[actor.kind]} {actor.id !== undefined && <Ltr class="mono small">{short(actor.id)}</Ltr>}
          {(actor.tool ?? actor.address) !== undefined && (
            <span class="sub" dir="ltr">
              {[actor.door, actor.tool, actor.address].filter((part) => part !== undefined).join(' · ')}
            </span>
          )}
        </>
      ),
    },
    {
      head: t.subject,
      cell: ({ subject }) =>
        subject && (
          <>
            {subject.type} <Ltr class="mono small">{short(subject.id)}</Ltr>
          </>
        ),
    },
    {
      head: t.detail,
      cell: ({ detail, hash }) => (
        <details class="audit-detail">
          <summary dir="ltr">{Object.keys(detail).slice(0, 3).join(', ') || t.hash}</summary>
          <dl class="pairs small" dir="ltr">
            {Object.entries({ ...detail, hash }).map(([name, value]) => (
              <>
                <dt>{name}</dt>
                <dd>
                  <Ltr class="mono">{Array.isArray(value) ? value.join(', ') : String(value)}</Ltr>
                </dd>
              </>
            ))}
          </dl>
        </details>
      ),
    },
  ]
}

/** Ids are long, and their ends tell them apart. */
const short = (id: string) => (id.length > 20 ? `${id.slice(0, id.indexOf('_') + 1)}…${id.slice(-6)}` : id)
