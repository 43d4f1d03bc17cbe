// Recovery codes, shown once: to be copied, printed or written down.
import type { VNode } from 'preact'
import { Code } from '../../site/components/code.tsx'
import type { ConsoleContext } from '../ports.ts'
import { signInTexts } from '../texts/sign-in.ts'

export const Codes = ({
  codes,
  page,
}: {
  readonly codes: readonly string[]
  readonly page: Pick<ConsoleContext, 'language'>
}): VNode => <Code text={codes.join('\n')} page={page} label={signInTexts[page.language].codes} />
