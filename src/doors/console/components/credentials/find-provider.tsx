// The search over providers: an address of its own, so that it works without a script and can be shared.
import type { VNode } from 'preact'
import type { ConsoleContext } from '../../ports.ts'
import { credentialTexts } from '../../texts/credentials.ts'

export function FindProvider({
  page,
  words,
}: {
  readonly page: ConsoleContext
  readonly words: string
}): VNode {
  const t = credentialTexts[page.language]
  return (
    <form method="get" role="search" class="console-filters">
      <label class="field">
        <span>{t.find}</span>
        <input type="search" name="q" dir="auto" value={words} autoComplete="off" />
      </label>
      <button>{t.findButton}</button>
    </form>
  )
}
