// A text with its lines numbered and what was found marked where it stands. Marks and findings lead to each other.
import type { VNode } from 'preact'
import { Foreign, Visible } from '../foreign.tsx'
import type { Mark, Mask, Piece } from './marks.ts'
import { markText } from './marks.ts'
import type { Weight } from './findings.ts'
import type { SourceDocument } from './documents.ts'

interface SourceViewProps {
  readonly document: SourceDocument
  readonly marks: readonly Mark[]
  readonly masks: readonly Mask[]
  readonly weightOf: (finding: number) => Weight
  readonly t: {
    readonly pasted: string
    readonly decoded: string
    readonly left: string
    readonly finding: string
  }
}

/** One document. */
export function SourceView({ document, marks, masks, weightOf, t }: SourceViewProps): VNode {
  const { lines, left } = markText(document.text, marks, masks)
  const { place } = document
  return (
    <figure class="source">
      <figcaption>
        {place === '' ? (
          t.pasted
        ) : (
          <>
            {t.decoded}{' '}
            <code dir="ltr">
              <Foreign text={place} max={120} />
            </code>
          </>
        )}
      </figcaption>
      <ol
        class="source-lines"
        dir="ltr"
        aria-label={place === '' ? t.pasted : `${t.decoded} ${place.slice(0, 80)}`}
      >
        {lines.map((pieces) => (
          <li>
            <code>
              {pieces.map((piece) => (
                <PieceView piece={piece} weightOf={weightOf} words={t.finding} />
              ))}
            </code>
          </li>
        ))}
      </ol>
      {left > 0 && <p class="small muted">{t.left.replace('{n}', left.toLocaleString('en'))}</p>}
    </figure>
  )
}

interface PieceProps {
  readonly piece: Piece
  readonly weightOf: (finding: number) => Weight
  readonly words: string
}

function PieceView({ piece, weightOf, words }: PieceProps): VNode {
  const { text, findings, begins, isMasked } = piece
  const shown = isMasked ? <span class="source-masked">{text}</span> : <Visible text={text} />
  const [first] = findings
  if (first === undefined) return shown
  return (
    <>
      {begins.map((finding) => (
        <a
          class={`source-number weight-${weightOf(finding)}`}
          id={`place-${finding}`}
          href={`#finding-${finding}`}
          aria-label={words.replace('{n}', String(finding))}
        >
          {finding}
        </a>
      ))}
      <mark class={`weight-${weightOf(first)}`}>{shown}</mark>
    </>
  )
}
