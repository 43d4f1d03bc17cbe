// A state is never told by its colour alone: shape, word and tint say the same.
import type { VNode } from 'preact'
import { common } from '../texts/common.ts'
import type { PageContext } from '../ports.ts'

export type StateName = 'done' | 'waiting' | 'failed' | 'unknown'

const SHAPES: Readonly<Record<StateName, string>> = { done: '●', waiting: '◆', failed: '■', unknown: '○' }

/** @param words in place of the usual word of the state */
export const State = ({
  is,
  page,
  words,
}: {
  readonly is: StateName
  readonly page: Pick<PageContext, 'language'>
  readonly words?: string
}): VNode => (
  <span class={`state state-${is}`}>
    <span aria-hidden="true">{SHAPES[is]}</span> {words ?? common[page.language].status[is]}
  </span>
)

/** A table that scrolls by itself where the page is narrow, reachable by keyboard. */
export const Scrolling = ({
  label,
  children,
}: {
  readonly label: string
  readonly children: VNode
}): VNode => (
  <div class="scrolling" role="region" aria-label={label} tabIndex={0}>
    {children}
  </div>
)
