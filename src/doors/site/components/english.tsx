// Words of the registry (titles, summaries, descriptions of fields): they are English in every language of the site, so a page in another
// one says so, to whoever hears it and to the order of its letters. `code` in them is drawn as such.
import type { VNode } from 'preact'
import { Prose } from './code.tsx'
import type { PageContext } from '../ports.ts'

interface EnglishProps {
  readonly text: string
  readonly page: Pick<PageContext, 'language'>
  /** The element around the words; without one, what stands around them is theirs in an English page. */
  readonly as?: 'p' | 'span' | 'div' | 'li'
  readonly class?: string
}

/** A text of the registry. */
export function English({ text, page, as, class: name }: EnglishProps): VNode {
  const isHome = page.language === 'en'
  if (isHome && as === undefined && name === undefined) return <Prose text={text} />
  const Around = as ?? 'span'
  return (
    <Around class={name} {...(!isHome && { lang: 'en', dir: 'ltr' })}>
      <Prose text={text} />
    </Around>
  )
}

/** What says of an element whose words are all of the registry that they are English. */
export const inEnglish = ({ language }: Pick<PageContext, 'language'>): { lang?: 'en'; dir?: 'ltr' } =>
  language === 'en' ? {} : { lang: 'en', dir: 'ltr' }
