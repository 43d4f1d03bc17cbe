// What may be changed while the gateway runs, and who changed it before.
import type { VNode } from 'preact'
import type { AuditEvent } from '../../../../schemas/audit.ts'
import { LOG_LEVELS, type RuntimeSettings } from '../../../../schemas/settings.ts'
import { GatewayError } from '../../../core/errors.ts'
import { INSTALLATION_CHAIN } from '../../../store/ports/audit.ts'
import { Ltr } from '../../site/components/foreign.tsx'
import { Link } from '../../site/components/link.tsx'
import { fill } from '../../site/components/market/format.ts'
import { State } from '../../site/components/state.tsx'
import { Act, Field, Form, Refusal } from '../components/form.tsx'
import { doneWord, Said } from '../components/said.tsx'
import { Table, Time } from '../components/table.tsx'
import { type ConsoleContext, defineConsolePage } from '../ports.ts'
import { consoleTexts } from '../texts/common.ts'
import { houseTexts } from '../texts/house.ts'

interface SettingsData extends RuntimeSettings {
  readonly history: readonly AuditEvent[]
  readonly mayChange: boolean
}

const HISTORY = 10

export const page = defineConsolePage<SettingsData>({
  isWide: true,
  async load({ call, signedIn, console: { services } }) {
    const [settings, { events }] = await Promise.all([
      call('gateway.settings.get', {}),
      services.audit.search({ chain: INSTALLATION_CHAIN, event: 'setting.' }, { limit: HISTORY }),
    ])
    return {
      ...(settings as RuntimeSettings),
      history: events,
      mayChange: signedIn.role === 'owner' || signedIn.role === 'operator',
    }
  },
  actions: {
    async egress(form, { call }) {
      await call('gateway.settings.change', { egress_paused: form.get('paused') === 'yes' })
      return { goTo: '/console/settings?done=changed' }
    },
    async change(form, { call }) {
      const level = form.get('log_level') ?? ''
      await call('gateway.settings.change', {
        log_level: level === '' ? null : level,
        calls_per_minute: wholeNumber(form.get('calls_per_minute') ?? ''),
      })
      return { goTo: '/console/settings?done=changed' }
    },
  },
  title: (_data, { language }) => consoleTexts[language].pages.settings,
  View: ({ data, page }) => {
    const t = houseTexts[page.language].settings
    return (
      <div class="stack">
        <h1>{consoleTexts[page.language].pages.settings}</h1>
        <p class="lead">{t.lead}</p>
        <Said word={doneWord(page)} words={t.done} />
        <Refusal page={page} />
        {!data.mayChange && <p class="notice">{t.mayNot}</p>}
        <Egress data={data} page={page} />
        <Others data={data} page={page} />
        <section class="stack">
          <h2>{t.history}</h2>
          <History data={data} page={page} />
        </section>
      </div>
    )
  },
})

/** @throws {GatewayError} input_invalid */
function wholeNumber(text: string): number | null {
  const given = text.trim()
  if (given === '') return null
  if (!/^\d{1,7}$/.test(given))
    throw new GatewayError('input_invalid', 'Calls a minute are a whole number of at least 60, or empty.')
  return Number(given)
}

interface PartProps {
  readonly data: SettingsData
  readonly page: ConsoleContext
}

function Egress({ data: { egress_paused: isPaused, mayChange }, page }: PartProps): VNode {
  const t = houseTexts[page.language].settings
  return (
    <section class="panel stack">
      <div class="row between">
        <h2>{t.egress}</h2>
        <State is={isPaused ? 'failed' : 'done'} page={page} words={isPaused ? t.paused : t.running} />
      </div>
      {isPaused && <p class="notice fails">{t.pausedNow}</p>}
      <p class="muted">
        {t.egressLead} <Link to={page.href('/console/policies')}>{t.policies}</Link>
      </p>
      {mayChange && (
        <div class="console-actions">
          {isPaused ? (
            <Act page={page} action="egress" values={{ paused: 'no' }} label={t.resume} />
          ) : (
            <Act page={page} action="egress" values={{ paused: 'yes' }} label={t.pause} isDangerous />
          )}
        </div>
      )}
    </section>
  )
}

function Others({ data, page }: PartProps): VNode {
  const t = houseTexts[page.language].settings
  const { configured } = data
  const limit =
    configured.calls_per_minute === null
      ? t.byTool
      : configured.calls_per_minute === 0
        ? t.noLimit
        : String(configured.calls_per_minute)
  const level = page.refused?.form.get('log_level') ?? data.log_level ?? ''
  return (
    <section class="panel">
      <Form page={page} action="change" class="stack">
        <label class="field">
          <span>{t.log}</span>
          <select name="log_level" disabled={!data.mayChange} aria-describedby="log_level-help">
            <option value="">{fill(t.configured, { value: configured.log_level })}</option>
            {LOG_LEVELS.map((name) => (
              <option value={name} selected={name === level}>
                {name}
              </option>
            ))}
          </select>
          <span class="muted small" id="log_level-help">
            {t.logLead}
          </span>
        </label>
        <Field
          page={page}
          name="calls_per_minute"
          label={t.limit}
          help={fill(t.limitLead, { value: limit })}
          value={data.calls_per_minute === null ? '' : String(data.calls_per_minute)}
        />
        {data.mayChange && (
          <div class="console-actions">
            <button class="primary">{consoleTexts[page.language].save}</button>
          </div>
        )}
      </Form>
    </section>
  )
}

function History({ data: { history }, page }: PartProps): VNode {
  const t = houseTexts[page.language].settings
  return (
    <Table
      page={page}
      label={t.history}
      rows={history}
      next={null}
      empty={<p>{t.noHistory}</p>}
      columns={[
        { head: t.changed, cell: ({ at }) => <Time at={at} /> },
        {
          head: t.what,
          cell: ({ subject, detail }) => (
            <Ltr class="mono">{`${subject?.id ?? ''}: ${textOf(detail['from'])} → ${textOf(detail['to'])}`}</Ltr>
          ),
        },
        { head: t.by, cell: ({ actor }) => <Ltr class="mono small">{actor.id ?? actor.kind}</Ltr> },
      ]}
    />
  )
}

const textOf = (value: unknown) => (value === null || value === undefined ? '–' : String(value))
