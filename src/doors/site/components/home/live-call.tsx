// A call that a visitor makes with one click, and what is sent and received at each step. The list of steps and the window beside it keep
// their height, so that nothing moves while the answer is on its way.
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { readDocument, verifyAnswer } from '../../browser/lib/after-call.ts'
import { callPaid, type CallStep } from '../../browser/lib/paid-call.ts'
import type { LiveTexts } from '../../texts/home.ts'
import { shownVerdict } from '../proof/checks.tsx'
import { State, type StateName } from '../state.tsx'
import type { LiveCallProps, Progress, StepName } from './live.ts'
import { StepWindow } from './step-window.tsx'

const IDLE: Progress = { steps: {}, outcome: undefined, at: undefined }
const WITH_PAYMENT: readonly StepName[] = ['asked', 'priced', 'paid', 'answered', 'receipt']
const WITHOUT_PAYMENT: readonly StepName[] = ['asked', 'answered', 'priced']

/** The panel: a button, the steps, and a window that shows one of them. */
export function LiveCall(props: LiveCallProps): VNode {
  const { texts: t, wallet, amount, language } = props
  const lines = wallet === undefined ? WITHOUT_PAYMENT : WITH_PAYMENT
  const [progress, setProgress] = useState(IDLE)
  const [isRunning, setRunning] = useState(false)
  const [chosen, choose] = useState<StepName | undefined>(undefined)
  const latest = progress.at ?? lines.findLast((name) => progress.steps[name] !== undefined) ?? 'asked'
  const shown = chosen ?? latest
  const isDone = progress.outcome?.ok === true && !isRunning

  async function run(): Promise<void> {
    if (isRunning) return
    setRunning(true)
    choose(undefined)
    await (wallet === undefined ? runFree(props, setProgress) : runPaid(props, setProgress))
    setRunning(false)
  }

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
          t.announce
            .replace('{step}', t[latest])
            .replace(
              '{state}',
              progress.outcome && !progress.outcome.ok && !isDone
                ? t.failed
                : noteOf(latest, props, progress),
            )}
      </p>
    </div>
  )
}

type Tell = (progress: Progress) => void

async function runPaid({ api, baseUrl, wallet, paid }: LiveCallProps, tell: Tell): Promise<void> {
  let now: Progress = { ...IDLE, at: 'asked' }
  const go = (change: Partial<Progress>) => tell((now = { ...now, ...change }))
  go({})
  const outcome = await callPaid({ api, ...paid, wallet }, (step) =>
    go({ steps: { ...now.steps, [step.name]: step }, at: AFTER[step.name] }),
  )
  go({ outcome })
  if (!outcome.ok) return
  await Promise.all([
    readDocument(api, outcome.body).then((document) => document && go({ document })),
    verifyAnswer({ api, baseUrl }, outcome).then((proof) => proof && go({ proof })),
  ])
}

/** The line that is under way once a step has ended. */
const AFTER: Readonly<Record<CallStep['name'], StepName>> = {
  asked: 'priced',
  priced: 'paid',
  paid: 'answered',
  answered: 'answered',
}

/** The free sample, and then the price of the paid call. */
async function runFree({ api, paid, free }: LiveCallProps, tell: Tell): Promise<void> {
  let steps: Progress['steps'] = {}
  tell({ ...IDLE, at: 'asked' })
  const outcome = await callPaid({ api, ...free, wallet: undefined }, (step) => {
    steps = { ...steps, [step.name]: step }
    tell({ steps, outcome: undefined, at: 'answered' })
  })
  tell({ steps, outcome, at: 'answered' })
  if (!outcome.ok) return
  await callPaid({ api, ...paid, wallet: undefined }, (step) => {
    if (step.name === 'priced') steps = { ...steps, priced: step }
  })
  tell({ steps, outcome, at: 'answered' })
}

const canShow = (name: StepName, { steps, at, outcome }: Progress) =>
  name === 'asked' ||
  (name === 'receipt' ? outcome?.ok === true && outcome.receipt !== undefined : steps[name] !== undefined) ||
  (at === name && outcome !== undefined)

function stateOf(name: StepName, { steps, at, outcome, proof }: Progress, isRunning: boolean): StateName {
  if (outcome && !outcome.ok && at === name) return 'failed'
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

function noteOf(name: StepName, { texts: t, wallet }: LiveCallProps, { steps, proof }: Progress): string {
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
