// The way from nothing to a service that is sold, step by step. The seller's key is in the state of this component and nowhere else.
import type { VNode } from 'preact'
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { OwnHost, OwnListing, OwnSeller } from '../../../../../schemas/market-seller.ts'
import type { SellingTexts } from '../../texts/selling.ts'
import type { StateName } from '../state.tsx'
import { ask, type Refusal } from './call.ts'
import { CheckStep } from './check-step.tsx'
import { HostStep } from './host-step.tsx'
import { Refused, StepFrame, textsOf, Field } from './parts.tsx'
import { RegisterStep } from './register-step.tsx'
import { ServiceStep } from './service-step.tsx'
import { SubmitStep } from './submit-step.tsx'
import type { Known } from './known.ts'
import type { Account } from './wallet.ts'

export interface OnboardingProps {
  readonly t: SellingTexts
  readonly language: 'en' | 'ar'
  readonly api: string
  readonly isSandbox: boolean
  /** Where pages of sellers are, in the visitor's language. */
  readonly marketplace: string
  /** Makes an account that signs in a sandbox; its script gives it. */
  readonly makeAccount?: () => Promise<Account>
}

/** The steps, in order; each says whether it is behind us. */
const STEPS = ['register', 'host', 'service', 'check', 'submit'] as const
const isBehind = (known: Known): Readonly<Record<(typeof STEPS)[number], boolean>> => ({
  register: known.seller !== undefined,
  host: known.host?.state === 'proven',
  service: known.listing !== undefined,
  check:
    known.isChecked === true ||
    (known.listing !== undefined && known.listing.checked_version === known.listing.version),
  submit: known.listing?.state === 'active',
})

export function Onboarding(props: OnboardingProps): VNode {
  const { t, language, api } = props
  const [known, setKnown] = useState<Known>({})
  const learn = useCallback((more: Partial<Known>) => setKnown((before) => ({ ...before, ...more })), [])
  const { key } = known
  const asking = useMemo(() => ({ api, key, offline: t.offline }), [api, key, t.offline])
  const behind = isBehind(known)
  const open = STEPS.find((step) => !behind[step])
  const headings = useRef(new Map<string, HTMLElement>())
  // Focus follows the turn, so that who hears the page hears what comes next. The first step is where everybody begins.
  useEffect(() => {
    if (open !== undefined && open !== STEPS[0]) headings.current.get(open)?.focus()
  }, [open])
  const shared = { t, language, asking, known, learn }
  const bodies: Readonly<Record<(typeof STEPS)[number], VNode>> = {
    register: (
      <RegisterStep {...shared} hasTestAccount={props.isSandbox} makeAccount={props.makeAccount}>
        {known.seller === undefined && <Resume t={t} api={api} learn={learn} />}
      </RegisterStep>
    ),
    host: <HostStep {...shared} isSandbox={props.isSandbox} />,
    service: <ServiceStep {...shared} />,
    check: <CheckStep {...shared} />,
    submit: <SubmitStep {...shared} isSandbox={props.isSandbox} marketplace={props.marketplace} />,
  }
  return (
    <ol class="sell-steps">
      {STEPS.map((step, at) => {
        const isOpen = step === open
        const isPending = step === 'submit' && known.listing?.state === 'pending'
        const is: StateName = behind[step] ? 'done' : isOpen ? (isPending ? 'waiting' : 'unknown') : 'unknown'
        const isShown = isOpen || behind[step]
        return (
          <StepFrame
            t={t}
            language={language}
            number={at + 1}
            title={t.steps[step]}
            is={is}
            isOpen={isOpen}
            headingRef={(element) => {
              if (element) headings.current.set(step, element)
            }}
          >
            {isShown && bodies[step]}
          </StepFrame>
        )
      })}
    </ol>
  )
}

interface ResumeProps {
  readonly t: SellingTexts
  readonly api: string
  readonly learn: (more: Partial<Known>) => void
}

/** Goes on where a seller left off: its key says who it is, and its state what is done. */
function Resume({ t, api, learn }: ResumeProps): VNode {
  const [why, setWhy] = useState<Refusal>()
  const [isBusy, setBusy] = useState(false)
  async function resume(event: SubmitEvent): Promise<void> {
    event.preventDefault()
    if (!(event.currentTarget instanceof HTMLFormElement)) return
    const { key } = textsOf(event.currentTarget)
    if (key === undefined) return
    setBusy(true)
    const answer = await ask<{ seller: OwnSeller; hosts: OwnHost[]; services: OwnListing[] }>(
      { api, key, offline: t.offline },
      'GET',
      '/seller',
    )
    setBusy(false)
    if (!answer.ok) return setWhy(answer.why)
    const { seller, hosts, services } = answer.body
    const host = hosts.find(({ state }) => state === 'proven') ?? hosts[0]
    const listing = services.find(({ state }) => state === 'draft' || state === 'pending') ?? services[0]
    learn({ key, seller, ...(host && { host }), ...(listing && { listing }) })
  }
  return (
    <details>
      <summary>{t.resume.title}</summary>
      <form class="stack" onSubmit={(event) => void resume(event)} autocomplete="off">
        <Field
          name="key"
          label={t.resume.key}
          input={{ type: 'password', autocomplete: 'off', required: true, dir: 'ltr' }}
        />
        <Refused why={why} />
        <p>
          <button disabled={isBusy}>{t.resume.submit}</button>
        </p>
      </form>
    </details>
  )
}
