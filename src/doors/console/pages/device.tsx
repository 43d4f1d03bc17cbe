// The code of a program that waits on another screen (RFC 8628). It is always confirmed here, also where an address brought it along:
// whoever sends somebody such an address may have begun the request themselves.
import { Link } from '../../site/components/link.tsx'
import { Field, Form, Refusal } from '../components/form.tsx'
import { defineConsolePage } from '../ports.ts'
import { deviceTexts } from '../texts/device.ts'

interface DeviceData {
  /** As the address brought it. */
  readonly code: string
  readonly done: 'connected' | 'refused' | null
}

const CODE = /^[A-Za-z]{4}-?[A-Za-z]{4}$/

export const page = defineConsolePage<DeviceData>({
  load({ query }) {
    const code = query.get('user_code') ?? ''
    const done = query.get('done')
    return {
      code: CODE.test(code) ? code.toUpperCase() : '',
      done: done === 'connected' || done === 'refused' ? done : null,
    }
  },
  actions: {
    async find(form, { console: parts, signedIn, exchange: { req, res } }) {
      const typed = form.get('code') ?? ''
      const uid = await parts.identity.interactions.begin(req, res, { by: signedIn, typed })
      return { goTo: `/console/connect/${uid}` }
    },
  },
  title: (_data, { language }) => deviceTexts[language].title,
  View({ data: { code, done }, page }) {
    const t = deviceTexts[page.language]
    if (done)
      return (
        <div class="console-gate stack">
          <h1>{t.title}</h1>
          <p class={done === 'connected' ? 'notice done' : 'notice warns'} role="status">
            {t[done]}
          </p>
          <p>
            <Link to={page.href('/console/connections')} class="button primary">
              {t.toConnections}
            </Link>
          </p>
          <p>
            <Link to={page.href('/console/device')}>{t.another}</Link>
          </p>
        </div>
      )
    return (
      <div class="console-gate stack">
        <h1>{t.title}</h1>
        <Refusal page={page} />
        <p class="lead">{t.lead}</p>
        {code !== '' && <p class="notice warns">{t.filled}</p>}
        <Form page={page} action="find" class="stack">
          <Field page={page} name="code" label={t.code} help={t.codeHelp} value={code} isRequired />
          <button class="primary">{t.goOn}</button>
        </Form>
      </div>
    )
  },
})
