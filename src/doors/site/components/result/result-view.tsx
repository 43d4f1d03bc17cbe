// The answer of a tool as a person wants it, and the JSON beside it. What it is is told by its members: a tool that answers a page has a
// page drawn without a line here.
import type { VNode } from 'preact'
import { Foreign } from '../foreign.tsx'
import { Article, Articles, FetchedPage, Sources } from './article.tsx'
import { Feed } from './feed.tsx'
import { Pairs, Value } from './generic.tsx'
import { Json } from './json.tsx'
import type { ResultLook } from './look.ts'
import { Offers } from './offers.tsx'
import { isRecord, listAt, type Members, recordAt, textAt } from './read.ts'
import { EmailVerdict, EmailVerdicts, Inspection, Score } from './verdict.tsx'

interface ResultViewProps extends ResultLook {
  readonly value: unknown
  readonly save?: (text: string) => void
}

/** An answer, whatever it is. */
export function ResultView({ value, save, ...look }: ResultViewProps): VNode {
  return (
    <div class="result stack">
      <Picture value={value} look={look} />
      <Json value={value} look={look} save={save} />
    </div>
  )
}

interface PictureProps {
  readonly value: unknown
  readonly look: ResultLook
}

type Drawing = (props: { readonly value: Members; readonly look: ResultLook }) => VNode

/** What an answer is like, and how that is drawn. The first that fits. */
const PICTURES: readonly (readonly [is: (value: Members) => boolean, draw: Drawing])[] = [
  [(value) => Array.isArray(value['products']) && Array.isArray(value['groups']), Offers],
  [(value) => Array.isArray(value['feeds']) && Array.isArray(value['entries']), Feed],
  [(value) => isRecord(value['response']) && 'content_kind' in value['response'], FetchedPage],
  [
    (value) =>
      Array.isArray(value['documents']) &&
      value['documents'].some((item) => isRecord(item) && isRecord(item['document'])),
    Articles,
  ],
  [
    (value) => isRecord(value['document']) && isRecord(value['source']),
    ({ value, look }) => <Article value={recordAt(value, 'document')} look={look} />,
  ],
  [
    (value) => typeof value['decision'] === 'string' && Array.isArray(value['reasons']) && 'email' in value,
    EmailVerdict,
  ],
  [
    (value) =>
      listAt(value, 'results').some((item) => isRecord(item) && 'email' in item && 'decision' in item),
    EmailVerdicts,
  ],
  [(value) => isRecord(value['policy']) && Array.isArray(value['layers']), Inspection],
  [(value) => isRecord(value['dimensions']) && typeof value['score'] === 'number', Score],
]

function Picture({ value, look }: PictureProps): VNode {
  if (!isRecord(value)) return <Value value={value} look={look} />
  // Outcomes have an envelope around what they found (schemas/outcome.ts).
  const inner = isRecord(value['result']) && isRecord(value['intent']) ? value['result'] : value
  const draw = PICTURES.find(([is]) => is(inner))?.[1]
  const notice = textAt(inner, 'sample_notice')
  if (!draw) return <Pairs value={value} look={look} without={['receipt']} />
  const Draw = draw
  return (
    <>
      {notice !== undefined && (
        <p class="muted small">
          <span class="tag">{look.t.sample}</span> <Foreign text={notice} max={300} />
        </p>
      )}
      <Draw value={inner} look={look} />
      <Sources value={inner} look={look} />
    </>
  )
}
