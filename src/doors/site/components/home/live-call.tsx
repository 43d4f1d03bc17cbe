// A call that a visitor makes with one click, and what is sent and received at each step. The list of steps and the window beside it keep
// their height, so that nothing moves while the answer is on its way.
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { LiveTexts } from '../../texts/home.ts'
import { shownVerdict } from '../proof/checks.tsx'
import { State, type StateName } from '../state.tsx'
import { IDLE, type LiveCallProps, type Progress, type StepName } from './live.ts'
import { oneAtATime, runFree, runPaid } from './run-call.ts'
import { StepWindow } from './step-window.tsx'

const WITH_PAYMENT: readonly StepName[] = ['asked', 'priced', 'paid', 'answered', 'receipt']
const WITHOUT_PAYMENT: readonly StepName[] = ['asked', 'answered', 'priced']

/** The panel: a button, the steps, and a window that shows one of them. */
export function LiveCall(props: LiveCallProps): VNode {
  const { texts: t, wallet, amount, language } = props
  const lines = wallet === undefined ? WITHOUT_PAYMENT : WITH_PAYMENT
  const [progress, setProgress] = useState(IDLE)
  const [isRunning, setRunning] = useState(false)
  const [once] = useState(oneAtATime)
  const [chosen, choose] = useState<StepName | undefined>(undefined)
  const { steps, at, failed } = progress
  const last = at && steps[at] ? at : lines.findLast((name) => steps[name] !== undefined)
  const latest = failed?.at ?? last ?? 'asked'
  const shown = chosen ?? latest
  // Who hears the page is told of the receipt too, though the result stays what is shown.
  const told = failed?.at ?? (progress.proof ? 'receipt' : latest)

  const run = () =>
    once(async () => {
      setRunning(true)
      choose(undefined)
      await (wallet === undefined ? runFree(props, setProgress) : runPaid(props, setProgress))
      setRunning(false)
    })

  const about = (wallet === undefined ? t.aboutFree : t.aboutPaid).replace('{amount}', amount)
  const first = (wallet === undefined ? t.runFree : t.runPaid).replace('{amount}', amount)
  return (
    <div class="live panel">
      <div class="live-head">
        <p>{about}</p>
        <button
          type="button"
          class={`needs-script ${wallet === undefined ? 'primary' : 'pays'}`}
          aria-disabled={isRunning}
          onClick={() => void run()}
        >
          {isRunning ? t.running : progress.outcome ? t.again : first}
        </button>
      </div>
      <div class="live-body">
        <ol class="live-steps" aria-label={t.steps}>
          {lines.map((name) => (
            <li>
              <button
                type="button"
                aria-pressed={shown === name}
                disabled={!canShow(name, progress)}
                onClick={() => choose(name)}
              >
                <State is={stateOf(name, progress, isRunning)} page={{ language }} words={t[name]} />
                <span class="live-ms">{msOf(name, progress, t)}</span>
                <span class="live-note">{noteOf(name, props, progress)}</span>
              </button>
            </li>
          ))}
        </ol>
        <StepWindow name={shown} progress={progress} props={props} />
      </div>
      <p class="visually-hidden" role="status">
        {(isRunning || progress.outcome) &&
          t.announce.replace('{step}', t[told]).replace('{state}', noteOf(told, props, progress))}
      </p>
    </div>
  )
}

const canShow = (name: StepName, { steps, outcome, failed }: Progress) =>
  name === 'asked' ||
  failed?.at === name ||
  (name === 'receipt' ? outcome?.ok === true && outcome.receipt !== undefined : steps[name] !== undefined)

function stateOf(
  name: StepName,
  { steps, at, outcome, proof, failed }: Progress,
  isRunning: boolean,
): StateName {
  if (failed?.at === name) return 'failed'
  if (name === 'receipt') {
    if (proof) return RECEIPT_STATES[shownVerdict(proof.verified)]
    return isRunning && outcome?.ok ? 'waiting' : 'unknown'
  }
  if (steps[name]) return 'done'
  return isRunning && at === name ? 'waiting' : 'unknown'
}

const RECEIPT_STATES = {
  genuine: 'done',
  expired: 'done',
  differs: 'failed',
  false: 'failed',
  unknown: 'unknown',
} as const satisfies Record<string, StateName>

function msOf(name: StepName, { steps, proof }: Progress, t: LiveTexts): string {
  const step = steps[name]
  const ms = name === 'receipt' ? proof?.ms : step && 'ms' in step ? step.ms : undefined
  return ms === undefined ? '' : t.ms.replace('{n}', ms < 10 ? ms.toFixed(1) : ms.toFixed(0))
}

/** An amount stands from left to right, whatever stands around it. */
const LTR = '\u2066'
const POP = '\u2069'

function noteOf(
  name: StepName,
  { texts: t, wallet }: LiveCallProps,
  { steps, proof, failed }: Progress,
): string {
  if (failed?.at === name) return t.failed
  if (name === 'receipt' && proof) {
    const state = RECEIPT_STATES[shownVerdict(proof.verified)]
    return state === 'done' ? t.verified : state === 'failed' ? t.notVerified : t.unverified
  }
  if (name === 'priced') {
    const priced = steps.priced
    if (priced?.name === 'priced') return `${LTR}402 · ${priced.price.amount} ${priced.price.asset}${POP}`
    return wallet === undefined ? t.pricedOnly : t.pricedNote
  }
  if (name === 'answered' && wallet === undefined) return t.answeredFree
  return {
    asked: t.askedNote,
    paid: t.paidNote,
    answered: t.answeredNote,
    receipt: t.receiptNote,
  }[name]
}
