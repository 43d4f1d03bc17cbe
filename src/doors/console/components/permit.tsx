// A permit as the inbox, its own page and the table show it.
import type { ComponentChildren, VNode } from 'preact'
import type { ApprovalRule } from '../../../../schemas/approval.ts'
import type { PermitState, PermitSummary } from '../../../../schemas/actions.ts'
import { Foreign, Ltr, Visible } from '../../site/components/foreign.tsx'
import { Link } from '../../site/components/link.tsx'
import { fill } from '../../site/components/market/format.ts'
import { Scrolling, State, type StateName } from '../../site/components/state.tsx'
import type { MandateView, Party, PermitView } from '../inbox/read.ts'
import type { ConsoleContext } from '../ports.ts'
import { inboxTexts } from '../texts/inbox.ts'
import { Form } from './form.tsx'
import { Facts } from './records.tsx'
import { Time } from './table.tsx'

type Page = ConsoleContext

const LOOKS = {
  pending_approval: 'waiting',
  ready: 'waiting',
  executed: 'done',
  refused: 'failed',
  expired: 'unknown',
  revoked: 'failed',
} satisfies Record<PermitState, StateName>

export const PermitStateChip = ({
  state,
  page,
}: {
  readonly state: PermitState
  readonly page: Pick<Page, 'language'>
}): VNode => <State is={LOOKS[state]} page={page} words={inboxTexts[page.language].states[state]} />

/** Somebody by name, and what they are; the id is what counts and stands beside it. */
export const PartyName = ({
  party,
  page,
}: {
  readonly party: Party | null
  readonly page: Pick<Page, 'language'>
}): VNode => {
  const t = inboxTexts[page.language]
  if (!party) return <span class="muted">{t.unknownAsker}</span>
  return (
    <>
      <Foreign text={party.name} max={80} /> <span class="muted small">{t.kinds[party.kind]}</span>
    </>
  )
}

/** Method and address: the whole of it, as it goes out. */
export const RequestLine = ({
  summary,
}: {
  readonly summary: Pick<PermitSummary, 'method' | 'url'>
}): VNode => (
  <p class="permit-line" dir="ltr">
    <Ltr class="permit-method">{summary.method}</Ltr> <Ltr class="mono">{summary.url}</Ltr>
  </p>
)

/** Exactly what will be, or was, sent: nothing is left out, made pretty or hidden. */
export function ExactRequest({
  summary,
  page,
}: {
  readonly summary: PermitSummary
  readonly page: Pick<Page, 'language'>
}): VNode {
  const t = inboxTexts[page.language]
  const { credential, headers, body, body_base64: base64, body_bytes: bytes } = summary
  const names = Object.entries(headers)
  const text = body ?? base64
  return (
    <div class="stack tight">
      <RequestLine summary={summary} />
      {names.length > 0 && (
        <dl class="permit-headers" dir="ltr">
          {names.map(([name, value]) => (
            <>
              <dt>
                <Ltr>{`${name}:`}</Ltr>
              </dt>
              <dd>
                <Ltr>{value}</Ltr>
              </dd>
            </>
          ))}
        </dl>
      )}
      {bytes === 0 ? (
        <p class="muted small">{t.noBody}</p>
      ) : text === undefined ? (
        <p class="muted small">
          {fill(t.bytes, { n: bytes })}. {t.longBody}
        </p>
      ) : (
        <>
          <p class="muted small">
            {t.body}: {fill(t.bytes, { n: bytes })}. {body === undefined && t.binary}
          </p>
          <Scrolling label={t.body}>
            <pre class="permit-body" dir="ltr">
              <Visible text={text} />
            </pre>
          </Scrolling>
        </>
      )}
      <p class="muted small">
        <Filled
          text={t.secretIn}
          values={{
            c: <Foreign text={credential.label} max={80} />,
            h: <Ltr class="mono">{credential.header}</Ltr>,
          }}
        />
      </p>
    </div>
  )
}

