// A moment as `2026-11-23 06:47:23 UTC`: the same for everybody, in every language.
import type { VNode } from 'preact'
import { Foreign } from '../foreign.tsx'

interface MomentProps {
  /** RFC 3339; whatever is no moment is shown as the text that it is. */
  readonly at: string
  /** Whether milliseconds are worth reading. */
  readonly isExact?: boolean
}

export function Moment({ at, isExact = false }: MomentProps): VNode {
  const millis = Date.parse(at)
  if (Number.isNaN(millis)) return <Foreign text={at} max={60} />
  const text = new Date(millis).toISOString()
  const shown = isExact ? text.slice(11, -1) : text.slice(11, 19)
  return (
    <time dateTime={text} dir="ltr" class="moment">
      {`${text.slice(0, 10)} ${shown} UTC`}
    </time>
  )
}
