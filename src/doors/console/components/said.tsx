// What a form has just done, read aloud where a page is heard. The word is in the address (`?done=word`), the sentence in the page's texts.
import type { VNode } from 'preact'
import type { ConsoleContext } from '../ports.ts'

interface SaidProps {
  readonly word: string | null | undefined
  /** A sentence for each word; nothing is said of one that is not there, since anybody may write an address. */
  readonly words: Readonly<Record<string, string>>
}

export function Said({ word, words }: SaidProps): VNode | null {
  const text = word != null && Object.hasOwn(words, word) ? words[word] : undefined
  return text === undefined ? null : (
    <p class="notice done" role="status">
      {text}
    </p>
  )
}

/** The word in the page's address. */
export const doneWord = ({ path }: Pick<ConsoleContext, 'path'>): string | null =>
  new URLSearchParams(path.split('?')[1]).get('done')
