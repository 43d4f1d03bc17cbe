// Who is told of what happens while nobody looks, and whether they take it.
import type { VNode } from 'preact'
import { ALERT_KINDS, type NotificationRecord } from '../../../../schemas/notification.ts'
import { notificationsAdd } from '../../../../tools/notifications-add.ts'
import { isForRole } from '../../../core/roles.ts'
import { Ltr } from '../../site/components/foreign.tsx'
import { Link } from '../../site/components/link.tsx'
import { fill } from '../../site/components/market/format.ts'
import { State } from '../../site/components/state.tsx'
import { SecretField } from '../components/fields.tsx'
import { Act, Form, Refusal } from '../components/form.tsx'
import { doneWord, Said } from '../components/said.tsx'
import { type Column, Table, Time } from '../components/table.tsx'
import { type ConsoleContext, defineConsolePage } from '../ports.ts'
import { notificationTexts } from '../texts/notifications.ts'

interface NotificationsData {
  readonly notifications: readonly NotificationRecord[]
  readonly may_change: boolean
}

export const page = defineConsolePage<NotificationsData>({
  isWide: true,
  async load({ call, signedIn }) {
    const { notifications } = (await call('gateway.notifications.list', {})) as {
      notifications: NotificationRecord[]
    }
    return { notifications, may_change: isForRole(notificationsAdd, signedIn.role) }
  },
  actions: {
    async add(form, { call }) {
      await call('gateway.notifications.add', {
        url: (form.get('secret_url') ?? '').trim(),
        kinds: form.getAll('kinds'),
      })
      return { goTo: '/console/notifications?done=added' }
    },
    async remove(form, { call }) {
      await call('gateway.notifications.remove', { notification_id: form.get('notification_id') ?? '' })
      return { goTo: '/console/notifications?done=removed' }
    },
    async test(form, { call }) {
      const { taken } = (await call('gateway.notifications.test', {
        notification_id: form.get('notification_id') ?? '',
      })) as { taken: boolean }
      return { goTo: `/console/notifications?done=${taken ? 'taken' : 'failed'}` }
    },
  },
  title: (_data, { language }) => notificationTexts[language].title,
  View: ({ data, page }) => <Notifications data={data} page={page} />,
})

function Notifications({
  data,
  page,
}: {
  readonly data: NotificationsData
  readonly page: ConsoleContext
}): VNode {
  const t = notificationTexts[page.language]
  return (
    <div class="stack">
      <header class="stack tight">
        <h1>{t.title}</h1>
        <p class="muted">{t.lead}</p>
      </header>
      <Said word={doneWord(page)} words={t.done} />
      <Refusal page={page} />
      <Table
        page={page}
        label={t.label}
        columns={columnsOf(data, page)}
        rows={data.notifications}
        next={null}
        empty={<p>{t.empty}</p>}
      />
      <div class="console-two">
        {data.may_change && <Add page={page} />}
        <section class="panel stack tight" aria-labelledby="device">
          <h2 id="device">{t.browser}</h2>
          <p>{t.browserHow}</p>
          <p>
            <Link to={page.href('/console/inbox')}>{t.browserAct}</Link>
          </p>
        </section>
      </div>
    </div>
  )
}

function Add({ page }: { readonly page: ConsoleContext }): VNode {
  const t = notificationTexts[page.language]
  const kinds = ALERT_KINDS.filter((kind) => kind !== 'settler_low' || page.signedIn?.admin === true)
  const chosen = page.refused?.form.getAll('kinds') ?? kinds
  return (
    <section class="panel stack" aria-labelledby="add">
      <h2 id="add">{t.add}</h2>
      <Form page={page} action="add" class="stack">
        <SecretField name="secret_url" label={t.url} help={t.urlHelp} isRequired />
        <fieldset class="stack tight">
          <legend>{t.kinds}</legend>
          {kinds.map((kind) => (
            <label class="console-box">
              <input type="checkbox" name="kinds" value={kind} checked={chosen.includes(kind)} />{' '}
              {t.kindNames[kind]}
            </label>
          ))}
        </fieldset>
        <p class="muted small">{t.once}</p>
        <p>
          <button class="primary">{t.addAct}</button>
        </p>
      </Form>
    </section>
  )
}

function columnsOf(data: NotificationsData, page: ConsoleContext): readonly Column<NotificationRecord>[] {
  const t = notificationTexts[page.language]
  const isFailing = ({ told_at: told, problem_at: failed }: NotificationRecord) =>
    failed !== null && (told === null || failed > told)
  return [
    { head: t.host, cell: ({ host }) => <Ltr class="mono">{host}</Ltr> },
    {
      head: t.kinds,
      cell: ({ kinds }) => (
        <ul class="plain small">
          {kinds.map((kind) => (
            <li>{t.kindNames[kind]}</li>
          ))}
        </ul>
      ),
    },
    {
      head: t.state,
      cell: (target) =>
        isFailing(target) ? (
          <>
            <State is="failed" page={page} words={t.fails} />
            <span class="sub">
              {fill(t.problem, { p: target.problem ?? '' })} · <Time at={target.problem_at} />
            </span>
          </>
        ) : (
          <State
            is={target.told_at === null ? 'unknown' : 'done'}
            page={page}
            words={target.told_at === null ? t.waits : t.takes}
          />
        ),
    },
    {
      head: t.told,
      cell: ({ told_at: at }) => (at === null ? <span class="muted">{t.never}</span> : <Time at={at} />),
    },
    {
      head: '',
      cell: ({ notification_id }) =>
        data.may_change && (
          <div class="console-actions">
            <Act page={page} action="test" label={t.test} values={{ notification_id }} />
            <Act page={page} action="remove" label={t.remove} isDangerous values={{ notification_id }} />
          </div>
        ),
    },
  ]
}
