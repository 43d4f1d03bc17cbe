// "Show again that it is you", in the page whose form asked for it: what was typed waits here and is sent with the answer of the passkey.
import type { VNode } from 'preact'
import type { ConsoleContext } from '../ports.ts'
import { signInTexts } from '../texts/sign-in.ts'
import { KeptForm } from './kept-form.tsx'

export type FreshPage = Pick<ConsoleContext, 'csrf' | 'href' | 'language' | 'needScript' | 'path' | 'refused'>

/** Nothing where no form was refused. */
export function Fresh({ page }: { readonly page: FreshPage }): VNode | null {
  const { refused } = page
  if (!refused) return null
  const t = signInTexts[page.language]
  const { passkeyAborted, passkeyExists, passkeyImpossible } = t
  const signIn = page.href('/console/sign-in')
  page.needScript('console-passkey.js')
  return (
    <section class="notice warns stack" role="alert">
      <p>
        <strong>{t.again}.</strong> {t.againLead}
      </p>
      <KeptForm
        page={page}
        to={page.path}
        form={refused.form}
        data-again={signIn}
        data-words={JSON.stringify({ passkeyAborted, passkeyExists, passkeyImpossible })}
      >
        <p role="alert" class="fault" />
        <p class="console-actions">
          <button type="button" class="primary needs-script" data-passkey="">
            {t.againPasskey}
          </button>
          <button>{t.againSend}</button>
        </p>
      </KeptForm>
      {/* Another tab keeps this one, and what is in it. */}
      <form method="get" action={signIn} target="_blank">
        <input type="hidden" name="again" value="1" />
        <button class="quiet">{t.againOther}</button>
      </form>
      <p class="muted small">{t.secretsGone}</p>
    </section>
  )
}
