// Second step: what the host has to show and what the account signs; then looks, until both are there.
import type { VNode } from 'preact'
import { useCallback, useEffect, useState } from 'preact/hooks'
import type { OwnHost } from '../../../../../schemas/market-seller.ts'
import { fill } from '../market/format.ts'
import { Code } from '../code.tsx'
import { Foreign, Ltr } from '../foreign.tsx'
import { State } from '../state.tsx'
import { ask, faultOf, type Refusal } from './call.ts'
import type { Known } from './known.ts'
import { Field, Refused, type StepProps, textsOf } from './parts.tsx'
import { accountOf, findProvider } from './wallet.ts'

interface HostStepProps extends StepProps {
  readonly known: Known
  readonly learn: (more: Partial<Known>) => void
  readonly isSandbox: boolean
}

const SAMPLE = 'https://sandbox.agent-gateway.test'

export function HostStep(props: HostStepProps): VNode {
  const { t, known, learn, asking, isSandbox } = props
  const [why, setWhy] = useState<Refusal>()
  const [isBusy, setBusy] = useState(false)
  const { host } = known

  async function claim(event: SubmitEvent): Promise<void> {
    event.preventDefault()
    if (!(event.currentTarget instanceof HTMLFormElement)) return
    setBusy(true)
    setWhy(undefined)
    const answer = await ask<OwnHost>(asking, 'POST', '/seller/hosts', textsOf(event.currentTarget))
    setBusy(false)
    if (answer.ok) learn({ host: answer.body })
    else setWhy(answer.why)
  }

  if (host?.state === 'proven')
    return <p role="status">{fill(t.host.done, { h: host.host, m: t.host.methods[host.method ?? 'dns'] })}</p>
  return (
    <>
      <p class="muted">{t.host.words}</p>
      <form class="stack" onSubmit={(event) => void claim(event)}>
        <Field
          name="origin"
          label={t.host.origin}
          hint={t.host.originHint}
          fault={faultOf(why, '/origin')}
          input={{
            type: 'url',
            required: true,
            dir: 'ltr',
            pattern: 'https://.+',
            defaultValue: isSandbox ? SAMPLE : '',
          }}
        />
        <Refused why={why} />
        <p>
          <button class={host ? undefined : 'primary'} disabled={isBusy}>
            {host ? t.host.other : t.host.ask}
          </button>
        </p>
      </form>
      {host && <Proof {...props} host={host} key={host.challenge} />}
    </>
  )
}

interface ProofProps extends HostStepProps {
  readonly host: OwnHost
}

interface Verified {
  readonly proven: boolean
  readonly problems: readonly string[]
  readonly host: OwnHost
}

/** Seconds between looks: often at first, while a record spreads, then at leisure. */
const PAUSES_S = [4, 6, 9, 13, 20, 30]
const MAX_LOOKS = 60

function Proof({ t, language, asking, known, learn, isSandbox, host }: ProofProps): VNode {
  const [signature, setSignature] = useState('')
  const [problems, setProblems] = useState<readonly string[]>([])
  const [why, setWhy] = useState<Refusal>()
  const [looks, setLooks] = useState(0)
  const [isLooking, setLooking] = useState(false)
  const [waitS, setWaitS] = useState<number>()
  const isSample = isSandbox && host.origin === SAMPLE
  const isRested = looks >= MAX_LOOKS

  const look = useCallback(async (): Promise<void> => {
    setLooking(true)
    const answer = await ask<Verified>(asking, 'POST', '/seller/hosts/verify', {
      origin: host.origin,
      ownership_proofs: /^0x[0-9a-fA-F]+$/.test(signature.trim()) ? [signature.trim()] : [],
    })
    setLooking(false)
    setLooks((count) => count + 1)
    if (!answer.ok) return setWhy(answer.why)
    setWhy(undefined)
    setProblems(answer.body.problems)
    if (answer.body.proven) learn({ host: answer.body.host })
  }, [asking, host.origin, learn, signature])

  // The next look comes by itself once there is a signature: without one, no look can end well.
  const isReady = signature.trim() !== ''
  useEffect(() => {
    if (!isReady || isRested || isLooking) return setWaitS(undefined)
    let left = looks === 0 ? 0 : (PAUSES_S[Math.min(looks - 1, PAUSES_S.length - 1)] ?? 30)
    setWaitS(left)
    const tick = setInterval(() => {
      // A page that nobody sees waits.
      if (document.hidden) return
      left -= 1
      setWaitS(Math.max(left, 0))
      if (left > 0) return
      clearInterval(tick)
      void look()
    }, 1000)
    return () => clearInterval(tick)
  }, [isReady, isRested, isLooking, look, looks])

  async function sign(): Promise<void> {
    try {
      const provider = findProvider()
      const account = known.account ?? (provider && (await accountOf(provider)))
      if (account) setSignature(await account.sign(host.sign.message))
    } catch {
      setWhy({ code: 'no_wallet', title: t.noWallet, detail: '', fields: [] })
    }
  }
  const [hasWallet, setHasWallet] = useState(false)
  useEffect(() => setHasWallet(findProvider() !== undefined), [])

  return (
    <div class="stack">
      {isSample && <p class="notice">{t.host.sample}</p>}
      <div class="columns">
        <section class="panel stack" aria-label={t.host.either}>
          <h4>{t.host.either}</h4>
          <dl class="pairs">
            <dt>{t.host.type}</dt>
            <dd>
              <Ltr class="mono">{host.dns.type}</Ltr>
            </dd>
          </dl>
          <Code text={host.dns.name} page={{ language }} label={t.host.recordName} />
          <Code text={host.dns.value} page={{ language }} label={t.host.value} />
        </section>
        <section class="panel stack" aria-label={t.host.or}>
          <h4>{t.host.or}</h4>
          <Code text={host.well_known.url} page={{ language }} label={t.host.file} />
          <Code text={host.well_known.line} page={{ language }} label={t.host.line} />
        </section>
      </div>
      <section class="panel stack" aria-label={t.host.sign}>
        <h4>{t.host.sign}</h4>
        <p class="small">{fill(t.host.signWords, { a: host.sign.by })}</p>
        <Code text={host.sign.message} page={{ language }} label="personal_sign" />
        {(known.account || hasWallet) && (
          <p>
            <button type="button" onClick={() => void sign()}>
              {known.account?.isTest ? t.host.signTest : t.host.signWallet}
            </button>
          </p>
        )}
        <Field
          name="signature"
          label={t.host.signature}
          input={{
            dir: 'ltr',
            class: 'mono',
            value: signature,
            autocomplete: 'off',
            onInput: (event) => setSignature(event.currentTarget.value),
          }}
        />
        <details>
          <summary>{t.host.terminal}</summary>
          <Code text={`cast wallet sign "${host.sign.message}"`} page={{ language }} label="Foundry" />
        </details>
      </section>
      <div class="row">
        <button type="button" class="primary" onClick={() => void look()} disabled={isLooking}>
          {t.host.check}
        </button>
        <p class="small muted">
          {isLooking
            ? t.host.looking
            : isRested
              ? t.host.rested
              : waitS !== undefined
                ? fill(t.host.watching, { n: waitS })
                : ''}{' '}
          {looks > 0 && fill(t.host.looks, { n: looks })}
        </p>
      </div>
      <div role="status">
        {problems.length > 0 && (
          <ul class="plain stack">
            {problems.map((problem) => (
              <li>
                <State is="waiting" page={{ language }} /> <Foreign text={problem} max={500} />
              </li>
            ))}
          </ul>
        )}
      </div>
      <Refused why={why} />
    </div>
  )
}
