// The ends of a credential. Neither can be taken back, so each is behind a fold that says what it does.
import type { VNode } from 'preact'
import type { ConsoleContext } from '../../ports.ts'
import { credentialTexts } from '../../texts/credentials.ts'
import { Act } from '../form.tsx'

export function EndForms({
  page,
  isLive,
}: {
  readonly page: ConsoleContext
  readonly isLive: boolean
}): VNode {
  const t = credentialTexts[page.language]
  return (
    <details class="console-section">
      <summary>{t.end}</summary>
      <div class="stack">
        {isLive && (
          <div class="stack tight">
            <p class="small">{t.revokeHint}</p>
            <Act page={page} action="revoke" label={t.revoke} isDangerous />
          </div>
        )}
        <div class="stack tight">
          <p class="small">{t.removeHint}</p>
          <Act page={page} action="delete" label={t.remove} isDangerous />
        </div>
      </div>
    </details>
  )
}
