// The mark: two posts and what passes between them.
import type { VNode } from 'preact'

/** Takes the colours of the text around it. */
export const Mark = (): VNode => (
  <svg class="mark" viewBox="0 0 32 32" width="24" height="24" aria-hidden="true" focusable="false">
    <path
      d="M6 27V12a10 10 0 0 1 20 0v15"
      fill="none"
      stroke="currentColor"
      stroke-width="3"
      stroke-linecap="round"
    />
    <path
      d="M11 19h9m-3.5-3.5L20 19l-3.5 3.5"
      class="mark-arrow"
      fill="none"
      stroke-width="2.5"
      stroke-linecap="round"
      stroke-linejoin="round"
    />
  </svg>
)
