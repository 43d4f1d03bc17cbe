// What was just done, said once to who sees the page and to who hears it: the address says which (`?done=created`).
import type { VNode } from 'preact'
import type { ConsoleContext } from '../ports.ts'
import { consoleTexts } from '../texts/common.ts'

interface DoneProps {
  readonly page: Pick<ConsoleContext, 'path' | 'language'>
  /** Sentences by the word in the address; another word says that it is done. */
  readonly words: Readonly<Record<string, string>>
}

/** The sentence, or nothing where nothing was done. */
export function Done({ page, words }: DoneProps): VNode | null {
  const word = new URLSearchParams(page.path.split('?')[1]).get('done')
  if (word === null) return null
  return (
    <p class="notice" role="status">
      {Object.hasOwn(words, word) ? words[word] : consoleTexts[page.language].done}
    </p>
  )
}
