// One attempt: what happened, its receipt, and the decision of a person where nobody knows.
import type { VNode } from 'preact'
import { egressAttemptsGet } from '../../../../tools/egress-attempts-get.ts'
import { AttemptRecord } from '../../../../schemas/egress.ts'
import { Foreign, Ltr } from '../../site/components/foreign.tsx'
import { Link } from '../../site/components/link.tsx'
import { fill } from '../../site/components/market/format.ts'
import { AttemptStateChip, STATE_LOOKS } from '../components/attempt.tsx'
import { Field, Form, Refusal } from '../components/form.tsx'
import { Facts, type Happening, Happenings } from '../components/records.tsx'
import { type ConsoleContext, defineConsolePage } from '../ports.ts'
import { consoleTexts } from '../texts/common.ts'
import { recordTexts } from '../texts/records.ts'

interface AttemptData {
  readonly attempt: AttemptRecord
  /** Where the attempt was made with a credential that is still there. */
  readonly credential_label: string | null
  /** The assistant that asked for it, where one did. */
  readonly connection: { readonly connection_id: string; readonly name: string } | null
  readonly done: boolean
}

export const page = defineConsolePage<AttemptData>({
  isWide: true,
  async load({ call, params, query, console, signedIn }) {
    const attempt = AttemptRecord.parse(
      await call(egressAttemptsGet.name, { attempt_id: params['attempt_id'] ?? '' }),
    )
    const id = attempt.credential_id
    const credential = id === null ? undefined : await console.store.getCredential(id, signedIn.accountId)
    const capability = attempt.capability_id
    const connection =
      capability === null
        ? undefined
        : await console.store.findConnectionOfCapability(capability, signedIn.accountId)
    return {
      attempt,
      credential_label: credential?.label ?? null,
      connection: connection ? { connection_id: connection.id, name: connection.clientName } : null,
      done: query.has('done'),
    }
  },
  actions: {
    async reconcile(form, { call, params }) {
      const id = params['attempt_id'] ?? ''
      await call('gateway.egress.attempts.reconcile', {
        attempt_id: id,
        decision: form.get('decision') ?? '',
        reason: form.get('reason') ?? '',
      })
      return { goTo: `/console/attempts/${id}?done=reconciled` }
    },
  },
  title: ({ attempt }, { language }) => `${recordTexts[language].attempt.one} ${attempt.host}`,
  View: ({ data, page }) => <Attempt data={data} page={page} />,
})

function Attempt({ data, page }: { readonly data: AttemptData; readonly page: ConsoleContext }): VNode {
  const { attempt } = data
  const { language } = page
  const t = recordTexts[language].attempt
  const mayDecide = page.signedIn?.role === 'owner' || page.signedIn?.role === 'operator'
  return (
    <div class="stack">
      <header class="stack tight">
        <p class="eyebrow">
          <Link to={page.href('/console/attempts')}>{consoleTexts[language].pages.attempts}</Link>
        </p>
        <h1 class="console-id">
          <Ltr class="mono">{`${attempt.method} ${attempt.host}`}</Ltr>
        </h1>
        <p class="row">
          <AttemptStateChip attempt={attempt} page={page} />
          {attempt.upstream_status !== null && <Ltr>{`HTTP ${attempt.upstream_status}`}</Ltr>}
          {attempt.outcome !== null && <Ltr class="mono small muted">{attempt.outcome}</Ltr>}
        </p>
      </header>
      {data.done && attempt.reconciliation && (
        <p class="notice" role="status">
          {t.done}
        </p>
      )}
      <Refusal page={page} />
      {attempt.state === 'ambiguous' && mayDecide && <Decide attempt={attempt} page={page} />}
      <div class="console-two">
        <section class="panel stack" aria-labelledby="happened">
          <h2 id="happened">{t.timeline}</h2>
          <Happenings page={page} events={eventsOf(attempt, page)} />
          <p class="console-actions">
            {attempt.receipt_id === null ? (
              <span class="muted small">{attempt.state === 'refunded' ? t.noReceipt : ''}</span>
            ) : (
              <Link to={page.href(`/receipts/${attempt.receipt_id}`)} class="button">
                {t.showReceipt}
              </Link>
            )}
            {attempt.reconciliation && (
              <Link to={page.href(`/receipts/${attempt.reconciliation.receipt_id}`)} class="button">
                {t.showDecision}
              </Link>
            )}
          </p>
        </section>
        <section class="panel stack" aria-labelledby="facts">
          <h2 id="facts">{t.facts}</h2>
          <AttemptFacts data={data} page={page} />
        </section>
      </div>
    </div>
  )
}

