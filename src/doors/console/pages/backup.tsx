// A copy of what the gateway keeps: made as a job, taken as a file, and what a restore needs besides.
import type { VNode } from 'preact'
import type { BackupMade } from '../../../../tools/services.ts'
import { GatewayError } from '../../../core/errors.ts'
import type { Job } from '../../../core/jobs.ts'
import { isFresh } from '../../../core/roles.ts'
import { Code } from '../../site/components/code.tsx'
import { Ltr } from '../../site/components/foreign.tsx'
import { fill } from '../../site/components/market/format.ts'
import { Act, Refusal } from '../components/form.tsx'
import { JobState } from '../components/job/state.tsx'
import { Facts } from '../components/records.tsx'
import { doneWord, Said } from '../components/said.tsx'
import { Time } from '../components/table.tsx'
import { type ConsoleContext, defineConsolePage, type SignedInRequest } from '../ports.ts'
import { sendDownload } from '../records/download.ts'
import { consoleTexts } from '../texts/common.ts'
import { houseTexts } from '../texts/house.ts'

interface BackupData {
  readonly bytes: number | null
  readonly keys: readonly string[]
  readonly job: Job<BackupMade> | null
  readonly mayMake: boolean
}

const KIND = 'backup'

const latest = ({ signedIn, console: { services } }: SignedInRequest) =>
  services.jobs.latest<BackupMade>(signedIn.accountId, KIND) ?? null

export const page = defineConsolePage<BackupData>({
  isWide: true,
  async load(request) {
    const { signedIn, console: parts } = request
    const { bytes, keys } = await parts.services.backup.describe()
    return {
      bytes,
      keys,
      job: latest(request),
      mayMake: signedIn.role === 'owner',
    }
  },
  actions: {
    async make(_form, { call }) {
      await call('gateway.backup.make', {})
      return { goTo: '/console/backup?done=begun' }
    },
    async download(_form, request) {
      const { signedIn, console: parts } = request
      if (signedIn.role !== 'owner' || !signedIn.admin)
        throw new GatewayError('role_required', 'Only owners of the first account download backups.')
      if (!isFresh(signedIn, parts.now()))
        throw new GatewayError(
          'fresh_sign_in_required',
          'A backup holds everything. Show again that it is you, with your passkey, and do it within five minutes.',
        )
      const file = latest(request)?.result?.file
      if (file === undefined) throw new GatewayError('not_found', 'There is no backup here. Make one.')
      const { size, content } = await parts.services.backup.open(file, signedIn.personId)
      return sendDownload({ request, name: file, type: 'application/gzip', length: size }, content)
    },
  },
  title: (_data, { language }) => consoleTexts[language].pages.backup,
  View: ({ data, page }) => {
    const t = houseTexts[page.language].backup
    return (
      <div class="stack">
        <h1>{consoleTexts[page.language].pages.backup}</h1>
        <p class="lead">{t.lead}</p>
        {data.job?.state === 'running' && <Said word={doneWord(page)} words={{ begun: t.begun }} />}
        <Refusal page={page} />
        <Made data={data} page={page} />
        <section class="stack">
          <h2>{t.keys}</h2>
          <p class="muted">{t.keysLead}</p>
          <ul>
            {data.keys.map((file) => (
              <li>
                <Ltr class="mono">{file}</Ltr>
              </li>
            ))}
          </ul>
        </section>
        <section class="stack">
          <h2>{t.restore}</h2>
          <ol>
            {t.steps.map((step) => (
              <li>{step}</li>
            ))}
          </ol>
          <Code text={RESTORE} page={page} />
        </section>
      </div>
    )
  },
})

const RESTORE = 'agent-gateway restore backup-….gz'

function Made({ data, page }: { readonly data: BackupData; readonly page: ConsoleContext }): VNode {
  const t = houseTexts[page.language].backup
  const { job } = data
  return (
    <section class="panel stack">
      <JobState job={job} page={page} running={t.making} failed={t.failed} never={t.never}>
        {({ file, bytes, sha256, rows }) => (
          <>
            <p>
              <strong>{fill(t.ready, { size: sizeText(bytes) })}</strong>
            </p>
            <Facts
              facts={[
                [t.made, <Time at={job?.endedAt ?? null} />],
                [t.contains, rows],
                [t.sum, <Ltr class="mono small">{sha256}</Ltr>],
              ]}
            />
            {data.mayMake && (
              <div class="console-actions">
                <Act page={page} action="download" label={`${t.download} (${file})`} />
              </div>
            )}
            <p class="small muted">{t.kept}</p>
          </>
        )}
      </JobState>
      {data.mayMake ? (
        job?.state !== 'running' && (
          <div class="console-actions">
            <Act page={page} action="make" label={job ? t.again : t.make} />
          </div>
        )
      ) : (
        <p class="muted">{t.mayNot}</p>
      )}
      {data.bytes !== null && <p class="small muted">{fill(t.size, { size: sizeText(data.bytes) })}</p>}
    </section>
  )
}

function sizeText(bytes: number): string {
  if (bytes < 1024 * 1024) return `${Math.ceil(bytes / 1024)} KiB`
  const mib = bytes / 1024 / 1024
  return mib < 1024 ? `${mib.toFixed(1)} MiB` : `${(mib / 1024).toFixed(1)} GiB`
}
