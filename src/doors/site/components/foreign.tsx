// Words of strangers: titles of pages, names of sellers, texts of errors. They are shown as text and nothing else, in a direction of
// their own, cut where they would break a layout, and with what is invisible in them made visible.
import type { VNode } from 'preact'

// Controls that reorder or hide what stands around them: `gpj.exe` after U+202E reads as `exe.jpg`. Joiners of scripts that need them
// (U+200C, U+200D) are left alone.
const INVISIBLE =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]|[\u{E0000}-\u{E007F}]/gu

const MAX_SHOWN = 2000

interface ForeignProps {
  readonly text: string
  /** Characters that are shown; the rest is left out and said to be. */
  readonly max?: number
  readonly class?: string
}

/** One text of a stranger. */
export function Foreign({ text, max = MAX_SHOWN, class: name }: ForeignProps): VNode {
  const shown = text.length > max ? `${text.slice(0, max)}…` : text
  return (
    <bdi dir="auto" class={name === undefined ? 'foreign' : `foreign ${name}`}>
      {markInvisible(shown)}
    </bdi>
  )
}

/** Words of a stranger inside of what has a direction of its own already. */
export const Visible = ({ text }: { readonly text: string }): VNode => <>{markInvisible(text)}</>

/** The text in pieces: what is visible as it is, each invisible control as a chip that names it. */
function markInvisible(text: string): (string | VNode)[] {
  const pieces: (string | VNode)[] = []
  let from = 0
  for (const { 0: control, index } of text.matchAll(INVISIBLE)) {
    if (index > from) pieces.push(text.slice(from, index))
    pieces.push(<span class="chip">{nameOf(control)}</span>)
    from = index + control.length
  }
  if (from < text.length) pieces.push(text.slice(from))
  return pieces
}

const nameOf = (control: string) =>
  `U+${(control.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`

/** An address, an id or an amount: always from left to right, whatever stands around it, and whoever wrote it. */
export const Ltr = ({
  children,
  class: name,
}: {
  readonly children: string
  readonly class?: string
}): VNode => (
  <bdi dir="ltr" class={name}>
    {markInvisible(children)}
  </bdi>
)
