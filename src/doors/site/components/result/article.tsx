// Pages that were read: as the Markdown that was made of them, or as what came.
import type { VNode } from 'preact'
import { Foreign, Ltr } from '../foreign.tsx'
import { Link } from '../link.tsx'
import { More, Pairs, Value } from './generic.tsx'
import { Text } from './json.tsx'
import type { ResultLook } from './look.ts'
import { count, listAt, type Members, numberAt, recordAt, recordsAt, say, textAt, textsAt } from './read.ts'

interface PartProps {
  readonly value: Members
  readonly look: ResultLook
}

/** A page in normalised form (schemas/document.ts). */
export function Article({ value, url, look }: PartProps & { readonly url?: string | undefined }): VNode {
  const { t } = look
  const title = textAt(value, 'title')
  const about = [textAt(value, 'site_name'), textAt(value, 'byline'), textAt(value, 'published_time')]
  const words = numberAt(value, 'word_count')
  const links = recordsAt(value, 'links')
  const markdown = textAt(value, 'markdown')
  const text = textAt(value, 'text')
  return (
    <article class="article stack tight">
      {title !== undefined && (
        <h4>
          <Foreign text={title} max={300} />
        </h4>
      )}
      <p class="muted small row">
        {url !== undefined && (
          <Link to={url} isForeign>
            <Foreign text={url} max={120} />
          </Link>
        )}
        {about.map((part) => part !== undefined && <Foreign text={part} max={120} />)}
        {words !== undefined && <span>{say(t.words, { n: count(words) })}</span>}
      </p>
      <div class="quoted">
        {markdown !== undefined
          ? look.markdown(markdown, t)
          : text !== undefined && <Text text={text} look={look} />}
      </div>
      {links.length > 0 && (
        <details>
          <summary>{say(t.links, { n: links.length })}</summary>
          <ul class="values">
            {links.slice(0, MAX_LINKS).map((link) => (
              <li>
                <Link to={textAt(link, 'url') ?? ''} isForeign>
                  <Foreign text={textAt(link, 'text') ?? textAt(link, 'url') ?? ''} max={160} />
                </Link>
              </li>
            ))}
          </ul>
          <More left={links.length - MAX_LINKS} look={look} />
        </details>
      )}
    </article>
  )
}
const MAX_LINKS = 40

/** Up to three pages, and what of them is about the question. */
export function Articles({ value, look }: PartProps): VNode {
  const { t } = look
  const passages = recordsAt(value, 'passages')
  return (
    <div class="stack">
      {passages.length > 0 && (
        <section class="stack tight">
          <h4>{t.passages}</h4>
          {passages.slice(0, 5).map((passage) => {
            const heading = textAt(passage, 'heading')
            return (
              <blockquote class="quoted">
                <Foreign text={textAt(passage, 'text') ?? ''} />
                {heading !== undefined && (
                  <p class="muted small">
                    {t.under.split('{heading}')[0]}
                    <Foreign text={heading} max={120} />
                  </p>
                )}
              </blockquote>
            )
          })}
        </section>
      )}
      {recordsAt(value, 'documents').map((page) => (
        <Article value={recordAt(page, 'document')} url={textAt(page, 'url')} look={look} />
      ))}
    </div>
  )
}

/** What one address answered (schemas/web-fetch.ts). */
export function FetchedPage({ value, look }: PartProps): VNode {
  const { t } = look
  const response = recordAt(value, 'response')
  const redirect = recordAt(value, 'redirect')
  const kind = textAt(response, 'content_kind')
  const type = textAt(response, 'content_type') ?? ''
  const bytes = numberAt(response, 'bytes') ?? 0
  const content = response['content']
  const location = textAt(redirect, 'url') ?? textAt(redirect, 'location')
  return (
    <div class="stack tight">
      <p class="row small">
        <Ltr>{String(response['status'] ?? '')}</Ltr>
        <Link to={textAt(recordAt(value, 'request'), 'url') ?? ''} isForeign>
          <Foreign text={textAt(recordAt(value, 'request'), 'url') ?? ''} max={160} />
        </Link>
        <Ltr class="muted">{type}</Ltr>
        <span class="muted">
          {t.bytes} <Ltr>{count(bytes)}</Ltr>
        </span>
      </p>
      {location !== undefined && (
        <p class="notice warns">
          {t.redirect} <Foreign text={location} max={300} />
        </p>
      )}
      {kind === 'base64' && (
        <p>
          <Foreign text={say(t.binary, { type, n: count(bytes) })} />
        </p>
      )}
      {kind === 'json' && <Value value={content} look={look} />}
      {typeof content === 'string' && kind === 'text' && (
        <div class="quoted">
          {/markdown/i.test(type) ? look.markdown(content, t) : <Text text={content} look={look} />}
        </div>
      )}
    </div>
  )
}

/** What a result says of its sources, in a fold. */
export function Sources({ value, look }: PartProps): VNode | null {
  const coverage = recordAt(value, 'coverage')
  if (listAt(coverage, 'sources').length === 0 && textsAt(coverage, 'warnings').length === 0) return null
  return (
    <details>
      <summary>{look.t.source}</summary>
      <div class="inner">
        <Pairs value={coverage} look={look} depth={2} />
      </div>
    </details>
  )
}
