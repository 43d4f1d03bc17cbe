// An attempt as tables and its own page show it.
import type { VNode } from 'preact'
import type { AttemptRecord } from '../../../../schemas/egress.ts'
import { State, type StateName } from '../../site/components/state.tsx'
import type { ConsoleContext } from '../ports.ts'
import { recordTexts } from '../texts/records.ts'
import { span } from './records.tsx'

/** What somebody has to look at is not told by colour alone: each state has a shape and a word. */
export const STATE_LOOKS = {
  reserved: 'unknown',
  sending: 'unknown',
  settled: 'done',
  ambiguous: 'waiting',
  refunded: 'failed',
} satisfies Record<AttemptRecord['state'], StateName>

export const AttemptStateChip = ({
  attempt: { state },
  page,
}: {
  readonly attempt: Pick<AttemptRecord, 'state'>
  readonly page: Pick<ConsoleContext, 'language'>
}): VNode => <State is={STATE_LOOKS[state]} page={page} words={recordTexts[page.language].states[state]} />

/** How long the other side had it; a dash where it never went, or is not back. */
export const tookOf = ({ sending_at: sent, finished_at: finished }: AttemptRecord): string =>
  sent === null || finished === null ? '–' : span(Date.parse(finished) - Date.parse(sent))
