// One credential: whether it works, what it may be used for, which versions there are, and how it is replaced, edited and ended.
import { GatewayError } from '../../../core/errors.ts'
import { toCanonicalJson } from '../../../lib/canonical-json.ts'
import { Foreign, Ltr } from '../../site/components/foreign.tsx'
import { Link } from '../../site/components/link.tsx'
import { State } from '../../site/components/state.tsx'
import { BudgetBars } from '../components/budgets.tsx'
import { EditForm } from '../components/credentials/edit-form.tsx'
import { EndForms } from '../components/credentials/end-forms.tsx'
import { TestForm } from '../components/credentials/test-form.tsx'
import { TokenState } from '../components/credentials/token-state.tsx'
import { Versions } from '../components/credentials/versions.tsx'
import { Refusal } from '../components/form.tsx'
import { doneWord, Said } from '../components/said.tsx'
import { Time } from '../components/table.tsx'
import { kindOf } from '../credentials/kinds.ts'
import { presetsFor } from '../credentials/presets.ts'
import { readEdit, readParts } from '../credentials/read.ts'
import { editableSettings, type ShownCredential } from '../credentials/settings.ts'
import { runTestCall, type TestCall, type TestResult, usualTestCall } from '../credentials/test-call.ts'
import { soughtUntil, usesOf, type VersionUse } from '../credentials/versions.ts'
import { defineConsolePage, type SignedInRequest } from '../ports.ts'
import { maySee } from '../routes.ts'
import { credentialTexts } from '../texts/credentials.ts'

interface Data {
  readonly credential: ShownCredential
  readonly uses: readonly VersionUse[]
  readonly soughtUntil: number | null
  readonly test: TestCall
  /** What a test call just gave. */
  readonly result?: TestResult
}

export const page = defineConsolePage<Data>({
  load,
  actions: {
    async test(form, request) {
      const test = {
        method: form.get('method') ?? 'GET',
        url: form.get('url')?.trim() ?? '',
        body: form.get('body') ?? '',
      }
      const { credential, preset } = await find(request)
      const headers = preset?.example.method === test.method ? preset.example.headers : undefined
      const result = await runTestCall(request, credential.credential_id, test, headers)
      return { show: { ...(await load(request)), test, result } }
    },
    async rotate(form, request) {
      await checkVersion(form, request)
      await request.call('gateway.egress.credentials.rotate', { ...named(request), ...readParts(form) })
      return { goTo: `${addressOf(request)}?done=rotated` }
    },
    async edit(form, request) {
      const current = await checkVersion(form, request)
      const { settings, ...wishes } = readEdit(form)
      // Settings that are as they were are left out: an administrator alone may send some of them.
      const isSame = toCanonicalJson(settings) === toCanonicalJson(editableSettings(current))
      await request.call('gateway.egress.credentials.edit', {
        ...named(request),
        ...wishes,
        ...(!isSame && { settings }),
      })
      return { goTo: `${addressOf(request)}?done=edited` }
    },
    async revoke(_form, request) {
      await request.call('gateway.egress.credentials.revoke', named(request))
      return { goTo: `${addressOf(request)}?done=revoked` }
    },
    async delete(_form, request) {
      await request.call('gateway.egress.credentials.delete', named(request))
      return { goTo: '/console/credentials?done=deleted' }
    },
  },
  title: ({ credential }) => credential.label,
  View({ data, page }) {
    const t = credentialTexts[page.language]
    const { credential } = data
    const isLive = credential.revoked_at === null
    const mayAct = page.signedIn !== undefined && maySee('newCredential', page.signedIn)
    return (
      <div class="stack">
        <h1>
          <Foreign text={credential.label} max={100} />
        </h1>
        <p class="row">
          {isLive ? (
            <State is="done" page={page} words={t.active} />
          ) : (
            <State is="unknown" page={page} words={t.revoked} />
          )}
          <Ltr class="muted small mono">{credential.credential_id}</Ltr>
        </p>
        <Said word={doneWord(page)} words={t.done} />
        <Refusal page={page} />
        <Facts credential={credential} page={page} />
        <p class="row">
          <Link to={page.href(`/console/attempts?credential=${credential.credential_id}`)}>{t.attempts}</Link>
          <Link to={page.href(`/console/capabilities?credential=${credential.credential_id}`)}>
            {t.capabilities}
          </Link>
        </p>
        {credential.tokens && <TokenState tokens={credential.tokens} page={page} />}
        {isLive && mayAct && <TestForm page={page} test={data.test} result={data.result} />}
        <Versions
          page={page}
          credential={credential}
          uses={data.uses}
          soughtUntil={data.soughtUntil}
          mayAct={isLive && mayAct}
        />
        {isLive && mayAct && <EditForm page={page} credential={credential} />}
        {mayAct && <EndForms page={page} isLive={isLive} />}
      </div>
    )
  },
})

async function load(request: SignedInRequest): Promise<Data> {
  const { credential, preset } = await find(request)
  return {
    credential,
    uses: await usesOf(request, credential.credential_id),
    soughtUntil: soughtUntil(credential.rotated_at, request.console.now()),
    test: usualTestCall(credential, preset),
  }
}

async function find(request: SignedInRequest) {
  const [credential, presets] = await Promise.all([
    request.call('gateway.egress.credentials.get', named(request)) as Promise<ShownCredential>,
    presetsFor(request),
  ])
  return { credential, preset: presets.find(({ id }) => id === credential.provider) }
}

const named = ({ params }: SignedInRequest) => ({ credential_id: params['credential_id'] ?? '' })
const addressOf = (request: SignedInRequest) => `/console/credentials/${named(request).credential_id}`

/** Whoever sends a form saw one version: what somebody else did meanwhile is not undone unseen. @throws {GatewayError} state_conflict */
async function checkVersion(form: URLSearchParams, request: SignedInRequest): Promise<ShownCredential> {
  const { credential } = await find(request)
  if (String(credential.version) === form.get('version')) return credential
  throw new GatewayError(
    'state_conflict',
    `Somebody changed this credential meanwhile: it is version ${credential.version} now. Look at it below, then decide again.`,
  )
}

function Facts({
  credential,
  page,
}: {
  readonly credential: ShownCredential
  readonly page: Parameters<typeof BudgetBars>[0]['page']
}) {
  const t = credentialTexts[page.language]
  const { provider, hosts, path_prefixes, methods, header, scheme, settings, budgets, created_at } =
    credential
  return (
    <dl class="pairs">
      <dt>{t.provider}</dt>
      <dd>
        <Ltr>{provider}</Ltr>
      </dd>
      <dt>{t.kind}</dt>
      <dd>{t.kinds[kindOf(settings)]}</dd>
      <dt>{t.hosts}</dt>
      <dd>
        <Ltr>{hosts.join(', ')}</Ltr>
      </dd>
      <dt>{t.paths}</dt>
      <dd>
        <Ltr class="mono">{path_prefixes.join('  ')}</Ltr>
      </dd>
      <dt>{t.methods}</dt>
      <dd>
        <Ltr>{methods.join(' ')}</Ltr>
      </dd>
      <dt>{t.sentIn}</dt>
      <dd>
        <Ltr>{`${header} ${scheme}`.trim()}</Ltr>
      </dd>
      <dt>{t.added}</dt>
      <dd>
        <Time at={created_at} />
      </dd>
      {budgets.length > 0 && (
        <>
          <dt>{t.budgets}</dt>
          <dd>
            <BudgetBars page={page} budgets={budgets} />
          </dd>
        </>
      )}
    </dl>
  )
}
