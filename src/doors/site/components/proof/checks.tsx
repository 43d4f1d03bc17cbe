// The verdict of a signed document, and every check behind it.
import type { VNode } from 'preact'
import type { Check, Proof, Verdict } from '../../browser/lib/proof.ts'
import type { Language } from '../../routes.ts'
import type { ProofTexts } from '../../texts/proof.ts'
import { Foreign } from '../foreign.tsx'
import { State, type StateName } from '../state.tsx'
import { Moment } from './moment.tsx'

/** `differs`: the document is genuine, and what it was shown with is not what it names. */
type ShownVerdict = Verdict | 'differs'

const STATE_OF: Readonly<Record<ShownVerdict, StateName>> = {
  genuine: 'done',
  differs: 'failed',
  expired: 'waiting',
  false: 'failed',
  unknown: 'unknown',
}

export function shownVerdict({ verdict, checks }: Pick<Proof, 'verdict' | 'checks'>): ShownVerdict {
  const differs = checks.some(({ name, is }) => name === 'contents' && is === 'failed')
  return differs && (verdict === 'genuine' || verdict === 'expired') ? 'differs' : verdict
}

interface VerdictProps {
  readonly proof: Pick<Proof, 'verdict' | 'checks'>
  readonly language: Language
  readonly texts: ProofTexts
}

/** One line. */
export function VerdictLine({ proof, language, texts }: VerdictProps): VNode {
  const verdict = shownVerdict(proof)
  return <State is={STATE_OF[verdict]} page={{ language }} words={texts.verdicts[verdict]} />
}

interface ChecksProps {
  readonly checks: readonly Check[]
  readonly language: Language
  readonly texts: ProofTexts
}

/** Every check with its state and its words. */
export const Checks = ({ checks, language, texts }: ChecksProps): VNode => (
  <ul class="checks">
    {checks.map((check) => (
      <li data-check={check.name} data-is={check.is} data-code={check.code}>
        <State is={check.is} page={{ language }} words={texts.names[check.name]} />
        <span>
          <Words text={texts.codes[check.code] ?? check.code} detail={check.detail ?? {}} />
        </span>
      </li>
    ))}
  </ul>
)

interface WordsProps {
  /** With `{name}` where a text of the document stands. */
  readonly text: string
  readonly detail: Readonly<Record<string, string>>
}

/** Ids, which one compares letter by letter. */
const PLAIN: ReadonlySet<string> = new Set(['kid', 'digest'])
const MAX_SHOWN = 200

/** Our words with texts of the document in them, which are never more than text. */
export const Words = ({ text, detail }: WordsProps): VNode => (
  <>
    {text.split(/\{(\w+)\}/).map((part, at) => {
      if (at % 2 === 0) return part
      const value = detail[part] ?? ''
      if (value === '') return null
      if (part === 'at') return <Moment at={value} />
      return <Foreign text={value} max={MAX_SHOWN} {...(PLAIN.has(part) && { class: 'mono' })} />
    })}
  </>
)