function AttemptFacts({ data, page }: { readonly data: AttemptData; readonly page: ConsoleContext }): VNode {
  const { attempt } = data
  const words = recordTexts[page.language]
  const t = words.attempt
  const mono = (text: string | null) => text !== null && <Ltr class="mono">{text}</Ltr>
  const like = (name: string, value: string, label: string) => (
    <Link to={page.href(`/console/attempts?${new URLSearchParams({ [name]: value }).toString()}`)}>
      {label}
    </Link>
  )
  const { credential_id: credential, capability_id: capability, permit_id: permit } = attempt
  return (
    <>
      <Facts
        facts={[
          [t.id, mono(attempt.attempt_id)],
          [t.kind, words.kinds[attempt.kind]],
          [
            t.credential,
            credential !== null && (
              <>
                <Link to={page.href(`/console/credentials/${credential}`)}>
                  <Foreign text={data.credential_label ?? credential} max={100} />
                </Link>{' '}
                <span class="muted small">{fill(t.version, { n: attempt.credential_version ?? '–' })}</span>
              </>
            ),
          ],
          [
            t.connection,
            data.connection !== null && (
              <Link to={page.href(`/console/connections/${data.connection.connection_id}`)}>
                <Foreign text={data.connection.name} max={100} />
              </Link>
            ),
          ],
          [t.capability, mono(capability)],
          [
            t.permit,
            permit !== null && (
              <Link to={page.href(`/console/inbox/${permit}`)}>
                <Ltr class="mono">{permit}</Ltr>
              </Link>
            ),
          ],
          [t.credits, <Ltr>{String(attempt.credits_charged)}</Ltr>],
          [t.status, attempt.upstream_status !== null && <Ltr>{String(attempt.upstream_status)}</Ltr>],
          [t.idempotency, mono(attempt.idempotency_key)],
          [t.digest, mono(attempt.request_digest)],
          [t.responseDigest, mono(attempt.response_digest)],
        ]}
      />
      <p class="row small">
        <span class="muted">{t.like}:</span>
        {like('host', attempt.host, t.sameHost)}
        {credential !== null && like('credential', credential, t.sameCredential)}
        {capability !== null && like('capability', capability, t.sameCapability)}
      </p>
    </>
  )
}

function eventsOf(attempt: AttemptRecord, page: ConsoleContext): readonly Happening[] {
  const words = recordTexts[page.language]
  const t = words.attempt
  const { state, reconciliation: decision } = attempt
  const isOver = state !== 'reserved' && state !== 'sending'
  // Where somebody decided, what stood before it is what the first end was.
  const ended = decision ? 'ambiguous' : state
  const events: Happening[] = [{ title: t.reserved, is: 'done', at: attempt.created_at, how: t.reservedHow }]
  if (attempt.sending_at !== null)
    events.push({ title: t.sent, is: 'done', at: attempt.sending_at, how: t.sentHow })
  if (!isOver) events.push({ title: words.states[state], is: 'unknown', at: null, how: t.underWay })
  else if (ended === 'settled' || ended === 'ambiguous' || ended === 'refunded')
    events.push({
      title: words.states[ended],
      is: STATE_LOOKS[ended],
      at: attempt.finished_at,
      how: attempt.sending_at === null && ended === 'refunded' ? t.notSent : t.ended[ended],
    })
  if (decision)
    events.push({
      title: `${t.decided}: ${decision.decision === 'happened' ? t.happened : t.didNot}`,
      is: 'done',
      at: decision.decided_at,
      how: (
        <Facts
          facts={[
            [t.reason, <Foreign text={decision.reason} max={500} />],
            [t.decidedBy, <Ltr class="mono">{decision.decided_by}</Ltr>],
            [t.was, <Ltr class="mono">{decision.was}</Ltr>],
          ]}
        />
      ),
    })
  return events
}

function Decide({
  attempt,
  page,
}: {
  readonly attempt: AttemptRecord
  readonly page: ConsoleContext
}): VNode {
  const t = recordTexts[page.language].attempt
  const typed = page.refused?.form.get('decision')
  const choice = (value: string, label: string, hint: string, isOff = false) => (
    <label>
      <input type="radio" name="decision" value={value} required checked={typed === value} disabled={isOff} />
      <span>{label}</span>
      <span class="hint">{hint}</span>
    </label>
  )
  return (
    <section class="panel stack" aria-labelledby="decide">
      <h2 id="decide">{t.decide}</h2>
      <p class="muted">{t.decideHow}</p>
      {attempt.idempotency_key !== null && <Ltr class="mono">{attempt.idempotency_key}</Ltr>}
      <Form page={page} action="reconcile" class="stack">
        <fieldset class="console-choices">
          <legend class="visually-hidden">{t.decide}</legend>
          {choice('happened', t.happened, t.happenedHow)}
          {choice('did_not_happen', t.didNot, t.didNotHow, page.signedIn?.admin !== true)}
        </fieldset>
        <Field page={page} name="reason" label={t.reason} help={t.reasonHelp} isRequired />
        <p>
          <button class="primary">{t.decideAct}</button>
        </p>
      </Form>
    </section>
  )
}
