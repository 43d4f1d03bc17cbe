// First step: who sells, and where the money goes.
import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { OwnSeller } from '../../../../../schemas/market-seller.ts'
import { fill } from '../market/format.ts'
import { Code } from '../code.tsx'
import { Foreign } from '../foreign.tsx'
import { ask, faultOf, type Refusal } from './call.ts'
import type { Known } from './known.ts'
import { Field, Refused, type StepProps, textsOf } from './parts.tsx'
import { accountOf, type Account, findProvider } from './wallet.ts'

interface RegisterStepProps extends StepProps {
  readonly known: Known
  readonly learn: (more: Partial<Known>) => void
  /** Only in a sandbox. What is drawn on the server is what its script takes over: the button is there before the script that makes accounts. */
  readonly hasTestAccount: boolean
  readonly makeAccount: (() => Promise<Account>) | undefined
  readonly children: ComponentChildren
}

export function RegisterStep({
  t,
  language,
  asking,
  known,
  learn,
  hasTestAccount,
  makeAccount,
  children,
}: RegisterStepProps): VNode {
  const [why, setWhy] = useState<Refusal>()
  const [isBusy, setBusy] = useState(false)
  const [address, setAddress] = useState('')
  const [hasWallet, setHasWallet] = useState(false)
  useEffect(() => setHasWallet(findProvider() !== undefined), [])
  const { register } = t

  async function take(make: () => Promise<Account>): Promise<void> {
    try {
      const account = await make()
      setAddress(account.address)
      learn({ account })
      setWhy(undefined)
    } catch {
      setWhy({ code: 'no_wallet', title: t.noWallet, detail: '', fields: [] })
    }
  }

  async function send(event: SubmitEvent): Promise<void> {
    event.preventDefault()
    if (!(event.currentTarget instanceof HTMLFormElement)) return
    setBusy(true)
    setWhy(undefined)
    const body = textsOf(event.currentTarget)
    const answer = await ask<OwnSeller & { key: string | null }>(asking, 'POST', '/sellers', body)
    setBusy(false)
    if (!answer.ok) return setWhy(answer.why)
    const { key, ...seller } = answer.body
    learn({ seller, ...(key !== null && { key, isKeyNew: true }) })
  }

  if (known.seller)
    return (
      <>
        <p role="status">
          {fill(register.done, { s: known.seller.seller })}
          {known.seller.payout_notes.map((note) => (
            <span class="small muted">
              {' '}
              <Foreign text={note} max={300} />
            </span>
          ))}
        </p>
        {known.isKeyNew && known.key !== undefined && (
          <div class="notice warns stack">
            <p>
              <strong>{register.keyTitle}</strong>
            </p>
            <Code text={known.key} page={{ language }} label={register.keyTitle} />
            <p class="small">
              {register.keyWords} {t.keyStays}
            </p>
          </div>
        )}
      </>
    )
  const field = (name: string) => faultOf(why, `/${name}`)
  return (
    <>
      <p class="muted">{register.words}</p>
      <form class="stack" onSubmit={(event) => void send(event)} autocomplete="off">
        <div class="columns">
          <Field
            name="seller"
            label={register.seller}
            hint={register.sellerHint}
            fault={field('seller')}
            input={{ required: true, minLength: 3, maxLength: 40, pattern: '[a-z0-9\\-]+', dir: 'ltr' }}
          />
          <Field
            name="name"
            label={register.name}
            fault={field('name')}
            input={{ required: true, maxLength: 80 }}
          />
        </div>
        <Field
          name="payout_address"
          label={register.payout}
          hint={known.account?.isTest ? register.testAccountMade : register.payoutHint}
          fault={field('payout_address')}
          input={{
            required: true,
            pattern: '0x[0-9a-fA-F]{40}',
            dir: 'ltr',
            class: 'mono',
            value: address,
            onInput: (event) => setAddress(event.currentTarget.value),
          }}
        />
        {(hasWallet || hasTestAccount) && (
          <p class="row">
            {hasWallet && (
              <button
                type="button"
                onClick={() => {
                  const provider = findProvider()
                  if (provider) void take(() => accountOf(provider))
                }}
              >
                {register.wallet}
              </button>
            )}
            {hasTestAccount && (
              <button type="button" onClick={() => makeAccount && void take(makeAccount)}>
                {register.testAccount}
              </button>
            )}
          </p>
        )}
        <details>
          <summary>{register.more}</summary>
          <div class="stack">
            <Field
              name="description"
              label={register.description}
              fault={field('description')}
              control="textarea"
            />
            <div class="columns">
              <Field
                name="contact"
                label={register.contact}
                fault={field('contact')}
                input={{ maxLength: 200 }}
              />
              <Field
                name="webhook_url"
                label={register.webhook}
                fault={field('webhook_url')}
                input={{ type: 'url', dir: 'ltr' }}
              />
            </div>
          </div>
        </details>
        <Refused why={why} />
        <p>
          <button class="primary" disabled={isBusy}>
            {register.submit}
          </button>
        </p>
      </form>
      {children}
    </>
  )
}
