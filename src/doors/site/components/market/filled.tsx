// A sentence with amounts and ids in it: each value keeps its own direction, whatever the language around it.
import type { VNode } from 'preact'
import { Ltr } from '../foreign.tsx'

interface FilledProps {
  /** With `{names}` in it. */
  readonly text: string
  readonly values: Readonly<Record<string, string>>
}

/** The sentence with its values in place. */
export const Filled = ({ text, values }: FilledProps): VNode => (
  <>{text.split(/\{(\w+)\}/).map((part, at) => (at % 2 === 1 ? <Ltr>{values[part] ?? ''}</Ltr> : part))}</>
)
