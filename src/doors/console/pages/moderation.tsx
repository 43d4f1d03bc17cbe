// Services that wait for the operator, and the decision about each. Everything in them is a stranger's text.
import type { VNode } from 'preact'
import type { z } from 'zod'
import { marketplaceModerationDecide } from '../../../../tools/marketplace-moderation-decide.ts'
import { marketplaceModerationQueue } from '../../../../tools/marketplace-moderation-queue.ts'
import { Foreign, Ltr } from '../../site/components/foreign.tsx'
import { Link } from '../../site/components/link.tsx'
import { fill } from '../../site/components/market/format.ts'
import { State } from '../../site/components/state.tsx'
import { Field, Form, Refusal } from '../components/form.tsx'
import { Money } from '../components/payment.tsx'
import { Facts } from '../components/records.tsx'
import { Table, Time } from '../components/table.tsx'
import { type ConsoleContext, defineConsolePage } from '../ports.ts'
import { consoleTexts } from '../texts/common.ts'
import { moneyTexts } from '../texts/money.ts'

type Queue = z.output<typeof marketplaceModerationQueue.output>
type Service = Queue['services'][number]

interface ModerationData extends Queue {
  readonly done: boolean
}

const DECISIONS = ['approve', 'suspend', 'reinstate'] as const

export const page = defineConsolePage<ModerationData>({
  isWide: true,
  async load({ call, query }) {
    const queue = await call(marketplaceModerationQueue.name, { limit: 100 })
    return { ...marketplaceModerationQueue.output.parse(queue), done: query.has('done') }
  },
  actions: {
    async decide(form, { call }) {
      const service = form.get('service_id')?.trim()
      const version = form.get('version')
      await call(marketplaceModerationDecide.name, {
        seller: form.get('seller')?.trim() ?? '',
        ...(service && { service_id: service }),
        ...(version && { version: Number(version) }),
        decision: form.get('decision') ?? '',
        reason: form.get('reason') ?? '',
      })
      return { goTo: '/console/moderation?done=decided' }
    },
  },
  title: (_data, { language }) => consoleTexts[language].pages.moderation,
  View: ({ data, page }) => <Moderation data={data} page={page} />,
})

const mayDecide = ({ signedIn }: ConsoleContext) =>
  signedIn?.role === 'owner' || signedIn?.role === 'operator'

function Moderation({ data, page }: { readonly data: ModerationData; readonly page: ConsoleContext }): VNode {
  const t = moneyTexts[page.language].moderation
  return (
    <div class="stack">
      <header class="stack tight">
        <h1>{consoleTexts[page.language].pages.moderation}</h1>
        <p class="muted">{t.intro}</p>
      </header>
      {data.done && (
        <p class="notice" role="status">
          {t.decided}
        </p>
      )}
      <Refusal page={page} />
      {data.services.length === 0 && <div class="console-empty">{t.empty}</div>}
      {data.services.map((service) => (
        <Waiting service={service} page={page} />
      ))}
      {mayDecide(page) && <Other page={page} />}
    </div>
  )
}

function Waiting({ service, page }: { readonly service: Service; readonly page: ConsoleContext }): VNode {
  const t = moneyTexts[page.language].moderation
  const { refused } = page
  const isRefused =
    refused?.form.get('seller') === service.seller && refused.form.get('service_id') === service.service_id
  const isChecked = service.checked_version === service.version
  return (
    <article class="panel stack">
      <header class="stack tight">
        <h2>
          <Foreign text={service.name} max={80} />
        </h2>
        <p class="row small">
          <span class="muted">
            {fill(t.by, { s: '' })}
            <Foreign text={service.seller} max={40} class="mono" />
          </span>
          <span class="muted">{fill(t.version, { n: service.version })}</span>
          <State
            is={isChecked ? 'done' : 'waiting'}
            page={page}
            words={isChecked ? t.checked : t.notChecked}
          />
        </p>
      </header>
      {service.description !== '' && (
        <p class="console-words">
          <Foreign text={service.description} max={4000} />
        </p>
      )}
      <Facts
        facts={[
          [t.origin, <Foreign text={service.origin + service.base_path} max={300} class="mono" />],
          [t.refunds, service.refund_policy !== null && <Foreign text={service.refund_policy} max={1000} />],
          [
            t.terms,
            service.terms_url !== null && (
              <Link to={service.terms_url} isForeign>
                <Foreign text={service.terms_url} max={200} />
              </Link>
            ),
          ],
          [t.limit, <Ltr>{String(service.max_requests_per_minute)}</Ltr>],
          [t.credential, service.has_credential && consoleTexts[page.language].yes],
          [t.updated, <Time at={service.updated_at} />],
        ]}
      />
      <Table
        page={page}
        label={t.routes}
        rows={service.routes}
        empty=""
        columns={[
          {
            head: t.routes,
            cell: ({ method, path, summary }) => (
              <>
                <Foreign text={`${method} ${path}`} max={260} class="mono" />
                <span class="sub">
                  <Foreign text={summary} max={300} />
                </span>
              </>
            ),
          },
          { head: t.price, isNumber: true, cell: ({ price_atomic: price }) => <Money atomic={price} /> },
        ]}
      />
      {mayDecide(page) && (
        <Form
          page={page}
          action="decide"
          class="stack"
          values={{
            seller: service.seller,
            service_id: service.service_id,
            version: String(service.version),
          }}
        >
          <Field
            page={isRefused ? page : { refused: undefined }}
            name="reason"
            label={t.reason}
            help={t.reasonHelp}
            isRequired
          />
          <p class="console-actions">
            <button class="primary" name="decision" value="approve">
              {t.approve}
            </button>
            <button class="dangerous" name="decision" value="suspend">
              {t.suspend}
            </button>
          </p>
        </Form>
      )}
    </article>
  )
}

/** What is sold already is decided about by its ids. */
function Other({ page }: { readonly page: ConsoleContext }): VNode {
  const t = moneyTexts[page.language].moderation
  const isRefused = page.refused !== undefined && !page.refused.form.has('version')
  const own = isRefused ? page : { refused: undefined }
  return (
    <details open={isRefused}>
      <summary>{t.other}</summary>
      <Form page={page} action="decide" class="stack panel">
        <Field page={own} name="seller" label={t.seller} isRequired />
        <Field page={own} name="service_id" label={t.service} help={t.serviceHelp} />
        <label class="field">
          <span>{t.decision}</span>
          <select name="decision">
            {DECISIONS.toReversed().map((decision) => (
              <option value={decision} selected={own.refused?.form.get('decision') === decision}>
                {t[decision]}
              </option>
            ))}
          </select>
        </label>
        <Field page={own} name="reason" label={t.reason} help={t.reasonHelp} isRequired />
        <p>
          <button>{t.decide}</button>
        </p>
      </Form>
    </details>
  )
}
