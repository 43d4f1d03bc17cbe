// What the doctor finds: the checks of the command of that name, run by the gateway itself as a job.
import type { VNode } from 'preact'
import type { DoctorFinding } from '../../../../tools/services.ts'
import type { Job } from '../../../core/jobs.ts'
import { inEnglish } from '../../site/components/english.tsx'
import { Visible } from '../../site/components/foreign.tsx'
import { fill } from '../../site/components/market/format.ts'
import { State } from '../../site/components/state.tsx'
import { Form } from '../components/form.tsx'
import { JobState } from '../components/job/state.tsx'
import { Time } from '../components/table.tsx'
import { type ConsoleContext, defineConsolePage, type SignedInRequest } from '../ports.ts'
import { consoleTexts } from '../texts/common.ts'
import { doctorTexts } from '../texts/doctor.ts'

interface Examination {
  readonly findings: readonly DoctorFinding[]
}
interface DoctorData {
  readonly job: Job<Examination> | null
}

const KIND = 'doctor'
const STATES = { ok: 'done', warn: 'waiting', fail: 'failed' } as const
const ORDER = ['fail', 'warn', 'ok'] as const

function begin({ signedIn, console: { services } }: SignedInRequest): Job<Examination> {
  return services.jobs.begin(
    { kind: KIND, accountId: signedIn.accountId, by: signedIn.personId, admin: true },
    async () => ({ findings: await services.doctor.examine() }),
  )
}

export const page = defineConsolePage<DoctorData>({
  isWide: true,
  load: ({ signedIn, console: { services } }) => ({
    job: services.jobs.latest<Examination>(signedIn.accountId, KIND) ?? null,
  }),
  actions: {
    async check(_form, request) {
      begin(request)
      return { goTo: '/console/doctor' }
    },
  },
  title: (_data, { language }) => consoleTexts[language].pages.doctor,
  View: ({ data: { job }, page }) => {
    const t = doctorTexts[page.language]
    return (
      <div class="stack">
        <header class="console-head">
          <div class="stack tight">
            <h1>{consoleTexts[page.language].pages.doctor}</h1>
            <p class="muted">{t.lead}</p>
          </div>
          <Form page={page} action="check">
            <button class={job === null ? 'primary' : undefined} disabled={job?.state === 'running'}>
              {t.check}
            </button>
          </Form>
        </header>
        <JobState job={job} page={page} running={t.running} failed={t.failed} never={t.never}>
          {({ findings }) => <Findings findings={findings} at={job?.endedAt ?? null} page={page} />}
        </JobState>
        <p class="small muted">{t.environment}</p>
      </div>
    )
  },
})

function Findings({
  findings,
  at,
  page,
}: Examination & { readonly at: number | null; readonly page: ConsoleContext }): VNode {
  const t = doctorTexts[page.language]
  const count = (level: DoctorFinding['level']) =>
    findings.filter((finding) => finding.level === level).length
  const [toMend, toLook] = [count('fail'), count('warn')]
  return (
    <>
      <div class={toMend > 0 ? 'notice fails' : 'notice'} role="status">
        <p class="row">
          {toMend === 0 && toLook === 0 ? (
            <State is="done" page={page} words={t.fine} />
          ) : (
            <>
              {toMend > 0 && <State is="failed" page={page} words={fill(t.toMend, { n: toMend })} />}
              {toLook > 0 && <State is="waiting" page={page} words={fill(t.toLook, { n: toLook })} />}
              <State is="done" page={page} words={fill(t.well, { n: count('ok') })} />
            </>
          )}
          <span class="muted small">
            {t.at} <Time at={at} />
          </span>
        </p>
      </div>
      <ul class="doctor-findings">
        {ORDER.flatMap((level) => findings.filter((finding) => finding.level === level)).map(
          ({ level, check, says, todo }) => (
            <li class={`doctor-${level}`}>
              <State is={STATES[level]} page={page} words={t.levels[level]} />
              <div {...inEnglish(page)}>
                <strong>{check}</strong>
                <p>
                  <Visible text={says} />
                </p>
                {todo !== undefined && (
                  <p class="doctor-todo">
                    <Visible text={todo} />
                  </p>
                )}
              </div>
            </li>
          ),
        )}
      </ul>
    </>
  )
}