/** A sentence with elements where its names are. */
const Filled = ({
  text,
  values,
}: {
  readonly text: string
  readonly values: Readonly<Record<string, ComponentChildren>>
}): VNode => (
  <>
    {text.split(/(\{\w+\})/).map((piece) => (/^\{\w+\}$/.test(piece) ? values[piece.slice(1, -1)] : piece))}
  </>
)

/** What the mandate spent so far, against what it may. */
export function Spent({
  mandate,
  page,
}: {
  readonly mandate: MandateView
  readonly page: Pick<Page, 'language'>
}): VNode {
  const t = inboxTexts[page.language]
  const { calls, max_calls: maxCalls, credits, max_credits: maxCredits } = mandate
  return (
    <span class="permit-spent">
      {maxCalls !== null && (
        <span>
          <meter min={0} max={maxCalls} value={calls} aria-hidden="true" />{' '}
          {fill(t.spentCalls, { n: calls, m: maxCalls })}
        </span>
      )}
      {maxCredits !== null && (
        <span>
          <meter min={0} max={maxCredits} value={credits} aria-hidden="true" />{' '}
          {fill(t.spentCredits, { n: credits, m: maxCredits })}
        </span>
      )}
    </span>
  )
}

/** Who has to approve, in words. */
export function ruleOf(approval: ApprovalRule | null, { language }: Pick<Page, 'language'>): string {
  const t = inboxTexts[language]
  if (!approval) return t.ruleAnyone
  const words = [
    approval.people > 1 ? t.ruleTwo : undefined,
    approval.by === 'another' ? t.ruleAnother : undefined,
    approval.fresh_sign_in ? t.ruleFresh : undefined,
  ]
  return words.filter((word) => word !== undefined).join(' · ')
}

/** Who asks, what for, and what was said so far. */
export function PermitFacts({ view, page }: { readonly view: PermitView; readonly page: Page }): VNode {
  const t = inboxTexts[page.language]
  const { permit, mandate } = view
  return (
    <Facts
      facts={[
        [t.asks, <PartyName party={view.asker} page={page} />],
        [t.purpose, mandate && <Foreign text={mandate.purpose} max={500} />],
        [t.spent, mandate && <Spent mandate={mandate} page={page} />],
        [
          t.credential,
          <Link to={page.href(`/console/credentials/${permit.credential_id}`)}>
            <Foreign text={view.credential_label ?? permit.credential_id} max={80} />
          </Link>,
        ],
        [t.rule, ruleOf(permit.approval, page)],
        [t.since, <Time at={permit.created_at} />],
        [t.until, permit.state === 'pending_approval' && <Time at={permit.expires_at} />],
      ]}
    />
  )
}

/** Whether all that would be sent is in view: nobody approves what a list left out. */
const isWhole = ({ permit: { summary } }: PermitView) =>
  summary !== null && (summary.body_bytes === 0 || (summary.body ?? summary.body_base64) !== undefined)

/** The two buttons, or why there is only one. The keys of the inbox press them. */
export function Decide({ view, page }: { readonly view: PermitView; readonly page: Page }): VNode {
  const t = inboxTexts[page.language]
  const values = { permit_id: view.permit.permit_id, request_digest: view.permit.request_digest }
  return (
    <div class="stack tight">
      {view.permit.approval !== null && view.permit.approval.people > 1 && (
        <p class="small">
          <State is="waiting" page={page} words={view.missing > 1 ? t.missingTwo : t.missingOne} />
        </p>
      )}
      {view.why_not !== null && <p class="muted small">{t.whyNot[view.why_not]}</p>}
      <div class="permit-decide">
        {view.why_not === null && isWhole(view) && (
          <Form page={page} action="approve" values={values}>
            <button class="primary" data-key="a">
              {view.needs_fresh ? t.approveFresh : t.approve}
            </button>
          </Form>
        )}
        {view.may_refuse && (
          <Form page={page} action="refuse" values={values}>
            <button class="dangerous" data-key="r">
              {t.refuse}
            </button>
          </Form>
        )}
      </div>
    </div>
  )
}
